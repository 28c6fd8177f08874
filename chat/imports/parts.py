"""What a part of an import may hold, so that the next turn can tell a model of it. Pure."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any

from chat.imports.places import Place
from chat.parts import Part, PartKind
from chat.turns.answer import DATA_URIS

#: What the wire form of a part must hold: the SDK and the API refuse a request with one that does not.
REQUIRED: Mapping[PartKind, Mapping[str, type]] = {
    PartKind.FUNCTION_CALL: {"name": str, "args": dict},
    PartKind.FUNCTION_RESPONSE: {"name": str, "response": dict},
    PartKind.FILE_DATA: {"fileUri": str},
}
_HEADER = re.compile(r"data:image/[a-z0-9.+;=_-]{1,200};base64,", re.IGNORECASE)


def check_part(part: Part, attachment_indexes: Collection[int], place: Place) -> None:
    """Raises RefusedImport for a part that could not be sent or shown."""
    for name, kind in REQUIRED.get(part.kind, {}).items():
        value = part.fields.get(name)
        if value is not None and not isinstance(value, kind):
            raise place.below(f"fields.{name}").refuse(
                f"there must be {'a text' if kind is str else 'an object'} here."
            )
    if DATA_URIS in part.fields:
        _check_images(part, attachment_indexes, place.below(f"fields.{DATA_URIS}"))


def _check_images(part: Part, attachment_indexes: Collection[int], place: Place) -> None:
    """Images that were cut out of an output are put back for the model: each must be where it is said to be."""
    images: Any = part.fields[DATA_URIS]
    end = 0
    for said in Place(images, place.path).items(1000):
        offset = said.at("offset").integer(len(part.text or ""))
        if offset < end:
            raise said.at("offset").refuse("images must stand in order.")
        end = offset
        if said.at("attachment").integer() not in attachment_indexes:
            raise said.at("attachment").refuse("the message has no such attachment.")
        if not _HEADER.fullmatch(said.at("header").text(300)):
            raise said.at("header").refuse("this is no beginning of an image's address.")
        if said.at("line_chars").integer() not in (0, 64, 76):
            raise said.at("line_chars").refuse("there must be 0, 64 or 76 here.")


def points_into(part: Part, attachment_indexes: Collection[int]) -> bool:
    """Whether the images cut out of its output are all there."""
    images: Any = part.fields.get(DATA_URIS, [])
    return all(image["attachment"] in attachment_indexes for image in images)


def without_images(part: Part) -> Part:
    """The part as if none had been cut out of it."""
    return replace(part, fields={name: value for name, value in part.fields.items() if name != DATA_URIS})
