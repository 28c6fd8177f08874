"""SVG pictures: the parts of matplotlib's pictures that are kept, and attacks."""

from __future__ import annotations

import base64
import re
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chat.page.rendering.svg import ELEMENTS_LIMIT, SOURCE_LIMIT_CHARS, Picture, sanitize_svg
from tests.cases import case
from tests.chat.library.exports.samples import png
from tests.chat.page.rendering.test_safety import ADDRESS, EXFILTRATION, SCRIPTS
from tests.display_bundles import SVG
from tests.time_growth import GROWTH_LIMIT, time_growth

NAMESPACE = "{http://www.w3.org/2000/svg}"
TAGS = {
    *("svg", "g", "defs", "symbol", "use", "path", "rect", "circle", "ellipse", "line", "polyline", "polygon", "text"),
    *("tspan", "textPath", "title", "desc", "clipPath", "mask", "pattern", "marker", "image", "linearGradient"),
    *("radialGradient", "stop", "style"),
}


def picture_of(content: str, attributes: str = "") -> Picture | None:
    """Return the picture with this content."""
    head = f'<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" {attributes}>'
    return sanitize_svg(f"{head}{content}</svg>")


def svg_of(content: str) -> str:
    """Return the sanitized content of a picture."""
    picture = picture_of(content)
    assert picture is not None
    assert_is_safe(picture)
    return picture.svg.removeprefix('<svg xmlns="http://www.w3.org/2000/svg">').removesuffix("</svg>")


def assert_is_safe(picture: Picture) -> None:
    """Check that a picture has only known elements, runs nothing, and refers to nothing outside of itself."""
    root = ElementTree.fromstring(picture.svg)
    for element in root.iter():
        assert element.tag.removeprefix(NAMESPACE) in TAGS
        for name, value in element.attrib.items():
            assert not name.lower().startswith("on")
            assert not name.startswith("hx-")
            if name.endswith("href"):
                assert re.match(r"#|data:image/(png|jpeg|gif|webp);base64,", value)
            elif name not in ("class", "id"):
                # A value may look like an address, but browsers do not use it as one without `url()`.
                assert "url(" not in re.sub(r"url\(\s*[\"']?#", "", value.lower())
                assert "@" not in value
        if element.tag == f"{NAMESPACE}style":
            assert not re.search(r"url|@|\\|<", element.text or "")
    assert picture.uri == "data:image/svg+xml;base64," + base64.b64encode(picture.svg.encode()).decode()


def test_picture_of_matplotlib_keeps_its_shapes_styles_and_size() -> None:
    picture = sanitize_svg(SVG)
    assert picture is not None
    assert_is_safe(picture)
    assert (picture.width, picture.height) == (384, 192)
    assert '<use href="#m1" x="40" y="100" style="fill: #1f77b4"></use>' in picture.svg
    assert '<g clip-path="url(#p1)">' in picture.svg
    assert "* { stroke-linejoin: round; stroke-linecap: butt }" in picture.svg
    assert 'style="font: 12px sans-serif; text-anchor: middle">Three &lt;points&gt;</text>' in picture.svg
    assert "rdf" not in picture.svg


@pytest.mark.parametrize(
    ("attributes", "size", "view_box"),
    [
        ('width="100" height="50"', (100, 50), "0 0 100 50"),
        ('width="1in" height="2.54cm"', (96, 96), "0 0 96 96"),
        ('viewBox="0 0 30 20"', (30, 20), "0 0 30 20"),
        ('width="60" viewBox="0 0 30 20"', (60, 40), "0 0 30 20"),
        ('width="100%" height="100%" viewBox="0,0,30,20"', (30, 20), "0,0,30,20"),
        ('width="999999" height="10"', (10_000, 1), "0 0 999999 10"),
        ("", (None, None), None),
        ('width="100%" height="1e999"', (None, None), None),
        ('viewBox="0 0 -1 0"', (None, None), "0 0 -1 0"),
    ],
)
def test_size_and_view_box_come_from_the_attributes_of_the_root(
    attributes: str, size: tuple[int | None, int | None], view_box: str | None
) -> None:
    picture = picture_of("", attributes)
    assert picture is not None
    assert (picture.width, picture.height) == size
    assert ElementTree.fromstring(picture.svg).get("viewBox") == view_box


def test_title_element_of_an_svg_becomes_the_title_of_the_picture() -> None:
    picture = picture_of("<title> A <b/>graph</title><g><title>inner</title></g>")
    assert picture is not None
    assert picture.title == "A graph"


def test_raster_images_are_kept_and_other_images_are_removed() -> None:
    uri = "data:image/png;base64," + base64.b64encode(png()).decode()
    assert svg_of(f'<image xlink:href="{uri}" width="9"/>') == f'<image href="{uri}" width="9"></image>'
    others = [
        *("http://e.example/x.png", "//e.example/x", "x.png", "data:image/png;base64,AAAA", "data:text/html,x"),
        *("data:image/svg+xml;base64,PHN2Zy8+", "javascript:alert(1)", "#a", ""),
    ]
    for other in others:
        assert svg_of(f'<image href="{other}"/>') == ""


def test_links_in_an_svg_are_replaced_by_their_content() -> None:
    assert svg_of('<a xlink:href="http://e.example"><g><text>x</text></g></a>') == "<g><text>x</text></g>"


ATTACKS = [
    "<script>alert(1)</script>",
    '<script href="http://e.example/x.js"/>',
    '<foreignObject><p xmlns="http://www.w3.org/1999/xhtml">x</p></foreignObject>',
    '<p xmlns="http://www.w3.org/1999/xhtml"><script>alert(1)</script></p>',
    '<use href="http://e.example/x.svg#a"/>',
    '<use xlink:href="data:image/svg+xml;base64,PHN2Zy8+#a"/>',
    '<animate attributeName="href" values="javascript:alert(1)"/>',
    '<set attributeName="onload" to="alert(1)"/>',
    '<rect onload="alert(1)" onclick="alert(1)" onfocusin="alert(1)"/>',
    '<rect fill="url(http://e.example/x)"/>',
    '<rect fill="url( //e.example/x )"/>',
    "<rect fill=\"URL('http://e.example')\"/>",
    '<rect fill="u&#114;l(http://e.example/x)"/>',
    '<rect fill="u\\72l(http://e.example/x)"/>',
    '<rect style="fill:url(http://e.example/x);background-image:url(x)"/>',
    "<rect style=\"fill: image-set('http://e.example' 1x)\"/>",
    '<rect style="behavior: url(x.htc); -moz-binding: url(x)"/>',
    '<rect style="fill:red;}*{background:url(//e.example)"/>',
    "<style>@import 'http://e.example/x.css';</style>",
    "<style>*{fill:url(http://e.example)} @font-face{src:url(http://e.example)}</style>",
    "<style>*{background:\\75rl(http://e.example)}</style>",
    "<style><![CDATA[</style><script>alert(1)</script>]]></style>",
    "<style>a{}</style ><style>*{fill:expression(alert(1))}</style>",
    '<handler xmlns="http://www.w3.org/2001/xml-events">alert(1)</handler>',
    '<iframe xmlns="http://www.w3.org/1999/xhtml" src="javascript:alert(1)"/>',
    '<filter id="f"><feImage href="http://e.example/x.png"/></filter>',
    '<text hx-get="/x" hx-trigger="load" data-action="stop">x</text>',
    '<textPath href="http://e.example">x</textPath>',
    '<linearGradient href="http://e.example#x"/>',
    '<font-face-uri xlink:href="http://e.example"/>',
    '<mpath href="javascript:alert(1)"/>',
    '<discard begin="0s"/>',
    '<svg:script xmlns:svg="http://www.w3.org/2000/svg">alert(1)</svg:script>',
    '<rect xmlns="urn:x" fill="red"/>',
    '<text xml:base="http://e.example">x</text>',
    '<rect cursor="url(http://e.example)" filter="url(http://e.example)"/>',
    "<title><![CDATA[<script>alert(1)</script>]]></title>",
    "<!--<script>--><text>x</text><?xml-stylesheet href='http://e.example'?>",
]


@pytest.mark.parametrize("attack", ATTACKS)
def test_attack_in_an_svg_is_removed(attack: str) -> None:
    cleaned = svg_of(attack)
    assert "e.example" not in cleaned
    assert not re.search(r"<script|<foreignObject|<iframe|<animate|<set\b|\son\w+=|expression|xhtml|hx-", cleaned)


def test_attack_in_an_svg_source_gives_a_safe_picture_or_none() -> None:
    for payload in SCRIPTS + EXFILTRATION:
        with case(payload):
            quoted = payload.replace("&", "&amp;").replace("<", "&lt;").replace('"', "&quot;")
            for source in (
                payload,
                f"<svg>{payload}</svg>",
                f"<svg><text>{quoted}</text><title>{quoted}</title><style>{quoted}</style></svg>",
                f'<svg><rect fill="{quoted}" style="fill: {quoted}" id="{quoted}" href="{quoted}"/></svg>',
                f'<svg><image href="{quoted}"/><use href="#{quoted}"/></svg>',
            ):
                picture = sanitize_svg(source)
                if picture is not None:
                    assert_is_safe(picture)
                    assert f'href="{ADDRESS}' not in picture.svg


@pytest.mark.parametrize(
    "source",
    [
        "",
        "text",
        "<html><svg/></html>",
        '<svg xmlns="http://www.w3.org/1999/xhtml"/>',
        "<svg><g></svg>",
        "<svg/><svg/>",
        '<!DOCTYPE svg [<!ENTITY a "b">]><svg><text>&a;</text></svg>',
        '<!DOCTYPE svg [<!ENTITY a SYSTEM "file:///etc/passwd">]><svg><text>&a;</text></svg>',
        '<!DOCTYPE svg [<!ENTITY % a SYSTEM "http://e.example/x.dtd"> %a;]><svg/>',
        "<svg>&undefined;</svg>",
        "<svg>" + "<g>" * 100 + "</g>" * 100 + "</svg>",
        "<svg>" + "<g/>" * (ELEMENTS_LIMIT + 1) + "</svg>",
        "<svg>" + " " * SOURCE_LIMIT_CHARS + "</svg>",
        "<svg>\0</svg>",
    ],
)
def test_svg_source_that_is_invalid_or_exceeds_a_limit_gives_no_picture(source: str) -> None:
    assert sanitize_svg(source) is None


def nested_uses(levels: int, uses: int = 10) -> str:
    """Return groups of which each one draws the previous one several times."""
    groups = "".join(
        f'<g id="g{level}">{f"""<use href="#g{level - 1}"/>""" * uses}</g>' for level in range(1, levels + 1)
    )
    return f'<defs><g id="g0"><rect width="1"/></g>{groups}</defs><use href="#g{levels}"/>'


def test_svg_that_expands_to_too_many_shapes_is_refused() -> None:
    assert picture_of(nested_uses(3)) is not None
    assert picture_of(nested_uses(9)) is None
    assert picture_of('<g id="a"><use href="#b"/></g><g id="b"><use href="#a"/></g>') is None
    assert picture_of('<g id="a"><use href="#a"/></g>') is None
    marker = f'<marker id="m"><path d="{"M 0 0 " * 5_000}"/></marker>'
    assert picture_of(f'{marker}<path marker-mid="url(#m)" d="M 0 0"/>') is not None
    assert picture_of(f'{marker}<path marker-mid="url(#m)" d="{"M 0 0 " * 5_000}"/>') is None
    assert picture_of(f'{marker}<path style="marker-end: url(#m)" d="{"M 0 0 " * 5_000}"/>') is None


FRAGMENTS = [
    "<g>",
    "</g>",
    "<path d='M0 0'/>",
    "<use href='#a'/>",
    "<text id='a'>",
    "</text>",
    "x",
    "&lt;",
    "&amp;",
    "<style>",
]
FRAGMENTS += [
    "</style>",
    "*{fill:red}",
    "<a>",
    "</a>",
    "<script>",
    "</script>",
    "<![CDATA[",
    "]]>",
    "<x:y/>",
    "<image/>",
    "é",
]


@given(st.lists(st.sampled_from(FRAGMENTS), max_size=30).map("".join))
def test_any_svg_source_gives_a_safe_picture_or_none(content: str) -> None:
    picture = picture_of(content)
    if picture is not None:
        assert_is_safe(picture)
        # A sanitized picture stays as it is.
        again = sanitize_svg(picture.svg)
        assert again is not None
        assert_is_safe(again)


@pytest.mark.parametrize(
    ("beginning", "unit", "end"),
    [
        ('<svg style="', "a:b;", '"/>'),
        ('<svg fill="', "url(#a)", '"/>'),
        ('<svg fill="', "url(", '"/>'),
        ('<svg fill="', "a(", '"/>'),
        ("<svg><style>", "*{fill:red}", "</style></svg>"),
        ("<svg><style>", "/*", "</style></svg>"),
        ("<svg><style>", "/* ", "</style></svg>"),
        ("<svg><style>", "* ", "</style></svg>"),
        ('<svg viewBox="', "1.", '"/>'),
        ('<svg><image href="data:image/png;base64,', "A", '"/></svg>'),
        ('<svg><image href="', " ", '"/></svg>'),
        ("<svg>", "&#60;", "</svg>"),
        ("<svg><text>", "]]", "</text></svg>"),
    ],
)
def test_time_to_sanitize_an_svg_with_hostile_attributes_or_styles_is_linear(
    beginning: str, unit: str, end: str
) -> None:
    def sanitize(length: int) -> Picture | None:
        sanitize_svg.cache_clear()
        return sanitize_svg(beginning + unit * (length // len(unit)) + end)

    assert time_growth(sanitize, SOURCE_LIMIT_CHARS - 200) < GROWTH_LIMIT
