"""Helpers that apply streamed updates as a page does, and that parse the resulting HTML."""

from __future__ import annotations

from collections.abc import Sequence
from html.parser import HTMLParser

from chat.rendering.stream import MarkdownStream, TextUpdate, split_markdown


def assert_streams_like_whole(text: str, cuts: Sequence[int]) -> None:
    """Stream the text in pieces that end at `cuts`; after each piece, the page must equal the text rendered at once."""
    stream = MarkdownStream()
    closed_html = ""
    start = 0
    for cut in [*sorted(cuts), len(text)]:
        stream.append(text[start:cut])
        start = cut
        update = stream.update()
        closed_html = apply_update(closed_html, update)
        assert (closed_html, update.tail_html) == split_markdown(text[:cut])


def apply_update(closed_html: str, update: TextUpdate) -> str:
    """Return a page's closed HTML after an update."""
    return update.closed_html if update.is_reset else closed_html + update.closed_html


class Elements(HTMLParser):
    """Parses HTML into tags with their attributes, and text."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[tuple[str, dict[str, str]]] = []
        self.outline: list[str] = []
        """Start tags as `<p>`, end tags as `</p>`, and text, in document order."""
        self.non_elements: list[str] = []
        """Comments, declarations and processing instructions."""
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, {name: value or "" for name, value in attrs}))
        self.outline.append(f"<{tag}>")

    def handle_endtag(self, tag: str) -> None:
        self.outline.append(f"</{tag}>")

    def handle_data(self, data: str) -> None:
        self.outline.append(data)

    def handle_comment(self, data: str) -> None:
        self.non_elements.append(data)

    def handle_decl(self, decl: str) -> None:
        self.non_elements.append(decl)

    def handle_pi(self, data: str) -> None:
        self.non_elements.append(data)

    @property
    def text(self) -> str:
        """The text content without tags."""
        return "".join(piece for piece in self.outline if not (piece.startswith("<") and piece.endswith(">")))
