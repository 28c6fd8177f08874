"""Markers in a message's text that say where a graph or an image belongs.

Invariant: `split_text(*join_text(pieces))` returns `pieces` with adjacent strings joined and empty strings removed.
Only a `MarkerSpan` identifies a marker; a string that merely looks like a marker is ordinary text.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
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


def split_text(text: str, spans: Sequence[MarkerSpan]) -> list[str | Marker]:
    """Split a message's text into strings and markers; the inverse of `join_text`.

    Raises ValueError if the spans overlap, are not in order, or do not cover the text of their marker.
    """
    pieces: list[str | Marker] = []
    end = 0
    for span in spans:
        if span.start < end or text[span.start : span.end] != str(span.marker):
            raise ValueError(f"no {span.marker.kind}:{span.marker.index} marker at {span.start}")
        if span.start > end:
            pieces.append(text[end : span.start])
        pieces.append(span.marker)
        end = span.end
    if end < len(text):
        pieces.append(text[end:])
    return pieces
