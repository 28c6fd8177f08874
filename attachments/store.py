"""Creates attachments and reads their bytes, from the database while the upload is pending, then from storage."""

from __future__ import annotations

import hashlib
import uuid
from collections.abc import Sequence
from dataclasses import dataclass

import psycopg
from django.conf import settings
from django.contrib.auth import get_user_model
from django.db import OperationalError, transaction
from django.db.models.functions import Now
from django.utils.module_loading import import_string

from attachments import storage
from attachments.database_connection import close_connection
from attachments.image_reencoding import reencode_image
from attachments.models import Attachment, PendingUpload
from attachments.other_images import find_other_image
from attachments.storage import ObjectNotFound, StorageError
from attachments.tasks import upload_attachment
from attachments.validation import (
    PNG,
    RASTER_TYPES,
    UploadInfo,
    UploadTooLarge,
    build_too_large_message,
    inspect_upload,
    safe_mime_type,
    safe_name,
)

#: Attempts to lock the user's row. PostgreSQL ends each after `lock_timeout`, which is 2 s. A page uploads several
#: large files at once, and each holds the lock until its bytes are inserted.
LOCK_ATTEMPTS = 5
CONVERTED_SUFFIXES = ("gif", "bmp", "dib", "tif", "tiff", "avif")


class BytesUnavailable(Exception):
    """The bytes of an attachment cannot be read now. The text of the error is a message for the user."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NewAttachment:
    """The values from which an attachment is created."""

    owner_id: int
    data: bytes
    name: str
    mime_type: str
    width: int | None
    """Width in pixels. None for files that are not images."""
    height: int | None
    """Height in pixels. None for files that are not images."""
    is_graph: bool
    attachment_id: uuid.UUID | None = None
    """The id, if the caller needs it before the row exists. By default a new id is generated."""
    scale: int = 1
    """Pixels of an image for one CSS pixel, in each direction."""


def create_attachments(new_attachments: Sequence[NewAttachment]) -> list[Attachment]:
    """Store files in the caller's transaction and return their rows, in the given order.

    Rows, bytes and upload tasks are committed together or not at all. The storage is not called: the bytes stay in the
    database until a worker has uploaded them. Names and MIME types are sanitized.
    """
    attachments = [
        Attachment(
            id=new.attachment_id or uuid.uuid4(),
            owner_id=new.owner_id,
            name=safe_name(new.name, "file"),
            mime_type=safe_mime_type(new.mime_type),
            size_bytes=len(new.data),
            sha256=hashlib.sha256(new.data).hexdigest(),
            width=new.width,
            height=new.height,
            scale=new.scale,
            is_graph=new.is_graph,
        )
        for new in new_attachments
    ]
    pending = [
        PendingUpload(attachment=attachment, data=new.data, next_attempt_at=Now())
        for attachment, new in zip(attachments, new_attachments, strict=True)
    ]
    with transaction.atomic(savepoint=False):
        Attachment.objects.bulk_create(attachments)
        PendingUpload.objects.bulk_create(pending)
        for attachment in attachments:
            upload_attachment.enqueue(str(attachment.pk))
    return attachments


def create_upload(*, owner_id: int, name: str, data: bytes) -> Attachment:
    """Store a file that a user uploads, and return its row.

    An image is re-encoded without its metadata, see `image_reencoding`; a BMP, TIFF or AVIF becomes a PNG or JPEG.
    Other files are stored unchanged. Raise `validation.RefusedUpload` if the file is not allowed or exceeds a quota of
    the user.
    """
    suffix = name.lower().rpartition(".")[2]
    other_type = find_other_image(data, suffix) if len(data) <= settings.UPLOAD_LIMIT_BYTES else None
    info = UploadInfo(safe_name(name, "file"), other_type, None, None) if other_type else inspect_upload(name, data)
    # Re-encoding can take seconds, so it runs before the transaction locks a row.
    if other_type or info.mime_type in RASTER_TYPES:
        info, data = _reencode_upload(info, data)
    return create_within_quota(owner_id, info, data)


def create_within_quota(owner_id: int, info: UploadInfo, data: bytes) -> Attachment:
    """Store a file that the user uploads or keeps, unchanged, and return its row.

    Try again if other uploads of the user hold the lock for too long. Raise `validation.RefusedUpload` if the file
    exceeds a quota of the user.
    """
    for _ in range(LOCK_ATTEMPTS - 1):
        try:
            return _create_under_lock(owner_id, info, data)
        except OperationalError as error:
            if not isinstance(error.__cause__, psycopg.errors.LockNotAvailable):
                raise
    return _create_under_lock(owner_id, info, data)


def _create_under_lock(owner_id: int, info: UploadInfo, data: bytes) -> Attachment:
    with transaction.atomic():
        # The lock on the user's row makes concurrent uploads of one user wait for each other, so that they cannot pass
        # a quota together. no_key=True lets live turns insert graphs, whose foreign key refers to the same row.
        list(get_user_model()._default_manager.select_for_update(no_key=True).filter(pk=owner_id))
        count_upload = import_string(settings.UPLOAD_COUNTER)
        count_upload(owner_id, info.name, len(data))
        new = NewAttachment(
            owner_id=owner_id,
            data=data,
            name=info.name,
            mime_type=info.mime_type,
            width=info.width,
            height=info.height,
            is_graph=False,
        )
        return create_attachments([new])[0]


def _reencode_upload(info: UploadInfo, data: bytes) -> tuple[UploadInfo, bytes]:
    """Return the re-encoded image and its description. Raise RefusedUpload if this fails or the result is too large."""
    # Otherwise this thread would hold its connection while it waits for the images that were uploaded before.
    close_connection()
    image = reencode_image(info.name, data, info.mime_type)
    if len(image.data) > settings.UPLOAD_LIMIT_BYTES:
        raise UploadTooLarge(build_too_large_message(info.name))
    name = info.name
    stem, _, suffix = name.rpartition(".")
    if image.mime_type != info.mime_type and suffix.lower() in CONVERTED_SUFFIXES:
        name = f"{stem}.{'png' if image.mime_type == PNG else 'jpg'}"
    return UploadInfo(name, image.mime_type, image.width, image.height), image.data


def read_bytes(attachment: Attachment, *, limit_s: float | None = None) -> bytes:
    """Return the file's bytes, verified against their SHA-256 when they come from storage.

    A call to storage takes at most `limit_s` seconds, by default `storage.ATTEMPT_LIMIT_S` (12 s). Raise
    BytesUnavailable if storage does not return the right bytes in this time.
    """
    name = attachment.storage_name
    if not name:
        data = PendingUpload.objects.filter(pk=attachment.pk).values_list("data", flat=True).first()
        if data is not None:
            return bytes(data)
        # A worker may have finished the upload after the caller read the row.
        name = Attachment.objects.filter(pk=attachment.pk).values_list("storage_name", flat=True).first() or ""
    if not name:
        raise BytesUnavailable(f"“{attachment.name}” does not exist any more.")
    try:
        data = storage.fetch(name, attachment.size_bytes, limit_s)
    except ObjectNotFound as error:
        raise BytesUnavailable(f"“{attachment.name}” is missing in storage.") from error
    except StorageError as error:
        raise BytesUnavailable(f"“{attachment.name}” cannot be read just now; please try again soon.") from error
    if hashlib.sha256(data).hexdigest() != attachment.sha256:
        raise BytesUnavailable(f"“{attachment.name}” was changed in storage and is not shown.")
    return data


def read_bytes_unconnected(attachment: Attachment) -> bytes:
    """Return the file's bytes like `read_bytes`, without a database connection while storage is slow, and afterwards.

    The calling thread should then only wait for the client that receives the bytes. A file that is in storage is read
    without a query, so the connection stays closed.
    """
    close_connection()
    try:
        return read_bytes(attachment)
    finally:
        close_connection()
