"""Queries for the encodings that owners have chosen for their files.

The encoding changes the bytes that code and models get.
"""

from __future__ import annotations

import uuid
from collections.abc import Collection, Iterable

from attachments.code_files import is_converted, name_in_code
from attachments.models import Attachment, AttachmentPreview


def chosen_encodings(files: Iterable[Attachment]) -> dict[uuid.UUID, str]:
    """Return the names of the encodings that owners chose for these files, by the files' ids.

    Runs at most one query.
    """
    ids: Collection[uuid.UUID] = {file.pk for file in files if is_converted(name_in_code(file.name, file.mime_type))}
    if not ids:
        return {}
    rows = AttachmentPreview.objects.filter(attachment__in=ids).values_list("attachment_id", "choices")
    chosen = {pk: choices.get("encoding") for pk, choices in rows if choices}
    return {pk: encoding for pk, encoding in chosen.items() if isinstance(encoding, str) and encoding}
