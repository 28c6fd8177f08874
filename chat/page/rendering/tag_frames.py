"""What is open while elements are made of tags, see `tag_builder`."""

from __future__ import annotations

from collections import Counter


class Fold:
    """A `<details>`, a list or an item whose end has not come."""

    def __init__(self, name: str, position: int) -> None:
        self.name = name
        self.position = position
        """Position of its tag in the output."""
        self.summary = ""
        """`open` within its summary, `implied` after one that ended without its tag, `closed` after any other."""


class Frame:
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
        self.folds: list[Fold] = []
