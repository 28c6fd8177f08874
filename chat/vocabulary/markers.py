"""Markers in a message's text that say where a graph or an image belongs.

Only a `MarkerSpan` identifies a marker; a string that merely looks like a marker is ordinary text.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Marker:
    """The position of a graph or an image in a text; `index` is the attachment's index in its message."""

    kind: Literal["GRAPH", "IMAGE"]
    index: int

    def __str__(self) -> str:
        return f"\n[{self.kind}:{self.index}]\n"


@dataclass(frozen=True, slots=True)
class MarkerSpan:
    """The range `text[start:end]` of a marker, in characters; it includes the newlines around the marker."""

    start: int
    end: int
    marker: Marker


def join_text(pieces: Iterable[str | Marker]) -> tuple[str, list[MarkerSpan]]:
    """Return a message's text and the spans of the markers in it."""
    texts: list[str] = []
    spans: list[MarkerSpan] = []
    length = 0
    for piece in pieces:
        text = str(piece)
        if isinstance(piece, Marker):
            spans.append(MarkerSpan(length, length + len(text), piece))
        texts.append(text)
        length += len(text)
    return "".join(texts), spans
