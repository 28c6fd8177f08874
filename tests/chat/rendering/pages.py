"""What a page makes of updates, and what its HTML holds."""

from __future__ import annotations

from collections.abc import Sequence
from html.parser import HTMLParser

from chat.rendering.stream import MarkdownStream, split_markdown


def assert_streams_like_whole(text: str, cuts: Sequence[int]) -> None:
    """Stream the text in pieces that end at `cuts`; after each one the page must be what the whole text gives."""
    stream = MarkdownStream()
    closed = tail = ""
    start = 0
    for cut in [*sorted(cuts), len(text)]:
        stream.append(text[start:cut])
        start = cut
        update = stream.update()
        closed = update.closed if update.reset else closed + update.closed
        tail = update.tail
        assert (closed, tail) == split_markdown(text[:cut])


class Elements(HTMLParser):
    """Reads HTML into its tags with their attributes, and its text."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[tuple[str, dict[str, str]]] = []
        self.outline: list[str] = []
        """Start tags as `<p>`, end tags as `</p>`, and text, in order."""
        self.oddities: list[str] = []
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
        self.oddities.append(data)

    def handle_decl(self, decl: str) -> None:
        self.oddities.append(decl)

    def handle_pi(self, data: str) -> None:
        self.oddities.append(data)

    @property
    def text(self) -> str:
        """All text, without tags."""
        return "".join(piece for piece in self.outline if not (piece.startswith("<") and piece.endswith(">")))
