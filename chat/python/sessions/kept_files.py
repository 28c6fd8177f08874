"""Makes a file that code wrote in the Python session an attachment of its answer, which outlives the session."""

from __future__ import annotations

import uuid
from contextlib import aclosing
from dataclasses import dataclass

from channels.db import database_sync_to_async
from django.conf import settings
from django.db import transaction
from django.db.models import Max

from attachments.models import Attachment
from attachments.store import create_within_quota
from attachments.validation import RefusedUpload, UploadTooLarge, build_too_large_message, inspect_file_of_code
from chat.answering.turns.finish import increment_revision
from chat.messages.files_of_code import attachment_names, written_files
from chat.messages.records import records_by_id
from chat.models import CLEARED_INDEX, Conversation, Message, MessageAttachment, Turn
from chat.page.relay import broadcast
from chat.page.relay.frames import Announcement
from chat.python.sessions.downloads import open_file
from chat.vocabulary.parts import Role

IS_LIVE = "This answer is still being written. Its files can be kept when it is done."
TOO_LARGE = "{sentence} Download it instead."


class KeepRefused(Exception):
    """The file cannot be kept. The text is a sentence that says why."""


class FileTooLarge(KeepRefused):
    """The file is larger than an attachment may be."""


class NotWritten(Exception):
    """The code of this answer has written no file of this name, or the answer was deleted."""


@dataclass(frozen=True, slots=True)
class KeptFile:
    """The attachment that holds a kept file."""

    attachment: Attachment
    index: int
    """Index of the attachment in its message."""
    is_new: bool
    """False if the file was kept before."""


@dataclass(frozen=True, slots=True)
class _Found:
    """A file that the code of an answer wrote, and its attachment if there is one."""

    owner_id: int
    attachment_name: str
    earlier: KeptFile | None
    """The attachment, if the file was kept before."""


async def keep_file(message: Message, name: str) -> KeptFile:
    """Read a file from the session, and attach it to the answer whose code wrote it.

    A file is kept once for each answer. Raises NotWritten if the answer wrote no such file, KeepRefused, QuotaExceeded,
    SessionUnavailable, and FileNotFoundError or NotRunning if the file was lost with the session.
    """
    # On another thread than live turns, which a large file would delay.
    found: _Found = await database_sync_to_async(_find, thread_sensitive=False)(message.pk, name)
    if found.earlier is not None:
        return found.earlier
    data = await _read(message.conversation_id, found.owner_id, name)
    kept: KeptFile = await database_sync_to_async(_attach, thread_sensitive=False)(message, found, data)
    if kept.is_new:
        broadcast.publish(Announcement(str(message.conversation_id), None, is_whole=True))
    return kept


def _find(message_id: uuid.UUID, name: str) -> _Found:
    """Find a file among those that the code of an answer wrote.

    Raises NotWritten if it is not among them, and KeepRefused if the answer is still being written.
    """
    record = records_by_id([message_id]).get(message_id)
    if record is None or record.message.role != Role.MODEL:
        raise NotWritten
    if record.is_live:
        raise KeepRefused(IS_LIVE)
    attachment_name = attachment_names(written_files(record.parts)).get(name)
    if attachment_name is None:
        raise NotWritten
    owner_id = record.message.conversation.owner_id
    return _Found(owner_id, attachment_name, _find_kept(message_id, attachment_name))


def _find_kept(message_id: uuid.UUID, attachment_name: str) -> KeptFile | None:
    links = MessageAttachment.objects.filter(
        message=message_id, part_index__isnull=True, attachment__name=attachment_name
    )
    link = links.select_related("attachment").first()
    return KeptFile(link.attachment, link.index, is_new=False) if link else None


async def _read(conversation_id: uuid.UUID, owner_id: int, name: str) -> bytes:
    """Return the bytes of a file. Raises FileTooLarge if it is larger than an attachment may be."""
    data = bytearray()
    async with aclosing(await open_file(conversation_id, owner_id, name)) as pieces:
        async for piece in pieces:
            if len(data) + len(piece) > settings.UPLOAD_LIMIT_BYTES:
                raise FileTooLarge(TOO_LARGE.format(sentence=build_too_large_message(name)))
            data += piece
    return bytes(data)


def _attach(message: Message, found: _Found, data: bytes) -> KeptFile:
    """Store the attachment and its index in the message.

    Raises NotWritten if the conversation was deleted, KeepRefused if the file is refused, and QuotaExceeded.
    """
    try:
        # This comes before the transaction, because it takes a second for a large file, and SQLite has one writer.
        info = inspect_file_of_code(found.attachment_name, data)
    except UploadTooLarge as error:
        raise FileTooLarge(str(error)) from error
    except RefusedUpload as error:
        raise KeepRefused(str(error)) from error
    with transaction.atomic():
        # Lock the conversation, as its deletion does, so that it cannot be deleted meanwhile.
        if not Conversation.objects.select_for_update().filter(pk=message.conversation_id).exists():
            raise NotWritten
        if kept := _find_kept(message.pk, found.attachment_name):
            return kept
        attachment = create_within_quota(found.owner_id, info, data)
        shown = MessageAttachment.objects.filter(message=message, index__lt=CLEARED_INDEX)
        last = shown.aggregate(last=Max("index"))["last"]
        index = 0 if last is None else last + 1
        MessageAttachment.objects.create(message=message, attachment=attachment, index=index)
        live = Turn.objects.filter(conversation=message.conversation_id, status__in=Turn.LIVE)
        if not live.exists():
            # Not during a live turn: each of its frames names the revision before it, so the revision must not change.
            increment_revision(message.conversation_id)
    return KeptFile(attachment, index, is_new=True)
