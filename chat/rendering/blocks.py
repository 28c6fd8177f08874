"""Blocks of markdown (CommonMark, GFM, dollar math) to HTML that is safe to show: parse, rewrite, sanitise last.

Raw HTML is shown as typed. Nothing in the result loads by itself: an image is shown as its source text.

No step but the parser's sees further than one top-level block, so the HTML of blocks rendered apart, joined,
equals the HTML of the same blocks rendered together; `documents` rests on that.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator

import comrak
import nh3
from django.utils.safestring import SafeString

from chat.rendering.highlight import CLASSES, LANGUAGES, highlight_code, language_of

#: Deeper elements lose their tags and keep their text: the sanitiser takes time quadratic in depth, and 16 KB of
#: `_` would nest 8,000 deep and take it a second.
DEPTH_LIMIT = 64


def _extensions(*, tables: bool) -> comrak.ExtensionOptions:
    options = comrak.ExtensionOptions()
    options.table = tables
    options.strikethrough = options.tasklist = options.autolink = options.math_dollars = True
    return options


def _render_options(*, positions: bool) -> comrak.RenderOptions:
    options = comrak.RenderOptions()
    options.escape = True
    options.sourcepos = positions
    return options


_WITH_TABLES = _extensions(tables=True)
_WITHOUT_TABLES = _extensions(tables=False)
_WITH_POSITIONS = _render_options(positions=True)
_WITHOUT_POSITIONS = _render_options(positions=False)
_PARSE = comrak.ParseOptions()

_CLEANER = nh3.Cleaner(
    tags={
        *("p", "h1", "h2", "h3", "h4", "h5", "h6", "blockquote", "ul", "ol", "li", "pre", "hr", "br"),
        *("table", "thead", "tbody", "tr", "th", "td", "a", "em", "strong", "del", "code", "span", "input"),
    },
    clean_content_tags=set(),
    attributes={"a": {"href", "title"}, "input": {"checked", "disabled"}, "ol": {"start"}},
    tag_attribute_values={
        "input": {"type": {"checkbox"}},
        "td": {"align": {"left", "center", "right"}},
        "th": {"align": {"left", "center", "right"}},
        "pre": {"data-language": set(LANGUAGES.values())},
    },
    # One for each tag: the sanitiser writes two in an order that changes from process to process.
    set_tag_attribute_values={"a": {"target": "_blank"}},
    allowed_classes={"span": {*CLASSES, "math", "math-inline", "math-block"}, "pre": {"math", "math-block"}},
    url_schemes={"http", "https", "mailto"},
    url_relative="deny",
    link_rel="noopener noreferrer nofollow",
)

# comrak escapes `<`, `>`, `"` and `&` wherever text or attribute values say them, so what looks like a tag is one.
_SOURCE_POSITION = re.compile(r' data-sourcepos="[^"]*"')
_TAG = re.compile(r"<(/?)([a-z][a-z0-9]*)[^>]*>")
_BLOCK = re.compile(
    r'<(?:(/)(?:ul|ol|blockquote)|(ul|ol|blockquote|p|h[1-6]|pre|hr|table)\b[^>]*? data-sourcepos="(\d+):\d+-(\d+):)'
)
_IMAGE = re.compile(r'<img src="([^"]*)" alt="([^"]*)"(?: title="[^"]*")? />')
_LINK = re.compile(r'<a href="([^"]+)"(?: title="[^"]*")?>')
_TITLE_WITHOUT_LINK = re.compile(r'<a title="[^"]*"')
_MATH = re.compile(r'<span data-math-style="(inline|display)">([^<]*)</span>')
_CODE = re.compile(r'<pre><code(?: class="language-([^"]*)")?(?: data-math-style="display")?>([^<]*)</code></pre>')
_ENDS_IN_CODE = re.compile(r"</code></pre>(?:\s*</(?:li|ul|ol|blockquote)>)*\s*\Z")
_CLOSING_FENCE = re.compile(r"[ \t>]*+(?:`{3,}|~{3,})")
_CAN_NEST = ("</em>", "</strong>", "</del>", "</blockquote>", "</li>")


def parse(text: str, *, tables: bool = True, positions: bool = True) -> str:
    """Parse into raw HTML whose elements may say their source position; only `finish` makes it fit to show."""
    if text.startswith("\ufeff"):
        # The parser drops a byte order mark at the start; a fragment that starts with one must keep it.
        text = "\ufeff" + text
    extensions = _WITH_TABLES if tables else _WITHOUT_TABLES
    options = _WITH_POSITIONS if positions else _WITHOUT_POSITIONS
    try:
        return comrak.render_markdown(text, extensions, _PARSE, options)
    except UnicodeEncodeError:
        # Half a surrogate pair, which JSON can say and UTF-8 cannot.
        text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        return comrak.render_markdown(text, extensions, _PARSE, options)


def top_level_blocks(raw: str) -> Iterator[tuple[int, int]]:
    """Yield for each top-level block its first source line, counted from 1, and where its HTML starts.

    Blocks of raw HTML have no element and are not seen: they count as part of the block before. So does a table right
    below a paragraph: its head was the paragraph's last line, which by itself could be a list or indented code.
    """
    depth = 0
    paragraph_end = -1
    for match in _BLOCK.finditer(raw):
        closing, name, first, last = match.groups()
        if closing:
            depth -= 1
            continue
        if depth == 0:
            if name != "table" or int(first) != paragraph_end + 1:
                yield int(first), match.start()
            paragraph_end = int(last) if name == "p" else -1
        if name in ("ul", "ol", "blockquote"):
            depth += 1


def finish(raw: str, *, open_source: str | None = None) -> SafeString:
    """Make the parser's HTML of whole top-level blocks fit to show.

    `open_source` is the last block's source when that may still grow: code at its end is coloured once its fence is
    closed, not again with every line.
    """
    # An open tail comes here 25 times a second and mostly has one kind of these: looking first is cheaper.
    raw = _flatten(_SOURCE_POSITION.sub("", raw) if " data-sourcepos=" in raw else raw)
    if "<img " in raw:
        raw = _IMAGE.sub(r"![\2](\1)", raw)
    if has_links := "<a " in raw:
        # The whole address on hover, in place of a title that could name another one.
        raw = _LINK.sub(r'<a href="\1" title="\1">', raw)
    if "data-math-style=" in raw:
        raw = _MATH.sub(_math, raw)
    if "<pre>" in raw:
        raw = _with_code(raw, open_source)
    raw = _CLEANER.clean(raw)
    # Where the sanitiser took the address away, the title still said it.
    return SafeString(_TITLE_WITHOUT_LINK.sub("<a", raw) if has_links else raw)


def _with_code(raw: str, open_source: str | None) -> str:
    plain = ""
    if open_source is not None and _ENDS_IN_CODE.search(raw) and not _closes_fence(open_source):
        start = raw.rindex("<pre>")
        raw, plain = raw[:start], raw[start:]
    return _CODE.sub(_code, raw) + _CODE.sub(_plain_code, plain)


def _closes_fence(source: str) -> bool:
    """Whether the last line that is not blank looks like the end of a fence; its beginning has no code to colour."""
    source = source.rstrip()
    line_start = max(source.rfind("\n"), source.rfind("\r")) + 1
    return line_start > 0 and _CLOSING_FENCE.fullmatch(source, line_start) is not None


def _flatten(raw: str) -> str:
    """Drop the tags of elements nested deeper than the limit."""
    # What is shorter has no room for so many of them.
    if len(raw) < DEPTH_LIMIT // 2 * len("</em>") or sum(map(raw.count, _CAN_NEST)) < DEPTH_LIMIT // 2:
        return raw
    depth = 0

    def keep(match: re.Match[str]) -> str:
        nonlocal depth
        if match[2] in ("br", "hr", "img", "input"):
            return match[0]
        if match[1]:
            depth -= 1
            return match[0] if depth < DEPTH_LIMIT else ""
        depth += 1
        return match[0] if depth <= DEPTH_LIMIT else ""

    return _TAG.sub(keep, raw)


def _math(match: re.Match[str]) -> str:
    # The dollars stay: what was not meant as math reads as typed, and a typesetter knows them.
    if match[1] == "inline":
        return f'<span class="math math-inline">${match[2]}$</span>'
    return f'<span class="math math-block">$${match[2]}$$</span>'


def _code(match: re.Match[str]) -> str:
    info, escaped = html.unescape(match[1] or ""), match[2]
    if info == "math":
        return f'<pre class="math math-block">{escaped}</pre>'
    return _pre(info, highlight_code(html.unescape(escaped), info))


def _plain_code(match: re.Match[str]) -> str:
    return _pre(html.unescape(match[1] or ""), match[2])


def _pre(info: str, inner: str) -> str:
    language = language_of(info)
    attribute = f' data-language="{language}"' if language else ""
    return f"<pre{attribute}><code>{inner}</code></pre>"
