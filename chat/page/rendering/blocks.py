"""Conversion of markdown blocks (CommonMark, GFM, footnotes, formulas in LaTeX) to safe HTML.

The text is parsed, the parser's HTML is rewritten (`tags`, `element_rewriting`), and the sanitizer runs last. A few
HTML tags become elements. All other HTML is shown as source text, and images are links, so the result loads no
resources. A line of text is never a heading because of the line below it, which may be the beginning of a list.

After parsing, every step processes one top-level block at a time. The HTML of blocks that are rendered separately and
joined therefore equals the HTML of the same blocks rendered together. `documents` relies on this.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import comrak
from django.utils.safestring import SafeString

from chat.page.rendering.element_rewriting import rewrite_code_blocks, rewrite_elements
from chat.page.rendering.file_links import NO_FILE_LINKS, FileLinks
from chat.page.rendering.formula_source import mask_source
from chat.page.rendering.marks import (
    hide_open_item,
    mark_dashes,
    mark_spaces,
    mark_stars,
    mark_strong_ends,
    remove_marks,
)
from chat.page.rendering.sanitizer import sanitize_html
from chat.page.rendering.source_masks import MaskedSource
from chat.page.rendering.tag_names import ELEMENT_TAGS
from chat.page.rendering.tags import build_elements, mark_tags

#: Elements nested deeper than this lose their tags but keep their text. The sanitizer takes time quadratic in the
#: depth: 16 KB of `_` would nest 8,000 levels deep and take about a second.
DEPTH_LIMIT = 64


def _extensions(*, tables: bool, formulas: bool) -> comrak.ExtensionOptions:
    options = comrak.ExtensionOptions()
    options.table = tables
    options.math_dollars = options.math_latex = formulas
    options.strikethrough = options.tasklist = options.autolink = options.footnotes = True
    # Without this, one tilde would strike text out as two do. The subscripts that it makes are turned back into tildes.
    options.subscript = True
    options.cjk_friendly_emphasis = True
    return options


def _render_options(*, positions: bool, line_breaks: bool) -> comrak.RenderOptions:
    options = comrak.RenderOptions()
    options.escape = True
    options.sourcepos = positions
    options.hardbreaks = line_breaks
    return options


_EXTENSIONS = {
    (tables, formulas): _extensions(tables=tables, formulas=formulas)
    for tables in (False, True)
    for formulas in (False, True)
}
_RENDER_OPTIONS = {
    (positions, line_breaks): _render_options(positions=positions, line_breaks=line_breaks)
    for positions in (False, True)
    for line_breaks in (False, True)
}
_PARSE_OPTIONS = comrak.ParseOptions()
# When a list or a sum begins below a line of text, its `-` or `=` would make that line a heading.
_PARSE_OPTIONS.ignore_setext = True

# comrak escapes `<`, `>`, `"` and `&` in text and attribute values, so everything that looks like a tag is a tag.
_SOURCE_POSITION = re.compile(r' data-sourcepos="[^"]*"')
_SUBSCRIPT = re.compile(r"</?sub(?: [^<>]*+)?>")
_TAG = re.compile(r"<(/?)([a-z][a-z0-9]*+)[^<>]*+>")
_BLOCK = re.compile(
    r"<(?:(/)(?:ul|ol|blockquote|details)|(ul|ol|blockquote|details|p|h[1-6]|pre|hr|table)\b"
    r'(?:[^<>]*? data-sourcepos="(\d+):\d+-(\d+):)?)'
)
_LINK_WITHOUT_ADDRESS = re.compile(r'<a(?: (?!href=)[\w-]+="[^"]*")+>')
_ENDS_IN_CODE = re.compile(r"</code></pre>(?:\s*</(?:li|ul|ol|blockquote|details)>)*\s*\Z")
_CLOSING_FENCE = re.compile(r"[ \t>]*+(?:`{3,}|~{3,})")
_NESTABLE_END_TAGS = ("</blockquote>", "</ul>", "</ol>", "</li>", *(f"</{tag}>" for tag in ELEMENT_TAGS))


def parse_markdown(
    text: str,
    *,
    with_tables: bool = True,
    with_formulas: bool = True,
    with_tags: bool = True,
    with_positions: bool = True,
    with_line_breaks: bool = False,
    may_grow: bool = False,
) -> str:
    """Return the parser's HTML, which is unsafe until `make_safe_html` has processed it.

    With `with_tags`, the tags of `tags` are elements. With `may_grow`, some of the end of the text is hidden, see
    `marks`. With `with_positions`, each block has its source position in the attribute `data-sourcepos`. With
    `with_line_breaks`, each line of a paragraph stays a line.
    """
    if text.startswith("\ufeff"):
        # The parser removes one byte order mark at the start. A second one preserves it, since this text may be a
        # fragment from the middle of a document.
        text = "\ufeff" + text
    text = mark_dashes(hide_open_item(text) if may_grow else text, may_grow=may_grow)
    text = mark_spaces(mark_strong_ends(mark_stars(text)))
    if with_tags:
        text = mark_tags(text)
    extensions = _EXTENSIONS[with_tables, with_formulas]
    options = _RENDER_OPTIONS[with_positions, with_line_breaks]
    source = mask_source(text) if with_formulas else MaskedSource(text)
    try:
        raw_html = comrak.render_markdown(source.text, extensions, _PARSE_OPTIONS, options)
    except UnicodeEncodeError:
        # The text contains an unpaired surrogate, which JSON can represent but UTF-8 cannot.
        text = source.text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        raw_html = comrak.render_markdown(text, extensions, _PARSE_OPTIONS, options)
    raw_html = source.unmask(_SUBSCRIPT.sub("~", raw_html) if "sub" in raw_html else raw_html)
    return remove_marks(build_elements(raw_html) if with_tags else raw_html)


def iter_top_level_blocks(raw_html: str) -> Iterator[tuple[int, int]]:
    """Yield (first source line, offset of the HTML) for each top-level block; lines are counted from 1.

    Some blocks count as part of the preceding block. Raw HTML has no element of its own. Footnotes are shown after all
    blocks, wherever they are defined. A table directly below a paragraph has the paragraph's last line as its header,
    and that line alone could be a list or indented code. All blocks within `<details>` are part of it. Text in the same
    paragraph as `<details>` has no position.
    """
    depth = 0
    paragraph_end = -1
    footnotes_start = raw_html.find("<section ")
    for match in _BLOCK.finditer(raw_html, 0, len(raw_html) if footnotes_start < 0 else footnotes_start):
        slash, tag, first_line, last_line = match.groups()
        if slash:
            depth -= 1
            continue
        if first_line:
            if depth == 0 and (tag != "table" or int(first_line) != paragraph_end + 1):
                yield int(first_line), match.start()
            paragraph_end = int(last_line) if tag == "p" else -1
        if tag in ("ul", "ol", "blockquote", "details"):
            depth += 1


def make_safe_html(
    raw_html: str,
    *,
    open_source: str | None = None,
    id_prefix: str = "",
    has_buttons: bool = True,
    file_links: FileLinks = NO_FILE_LINKS,
) -> SafeString:
    """Rewrite and sanitize the parser's HTML of complete top-level blocks.

    `open_source` is the source text of the last block if that block may still grow. Code at its end is then highlighted
    only once its fence is closed, instead of again with every line. `id_prefix`, `has_buttons`, `file_links`: see
    `MarkdownOptions`.
    """
    raw_html = _limit_depth(_SOURCE_POSITION.sub("", raw_html) if " data-sourcepos=" in raw_html else raw_html)
    raw_html = rewrite_elements(raw_html, id_prefix, has_buttons=has_buttons, file_links=file_links)
    if "<pre>" in raw_html:
        raw_html = _render_code_blocks(raw_html, open_source, has_buttons=has_buttons)
    safe_html = sanitize_html(raw_html)
    # Remove the title of links whose address the sanitizer rejected, since the title contains that address.
    return SafeString(_LINK_WITHOUT_ADDRESS.sub("<a>", safe_html) if "<a " in safe_html else safe_html)


def _render_code_blocks(raw_html: str, open_source: str | None, *, has_buttons: bool) -> str:
    """Highlight all code blocks except an unfinished one at the end."""
    unfinished = ""
    if open_source is not None and _ENDS_IN_CODE.search(raw_html) and not _ends_with_closing_fence(open_source):
        start = raw_html.rindex("<pre>")
        raw_html, unfinished = raw_html[:start], raw_html[start:]
    finished_html = rewrite_code_blocks(raw_html, has_buttons=has_buttons)
    return finished_html + rewrite_code_blocks(unfinished, is_finished=False, has_buttons=has_buttons)


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
