"""Stores which files and images a model does not accept, so that later requests do not contain them."""

from __future__ import annotations

import uuid
from collections.abc import Collection

from attachments.models import Attachment
from chat.models import RefusedFile


def refused_files(attachment_ids: Collection[uuid.UUID], *, account: str, model: str) -> set[uuid.UUID]:
    """Return those of the attachments that the model has refused."""
    if not attachment_ids:
        return set()
    rows = RefusedFile.objects.filter(attachment__in=attachment_ids, account=account, model=model)
    return set(rows.values_list("attachment_id", flat=True))


def save_refused(attachment_ids: Collection[uuid.UUID], *, account: str, model: str) -> None:
    """Save that the model refuses requests with these attachments."""
    # Files may have been deleted since the request was made.
    existing = Attachment.objects.filter(pk__in=attachment_ids)
    RefusedFile.objects.bulk_create(
        [RefusedFile(attachment=one, account=account, model=model) for one in existing], ignore_conflicts=True
    )
