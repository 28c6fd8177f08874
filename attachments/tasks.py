"""The background task of an upload. It only triggers an attempt: the pending row decides whether one is due."""

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
    """Try once to upload the attachment to storage; return `stored`, `postponed` or `not due`.

    A failed attempt is not an error of the task: it is recorded in the pending row, and a worker retries it when due.
    """
    return uploads.attempt_upload(uuid.UUID(attachment_id))


def retry_now(pending: QuerySet[PendingUpload]) -> int:
    """Make the uploads due immediately, whatever their last error was. Return their number."""
    with transaction.atomic():
        ids = list(pending.values_list("pk", flat=True))
        PendingUpload.objects.filter(pk__in=ids).update(next_attempt_at=Now())
        for attachment_id in ids:
            upload_attachment.enqueue(str(attachment_id))
    return len(ids)
