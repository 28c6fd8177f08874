"""One attempt to upload a pending attachment to storage, and the time of the next attempt.

The pending row is the source of truth. A worker claims it with a conditional UPDATE that increments `attempts`. A claim
expires, so a worker that was killed blocks no upload. `attempts` is also the fencing token: once another worker has
claimed the row, the earlier worker can no longer postpone it. All times are the database's, because the clocks of
workers may differ.
"""

from __future__ import annotations

import logging
import random
import uuid
from datetime import timedelta
from typing import Literal, TypeAlias

from django.conf import settings
from django.db import transaction
from django.db.models import Q, QuerySet
from django.db.models.functions import Now

from attachments import storage
from attachments.models import Attachment, ObjectDeletion, PendingUpload
from attachments.storage import StorageError, StorageRefused, StorageUnavailable
from attachments.validation import BINARY, GIF, JPEG, JSON_TYPE, PDF, PNG, RASTER_TYPES, WEBP

logger = logging.getLogger(__name__)

AttemptResult: TypeAlias = Literal["stored", "postponed", "not due"]

#: Lifetime of a claim. It exceeds the time limit of an attempt, so two workers can upload the same attachment only if
#: one of them was suspended.
CLAIM_S = 20.0
FIRST_RETRY_S = 2.0

_EXTENSIONS = {PNG: "png", JPEG: "jpg", GIF: "gif", WEBP: "webp", PDF: "pdf", JSON_TYPE: "txt"}


def find_due_uploads() -> QuerySet[PendingUpload]:
    """Return the rows that are due and that no worker has claimed, in the order of their due times."""
    is_unclaimed = Q(claimed_until=None) | Q(claimed_until__lte=Now())
    return PendingUpload.objects.filter(is_unclaimed, next_attempt_at__lte=Now()).order_by("next_attempt_at")


def attempt_upload(attachment_id: uuid.UUID) -> AttemptResult:
    """Upload the attachment if it is due. Return what has happened. Repeating a call is harmless."""
    upload = _claim_upload(attachment_id)
    if upload is None:
        return "not due"
    attachment = upload.attachment
    if _is_being_deleted(attachment):
        _postpone_upload(upload, StorageUnavailable("An earlier file with this content is still being deleted."))
        return "postponed"
    name = build_storage_name(attachment)
    content_type = attachment.mime_type if attachment.mime_type in RASTER_TYPES else BINARY
    try:
        storage.put(name, bytes(upload.data), content_type)
    except StorageError as error:
        _postpone_upload(upload, error)
        return "postponed"
    _confirm_upload(attachment.pk, name)
    return "stored"


def build_storage_name(attachment: Attachment) -> str:
    """Return the object's name, made from owner and content: a retry or a second upload writes the same object."""
    extension = _EXTENSIONS.get(attachment.mime_type, "txt" if attachment.mime_type.startswith("text/") else "bin")
    return f"u{attachment.owner_id}/{attachment.sha256[:2]}/{attachment.sha256}.{extension}"


def compute_retry_delay_s(attempts: int, *, is_permanent: bool) -> float:
    """Return the delay before the next attempt: exponential backoff with a jitter of 25%, at most UPLOAD_RETRY_LIMIT_S.

    `is_permanent`: storage has refused, for example because of a wrong key or a bucket that does not exist yet.
    """
    # The number of attempts is unlimited, and 2.0**1024 overflows a float: the exponent needs a limit.
    backoff_s = FIRST_RETRY_S * 2 ** min(attempts - 1, 30)
    limit_s = float(settings.UPLOAD_RETRY_LIMIT_S)
    return min(limit_s if is_permanent else backoff_s, limit_s) * random.uniform(0.75, 1.0)


def _claim_upload(attachment_id: uuid.UUID) -> PendingUpload | None:
    """Claim the row and return it. Return None if it is not due, is gone, or is claimed by another worker."""
    attempts = find_due_uploads().filter(pk=attachment_id).values_list("attempts", flat=True).first()
    if attempts is None:
        return None
    row = find_due_uploads().filter(pk=attachment_id, attempts=attempts)
    if not row.update(attempts=attempts + 1, claimed_until=Now() + timedelta(seconds=CLAIM_S)):
        return None
    return PendingUpload.objects.select_related("attachment").filter(pk=attachment_id, attempts=attempts + 1).first()


def _is_being_deleted(attachment: Attachment) -> bool:
    """Return whether a worker may be deleting this object now, because it belonged to a deleted attachment."""
    same_object = ObjectDeletion.objects.filter(owner_id=attachment.owner_id, sha256=attachment.sha256)
    return same_object.filter(claimed_until__gt=Now()).exists()


def _postpone_upload(upload: PendingUpload, error: StorageError) -> None:
    """Release the row and record the error, if this worker still holds its claim."""
    is_permanent = isinstance(error, StorageRefused)
    delay_s = compute_retry_delay_s(upload.attempts, is_permanent=is_permanent)
    logger.warning(
        "Attachment %s is not in storage yet (attempt %d, next in %.0f s): %s",
        upload.attachment_id,
        upload.attempts,
        delay_s,
        error,
    )
    with transaction.atomic():
        is_released = PendingUpload.objects.filter(pk=upload.pk, attempts=upload.attempts).update(
            next_attempt_at=Now() + timedelta(seconds=delay_s),
            claimed_until=None,
            last_error=str(error),
            is_permanent=is_permanent,
        )
        if is_released:
            status = Attachment.Status.FAILED if is_permanent else Attachment.Status.PENDING
            Attachment.objects.filter(pk=upload.pk).exclude(status=status).update(status=status)


def _confirm_upload(attachment_id: uuid.UUID, name: str) -> None:
    """Record the storage name and delete the pending row with its bytes, in one transaction."""
    with transaction.atomic():
        Attachment.objects.filter(pk=attachment_id).update(
            status=Attachment.Status.STORED, storage_name=name, stored_at=Now()
        )
        PendingUpload.objects.filter(pk=attachment_id).delete()
