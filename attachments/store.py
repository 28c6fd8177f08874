"""Creating attachments and reading their bytes, wherever these are at the moment."""

from __future__ import annotations

import hashlib
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

from django.conf import settings
from django.contrib.auth import get_user_model
from django.db import transaction
from django.db.models import Sum
from django.db.models.functions import Now
from django.utils import timezone

from attachments import storage
from attachments.models import Attachment, PendingUpload
from attachments.pictures import redrawn
from attachments.storage import NotStored, StorageError
from attachments.tasks import upload_attachment
from attachments.validation import (
    RASTER_TYPES,
    RefusedUpload,
    TooLarge,
    UploadInfo,
    inspect_upload,
    safe_mime_type,
    safe_name,
    too_large_sentence,
)

#: The window of `UPLOAD_QUOTA_BYTES`.
QUOTA_WINDOW = timedelta(days=1)


class BytesUnavailable(Exception):
    """The bytes cannot be had now; the text is a sentence for the person who asked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NewAttachment:
    """What is known of a file before it is kept."""

    owner_id: int
    data: bytes
    name: str
    mime_type: str
    width: int | None
    """In pixels, of images."""
    height: int | None
    is_graph: bool
    attachment_id: uuid.UUID | None = None
    """Chosen by the caller, to name it before it is stored."""


def new_pending(
    *,
    owner_id: int,
    data: bytes,
    name: str,
    mime_type: str,
    width: int | None,
    height: int | None,
    is_graph: bool,
    attachment_id: uuid.UUID | None = None,
) -> Attachment:
    """Keep one file; see `new_pending_many`."""
    new = NewAttachment(
        owner_id=owner_id,
        data=data,
        name=name,
        mime_type=mime_type,
        width=width,
        height=height,
        is_graph=is_graph,
        attachment_id=attachment_id,
    )
    return new_pending_many([new])[0]


def new_pending_many(news: Sequence[NewAttachment]) -> list[Attachment]:
    """Keep files in the caller's transaction: rows, bytes and upload tasks are committed together or not at all.

    Storage is not touched. The name is reduced to a label, and what is no type becomes `application/octet-stream`.
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
            is_graph=new.is_graph,
        )
        for new in news
    ]
    pending = [
        PendingUpload(attachment=attachment, data=new.data, next_attempt_at=Now())
        for attachment, new in zip(attachments, news, strict=True)
    ]
    with transaction.atomic(savepoint=False):
        Attachment.objects.bulk_create(attachments)
        PendingUpload.objects.bulk_create(pending)
        for attachment in attachments:
            upload_attachment.enqueue(str(attachment.pk))
    return attachments


def new_upload(*, owner_id: int, name: str, data: bytes) -> Attachment:
    """Keep a user's file, if it is one that may be attached and they have not sent too much of late.

    A picture is drawn anew, see `pictures`; all else is kept as it is. Raises `validation.RefusedUpload` with a
    sentence.
    """
    info = inspect_upload(name, data)
    # Before anything is locked, as it takes a while.
    if info.mime_type in RASTER_TYPES:
        info, data = _redrawn(info, data)
    with transaction.atomic():
        # One upload of a person at a time, so that many at once do not pass together. Without the key: graphs of live
        # turns refer to the same row and must not wait.
        list(get_user_model()._default_manager.select_for_update(no_key=True).filter(pk=owner_id))
        check_quota(owner_id, info.name, len(data))
        return new_pending(
            owner_id=owner_id,
            data=data,
            name=info.name,
            mime_type=info.mime_type,
            width=info.width,
            height=info.height,
            is_graph=False,
        )


def _redrawn(info: UploadInfo, data: bytes) -> tuple[UploadInfo, bytes]:
    """The picture and what it is now; one that was a GIF is a PNG. Raises RefusedUpload."""
    picture = redrawn(info.name, data, info.mime_type)
    if len(picture.data) > settings.UPLOAD_LIMIT_BYTES:
        raise TooLarge(too_large_sentence(info.name))
    name = info.name
    if picture.mime_type != info.mime_type and name.lower().endswith(".gif"):
        name = f"{name[:-4]}.png"
    return UploadInfo(name, picture.mime_type, picture.width, picture.height), picture.data


def check_quota(owner_id: int, name: str, size_bytes: int, *, with_graphs: bool = False) -> None:
    """Raises RefusedUpload. Counts by time: what was uploaded and never sent cannot lock anybody out for good."""
    recent = Attachment.objects.filter(owner_id=owner_id, created_at__gt=timezone.now() - QUOTA_WINDOW)
    if not with_graphs:
        recent = recent.filter(is_graph=False)
    used_bytes = recent.aggregate(total=Sum("size_bytes"))["total"] or 0
    if used_bytes + size_bytes > settings.UPLOAD_QUOTA_BYTES:
        used, own, most = (f"{n / 1024**2:.3g} MB" for n in (used_bytes, size_bytes, settings.UPLOAD_QUOTA_BYTES))
        raise RefusedUpload(
            f"“{name}” ({own}) is too much for today: you uploaded {used} in the last 24 hours,"
            f"{' graphs included,' if with_graphs else ''} of at most {most}."
        )


def read_bytes(attachment: Attachment, *, limit_s: float | None = None) -> bytes:
    """The file's bytes, exactly those that were kept: from the database while they wait there, then from storage.

    Waits for storage no longer than `limit_s`, by default 12 s. Raises BytesUnavailable.
    """
    name = attachment.storage_name
    if not name:
        data = PendingUpload.objects.filter(pk=attachment.pk).values_list("data", flat=True).first()
        if data is not None:
            return bytes(data)
        # Between the caller's read and ours a worker may have confirmed it.
        name = Attachment.objects.filter(pk=attachment.pk).values_list("storage_name", flat=True).first() or ""
    if not name:
        raise BytesUnavailable(f"“{attachment.name}” does not exist any more.")
    try:
        data = storage.fetch(name, attachment.size_bytes, limit_s)
    except NotStored as error:
        raise BytesUnavailable(f"“{attachment.name}” is missing in storage.") from error
    except StorageError as error:
        raise BytesUnavailable(f"“{attachment.name}” cannot be read just now; please try again soon.") from error
    if hashlib.sha256(data).hexdigest() != attachment.sha256:
        raise BytesUnavailable(f"“{attachment.name}” was changed in storage and is not shown.")
    return data
