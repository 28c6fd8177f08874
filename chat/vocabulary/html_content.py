"""Reads HTML for a reader: its text with headings, lists and links, its tables, and notes about what cannot be shown.
Pure.

Pages show the text as Markdown and models read it as plain text, so both get the same content. The work is limited for
any HTML: see the limits here and in `html_elements`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TypeAlias

from lxml import etree

from chat.vocabulary.html_elements import (
    BLOCKS,
    CONTROLS,
    HIDDEN,
    HTML_LIMIT_CHARS,
    MEDIA,
    TAKEN_ADDRESS,
    Element,
    address_of,
    followed_address,
    parse_html,
)
from chat.vocabulary.html_lines import LineWriter
from chat.vocabulary.markdown_source import fence_code

ELEMENTS_LIMIT = 10_000
"""Maximum number of elements outside of tables that are read."""
TEXT_LIMIT_CHARS = 20_000
"""Maximum number of characters outside of tables that are kept."""

CUT = "The rest of this output is left out here."
CONTROLS_NOTE = "Buttons and other controls do not work here."
SCRIPT_NOTE = "This output needs a script, and scripts of code are not run here."
OBJECT_NOTE = "A drawing or an embedded object is not shown here."
TRUST_WORDS = "Make this Notebook Trusted to load map"
"""The beginning of the sentence that maps of Folium show to readers in Jupyter."""
ANIMATION_NOTES = (
    "An animation of {number} frames cannot be played here; its first frame follows.",
    "An animation of {number} frames cannot be played here.",
)
"""The note for an animation whose first frame is shown after it, and the note for any other animation."""
ANIMATION_HELP = (
    "To show it, save it as a GIF with save('animation.gif', writer='pillow') and display Image('animation.gif')."
)
_NAMED: dict[str, tuple[str, str, str]] = {
    "img": ("A picture follows.", "A picture at another address is not loaded here.", "A picture is not shown here."),
    "audio": (
        "A sound cannot be played here; its file follows.",
        "A sound at another address is not played here.",
        "A sound cannot be played here.",
    ),
    "video": (
        "A video cannot be played here; its file follows.",
        "A video at another address is not played here.",
        "A video cannot be played here.",
    ),
    "iframe": (OBJECT_NOTE, "A page at another address is not shown here.", "An embedded page is not shown here."),
}
"""Element -> three notes: for one whose bytes follow as a file, for one at a web address, and for any other."""

_FRAME = re.compile(r"""\bframes\[\d{1,7}\] = "data:image/""")
"""The beginning of a frame in the HTML that matplotlib's `to_jshtml` writes."""
_COSTS = {"table": 20, "pre": 20, **dict.fromkeys(MEDIA, 100)}
"""How much each element counts towards `ELEMENTS_LIMIT`: more than 1 if it becomes a piece of its own."""
_HEADINGS = {f"h{level}": level for level in range(1, 7)}


@dataclass(frozen=True, slots=True)
class HtmlNote:
    """A sentence about content that is not shown. Plotline wrote it, and pages translate it."""

    text: str


HtmlPiece: TypeAlias = "Element | str | HtmlNote"
"""A table that contains no other table, or a text, or a note about content that is not shown."""


def read_pieces(source: str, *, as_markdown: bool = False) -> list[HtmlPiece]:
    """Return the text, the tables and the notes of HTML, in their order. A table that contains tables is only layout.

    `as_markdown`: return texts as Markdown in which only headings, lists and links are markup. Otherwise they are plain
    text.
    """
    if frames := count_frames(source):
        return _animation(frames, has_frame=False)
    root = parse_html(source)
    if root is None:
        return []
    pieces = _Pieces(as_markdown=as_markdown)
    pieces.read(root)
    if len(source) > HTML_LIMIT_CHARS and not any(not isinstance(piece, str | HtmlNote) for piece in pieces.found):
        pieces.add_note(CUT)
    if not pieces.found and "<script" in source:
        pieces.add_note(SCRIPT_NOTE)
    return pieces.found


def count_frames(source: str) -> int:
    """Return the number of frames of an animation that a script plays; 0 for other HTML."""
    return sum(1 for _ in _FRAME.finditer(source)) if 'frames[0] = "data:image/' in source else 0


def _animation(frames: int, *, has_frame: bool) -> list[HtmlPiece]:
    sentence = ANIMATION_NOTES[0 if has_frame else 1].format(number=f"{frames:,}")
    return [HtmlNote(f"{sentence} {ANIMATION_HELP}")]


class _Pieces:
    """Collects the pieces of a document."""

    def __init__(self, *, as_markdown: bool) -> None:
        self.found: list[HtmlPiece] = []
        self._lines = LineWriter(as_markdown=as_markdown)
        self._as_markdown = as_markdown
        self._chars = 0
        self._has_controls = False

    def read(self, root: Element) -> None:
        """Read the document until a limit is reached."""
        walker = etree.iterwalk(root, events=("start", "end"))
        number = 0
        for event, element in walker:
            number += _COSTS.get(element.tag, 1)
            if number > 2 * ELEMENTS_LIMIT or self._chars > TEXT_LIMIT_CHARS:
                self.add_note(CUT)
                break
            if event == "end":
                self._end(element)
            elif self._start(element):
                walker.skip_subtree()
        self._flush()
        if self._has_controls:
            self.add_note(CONTROLS_NOTE)

    def add_note(self, sentence: str) -> None:
        """Add a note, unless the last piece is the same note."""
        self._flush()
        note = HtmlNote(sentence)
        if self.found[-1:] != [note]:
            self.found.append(note)

    def _flush(self) -> None:
        if text := self._lines.take():
            self.found.append(text)

    def _start(self, element: Element) -> bool:
        """Read the beginning of an element; return whether its content is to be skipped."""
        tag = element.tag
        if tag in HIDDEN or tag in CONTROLS:
            self._has_controls = self._has_controls or tag in CONTROLS
            return True
        if tag in MEDIA:
            self._add_media(element)
            return True
        if tag == "table" and element.find(".//table") is None:
            self._flush()
            self.found.append(element)
            return True
        if tag == "pre":
            self._add_preformatted(element)
            return True
        self._begin_block(element)
        self._add_text(element.text)
        return False

    def _begin_block(self, element: Element) -> None:
        tag = element.tag
        if tag in ("ul", "ol"):
            self._lines.open_list(is_ordered=tag == "ol")
        elif tag == "li":
            self._lines.begin_item()
        elif tag in _HEADINGS:
            self._lines.begin_heading(_HEADINGS[tag])
        elif tag in BLOCKS:
            self._lines.end_line(is_break=tag == "br")
        elif tag == "a":
            self._lines.open_link(address_of(element))

    def _end(self, element: Element) -> None:
        tag = element.tag
        if tag in ("ul", "ol"):
            self._lines.close_list()
        elif tag == "a":
            self._lines.close_link()
        elif tag == "li" or tag in _HEADINGS:
            self._lines.end_block()
        elif tag in BLOCKS and tag != "br":
            self._lines.end_line()
        self._add_text(element.tail)

    def _add_text(self, text: str | None) -> None:
        if text and not text.startswith(TRUST_WORDS):
            self._lines.add(text[:TEXT_LIMIT_CHARS])
            self._chars += len(text)

    def _add_preformatted(self, element: Element) -> None:
        text = "".join(element.itertext())
        self._chars += len(text)
        text = text[:TEXT_LIMIT_CHARS].strip("\n")
        if text.strip():
            self._flush()
            self.found.append(fence_code(text, "text") if self._as_markdown else text)

    def _add_media(self, element: Element) -> None:
        source = (element.get("src") or element.get("data") or "").strip()
        if not source and element.tag in ("audio", "video"):
            source = next((inner.get("src") or "" for inner in element if inner.tag == "source"), "").strip()
        follows, elsewhere, neither = _NAMED.get(element.tag, (OBJECT_NOTE,) * 3)
        if source.startswith(TAKEN_ADDRESS):
            frames = (element.get("data-frames") or "")[:7]
            if frames.isascii() and frames.isdigit():
                self._flush()
                self.found += _animation(int(frames), has_frame=True)
                return
            self.add_note(follows)
            self._add_line((element.get("alt") or "")[:TEXT_LIMIT_CHARS])
            return
        address = followed_address(source)
        self.add_note(elsewhere if address else neither)
        self._add_line((element.get("alt") or element.get("title") or address)[:TEXT_LIMIT_CHARS], address)

    def _add_line(self, text: str, address: str = "") -> None:
        """Add a separate line. `address`: where the line links to."""
        self._lines.end_line()
        self._lines.open_link(address)
        self._add_text(text)
        self._lines.close_link()
        self._lines.end_line()
