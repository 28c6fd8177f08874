"""Turns texts and code into CommonMark that every Markdown program shows as intended. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator

import comrak

from chat.page.rendering.tag_names import ELEMENT_TAGS
from chat.vocabulary.markdown_source import fence_code

SANITIZE_LIMIT_CHARS = 256 * 1024
"""Maximum length of texts that are sanitized. Longer ones become code blocks: they are too slow to parse repeatedly."""

_FENCE = re.compile(r"^[ >\t]*?(`{3,}|~{3,})", re.MULTILINE)
_END_OF_TEXT = "plotline8f3b2c71sentinel"
"""A paragraph that is appended to a text. If it is not rendered as a paragraph, the text leaves a block open."""
_OPENING_FENCE = re.compile(r"[ \t>]*+(?>(?:(?:[-+*]|\d{1,9}[.)])[ \t]++)*)(`{3,}+|~{3,}+)")
_CLOSING_FENCE = re.compile(r"[ \t>]*+(`{3,}+|~{3,}+)[`~]*+[ \t]*+\Z")
_TAG_REST = rf"/?(?:br|{'|'.join(ELEMENT_TAGS)})[ \t]*+/?"
_ESCAPED_TAG = re.compile(rf"&lt;({_TAG_REST})&gt;", re.IGNORECASE)
_ANY_TAG = re.compile(r"<(/?)([A-Za-z][A-Za-z0-9]*+)[^<>]*+>")
_VOID_TAGS = ("br", "hr", "img", "input")
# Finds tags of elements that the page shows, and the beginnings of other raw HTML and of images. Indented code, code
# spans and escapes match too, and stay as they are. A code span has at most eight backticks here, because each number
# of backticks that is never closed costs one pass over the text.
_CODE_OR_MARKUP = re.compile(
    rf"""
    ^(?:[ ]{{4}}|\t)[^\n]*$
    | (?<!`)(?P<ticks>`{{1,8}})(?!`).+?(?<!`)(?P=ticks)(?!`)
    | \\.
    | (?P<tag><(?={_TAG_REST}>))
    | (?P<html><(?=[A-Za-z/!?])(?![A-Za-z][A-Za-z0-9+.-]{{1,31}}:[^\s<>]*>|[\w.+-]+@[\w.-]+>))
    | (?P<image>!\[)
    """,
    re.MULTILINE | re.DOTALL | re.VERBOSE,
)
_HTML_BLOCK_ENDS = ("-->", "</pre>", "</script>", "</style>", "</textarea>", "?>", "]]>", ">")
"""The ends of those kinds of HTML blocks that a blank line does not end."""


def _render_options(*, escape: bool) -> comrak.RenderOptions:
    options = comrak.RenderOptions()
    options.escape, options.unsafe_ = escape, not escape
    return options


_ESCAPE_HTML = _render_options(escape=True)
_KEEP_HTML = _render_options(escape=False)


def quote_block(text: str) -> str:
    """Return the text as a block quote, which also closes every block that the text leaves open."""
    return "\n".join(f"> {line}" if line else ">" for line in text.split("\n"))


def sanitize_markdown(text: str) -> str:
    """Return a model's Markdown as the page shows it: HTML and images are text, and every block is closed.

    The tags of elements that the page shows stay if each has its counterpart and no attributes. A text that is too long
    or cannot be sanitized becomes a code block.
    """
    if len(text) > SANITIZE_LIMIT_CHARS:
        return fence_code(text, "text")
    closed = _close_blocks(text)
    if closed is not None and ("<" in closed or "![" in closed):
        closed = next((candidate for candidate in _escaped_candidates(closed) if _is_sanitized(candidate)), None)
    return fence_code(text, "text") if closed is None else closed


def _close_blocks(text: str) -> str | None:
    """Return the text with its open fence or HTML block closed; `None` if no ending closes it."""
    if _is_closed(text):
        return text
    fences = [match[1] for match in _FENCE.finditer(text)]
    endings = (f"{text.rstrip()}\n{end}" for end in [*reversed(fences[-8:]), *_HTML_BLOCK_ENDS])
    return next((candidate for candidate in endings if _is_closed(candidate)), None)


def _is_closed(text: str) -> bool:
    """Return whether a paragraph after the text is rendered as a paragraph."""
    return comrak.render_markdown(f"{text}\n\n{_END_OF_TEXT}").rstrip().endswith(f"<p>{_END_OF_TEXT}</p>")


def _escaped_candidates(text: str) -> Iterator[str]:
    """Yield versions of the text with more and more of its markup escaped: first without changes, last also in code."""
    if _is_sanitized(text):
        yield text
    pieces = list(_split(text))
    for escape in (_escape_markup, _escape_markup_and_tags):
        yield "".join(piece if is_code else _CODE_OR_MARKUP.sub(escape, piece) for piece, is_code in pieces)
    yield text.replace("<", "&lt;").replace("![", "\\!\\[")


def _split(text: str) -> Iterator[tuple[str, bool]]:
    """Yield the pieces of the text, and whether each is a fenced code block. Each line is read about once."""
    lines = text.split("\n")
    start = number = 0
    unclosed_lengths: dict[str, int] = {}
    while number < len(lines):
        opening = _OPENING_FENCE.match(lines[number])
        fence = opening[1] if opening else ""
        if fence and len(fence) < unclosed_lengths.get(fence[0], len(text)):
            end = next((later for later in range(number + 1, len(lines)) if _closes(lines[later], fence)), None)
            if end is not None:
                yield "".join(f"{line}\n" for line in lines[start:number]), False
                yield "\n".join(lines[number : end + 1]) + ("\n" if end + 1 < len(lines) else ""), True
                start = number = end + 1
                continue
            # No later line closes a fence of this length, so none closes a longer one either.
            unclosed_lengths[fence[0]] = len(fence)
        number += 1
    yield "\n".join(lines[start:]), False


def _closes(line: str, fence: str) -> bool:
    closing = _CLOSING_FENCE.match(line)
    return closing is not None and closing[1].startswith(fence)


def _escape_markup(match: re.Match[str]) -> str:
    if match["html"]:
        return "&lt;"
    return "\\!\\[" if match["image"] else match[0]


def _escape_markup_and_tags(match: re.Match[str]) -> str:
    return "&lt;" if match["tag"] else _escape_markup(match)


def _is_sanitized(text: str) -> bool:
    """Return whether the text has no image, and no raw HTML except paired tags of elements that the page shows."""
    escaped = comrak.render_markdown(text, None, None, _ESCAPE_HTML)
    kept = comrak.render_markdown(text, None, None, _KEEP_HTML)
    has_only_allowed_tags = _ESCAPED_TAG.sub(r"<\1>", escaped) == _ESCAPED_TAG.sub(r"<\1>", kept)
    return "<img" not in escaped and has_only_allowed_tags and (escaped == kept or _is_well_formed(kept))


def _is_well_formed(html: str) -> bool:
    open_tags: list[str] = []
    for slash, name in _ANY_TAG.findall(html.lower()):
        if not slash and name not in _VOID_TAGS:
            open_tags.append(name)
        elif slash and (not open_tags or open_tags.pop() != name):
            return False
    return not open_tags
