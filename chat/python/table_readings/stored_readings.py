"""Stores the readings of tables, and the choices of their owners.

A reading is stored if another attempt would give the same result. A reading of another `VERSION` is made again, with
the same choices.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime

from django.db import IntegrityError
from django.utils import timezone

from attachments.models import AttachmentPreview
from chat.answering.prompt.provider_files import forget_uploads_of
from chat.python.kernels.in_kernel.table_source import Choices
from chat.python.kernels.table_reading import TableReading, parse_table_reading
from chat.python.table_readings.choices import InvalidChoice, parse_choices

VERSION = 5
"""Version of the reader. Stored readings of another version are replaced."""


@dataclass(frozen=True, slots=True)
class Chosen:
    """The owner's choices of how an attachment is read."""

    choices: Choices
    chosen_at: datetime | None = None
    """Time of the last choice; `None` if the owner never chose."""


def find_reading(attachment_id: uuid.UUID) -> TableReading | None:
    """Return the stored reading of an attachment, or `None`."""
    return stored_readings([attachment_id]).get(attachment_id)


def stored_readings(attachment_ids: Iterable[uuid.UUID]) -> dict[uuid.UUID, TableReading]:
    """Return the stored readings of these attachments, by the attachments' ids."""
    rows = AttachmentPreview.objects.filter(attachment__in=list(attachment_ids), version=VERSION)
    return {row.attachment_id: parse_table_reading(row.content) for row in rows}


def load_choices(attachment_id: uuid.UUID) -> Chosen:
    """Return the owner's choices, also those for an earlier version of the reader."""
    row = AttachmentPreview.objects.filter(attachment=attachment_id).only("choices", "chosen_at").first()
    if row is None:
        return Chosen({})
    try:
        return Chosen(parse_choices(row.choices or {}), row.chosen_at)
    except InvalidChoice:
        # An earlier version of Plotline allowed this choice.
        return Chosen({}, row.chosen_at)


def store_reading(attachment_id: uuid.UUID, reading: TableReading, chosen: Chosen) -> None:
    """Store a reading, unless another choice was made or the attachment was deleted while the file was read."""
    values = {"version": VERSION, "content": reading.as_json()}
    rows = AttachmentPreview.objects.filter(attachment=attachment_id, chosen_at=chosen.chosen_at)
    if not rows.update(**values):
        with suppress(IntegrityError):
            AttachmentPreview.objects.create(attachment_id=attachment_id, **values)


def store_choices(attachment_id: uuid.UUID, reading: TableReading, choices: Choices) -> None:
    """Store the owner's choices, and the reading with them."""
    former = load_choices(attachment_id).choices
    values = {
        "version": VERSION,
        "content": reading.as_json(),
        "choices": choices,
        "chosen_at": timezone.now(),
    }
    # Ignore this error: the attachment was deleted meanwhile.
    with suppress(IntegrityError):
        AttachmentPreview.objects.update_or_create(attachment_id=attachment_id, defaults=values)
    if choices.get("encoding") != former.get("encoding"):
        forget_uploads_of(attachment_id)
