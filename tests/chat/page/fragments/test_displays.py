"""Rich outputs on the page: the form that is chosen, hostile content in every type, and bounded work."""

from __future__ import annotations

import base64
import json
import re
import time
from collections.abc import Mapping
from urllib.parse import urlsplit

import pytest
from django.conf import settings
from django.utils import translation

from chat.page.fragments import part_html
from chat.page.rendering import html_tables, maths, svg
from chat.page.rendering.displays import MARKDOWN_LIMIT_CHARS, display_blocks
from chat.page.rendering.html_tables import TABLES_LIMIT
from chat.page.rendering.tables import ROWS_SHOWN, Table
from chat.vocabulary.parts import (
    JSON,
    OUTCOME_FAILED,
    OUTCOME_OK,
    CodeExecutionResult,
    Display,
    Engine,
    JSONObject,
    ToolResponse,
)
from tests.cases import case
from tests.chat.page.fragments.samples import view_of
from tests.chat.page.rendering.mathml import MATHML_TAGS, assert_mathml_attributes
from tests.chat.page.rendering.test_safety import ADDRESS, ALLOWED, EXFILTRATION, SCRIPTS
from tests.chat.page.rendering.test_svg import assert_is_safe
from tests.display_bundles import BUNDLES, SMALL_HTML, SVG, wide_html
from tests.parsed_html import ParsedHtml

#: Elements and attributes of the templates, listed independently of them.
TAGS = {
    *("div", "pre", "p", "figure", "img", "details", "summary", "span", "button", "table", "caption", "thead", "tbody"),
    *("tr", "th", "td"),
}
ATTRIBUTES = {
    *("id", "class", "tabindex", "role", "aria-label", "aria-sort", "aria-expanded", "type", "scope", "colspan"),
    *("rowspan", "src", "alt", "width", "height", "open", "data-part-kind", "data-action", "data-all", "data-column"),
    *("data-type", "data-row", "data-gap"),
}
ACTIONS = {"sort", "all-rows", "copy-csv", "save-csv", "copy"}


def html_of(bundle: Mapping[str, JSON]) -> str:
    """Return the HTML of a rich output."""
    return part_html(view_of(Display(bundle)))


def kinds_of(bundle: Mapping[str, JSON]) -> list[str]:
    """Return the kinds of the blocks that show a bundle."""
    return [block.kind for block in display_blocks(bundle)]


def assert_is_safe_html(html: str) -> None:
    """Check that HTML has only elements and attributes that the templates write, and loads no resources."""
    parsed = ParsedHtml(html)
    assert parsed.open_elements == 0
    for element in parsed.elements:
        tag, attributes = element.tag, element.attributes
        if tag in MATHML_TAGS:
            assert_mathml_attributes(attributes)
            continue
        assert tag in TAGS | set(ALLOWED)
        assert set(attributes) <= ATTRIBUTES | ALLOWED.get(tag, set())
        assert attributes.get("data-action") in ACTIONS | {None}
        if source := attributes.get("src"):
            assert tag == "img"
            head, _, data = source.partition(",")
            assert head == "data:image/svg+xml;base64"
            picture = svg.sanitize_svg(base64.b64decode(data).decode())
            assert picture is not None
            assert_is_safe(picture)
        if "href" in attributes:
            # Only links in Markdown have addresses. They need a click.
            assert urlsplit(attributes["href"] or "").scheme in ("http", "https", "mailto")
            assert attributes["rel"] == "noopener noreferrer nofollow"


@pytest.mark.parametrize(
    ("name", "kinds"),
    [
        ("small", ["table"]),
        ("styler", ["table"]),
        ("polars", ["table"]),
        ("latex", ["formula"]),
        ("svg", ["picture"]),
        ("json", ["source"]),
        ("plotly", ["note", "source"]),
        ("html", ["markdown"]),
        ("markdown", ["markdown"]),
        ("text", ["text"]),
    ],
)
@pytest.mark.formulas
def test_richest_safe_mime_type_of_an_output_is_shown(name: str, kinds: list[str]) -> None:
    assert kinds_of(BUNDLES[name]) == kinds
    assert_is_safe_html(html_of(BUNDLES[name]))


@pytest.mark.parametrize(
    ("bundle", "kinds"),
    [
        ({"text/html": SMALL_HTML, "image/svg+xml": SVG}, ["picture"]),
        ({"text/html": SMALL_HTML, "text/latex": "$x$"}, ["table"]),
        ({"image/svg+xml": "<svg", "text/plain": "1"}, ["text"]),
        ({"text/latex": r"\unknown", "text/plain": "1"}, ["source"]),
        ({"text/markdown": "# a" * MARKDOWN_LIMIT_CHARS}, ["source"]),
        ({"text/html": "<b>bold</b>", "text/plain": "plain"}, ["text"]),
        ({"text/html": "", "text/plain": "<Figure size 640x480 with 1 Axes>"}, ["text"]),
        ({"text/html": 1, "image/svg+xml": None, "text/latex": [], "text/markdown": {}}, ["note"]),
        ({"application/json": None}, ["source"]),
        ({"application/javascript": "alert(1)", "text/plain": "<IPython.core.display.Javascript object>"}, ["text"]),
        ({"text/html": "<script>1</script>", "text/plain": "<a.B object at 0x1f>"}, ["note"]),
        ({"application/vnd.jupyter.widget-view+json": {}, "text/plain": "IntSlider(value=0)"}, ["note", "source"]),
        ({"application/vnd.bokehjs_exec.v0+json": "", "text/html": "<script>1</script>"}, ["note"]),
        ({}, ["note"]),
    ],
)
@pytest.mark.formulas
def test_next_mime_type_is_shown_if_a_richer_one_cannot_be_shown(bundle: Mapping[str, JSON], kinds: list[str]) -> None:
    assert kinds_of(bundle) == kinds


def test_html_is_shown_if_the_plain_text_is_only_the_name_of_the_object() -> None:
    assert re.search(r"<h\d>Report</h\d>\s*<p>All good.</p>", html_of(BUNDLES["html"]))


def test_headings_of_html_begin_below_the_heading_of_the_message_and_skip_no_level() -> None:
    source = "<h3>A</h3><table><tr><td>1</td></tr></table><h5>B</h5><h2>C</h2><h3>D</h3><h6>E</h6><h3>F</h3>"
    html = html_of({"text/html": source, "text/plain": "<IPython.core.display.HTML object>"})
    assert re.findall(r"<h(\d)>(\w)", html) == [*zip("343454", "ABCDEF", strict=True)]


def test_html_output_keeps_links_lists_and_tables_and_has_notes_about_the_rest() -> None:
    source = (
        '<h3>1. *Parts*</h3><a href="https://example.com/a_(b)">more</a><ul><li>one<li>two</ul>'
        "<table><tr><td>1</td></tr></table><audio controls>cannot play</audio><button>Go</button>"
        '<iframe src="https://example.com/page"></iframe>'
    )
    bundle: JSONObject = {
        "text/html": source + f"<p>{'word ' * 200}</p>",
        "text/plain": "<IPython.core.display.HTML object>",
    }
    html = html_of(bundle)
    assert "1. *Parts*</h" in html
    assert 'href="https://example.com/a_(b)"' in html
    assert html.count("<li>") == 2
    assert "<td" in html
    assert 'href="https://example.com/page"' in html
    for note in ("A sound cannot be played here.", "Buttons and other", "A page at another address"):
        assert note in html
    assert "cannot play" not in html
    assert ">Go<" not in html
    assert_is_safe_html(html)


def test_note_says_that_a_widget_does_not_work_and_its_text_is_shown() -> None:
    html = html_of({"application/vnd.jupyter.widget-view+json": {}, "text/plain": "IntSlider(value=5)"})
    assert "A Jupyter widget is a control that does not work here." in html
    assert "IntSlider(value=5)" in html


def test_note_says_what_kind_of_interactive_output_is_not_shown() -> None:
    assert "An interactive Plotly chart. Only static pictures are shown here" in html_of(BUNDLES["plotly"])


def test_html_of_a_long_table_has_headers_an_accessible_name_and_buttons() -> None:
    parsed = ParsedHtml(html_of(BUNDLES["long"]))
    scopes = [header.get("scope") for header in parsed.find_all("th")]
    assert scopes.count("col") == 4
    assert scopes.count("row") == 134
    region = next(attributes for attributes in parsed.find_all("div") if "role" in attributes)
    assert (region["role"], region["tabindex"], region["aria-label"]) == ("region", "0", "Table, 134 rows × 3 columns")
    actions = [button["data-action"] for button in parsed.find_all("button")]
    assert actions == ["sort", "sort", "sort", "sort", "all-rows", "copy-csv", "save-csv"]
    html = html_of(BUNDLES["long"])
    assert "Show all 134 rows" in html
    assert '<span class="visually-hidden">Index</span>' in html


def test_notes_of_plotline_are_translated_and_output_with_the_same_words_is_not() -> None:
    ours = "5 more tables are left out here."
    tables = f"<table><caption>{ours}</caption><tr><td>1</td></tr></table>" * (TABLES_LIMIT + 5)
    with translation.override("de"):
        html = html_of({"text/html": f"<p>{ours}</p>{tables}"})
        work = part_html(view_of(ToolResponse("FILE_SEARCH", {"found": ours, "files": [{}, {}]})))
    assert html.count(f"<p>{ours}</p>") == 1
    assert html.count(f'aria-label="Tabelle: {ours}"') == TABLES_LIMIT
    assert html.count('<p class="muted">5 weitere Tabellen') == 1
    assert f"</span> {ours}</p>" in work
    assert "</span> 2 Einträge</p>" in work


def test_headers_of_several_levels_span_their_columns() -> None:
    html = html_of(BUNDLES["multi_index"])
    assert '<th scope="colgroup" colspan="2">size</th>' in html
    assert '<th scope="row">p</th><th scope="row">2</th><td class="number">4</td>' in html


def test_style_sheet_hides_table_rows_above_the_limit_of_rows_shown_at_first() -> None:
    sheet = (settings.BASE_DIR / "static" / "css" / "displays.css").read_text()
    assert f"tr:nth-child(n + {ROWS_SHOWN + 1})" in sheet


def test_html_of_a_display_depends_only_on_its_mime_bundle() -> None:
    for bundle in BUNDLES.values():
        first = html_of(bundle)
        html_tables.read_html.cache_clear()
        svg.sanitize_svg.cache_clear()
        maths.render_formula.cache_clear()
        assert html_of(json.loads(json.dumps(bundle))) == first


# Hostile content

TYPES = [
    *("text/plain", "text/html", "text/latex", "text/markdown", "image/svg+xml", "application/json"),
    *("application/javascript", "application/vnd.plotly.v1+json", "application/vnd.jupyter.widget-view+json"),
]


def hostile_bundles(payload: str) -> list[dict[str, JSON]]:
    """Return bundles with the payload in each type, in each position of a table, a formula and JSON."""
    escaped = payload.replace("&", "&amp;").replace("<", "&lt;")
    quoted = escaped.replace("'", "&#39;")
    table = (
        f"{payload}<table class='{quoted}' onclick='{quoted}'><caption>{payload}</caption><thead><tr><th>{payload}</th>"
        f"<th>{escaped}</th></tr></thead><tr hx-get='{quoted}'><th>{escaped}</th><td>{payload}</td></tr>"
        f"<tr><td colspan='{quoted}'>{escaped}</td></tr></table>{escaped}"
    )
    each_type: list[dict[str, JSON]] = [{mime_type: payload} for mime_type in TYPES]
    return [
        *each_type,
        {payload: payload},
        {"text/html": table},
        {"text/html": escaped, "text/plain": "<a object>"},
        {"application/json": {payload: [payload, {payload: payload}]}},
        {"text/latex": f"${payload}$"},
        {"text/latex": f"{payload} $x$ {payload}"},
        {"text/latex": rf"$\text{{{payload}}}$"},
        {"image/svg+xml": f"<svg><title>{escaped}</title>{payload}</svg>"},
        {"image/svg+xml": f"<svg><title>{escaped}</title><text>{escaped}</text></svg>"},
        {"application/vnd.plotly.v1+json": {"data": payload}, "text/plain": payload},
        {"text/markdown": "\n\n".join([payload, f"- {payload}", f"```html\n{payload}\n```"])},
    ]


def test_attack_in_any_position_of_a_rich_output_stays_text() -> None:
    for payload in SCRIPTS + EXFILTRATION:
        with case(payload):
            for bundle in hostile_bundles(payload):
                html = html_of(bundle)
                assert_is_safe_html(html)
                assert f'src="{ADDRESS}' not in html


# Limits

MEGABYTE = 1_000_000
LARGE_BUNDLES: dict[str, JSON] = {
    "data frame": {"text/html": wide_html(2_500, 20)},
    "one column": {"text/html": wide_html(40_000, 1)},
    "cells with markup": {"text/html": "<table>" + "<tr><td><p><b><i>1</i></b><br>2</p></td></tr>" * 22_000},
    "empty rows": {"text/html": "<table>" + "<tr>" * (MEGABYTE // 4)},
    "nested formatting": {"text/html": "<b a=1><p>" * (MEGABYTE // 10)},
    "elements": {"text/html": "<i>x</i>" * (MEGABYTE // 8)},
    "plain text": {"text/plain": "<&\n" * (MEGABYTE // 3)},
    "json": {"application/json": [1] * (MEGABYTE // 2)},
    "json string": {"application/json": "<" * MEGABYTE},
    "markdown": {"text/markdown": "*a* " * (MEGABYTE // 4)},
    "markdown at its limit": {"text/markdown": "*a* `b` [c](d)\n\n" * (MARKDOWN_LIMIT_CHARS // 16)},
    "latex": {"text/latex": "$" + "x" * MEGABYTE + "$"},
    "latex at its limit": {"text/latex": "$" + "]" * (maths.LIMIT_CHARS - 2) + "$"},
    "svg": {"image/svg+xml": "<svg>" + "<g/>" * (MEGABYTE // 4) + "</svg>"},
    "svg at its limit": {
        "image/svg+xml": "<svg>"
        + '<path d="M0 0" style="fill: red; opacity: 1"/>' * (svg.ELEMENTS_LIMIT - 2)
        + "</svg>"
    },
}


@pytest.mark.parametrize("name", LARGE_BUNDLES)
def test_mime_bundle_of_a_megabyte_is_rendered_in_little_time_to_little_html(name: str) -> None:
    bundle = LARGE_BUNDLES[name]
    assert isinstance(bundle, dict)
    times = []
    for _ in range(3):
        html_tables.read_html.cache_clear()
        svg.sanitize_svg.cache_clear()
        maths.render_formula.cache_clear()
        started_at = time.thread_time()
        html = html_of(bundle)
        times.append(time.thread_time() - started_at)
    # This takes 10 to 45 ms on a machine of 2026. The limit is higher, for slower machines.
    print(f"{name}: {min(times) * 1000:.1f} ms, {len(html):,} characters")
    assert min(times) < 0.25
    assert len(html) < 6 * MEGABYTE
    assert_is_safe_html(html)


def test_html_table_within_the_limits_is_shown_with_all_rows() -> None:
    (table,) = display_blocks({"text/html": wide_html(900, 3)})
    assert isinstance(table, Table)
    assert len(table.rows) == 900
    assert re.fullmatch(r"900 rows × 3 columns", table.size)


def test_data_frame_printed_after_a_text_is_shown_as_a_table_below_the_text() -> None:
    output = "Mean: 5\n   a\n0  4\n1  6\n"
    html = part_html(view_of(CodeExecutionResult(output, OUTCOME_OK)))
    assert html.index("Mean: 5") < html.index("<table>")
    assert "0  4" not in html
    assert re.findall(r">(\w+)</t[hd]>", html[html.index("<tbody>") :]) == ["0", "4", "1", "6"]
    for other in (
        CodeExecutionResult(output, OUTCOME_FAILED),
        CodeExecutionResult(output, OUTCOME_OK, engine=Engine.SESSION),
    ):
        assert "<table>" not in part_html(view_of(other))
