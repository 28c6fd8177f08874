"""One attempt to bring a pending attachment into storage, and when the next one is due.

The pending row is the truth. A claim is a conditional UPDATE that raises `attempts` and expires by itself, so a
worker that was killed blocks nothing; `attempts` also fences off a worker that was asleep while its claim
expired. All times are the database's, because workers' clocks may differ.
"""

from __future__ import annotations

import logging
import random
import uuid
from datetime import timedelta

from django.conf import settings
from django.db import transaction
from django.db.models import Q, QuerySet
from django.db.models.functions import Now

from attachments import storage
from attachments.models import Attachment, PendingUpload
from attachments.storage import StorageError, StorageRefused
from attachments.validation import BINARY, GIF, JPEG, JSON_TYPE, PDF, PNG, RASTER_TYPES, WEBP

logger = logging.getLogger(__name__)

#: Longer than an attempt can take, so that two workers are at one row only when one of them was asleep.
CLAIM_S = 20.0
FIRST_RETRY_S = 2.0
#: After a refusal; less than one request a minute and object.
REFUSED_RETRY_S = 600.0

_EXTENSIONS = {PNG: "png", JPEG: "jpg", GIF: "gif", WEBP: "webp", PDF: "pdf", JSON_TYPE: "txt"}


def due() -> QuerySet[PendingUpload]:
    """Rows whose time has come and that no worker is at, the longest waiting first."""
    is_free = Q(claimed_until=None) | Q(claimed_until__lte=Now())
    return PendingUpload.objects.filter(is_free, next_attempt_at__lte=Now()).order_by("next_attempt_at")


def attempt(attachment_id: uuid.UUID) -> str:
    """Try once, if it is due; returns what came of it: `stored`, `postponed` or `not due`. Harmless to repeat."""
    upload = _claim(attachment_id)
    if upload is None:
        return "not due"
    attachment = upload.attachment
    name = storage_name(attachment)
    content_type = attachment.mime_type if attachment.mime_type in RASTER_TYPES else BINARY
    try:
        storage.put(name, bytes(upload.data), content_type)
    except StorageError as error:
        _postpone(upload, error)
        return "postponed"
    _confirm(attachment.pk, name)
    return "stored"


def storage_name(attachment: Attachment) -> str:
    """Made from owner and content alone, so that one content is one object, however often it is tried or sent."""
    extension = _EXTENSIONS.get(attachment.mime_type, "txt" if attachment.mime_type.startswith("text/") else "bin")
    return f"u{attachment.owner_id}/{attachment.sha256[:2]}/{attachment.sha256}.{extension}"


def delay_s(attempts: int, *, is_permanent: bool) -> float:
    """How long to wait after that many attempts: doubling up to a cap, spread by a quarter to either side."""
    # The exponent is capped because attempts go on for ever and a float ends at 2**1024.
    growing_s = FIRST_RETRY_S * 2 ** min(attempts - 1, 30)
    delay = REFUSED_RETRY_S if is_permanent else min(growing_s, settings.UPLOAD_RETRY_LIMIT_S)
    return delay * random.uniform(0.75, 1.25)


def _claim(attachment_id: uuid.UUID) -> PendingUpload | None:
    """Take a row that is due; None when it is not, is gone, or another worker was faster."""
    attempts = due().filter(pk=attachment_id).values_list("attempts", flat=True).first()
    if attempts is None:
        return None
    claimed = due().filter(pk=attachment_id, attempts=attempts)
    if not claimed.update(attempts=attempts + 1, claimed_until=Now() + timedelta(seconds=CLAIM_S)):
        return None
    return PendingUpload.objects.select_related("attachment").filter(pk=attachment_id, attempts=attempts + 1).first()


def _postpone(upload: PendingUpload, error: StorageError) -> None:
    """Give the row back with the reason, unless another worker has it by now."""
    is_permanent = isinstance(error, StorageRefused)
    delay = delay_s(upload.attempts, is_permanent=is_permanent)
    logger.warning(
        "Attachment %s is not in storage yet (attempt %d, next in %.0f s): %s",
        upload.attachment_id,
        upload.attempts,
        delay,
        error,
    )
    with transaction.atomic():
        is_ours = PendingUpload.objects.filter(pk=upload.pk, attempts=upload.attempts).update(
            next_attempt_at=Now() + timedelta(seconds=delay),
            claimed_until=None,
            last_error=str(error),
            is_permanent=is_permanent,
        )
        if is_ours:
            status = Attachment.Status.FAILED if is_permanent else Attachment.Status.PENDING
            Attachment.objects.filter(pk=upload.pk).exclude(status=status).update(status=status)


def _confirm(attachment_id: uuid.UUID, name: str) -> None:
    """Storage holds it: say where, and let the bytes in the database go, in one transaction."""
    with transaction.atomic():
        Attachment.objects.filter(pk=attachment_id).update(
            status=Attachment.Status.STORED, storage_name=name, stored_at=Now()
        )
        PendingUpload.objects.filter(pk=attachment_id).delete()
