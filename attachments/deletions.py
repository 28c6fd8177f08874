"""One attempt to delete an object whose attachment was deleted, and the time of the next attempt.

A database trigger queues the deletion (`ObjectDeletion`). The name of an object is made from its owner and its content,
so another attachment of the same owner may use the same object. A deletion and an upload of one object exclude each
other, without a lock:

1. The deletion is claimed, then it looks for attachments that use the object. If there is one, the object is kept, and
   the row is deleted: the trigger writes a new one when that attachment is deleted.
2. An upload of an attachment that was created later finds the claim, and waits until the deletion has ended.
"""

from __future__ import annotations

import logging
from datetime import timedelta
from typing import Literal, TypeAlias

from django.db.models import Q, QuerySet
from django.db.models.functions import Now

from attachments import storage
from attachments.models import Attachment, ObjectDeletion
from attachments.storage import StorageError, StorageRefused
from attachments.uploads import build_storage_name, compute_retry_delay_s

logger = logging.getLogger(__name__)

DeletionResult: TypeAlias = Literal["deleted", "kept", "postponed", "not due"]

#: Lifetime of a claim. A call to storage ends after 12 s for its caller, and after 8 s without data in its own thread.
#: The claim lasts much longer, because a late deletion would remove an object that was uploaded again meanwhile.
CLAIM_S = 60.0


def find_due_deletions() -> QuerySet[ObjectDeletion]:
    """Return the rows that are due and that no worker has claimed, in the order of their due times."""
    is_unclaimed = Q(claimed_until=None) | Q(claimed_until__lte=Now())
    return ObjectDeletion.objects.filter(is_unclaimed, next_attempt_at__lte=Now()).order_by("next_attempt_at")


def attempt_deletion(deletion_id: int) -> DeletionResult:
    """Delete the object if it is due and unused. Return what has happened. Repeating a call is harmless."""
    deletion = _claim_deletion(deletion_id)
    if deletion is None:
        return "not due"
    name = deletion.storage_name or _build_name(deletion)
    if _is_used(deletion, name):
        _end_deletion(deletion)
        return "kept"
    if not _renew_claim(deletion):
        return "not due"
    try:
        storage.delete(name)
    except StorageError as error:
        _postpone_deletion(deletion, error)
        return "postponed"
    _end_deletion(deletion)
    return "deleted"


def _build_name(deletion: ObjectDeletion) -> str:
    """Return the object name that an upload of the deleted attachment has used, or may still use."""
    owner_id, sha256, mime_type = deletion.owner_id, deletion.sha256, deletion.mime_type
    return build_storage_name(Attachment(owner_id=owner_id, sha256=sha256, mime_type=mime_type))


def _is_used(deletion: ObjectDeletion, name: str) -> bool:
    """Return whether an attachment uses the object, or will use it after its upload."""
    same_content = Attachment.objects.filter(owner_id=deletion.owner_id, sha256=deletion.sha256)
    return any(name in (attachment.storage_name, build_storage_name(attachment)) for attachment in same_content)


def _claim_deletion(deletion_id: int) -> ObjectDeletion | None:
    """Claim the row and return it. Return None if it is not due, is gone, or is claimed by another worker."""
    deletion = find_due_deletions().filter(pk=deletion_id).first()
    if deletion is None:
        return None
    row = find_due_deletions().filter(pk=deletion_id, attempts=deletion.attempts)
    if not row.update(attempts=deletion.attempts + 1, claimed_until=Now() + timedelta(seconds=CLAIM_S)):
        return None
    deletion.attempts += 1
    return deletion


def _renew_claim(deletion: ObjectDeletion) -> bool:
    """Extend the claim to its full lifetime. Return False if it has expired, because this worker was suspended.

    Then the object may have been uploaded again meanwhile.
    """
    claimed = ObjectDeletion.objects.filter(pk=deletion.pk, attempts=deletion.attempts, claimed_until__gt=Now())
    return bool(claimed.update(claimed_until=Now() + timedelta(seconds=CLAIM_S)))


def _end_deletion(deletion: ObjectDeletion) -> None:
    """Remove the row from the queue, if this worker still holds its claim."""
    ObjectDeletion.objects.filter(pk=deletion.pk, attempts=deletion.attempts).delete()


def _postpone_deletion(deletion: ObjectDeletion, error: StorageError) -> None:
    """Record the error and the time of the next attempt, if this worker still holds its claim.

    If storage has not responded, the call may still reach it. Then the claim is kept until it expires.
    """
    is_permanent = isinstance(error, StorageRefused)
    delay_s = compute_retry_delay_s(deletion.attempts, is_permanent=is_permanent)
    claim = {"claimed_until": None}
    if not is_permanent:
        delay_s, claim = max(delay_s, CLAIM_S), {}
    logger.warning(
        "Object deletion %d is not done yet (attempt %d, next in %.0f s): %s",
        deletion.pk,
        deletion.attempts,
        delay_s,
        error,
    )
    ObjectDeletion.objects.filter(pk=deletion.pk, attempts=deletion.attempts).update(
        next_attempt_at=Now() + timedelta(seconds=delay_s), last_error=str(error), is_permanent=is_permanent, **claim
    )
