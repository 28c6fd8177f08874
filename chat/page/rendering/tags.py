"""HTML tags that models write within Markdown, such as `<br>`, `<sub>` and `<details>`, as elements.

`mark_tags` puts a mark behind the `<` of the allowed tags of the source. The parser then takes them as text, so that
Markdown is parsed around and within them, and escapes them. `build_elements` makes elements of the marked tags in the
parser's HTML, without attributes, and leaves comments out. All other tags stay text:

- Tags in code and formulas, in raw HTML that the parser shows as source, and in attributes.
- A tag without its counterpart within the same element of the parser (paragraph, cell, emphasis, ...).

`<details>` holds whole blocks. Its tags stand at the beginning of a line or within a paragraph, which they split. It
ends at the latest where the list item, the quote or the document ends; it is shown open if its end has not come.
"""

from __future__ import annotations

import re
from collections import Counter

from chat.page.rendering.block_tags import (
    BLOCK_TAGS,
    HEADING_TAGS,
    LINE_MARK,
    TAG_REST,
    mark_block_tags,
    restore_lines,
)
from chat.page.rendering.html_comments import remove_comments
from chat.page.rendering.marks import MARK

PAIRED_TAGS = ("b", "strong", "i", "em", "u", "s", "del", "ins", "mark", "small", "sub", "sup", "kbd", "code")
FOLD_TAGS = ("details", "summary")
ELEMENT_TAGS = (*PAIRED_TAGS, *FOLD_TAGS)
_LIST_TAGS = ("ul", "ol", "li")
"""Elements only in cells of tables, where Markdown has no lists."""
_DROPPED_TAGS = ("span", "font")
"""Without their attributes, these mean nothing. Their content is shown."""

_NAMES = "|".join((*ELEMENT_TAGS, *_DROPPED_TAGS, "br"))
_BLOCK_NAMES = (*BLOCK_TAGS, *HEADING_TAGS)
_LIST_NAMES = "|".join(_LIST_TAGS)
# A tag of a fold that begins a line, after any quote and list markers.
_FOLD_LINE = re.compile(
    r"(?:\A|(?<=[\r\n]))((?>(?:[ \t>]|[-+*][ \t]|\d{1,9}[.)][ \t])*))<(?=/?(?:details|summary)" + TAG_REST + ")",
    re.IGNORECASE,
)
# Escapes are matched too, so that an escaped `<` begins no tag and an escaped comment is none.
_SOURCE_TAG = re.compile(
    rf"(?P<escape>\\(?!<!--)[^\r\n])|(?:\\<|&(?:lt|\#60|\#x3c);)!(?=--)|<(?=/?(?:{_NAMES}){TAG_REST})", re.IGNORECASE
)
_ROW_WITH_LIST = re.compile(r"(?:\A|(?<=[\r\n]))[ \t>]*+\|[^\r\n<]*+<[^\r\n]*+")
_LIST_TAG = re.compile(rf"(?<!\\)<(?=/?(?:{_LIST_NAMES})>)", re.IGNORECASE)
_MARKED_TAG = re.compile(
    rf"&lt;{MARK}++(/?)({_NAMES}|{_LIST_NAMES}|{'|'.join(_BLOCK_NAMES)})(?![a-z\d])((?>(?:[^&<{MARK}]+|&(?!gt;))*))&gt;",
    re.IGNORECASE,
)
_OPEN = ' open=""'
_OPEN_ATTRIBUTE = re.compile(r"\sopen\b", re.IGNORECASE)
_TOKEN = re.compile(r"<(/?)([a-z][a-z0-9]*+)[^<>]*+>|[^<]++")
# Blocks without marked tags are read at once, which halves the time of a long fold.
_LEAF = "p|pre|li|td|th|h[1-6]"
_TOKEN_OR_BLOCK = re.compile(
    rf"<({_LEAF})(?: [^<>]*+)?>(?>(?:[^<{MARK}]+|<(?!/?(?:{_LEAF}|ul|ol|blockquote|tr|table)[ >]))*)</\1>|"
    + _TOKEN.pattern
)
_FOLD_HEADING = re.compile(rf"<h1((?: [^<>]*+)?)>(?=&lt;{LINE_MARK}/?(?:details|summary))", re.IGNORECASE)
_VOID_TAGS = ("br", "hr", "img", "input")
_TEXT_PARENTS = ("p", "h1", "h2", "h3", "h4", "h5", "h6", "li", "td", "th", "em", "strong", "del", "a")
_BLOCK_TAGS = ("ul", "ol", "table", "blockquote", "pre", "section", "h1", "h2", "h3", "h4", "h5", "h6", "hr")


def mark_tags(text: str) -> str:
    """Return the source with its allowed tags marked (`MARK`); no line is added or removed.

    A line that begins with a tag of a fold becomes a heading, so that it ends lists and paragraphs as HTML does.
    """
    if "<" not in text and "&" not in text:
        return text
    text = mark_block_tags(text)
    text = _SOURCE_TAG.sub(_marked, _FOLD_LINE.sub(rf"\1# <{LINE_MARK}", text))
    return _ROW_WITH_LIST.sub(lambda row: _LIST_TAG.sub(f"<{MARK}", row[0]), text) if "|" in text else text


def _marked(match: re.Match[str]) -> str:
    return match[0] if match["escape"] else match[0] + MARK


def build_elements(raw_html: str) -> str:
    """Return the parser's HTML with elements for marked tags and without comments."""
    raw_html = remove_comments(raw_html)
    if f"&lt;{MARK}" in raw_html:
        raw_html = _Builder().build(raw_html)
    return restore_lines(raw_html)


class _Fold:
    """A `<details>` whose end has not come."""

    def __init__(self, position: int) -> None:
        self.position = position
        """Position of its tag in the output."""
        self.summary = ""
        """`open` within its summary, `implied` after one that ended without its tag, `closed` after any other."""


class _Frame:
    """The document, or an open element of the parser."""

    def __init__(self, name: str, tag: str = "") -> None:
        self.name = name
        self.tag = tag
        """What opens a paragraph, as soon as it has text; folds split it into several."""
        self.is_open = False
        """Whether a paragraph's tag was written and not closed."""
        self.is_in_summary = False
        """Whether a paragraph is within a summary that began in it."""
        self.tags: list[tuple[str, int]] = []
        """The open paired tags: names and positions in the output."""
        self.counts: Counter[str] = Counter()
        """How many of them there are, by name."""
        self.folds: list[_Fold] = []


class _Builder:
    """Makes elements of marked tags, in linear time."""

    def __init__(self) -> None:
        self._output: list[str] = []
        self._frames = [_Frame("")]

    def build(self, raw_html: str) -> str:
        """Return the parser's HTML with the elements."""
        for token in _TOKEN_OR_BLOCK.finditer(_FOLD_HEADING.sub(r"<p\1>", raw_html)):
            tag, block, slash, name = token[0], token[1], token[2], token[3]
            if block:
                self._add_block(block, tag)
            elif not name:
                self._add_text(tag)
            elif slash:
                self._close(name, tag)
            elif name in _VOID_TAGS:
                if name == "hr":
                    self._end_summary(self._frames[-1])
                self._write(tag)
            else:
                self._open(name, tag)
        self._end_folds(self._frames[0])
        return "".join(self._output)

    def _add_block(self, name: str, block: str) -> None:
        """Add a block without marked tags."""
        parent = self._frames[-1]
        if name != "p":
            self._end_summary(parent)
        self._output.append(block)
        self._end_summary(parent)

    def _open(self, name: str, tag: str) -> None:
        parent = self._frames[-1]
        if name in _BLOCK_TAGS:
            self._end_summary(parent)
        if name == "section":
            self._end_folds(parent)
        if name != "p":
            self._write(tag)
        self._frames.append(_Frame(name, tag))

    def _close(self, name: str, tag: str) -> None:
        frame = self._frames.pop()
        if frame.name != "p":
            self._end_folds(frame)
            self._output.append(tag)
            return
        # A summary has at most the text of its own line and the paragraph after it.
        if not frame.is_in_summary:
            self._end_paragraph(frame)
            self._end_summary(self._frames[-1])

    def _add_text(self, text: str) -> None:
        if MARK not in text or self._frames[-1].name not in _TEXT_PARENTS:
            self._write(text)
            return
        end = 0
        for match in _MARKED_TAG.finditer(text):
            self._write(text[end : match.start()])
            self._add_tag(match[0], bool(match[1]), match[2].lower(), match[3])
            end = match.end()
        self._write(text[end:])

    def _write(self, piece: str) -> None:
        """Write text or an inline element, if necessary after the tag of its paragraph."""
        frame = self._frames[-1]
        if frame.name == "p" and not frame.is_open and not frame.is_in_summary:
            if not piece or piece.isspace():
                return
            self._output.append(frame.tag)
            frame.is_open = True
        self._output.append(piece)

    def _add_tag(self, source: str, is_end: bool, name: str, rest: str) -> None:
        frame = self._frames[-1]
        if name == "br":
            # The line feed separates the lines for searches, for speech and in CSV.
            self._write("<br />\n")
        elif name in _BLOCK_NAMES:
            self._break_block(frame, name)
        elif (
            rest.endswith("/")
            or (is_end and name not in FOLD_TAGS and not frame.counts[name])
            or (name in _LIST_TAGS and frame.name not in ("td", "th"))
        ):
            self._write(source)
        elif name in FOLD_TAGS:
            self._add_fold_tag(source, is_end, name, rest)
        elif not is_end:
            self._write(source)
            frame.tags.append((name, len(self._output) - 1))
            frame.counts[name] += 1
        else:
            opened = ""
            while opened != name:
                opened, position = frame.tags.pop()
                frame.counts[opened] -= 1
            if name in _DROPPED_TAGS:
                self._output[position] = ""
                return
            # Line feeds separate the items of a list for searches, for speech and in CSV.
            self._output[position] = f"\n<{name}>" if name in _LIST_TAGS else f"<{name}>"
            self._write(f"</{name}>")

    def _break_block(self, frame: _Frame, name: str) -> None:
        """Drop a tag of a block. Text before it and after it are different paragraphs."""
        if frame.name in ("li", "td", "th"):
            self._write("\n")
        if frame.name != "p":
            return
        if frame.is_open:
            self._end_paragraph(frame)
        if name == "hr" and not frame.is_in_summary:
            self._output.append("<hr />\n")

    def _add_fold_tag(self, source: str, is_end: bool, name: str, rest: str) -> None:
        frame = self._frames[-1]
        container = self._frames[-2] if frame.name == "p" else frame
        fold = container.folds[-1] if container.folds else None
        is_allowed = container.name in ("", "blockquote", "li", "td")
        if name == "details" and not is_end and is_allowed:
            self._open_fold(frame, container, rest)
        elif fold is None or (name == "summary" and bool(fold.summary) != is_end):
            self._write(source)
        elif name == "details":
            self._end_paragraph(frame)
            self._end_summary(container)
            container.folds.pop()
            self._output.append("</details>\n")
        elif not is_end:
            self._end_paragraph(frame)
            self._output.append("<summary>")
            fold.summary, frame.is_in_summary = "open", frame.name == "p"
        elif fold.summary == "closed":
            self._write(source)
        else:
            self._end_paragraph(frame)
            self._end_summary(container)
            fold.summary = "closed"

    def _open_fold(self, frame: _Frame, container: _Frame, rest: str) -> None:
        # Only a fold that begins a block has a position.
        position = "" if frame.name != "p" or frame.is_open else frame.tag[len("<p") : -1]
        self._end_paragraph(frame)
        self._end_summary(container)
        container.folds.append(_Fold(len(self._output)))
        self._output.append(f"<details{position}{_OPEN if _OPEN_ATTRIBUTE.search(rest) else ''}>")

    def _end_paragraph(self, frame: _Frame) -> None:
        """End the text before a tag of a fold. Tags that are open in it stay text."""
        frame.tags.clear()
        frame.counts.clear()
        if frame.is_open:
            self._output.append("</p>")
        frame.tag, frame.is_open, frame.is_in_summary = "<p>", False, False

    def _end_summary(self, container: _Frame) -> None:
        if container.folds and container.folds[-1].summary == "open":
            container.folds[-1].summary = "implied"
            self._output.append("</summary>")

    def _end_folds(self, container: _Frame) -> None:
        """End folds without end tags. They are open, so that a reader sees their text while it arrives."""
        while container.folds:
            self._end_summary(container)
            position = container.folds.pop().position
            self._output[position] = self._output[position].removesuffix(">").removesuffix(_OPEN) + f"{_OPEN}>"
            self._output.append("</details>\n")
