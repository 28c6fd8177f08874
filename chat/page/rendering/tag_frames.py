"""Elements that are open while `tag_builder` makes elements of tags."""

from __future__ import annotations

from collections import Counter


class Fold:
    """A `<details>`, a list or an item whose end tag has not been read yet."""

    def __init__(self, name: str, position: int) -> None:
        self.name = name
        self.position = position
        """Position of its tag in the output."""
        self.summary = ""
        """State of its summary: `open` within it, `implied` after an end without a tag, `closed` after its end tag."""


class Frame:
    """The document, or an element of the parser's HTML that is open."""

    def __init__(self, name: str, tag: str = "") -> None:
        self.name = name
        self.tag = tag
        """The start tag that is written as soon as the paragraph has text. Folds split a paragraph into several."""
        self.is_open = False
        """Whether a start tag of the paragraph was written and is not closed yet."""
        self.is_in_summary = False
        """Whether the text that follows is within a summary that began in this paragraph."""
        self.tags: list[tuple[str, int]] = []
        """Open paired tags: (name, position in the output)."""
        self.counts: Counter[str] = Counter()
        """Name of a tag -> number of open paired tags with this name."""
        self.folds: list[Fold] = []
