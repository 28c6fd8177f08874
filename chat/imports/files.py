"""Attachments of an import, checked as uploads are: by their content, never by what they are said to be."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from datetime import datetime

from django.conf import settings

from attachments.validation import (
    BINARY,
    RASTER_TYPES,
    RefusedUpload,
    inspect_image,
    inspect_upload,
    safe_mime_type,
    safe_name,
    too_large_sentence,
)
from chat.imports.drafts import AttachmentDraft
from chat.imports.places import Place


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundFile:
    """A file as an import found it; nothing of it is believed yet."""

    key: str
    name: str
    data: bytes
    mime_type: str
    is_graph: bool
    is_sent: bool
    """A person sent it: it must be one that may be attached."""
    created_at: datetime


def checked_file(found: FoundFile, place: Place) -> AttachmentDraft:
    """The file, if it is one that may be kept. Raises RefusedImport.

    Unlike an upload it is not drawn anew, so that it stays the file that was exported.
    """
    name = safe_name(found.name, "file")
    width = height = None
    mime_type = safe_mime_type(found.mime_type)
    try:
        if found.is_sent:
            info = inspect_upload(name, found.data)
            mime_type, width, height = info.mime_type, info.width, info.height
        elif len(found.data) > settings.UPLOAD_LIMIT_BYTES:
            raise RefusedUpload(too_large_sentence(name))
        elif mime_type in RASTER_TYPES:
            image = inspect_image(found.data, subject=f"“{name}”")
            mime_type, width, height = image.mime_type, image.width, image.height
        elif mime_type.startswith("image/"):
            mime_type = BINARY
    except RefusedUpload as error:
        raise place.refuse(str(error)) from None
    return AttachmentDraft(
        key=found.key,
        name=name,
        data=found.data,
        sha256=hashlib.sha256(found.data).hexdigest(),
        mime_type=mime_type,
        width=width,
        height=height,
        is_graph=found.is_graph,
        created_at=found.created_at,
    )
