"""Reads the attachments of Plotline's own exports."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from typing import TypeAlias

from chat.library.imports.file_checks import UncheckedFile, check_file
from chat.library.imports.json_paths import JSONValue
from chat.library.imports.records import MESSAGES_LIMIT, ParsedAttachment, ParsedMessage
from chat.vocabulary.parts import CodeExecutionResult, Part

ReadFile: TypeAlias = Callable[[str], bytes | None]
"""Returns the bytes of a file at a path beside the document, or `None` if there is no such file."""

ATTACHMENTS_LIMIT = MESSAGES_LIMIT
PATH_LIMIT_CHARS = 1_000


def read_attachments(
    value: JSONValue, uploads: Collection[str], read_file: ReadFile
) -> tuple[dict[str, ParsedAttachment], set[str]]:
    """Return the attachments by their key, and the keys of attachments whose bytes were not exported.

    `uploads`: the keys of the attachments of questions. Raises RefusedImport for invalid values.
    """
    attachments: dict[str, ParsedAttachment] = {}
    missing: set[str] = set()
    for one in value.items(ATTACHMENTS_LIMIT):
        key = one.get("id").as_text(64)
        data = _read_bytes(one, read_file)
        if data is None:
            missing.add(key)
            continue
        if key in attachments:
            raise one.refusal("there is an attachment with this id already.")
        attachments[key] = _read_attachment(one, key, data, is_question_file=key in uploads)
    return attachments, missing


def _read_attachment(value: JSONValue, key: str, data: bytes, *, is_question_file: bool) -> ParsedAttachment:
    is_graph = value.get("is_graph").as_boolean()
    file = UncheckedFile(
        key=key,
        name=value.get("name").as_text(255),
        data=data,
        mime_type=value.get("mime_type").as_text(100),
        is_graph=is_graph,
        is_upload=is_question_file and not is_graph,
    )
    attachment = check_file(file, value)
    if attachment.sha256 != value.get("sha256").as_text(64):
        raise value.get("sha256").refusal("the bytes differ from those that were exported.")
    return attachment


def _read_bytes(value: JSONValue, read_file: ReadFile) -> bytes | None:
    """Return the bytes in the document or beside it; `None` if they were not available for the export."""
    if value.has("data"):
        return value.get("data").as_bytes()
    if not value.has("file"):
        return None
    data = read_file(value.get("file").as_text(PATH_LIMIT_CHARS))
    if data is None:
        raise value.get("file").refusal("there is no such file beside this document; import the whole archive.")
    return data


def without_missing_files(
    message: ParsedMessage,
    attachments: Mapping[str, ParsedAttachment],
    missing: Collection[str],
    document: JSONValue,
) -> ParsedMessage:
    """Return the message without attachments whose bytes were not exported. Raises RefusedImport for unknown ids."""
    for placement in message.placements:
        if placement.key not in attachments and placement.key not in missing:
            raise document.get("attachments").refusal(
                f"there is none with id “{placement.key}”, which a message refers to."
            )
    placements = tuple(placement for placement in message.placements if placement.key in attachments)
    if len(placements) == len(message.placements):
        return message
    indexes = {placement.index for placement in placements}
    return replace(
        message,
        placements=placements,
        part_attachments={part: index for part, index in message.part_attachments.items() if index in indexes},
        parts=tuple(_without_missing_images(part, indexes) for part in message.parts),
    )


def _without_missing_images(part: Part, attachment_indexes: Collection[int]) -> Part:
    """Return a result without its printed images if the attachment of one is missing; any other part unchanged."""
    if isinstance(part, CodeExecutionResult) and any(
        image.attachment not in attachment_indexes for image in part.images
    ):
        return replace(part, images=())
    return part
