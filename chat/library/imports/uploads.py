"""Uploads of large files in pieces. Each piece is one object in storage, so any process can take the next one.

When storage has confirmed a piece, one conditional UPDATE advances the offset of the upload. If two pieces have the
same offset, one advances it, and the other is deleted. The row of a piece's attachment is written before its object, so
that a piece that a dead process has left is deleted together with the upload.
"""

from __future__ import annotations

import hashlib
import uuid
from contextlib import suppress
from datetime import timedelta
from typing import BinaryIO

from django.conf import settings
from django.db import transaction
from django.db.models import F, Q, Sum
from django.db.models.functions import Now
from django.utils import timezone

from attachments import storage
from attachments.database_connection import close_connection
from attachments.models import Attachment
from attachments.store import read_bytes
from attachments.validation import BINARY, safe_name
from chat.library.imports.refusal import RefusedImport
from chat.models import ImportJob, ImportPiece, User
from chat.people.quotas.enforcement import check_quota
from chat.people.quotas.resources import Resource

PIECE_LIMIT_BYTES = 8 * 1024 * 1024
"""Maximum size of a piece. A request may have 16 MB, and if a slow connection breaks, at most one piece is lost."""
PIECE_MINIMUM_BYTES = 256 * 1024
"""Minimum size of a piece, except the last one. It limits the number of objects of one upload to 8,192."""
OPEN_LIMIT = 3
"""Maximum number of files that one person may upload or import at the same time."""
UPLOAD_LIFE = timedelta(days=1)
"""After this time without a piece, an unfinished upload is deleted."""
RESULT_LIFE = timedelta(days=30)
"""Time for which the results of imports are kept."""
DELETED_AT_ONCE = 50
"""Maximum number of pieces that one transaction deletes."""
CANCELLED = "This import was cancelled. What had been imported until then is here."


class WrongOffset(Exception):
    """A piece does not begin at the current end of the upload."""


def begin_upload(owner_id: int, *, name: str, size_bytes: int, fingerprint: str = "") -> ImportJob:
    """Return a new upload, or the unfinished one of the same file.

    Raises RefusedImport for an empty or too large file, or too many uploads, and QuotaExceeded if the quota is full.
    `fingerprint`: value by which a client recognizes a file. If it is empty, the upload is always new.
    """
    name = safe_name(name, "file")
    if size_bytes <= 0:
        raise RefusedImport("This file is empty.")
    if size_bytes > settings.IMPORT_LIMIT_BYTES:
        limit_mb = settings.IMPORT_LIMIT_BYTES // 1024**2
        raise RefusedImport(f"This file is too large: at most {limit_mb} MB can be imported.")
    with transaction.atomic():
        # The lock prevents that two uploads of one person pass a limit at the same time.
        list(User.objects.select_for_update(no_key=True).filter(pk=owner_id))
        jobs = ImportJob.objects.filter(owner_id=owner_id)
        unfinished = jobs.filter(state=ImportJob.State.UPLOADING)
        known = unfinished.filter(fingerprint=fingerprint, size_bytes=size_bytes).first() if fingerprint else None
        if known is not None:
            return known
        if jobs.filter(state__in=ImportJob.OPEN).count() >= OPEN_LIMIT:
            raise RefusedImport(
                f"At most {OPEN_LIMIT} files can be imported at the same time. Wait for one of them, or cancel it."
            )
        expected = unfinished.aggregate(total=Sum(F("size_bytes") - F("received_bytes"), default=0))["total"]
        check_quota(owner_id, Resource.STORAGE, expected + size_bytes, subject=f"“{name}”")
        return ImportJob.objects.create(owner_id=owner_id, name=name, fingerprint=fingerprint, size_bytes=size_bytes)


def append_piece(job: ImportJob, offset: int, data: bytes) -> int:
    """Store the next piece of an upload, and return the new offset. The last piece queues the import.

    If it raises WrongOffset, RefusedImport (wrong size), QuotaExceeded or StorageError, nothing has changed.
    """
    end = offset + len(data)
    if job.state != ImportJob.State.UPLOADING or offset != job.received_bytes:
        raise WrongOffset
    if len(data) > PIECE_LIMIT_BYTES or end > job.size_bytes:
        raise RefusedImport("This piece is too large.")
    if len(data) < PIECE_MINIMUM_BYTES and end < job.size_bytes:
        raise RefusedImport(f"A piece has at least {PIECE_MINIMUM_BYTES // 1024} KB, except for the last one.")
    check_quota(job.owner_id, Resource.STORAGE, len(data), subject=f"“{job.name}”")
    attachment = Attachment(
        owner_id=job.owner_id,
        name=job.name,
        mime_type=BINARY,
        size_bytes=len(data),
        sha256=hashlib.sha256(data).hexdigest(),
        # The name is unique, so that deleting another piece with this offset cannot delete this object.
        storage_name=f"u{job.owner_id}/imports/{job.pk}/{offset}-{uuid.uuid4().hex}.bin",
    )
    with transaction.atomic():
        attachment.save()
        piece = ImportPiece.objects.create(job=job, attachment=attachment)
    # Close the database connection, because storage may be slow.
    close_connection()
    try:
        storage.put(attachment.storage_name, data, BINARY)
        _confirm(piece, offset, end)
    except BaseException:
        _discard(attachment)
        raise
    return end


def _confirm(piece: ImportPiece, offset: int, end: int) -> None:
    """Advance the offset of the upload. Raises WrongOffset if another piece has done so, or after a cancellation."""
    state = ImportJob.State.QUEUED if end == piece.job.size_bytes else ImportJob.State.UPLOADING
    rows = ImportJob.objects.filter(pk=piece.job_id, state=ImportJob.State.UPLOADING, received_bytes=offset)
    with transaction.atomic():
        if not rows.update(received_bytes=end, state=state, updated_at=timezone.now()):
            raise WrongOffset
        ImportPiece.objects.filter(pk=piece.pk).update(start=offset)
        stored = Attachment.objects.filter(pk=piece.attachment_id)
        stored.update(status=Attachment.Status.STORED, stored_at=Now())


def _discard(attachment: Attachment) -> None:
    """Delete a piece that did not become part of the upload."""
    deleted, _ = Attachment.objects.filter(pk=attachment.pk).delete()
    if not deleted:
        # The upload was cancelled, which also deletes the object, but perhaps before it was written.
        with suppress(storage.StorageError):
            storage.delete(attachment.storage_name)


def write_pieces(job: ImportJob, file: BinaryIO) -> None:
    """Write an uploaded file to a local one.

    Raises BytesUnavailable if storage cannot be read, and RefusedImport if a piece is missing.
    """
    pieces = job.pieces.exclude(start=None).order_by("start").select_related("attachment")
    end = 0
    for piece in pieces.iterator(chunk_size=DELETED_AT_ONCE):
        if piece.start != end:
            break
        end += file.write(read_bytes(piece.attachment))
    if end != job.size_bytes:
        raise RefusedImport("A piece of this file is missing. Upload the file again.")
    file.seek(0)


def cancel(job: ImportJob) -> None:
    """End an upload or an import. Before the import begins, the row is deleted. Imported conversations stay."""
    rows = ImportJob.objects.filter(pk=job.pk)
    unread = (ImportJob.State.UPLOADING, ImportJob.State.QUEUED)
    is_unread = bool(rows.filter(state__in=unread).update(state=ImportJob.State.REFUSED, refusal=CANCELLED))
    rows.filter(state=ImportJob.State.RUNNING).update(state=ImportJob.State.REFUSED, refusal=CANCELLED)
    if job.is_open:
        remove_pieces(job)
    if is_unread:
        rows.delete()


def remove_pieces(job: ImportJob) -> None:
    """Delete the pieces of an upload. A trigger queues the deletion of their objects."""
    pieces = Attachment.objects.filter(import_piece__job=job).order_by()
    while ids := list(pieces.values_list("pk", flat=True)[:DELETED_AT_ONCE]):
        Attachment.objects.filter(pk__in=ids).delete()


def delete_old() -> bool:
    """Delete an old unfinished upload or result, or pieces of an ended import. Return whether there was one.

    Unfinished uploads and imports of deactivated accounts count as old.
    """
    now = timezone.now()
    abandoned = Q(state=ImportJob.State.UPLOADING, updated_at__lt=now - UPLOAD_LIFE)
    old = ~Q(state__in=ImportJob.OPEN) & Q(updated_at__lt=now - RESULT_LIFE)
    job = (
        ImportJob.objects.filter(abandoned | old | Q(state__in=ImportJob.OPEN, owner__is_active=False))
        .order_by()
        .first()
    )
    if job is not None:
        cancel(job)
        ImportJob.objects.filter(pk=job.pk).exclude(state__in=ImportJob.OPEN).delete()
        return True
    left = ImportPiece.objects.exclude(job__state__in=ImportJob.OPEN).select_related("job").first()
    if left is not None:
        remove_pieces(left.job)
    return left is not None
