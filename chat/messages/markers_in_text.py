"""Inserts markers of graphs and images into the text of a message, and finds the positions of these markers. Pure.

A user or a model may type text that looks like a marker. Therefore only its position identifies a marker.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Protocol

from chat.vocabulary.markers import Marker, MarkerSpan
from chat.vocabulary.parts import JSONObject, Part, Text


class MarkedAttachment(Protocol):
    """An attachment of a message, with its position and its marker."""

    @property
    def part_index(self) -> int | None:
        """The index of the part after which it is shown; `None` if it is shown at the message's end."""
        ...

    @property
    def marker(self) -> Marker | None:
        """The marker of the attachment in the message's text; `None` for a file that is not an image."""
        ...


def text_pieces(parts: Iterable[Part], attachments: Iterable[MarkedAttachment]) -> Iterator[str | Marker]:
    """Yield the texts of an answer, and a marker at the position of each image."""
    shown: dict[int, list[Marker]] = {}
    for attachment in attachments:
        if attachment.part_index is not None and attachment.marker:
            shown.setdefault(attachment.part_index, []).append(attachment.marker)
    for index, part in enumerate(parts):
        if isinstance(part, Text) and part.text:
            yield part.text
        yield from shown.get(index, ())


def find_markers(text: str, pieces: Iterable[str | Marker]) -> list[MarkerSpan]:
    """Return the spans of the markers in a text that consists of these pieces.

    An imported text may hold markers of files that are missing. These markers are not among the pieces, so they are
    skipped. The search ends at the first piece that is not found in the text.
    """
    spans: list[MarkerSpan] = []
    end = 0
    for piece in pieces:
        start = text.find(str(piece), end)
        if start < 0:
            break
        end = start + len(str(piece))
        if isinstance(piece, Marker):
            spans.append(MarkerSpan(start, end, piece))
    return spans


def markers_json(spans: Sequence[MarkerSpan]) -> list[JSONObject]:
    """Return spans in the form of the API and of exports."""
    return [
        {"start": span.start, "end": span.end, "kind": span.marker.kind.lower(), "index": span.marker.index}
        for span in spans
    ]
