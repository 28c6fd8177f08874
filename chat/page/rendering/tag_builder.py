"""Makes elements of the marked tags in the parser's HTML, see `tags`.

`<details>`, `<ul>` and `<ol>` hold whole blocks. Their tags split the paragraph around them. They end at the latest
where the list item, the cell, the quote or the document ends. A `<details>` whose end tag is missing is shown open.
"""

from __future__ import annotations

import html
import re

from chat.page.rendering.marks import MARK
from chat.page.rendering.tag_attributes import image_element, link_address, start_attribute
from chat.page.rendering.tag_frames import Fold, Frame
from chat.page.rendering.tag_names import (
    BLOCK_NAMES,
    DROPPED_TAGS,
    FOLD_TAGS,
    INLINE_NAMES,
    LINE_MARK,
    LIST_NAMES,
    LIST_TAGS,
)

_MARKED_TAG = re.compile(
    rf"&lt;{MARK}++(/?)({INLINE_NAMES}|{LIST_NAMES}|{BLOCK_NAMES}|a|img)(?![a-z\d])((?>(?:[^&<]+|&(?![gl]t;))*))&gt;",
    re.IGNORECASE,
)
_OPEN = ' open=""'
_OPEN_ATTRIBUTE = re.compile(r"\sopen\b", re.IGNORECASE)
_TOKEN = re.compile(r"<(/?)([a-z][a-z0-9]*+)[^<>]*+>|[^<]++")
# Blocks without marked tags are read as a whole, which halves the time for a long `<details>`.
_LEAF = "p|pre|li|td|th|h[1-6]"
_TOKEN_OR_BLOCK = re.compile(
    rf"<({_LEAF})(?: [^<>]*+)?>(?>(?:[^<{MARK}]+|<(?!/?(?:{_LEAF}|ul|ol|blockquote|tr|table)[ >]))*)</\1>|"
    + _TOKEN.pattern
)
_FOLD_HEADING = re.compile(rf"<h1((?: [^<>]*+)?)>(?=&lt;{LINE_MARK}/?(?:details|summary))", re.IGNORECASE)
_VOID_TAGS = ("br", "hr", "img", "input")
_TEXT_PARENTS = ("p", "h1", "h2", "h3", "h4", "h5", "h6", "li", "td", "th", "em", "strong", "del", "a")
_BREAKS = frozenset(BLOCK_NAMES.split("|"))
_BLOCK_TAGS = ("ul", "ol", "table", "blockquote", "pre", "section", "h1", "h2", "h3", "h4", "h5", "h6", "hr")


class Builder:
    """Makes elements of marked tags, in linear time."""

    def __init__(self) -> None:
        self._output: list[str] = []
        self._frames = [Frame("")]
        self._links = 0
        """Number of open links: links of the parser, and tags `<a>` that may become a link."""
        self._addresses: dict[int, str] = {}
        """Position of a tag `<a>` in the output -> its address."""

    def build(self, raw_html: str) -> str:
        """Return the parser's HTML, with an element in place of each marked tag."""
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
        """Add a block without marked tags to the output."""
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
        self._links += name == "a"
        self._frames.append(Frame(name, tag))

    def _close(self, name: str, tag: str) -> None:
        frame = self._frames.pop()
        self._links -= (frame.name == "a") + frame.counts["a"]
        if frame.name != "p":
            self._end_folds(frame)
            self._output.append(tag)
            return
        # A summary goes on after the paragraph in which it began, at most to the end of the next one.
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
        elif name in _BREAKS:
            self._break_block(frame, name)
        elif name == "img":
            self._write(image_element(rest) or source)
        elif name in LIST_TAGS and frame.name not in ("td", "th"):
            self._add_list_tag(source, is_end, name, rest)
        elif (
            rest.endswith("/")
            or (is_end and name not in FOLD_TAGS and not frame.counts[name])
            or (name == "a" and not is_end and (self._links or not link_address(rest)))
        ):
            self._write(source)
        elif name in FOLD_TAGS:
            self._add_fold_tag(source, is_end, name, rest)
        elif not is_end:
            self._write(source)
            frame.tags.append((name, len(self._output) - 1))
            frame.counts[name] += 1
            if name == "a":
                self._links += 1
                self._addresses[len(self._output) - 1] = link_address(rest)
        else:
            self._end_pair(frame, name)

    def _end_pair(self, frame: Frame, name: str) -> None:
        """Make an element of the last open tag with this name and the content after it. Open tags in it stay text."""
        opened = ""
        while opened != name:
            opened, position = frame.tags.pop()
            frame.counts[opened] -= 1
            self._links -= opened == "a"
        if name in DROPPED_TAGS:
            self._output[position] = ""
            return
        if name == "a":
            self._end_link(position)
            return
        # Line feeds separate the items of a list for searches, for speech and in CSV.
        self._output[position] = f"\n<{name}>" if name in LIST_TAGS else f"<{name}>"
        self._write(f"</{name}>")

    def _end_link(self, start: int) -> None:
        """Make a link of a tag and the content after it. Remove the parser's links in it, which repeat its address."""
        for position in range(start + 1, len(self._output)):
            if self._output[position].startswith(("<a ", "</a>")):
                self._output[position] = ""
        self._output[start] = f'<a href="{html.escape(self._addresses[start])}">'
        self._output.append("</a>")

    def _add_list_tag(self, source: str, is_end: bool, name: str, rest: str) -> None:
        frame = self._frames[-1]
        container = self._frames[-2] if frame.name == "p" else frame
        folds = container.folds
        top = folds[-1].name if folds else ""
        is_allowed = container.name in ("", "blockquote", "li") and not frame.is_in_summary
        if is_end:
            is_allowed = top in LIST_TAGS and (name != "li" or top == "li")
        elif name == "li":
            is_allowed = top in LIST_TAGS
        if not is_allowed:
            self._write(source)
            return
        position = self._start_position(frame)
        self._end_paragraph(frame)
        if top == "li" and (is_end or name == "li"):
            self._end_fold(container)
        if is_end and name != "li":
            self._end_fold(container)
        if is_end:
            return
        folds.append(Fold(name, len(self._output)))
        if name == "li":
            self._output.append("<li>")
            frame.tag = ""
            return
        # A line feed separates the list from the text of its item.
        before = "\n" if top == "li" or frame.name == "li" else ""
        self._output.append(f"{before}<{name}{position}{start_attribute(rest) if name == 'ol' else ''}>\n")

    def _break_block(self, frame: Frame, name: str) -> None:
        """Drop a tag that only ends a paragraph. The texts before and after it become separate paragraphs."""
        if frame.name in ("li", "td", "th"):
            self._write("\n")
        if frame.name != "p":
            return
        if frame.is_open:
            self._end_paragraph(frame)
        if name == "hr" and not frame.is_in_summary:
            self._output.append(f"<hr{self._start_position(frame)} />\n")
            frame.tag = "<p>"

    def _add_fold_tag(self, source: str, is_end: bool, name: str, rest: str) -> None:
        frame = self._frames[-1]
        container = self._frames[-2] if frame.name == "p" else frame
        fold = container.folds[-1] if container.folds else None
        is_allowed = container.name in ("", "blockquote", "li", "td")
        if name == "details" and not is_end and is_allowed:
            self._open_fold(frame, container, rest)
            return
        while fold and fold.name != "details" and name == "details" and is_end:
            self._end_fold(container)
            fold = container.folds[-1] if container.folds else None
        if fold is None or fold.name != "details" or (name == "summary" and bool(fold.summary) != is_end):
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

    def _open_fold(self, frame: Frame, container: Frame, rest: str) -> None:
        position = self._start_position(frame)
        self._end_paragraph(frame)
        self._end_summary(container)
        container.folds.append(Fold("details", len(self._output)))
        self._output.append(f"<details{position}{_OPEN if _OPEN_ATTRIBUTE.search(rest) else ''}>")

    def _start_position(self, frame: Frame) -> str:
        """Return the source position of the paragraph if it has no text yet; else an empty string."""
        return "" if frame.name != "p" or frame.is_open else frame.tag[len("<p") : -1]

    def _end_paragraph(self, frame: Frame) -> None:
        """End the paragraph before a tag of `<details>` or a list. Open tags within it stay text."""
        self._links -= frame.counts["a"]
        frame.tags.clear()
        frame.counts.clear()
        if frame.is_open and frame.tag:
            self._output.append("</p>")
        frame.tag, frame.is_open, frame.is_in_summary = "<p>", False, False

    def _end_summary(self, container: Frame) -> None:
        if container.folds and container.folds[-1].summary == "open":
            container.folds[-1].summary = "implied"
            self._output.append("</summary>")

    def _end_fold(self, container: Frame) -> None:
        """End the innermost `<details>`, list or item, whose end tag is missing. `<details>` is then shown open."""
        fold = container.folds[-1]
        self._end_summary(container)
        container.folds.pop()
        if fold.name == "details":
            start = self._output[fold.position].removesuffix(">").removesuffix(_OPEN)
            self._output[fold.position] = f"{start}{_OPEN}>"
        self._output.append(f"</{fold.name}>\n")

    def _end_folds(self, container: Frame) -> None:
        while container.folds:
            self._end_fold(container)
