"""Markers in a message's text: where a graph or an image came.

Invariant: `split_text(*join_text(pieces))` is `pieces`, with neighbouring strings joined and empty ones left out. Only
spans say what is a marker; a marker-like string that someone typed is text.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Marker:
    """A graph's or an image's place; `index` is the attachment's index in its message."""

    kind: Literal["GRAPH", "IMAGE"]
    index: int

    def __str__(self) -> str:
        return f"\n[{self.kind}:{self.index}]\n"


@dataclass(frozen=True, slots=True)
class MarkerSpan:
    """Where a marker stands in a text, with its two newlines: `text[start:end]`, in characters."""

    start: int
    end: int
    marker: Marker


def join_text(pieces: Iterable[str | Marker]) -> tuple[str, list[MarkerSpan]]:
    """Make a message's text, and say where in it the markers are."""
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
    """Take a message's text apart again.

    Raises ValueError where spans are not in order or do not lie on their markers.
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
