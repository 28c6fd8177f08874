"""The background task of an upload: a wake-up call. Which attempts are due, the pending row alone says."""

from __future__ import annotations

import uuid

from django.db import transaction
from django.db.models import QuerySet
from django.db.models.functions import Now
from django_tasks import task

from attachments import uploads
from attachments.models import PendingUpload


@task()
def upload_attachment(attachment_id: str) -> str:
    """Try once to bring the attachment into storage; returns `stored`, `postponed` or `not due`.

    A failure is not an error of the task: it is kept in the pending row, and the worker's sweep tries again.
    """
    return uploads.attempt(uuid.UUID(attachment_id))


def retry_now(pending: QuerySet[PendingUpload]) -> int:
    """Make these due at once, whatever their last error was; returns how many."""
    with transaction.atomic():
        ids = list(pending.values_list("pk", flat=True))
        PendingUpload.objects.filter(pk__in=ids).update(next_attempt_at=Now())
        for attachment_id in ids:
            upload_attachment.enqueue(str(attachment_id))
    return len(ids)
