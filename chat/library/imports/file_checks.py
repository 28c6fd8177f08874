"""Checks the files of an import. The type of an upload or an image is found in its content, not in the document."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from django.conf import settings

from attachments.images import is_image_type
from attachments.validation import (
    BINARY,
    RASTER_TYPES,
    RefusedUpload,
    build_too_large_message,
    inspect_file_of_code,
    inspect_image,
    inspect_upload,
    safe_mime_type,
    safe_name,
)
from chat.library.imports.json_paths import JSONValue
from chat.library.imports.records import ParsedAttachment


@dataclass(frozen=True, slots=True, kw_only=True)
class UncheckedFile:
    """A file as the imported document describes it."""

    key: str
    name: str
    data: bytes
    mime_type: str
    is_graph: bool
    is_upload: bool
    """True if a user attached it to a question. Then its type must be attachable or declared as binary."""


def check_file(file: UncheckedFile, value: JSONValue) -> ParsedAttachment:
    """Return the file with its checked name, type and size. Raises RefusedImport, which names the path of `value`.

    Unlike an upload, an image is not re-encoded, so that it remains the file that was exported.
    """
    name = safe_name(file.name, "file")
    width = height = None
    scale = 1
    mime_type = safe_mime_type(file.mime_type)
    try:
        if file.is_upload:
            # A question can have a file that code wrote and a person kept, and such a file may be of any type.
            inspect = inspect_file_of_code if mime_type == BINARY else inspect_upload
            info = inspect(name, file.data)
            mime_type, width, height = info.mime_type, info.width, info.height
        elif len(file.data) > settings.UPLOAD_LIMIT_BYTES:
            raise RefusedUpload(build_too_large_message(name))
        elif mime_type in RASTER_TYPES:
            image = inspect_image(file.data, subject=f"“{name}”")
            mime_type, width, height = image.mime_type, image.width, image.height
            scale = image.scale if file.is_graph else 1
        elif is_image_type(mime_type):
            mime_type = BINARY
    except RefusedUpload as error:
        raise value.refusal(str(error)) from None
    return ParsedAttachment(
        key=file.key,
        name=name,
        data=file.data,
        sha256=hashlib.sha256(file.data).hexdigest(),
        mime_type=mime_type,
        width=width,
        height=height,
        scale=scale,
        is_graph=file.is_graph,
    )
