"""Conversion of markdown blocks (CommonMark, GFM, math between dollar signs) to safe HTML.

The text is parsed, the parser's HTML is rewritten, and the sanitizer runs last. Raw HTML and images are shown as source
text, so the result loads no resources.

After parsing, every step processes one top-level block at a time. The HTML of blocks that are rendered separately and
joined therefore equals the HTML of the same blocks rendered together. `documents` relies on this.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator

import comrak
import nh3
from django.utils.safestring import SafeString

from chat.rendering.highlight import LANGUAGES, TOKEN_CLASSES, find_language, highlight_code

#: Elements nested deeper than this lose their tags but keep their text. The sanitizer takes time quadratic in the
#: depth: 16 KB of `_` would nest 8,000 levels deep and take about a second.
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
_PARSE_OPTIONS = comrak.ParseOptions()

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
    # At most one attribute per tag: the order in which the sanitizer writes two differs between processes.
    set_tag_attribute_values={"a": {"target": "_blank"}},
    allowed_classes={"span": {*TOKEN_CLASSES, "math", "math-inline", "math-block"}, "pre": {"math", "math-block"}},
    url_schemes={"http", "https", "mailto"},
    url_relative="deny",
    link_rel="noopener noreferrer nofollow",
)

# comrak escapes `<`, `>`, `"` and `&` in text and attribute values, so everything that looks like a tag is a tag.
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
_NESTABLE_END_TAGS = ("</em>", "</strong>", "</del>", "</blockquote>", "</li>")


def parse_markdown(text: str, *, with_tables: bool = True, with_positions: bool = True) -> str:
    """Return the parser's HTML, which is unsafe until `make_safe_html` has processed it.

    With `with_positions`, each element has its source position in the attribute `data-sourcepos`.
    """
    if text.startswith("\ufeff"):
        # The parser removes one byte order mark at the start. A second one preserves it, since this text may be a
        # fragment from the middle of a document.
        text = "\ufeff" + text
    extensions = _WITH_TABLES if with_tables else _WITHOUT_TABLES
    options = _WITH_POSITIONS if with_positions else _WITHOUT_POSITIONS
    try:
        return comrak.render_markdown(text, extensions, _PARSE_OPTIONS, options)
    except UnicodeEncodeError:
        # The text contains an unpaired surrogate, which JSON can represent but UTF-8 cannot.
        text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        return comrak.render_markdown(text, extensions, _PARSE_OPTIONS, options)


def iter_top_level_blocks(raw_html: str) -> Iterator[tuple[int, int]]:
    """Yield (first source line, offset of the HTML) for each top-level block; lines are counted from 1.

    Two kinds of blocks count as part of the preceding block. Raw HTML has no element of its own. A table directly below
    a paragraph has the paragraph's last line as its header, and that line alone could be a list or indented code.
    """
    depth = 0
    paragraph_end = -1
    for match in _BLOCK.finditer(raw_html):
        slash, tag, first_line, last_line = match.groups()
        if slash:
            depth -= 1
            continue
        if depth == 0:
            if tag != "table" or int(first_line) != paragraph_end + 1:
                yield int(first_line), match.start()
            paragraph_end = int(last_line) if tag == "p" else -1
        if tag in ("ul", "ol", "blockquote"):
            depth += 1


def make_safe_html(raw_html: str, *, open_source: str | None = None) -> SafeString:
    """Rewrite and sanitize the parser's HTML of complete top-level blocks.

    `open_source` is the source text of the last block if that block may still grow. Code at its end is then highlighted
    only once its fence is closed, instead of again with every line.
    """
    # While an answer streams, its tail is rendered up to 25 times a second and rarely contains all of these elements,
    # so a search comes before each substitution.
    raw_html = _limit_depth(_SOURCE_POSITION.sub("", raw_html) if " data-sourcepos=" in raw_html else raw_html)
    if "<img " in raw_html:
        raw_html = _IMAGE.sub(r"![\2](\1)", raw_html)
    if has_links := "<a " in raw_html:
        # The tooltip shows the complete address. The author's title is dropped because it could name another address.
        raw_html = _LINK.sub(r'<a href="\1" title="\1">', raw_html)
    if "data-math-style=" in raw_html:
        raw_html = _MATH.sub(_render_math, raw_html)
    if "<pre>" in raw_html:
        raw_html = _render_code_blocks(raw_html, open_source)
    raw_html = _CLEANER.clean(raw_html)
    # Remove the title of links whose address the sanitizer rejected, since the title contains that address.
    return SafeString(_TITLE_WITHOUT_LINK.sub("<a", raw_html) if has_links else raw_html)


def _render_code_blocks(raw_html: str, open_source: str | None) -> str:
    """Highlight all code blocks except an unfinished one at the end."""
    unfinished = ""
    if open_source is not None and _ENDS_IN_CODE.search(raw_html) and not _ends_with_closing_fence(open_source):
        start = raw_html.rindex("<pre>")
        raw_html, unfinished = raw_html[:start], raw_html[start:]
    return _CODE.sub(_render_code_block, raw_html) + _CODE.sub(_render_plain_code_block, unfinished)


def _ends_with_closing_fence(source: str) -> bool:
    """Return whether the last non-blank line looks like a closing fence.

    A source whose only line is a fence returns False: that line opens the block.
    """
    source = source.rstrip()
    line_start = max(source.rfind("\n"), source.rfind("\r")) + 1
    return line_start > 0 and _CLOSING_FENCE.fullmatch(source, line_start) is not None


def _limit_depth(raw_html: str) -> str:
    """Remove the tags of elements that are nested deeper than `DEPTH_LIMIT`."""
    # Each nestable end tag accounts for at most two levels (a list and its item), so fewer tags cannot reach the limit.
    minimum_tags = DEPTH_LIMIT // 2
    if len(raw_html) < minimum_tags * len("</em>") or sum(map(raw_html.count, _NESTABLE_END_TAGS)) < minimum_tags:
        return raw_html
    depth = 0

    def replacement(match: re.Match[str]) -> str:
        nonlocal depth
        if match[2] in ("br", "hr", "img", "input"):
            return match[0]
        if match[1]:
            depth -= 1
            return match[0] if depth < DEPTH_LIMIT else ""
        depth += 1
        return match[0] if depth <= DEPTH_LIMIT else ""

    return _TAG.sub(replacement, raw_html)


def _render_math(match: re.Match[str]) -> str:
    # The dollar signs stay: text that was not meant as math then reads as typed, and math renderers expect them.
    if match[1] == "inline":
        return f'<span class="math math-inline">${match[2]}$</span>'
    return f'<span class="math math-block">$${match[2]}$$</span>'


def _render_code_block(match: re.Match[str]) -> str:
    info, escaped = html.unescape(match[1] or ""), match[2]
    if info == "math":
        return f'<pre class="math math-block">{escaped}</pre>'
    return _pre_element(info, highlight_code(html.unescape(escaped), info))


def _render_plain_code_block(match: re.Match[str]) -> str:
    return _pre_element(html.unescape(match[1] or ""), match[2])


def _pre_element(info: str, inner_html: str) -> str:
    language = find_language(info)
    attribute = f' data-language="{language}"' if language else ""
    return f"<pre{attribute}><code>{inner_html}</code></pre>"
