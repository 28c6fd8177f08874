"""Reads the parts of Plotline's own exports, and checks every value. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import MISSING, Field, fields

from chat.library.imports.json_paths import JSONValue
from chat.python.kernels.in_kernel.file_names import shown_path
from chat.vocabulary.file_labels import is_file_path
from chat.vocabulary.part_json import JSON_NAMES, SIGNATURE, json_names, part_from_json
from chat.vocabulary.parts import JSON, PART_TYPES, CodeExecutionResult, Engine, Part, PartKind, PrintedImage, Refusal

IMAGES_LIMIT = 1_000
"""Maximum number of printed images of one result."""
HEADER_LIMIT_CHARS = 300
FILES_LIMIT = 1_000
"""Maximum number of files that one run of code wrote."""
NAME_LIMIT_CHARS = 255
TIME_LIMIT_CHARS = 40
KINDS = [kind.value for kind in PartKind]
ENGINES = [engine.value for engine in Engine]
REFUSALS = [refusal.value for refusal in Refusal]
LINE_LENGTHS = (0, 64, 76)
"""Lengths of lines to which base64 is wrapped, see `PrintedImage.line_chars`."""

_IMAGE_HEADER = re.compile(r"data:image/[a-z0-9.+;=_-]{1,200};base64,", re.IGNORECASE)
_BASE64 = re.compile(r"[A-Za-z0-9+/_-]*={0,2}")
"""Base64 in the standard or the URL-safe alphabet: a signature is exported as its provider wrote it."""


def _read_images(value: JSONValue) -> JSON:
    return [
        {
            "offset": image.get("offset").as_integer(),
            "header": image.get("header").as_text(HEADER_LIMIT_CHARS),
            "line_chars": image.get("line_chars").as_integer(),
            "attachment": image.get("attachment").as_integer(),
        }
        for image in value.items(IMAGES_LIMIT)
    ]


def _read_file_name(value: JSONValue) -> str:
    # Version 1.0 exported names with hidden characters.
    name = shown_path(value.as_text(NAME_LIMIT_CHARS))
    if not is_file_path(name):
        raise value.refusal("there must be the name of a file here.")
    return name


def _read_files(value: JSONValue) -> JSON:
    return [
        {
            "name": _read_file_name(file.get("name")),
            "size_bytes": file.get("size_bytes").as_integer(),
            "modified_at": file.get("modified_at").as_text(TIME_LIMIT_CHARS),
            "is_new": file.get("is_new").as_boolean(),
        }
        for file in value.items(FILES_LIMIT)
    ]


def _read_signature(value: JSONValue) -> JSON:
    text = value.as_text()
    if not _BASE64.fullmatch(text):
        raise value.refusal("there must be base64 here.")
    return text


def _read_provider_data(value: JSONValue) -> JSON:
    if SIGNATURE in value.as_object():
        raise value.get(SIGNATURE).refusal("the signature must stand beside provider_data, not in it.")
    return value.as_object()


CLEARED_LIMIT = 1_000
"""Maximum number of cleared texts of one result, and of its sentences about changed tables or missing cells."""

READERS: Mapping[str, Callable[[JSONValue], JSON]] = {
    "round": JSONValue.as_integer,
    "made_by": JSONValue.as_text,
    "text": JSONValue.as_text,
    "code": JSONValue.as_text,
    "language": JSONValue.as_text,
    "id": JSONValue.as_text,
    "engine": lambda value: value.as_choice(ENGINES),
    "output": JSONValue.as_text,
    "outcome": JSONValue.as_text,
    "images": _read_images,
    "files": _read_files,
    "cleared": lambda value: [one.as_text() for one in value.items(CLEARED_LIMIT)],
    "cleared_left_out": JSONValue.as_integer,
    "table_changes": lambda value: [one.as_text() for one in value.items(CLEARED_LIMIT)],
    "missing_cells": lambda value: [one.as_text() for one in value.items(CLEARED_LIMIT)],
    "duration_ms": JSONValue.as_integer,
    "mime_type": JSONValue.as_text,
    "name": JSONValue.as_text,
    "title": lambda value: value.as_text(NAME_LIMIT_CHARS),
    "uri": JSONValue.as_text,
    "arguments": JSONValue.as_object,
    "result": JSONValue.as_object,
    "is_error": JSONValue.as_boolean,
    "is_edited": JSONValue.as_boolean,
    "refusal": lambda value: value.as_choice(REFUSALS),
    "display": JSONValue.as_object,
    SIGNATURE: _read_signature,
    "provider_data": _read_provider_data,
}
"""Name in the JSON of a part -> function that reads and checks its value, and raises RefusedImport if it is invalid."""


def read_part(value: JSONValue, attachment_indexes: Collection[int]) -> Part:
    """Return a part. Raises RefusedImport for invalid values. `attachment_indexes`: those in the message."""
    kind = PartKind(value.get("kind").as_choice(KINDS))
    json: dict[str, JSON] = {"kind": kind.value}
    required = _required_names(kind)
    for name in json_names(kind):
        if value.has(name) or name in required:
            json[name] = READERS[name](value.get(name))
    part = part_from_json(json)
    if isinstance(part, CodeExecutionResult):
        _check_images(part, attachment_indexes, value.get("images"))
    return part


def _required_names(kind: PartKind) -> set[str]:
    """Return the JSON names of the fields that have no default value."""
    return {JSON_NAMES.get(one.name, one.name) for one in fields(PART_TYPES[kind]) if _is_required(one)}


def _is_required(field: Field[object]) -> bool:
    return field.default is MISSING and field.default_factory is MISSING


def _check_images(part: CodeExecutionResult, attachment_indexes: Collection[int], value: JSONValue) -> None:
    """Raise RefusedImport unless the images that were cut out of an output can be put back."""
    end = 0
    for image, image_value in zip(part.images, value.items(IMAGES_LIMIT), strict=True):
        if not end <= image.offset <= len(part.output or ""):
            raise image_value.get("offset").refusal("images must be in order and inside the output.")
        end = image.offset
        _check_image(image, attachment_indexes, image_value)


def _check_image(image: PrintedImage, attachment_indexes: Collection[int], value: JSONValue) -> None:
    if image.attachment not in attachment_indexes:
        raise value.get("attachment").refusal("the message has no such attachment.")
    if not _IMAGE_HEADER.fullmatch(image.header):
        raise value.get("header").refusal("there must be the beginning of a data URI of an image here.")
    if image.line_chars not in LINE_LENGTHS:
        raise value.get("line_chars").refusal("there must be 0, 64 or 76 here.")
