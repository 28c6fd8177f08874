"""The text of a message with markers where its graphs and images are, and the positions of these markers. Pure.

A user or a model may type something that looks like a marker. Therefore only a position tells a marker from text.
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
        """The part after which it is shown; `None`: at the message's end."""
        ...

    @property
    def marker(self) -> Marker | None:
        """The marker of the attachment in the message's text; `None` for a file that is not an image."""
        ...


def text_pieces(parts: Iterable[Part], attachments: Iterable[MarkedAttachment]) -> Iterator[str | Marker]:
    """Yield the texts of an answer, and a marker where each image is shown."""
    shown: dict[int, list[Marker]] = {}
    for attachment in attachments:
        if attachment.part_index is not None and attachment.marker:
            shown.setdefault(attachment.part_index, []).append(attachment.marker)
    for index, part in enumerate(parts):
        if isinstance(part, Text) and part.text:
            yield part.text
        yield from shown.get(index, ())


def find_markers(text: str, pieces: Iterable[str | Marker]) -> list[MarkerSpan]:
    """Return the spans of the markers in a text that these pieces make up.

    An imported text may hold markers of files that are missing. They are no pieces, so they are skipped. Nothing is
    returned after a piece that the text does not hold.
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
    """Return spans as the API and the export have them."""
    return [
        {"start": span.start, "end": span.end, "kind": span.marker.kind.lower(), "index": span.marker.index}
        for span in spans
    ]
