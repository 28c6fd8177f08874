"""Describes the table in an attachment, once: in a new kernel, which ends afterwards.

The kernel gets text as the model and the code of answers get it: as UTF-8.

The work is limited: one file of each person at a time, `PREVIEWS_LIMIT` files in this process, and
`PREVIEWS_PER_MINUTE` requests of a person. A description that would always be the same is stored.
"""

from __future__ import annotations

import asyncio
import logging
import time
import uuid
import weakref
from collections import defaultdict
from collections.abc import AsyncGenerator, AsyncIterator, Iterable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field, replace

from asgiref.sync import async_to_sync, sync_to_async
from django.core.cache import caches
from django.db import IntegrityError

from attachments.code_files import name_in_code, unpacked
from attachments.models import Attachment, AttachmentPreview
from attachments.store import BytesUnavailable, read_bytes_unconnected
from attachments.text_encoding import NotText, detect_encoding
from attachments.validation import PREVIEW_SUFFIXES
from chat.models.database_thread import close_connection
from chat.python.kernels.errors import KernelGone, KernelsUnavailable
from chat.python.kernels.table_reading import NOTES_LIMIT, TableReading, parse_table_reading
from chat.python.sessions.places import current_client, is_enabled
from chat.python.table_readings.encoding_notes import describe_encoding
from chat.vocabulary.text_types import is_text

logger = logging.getLogger(__name__)

VERSION = 2
"""Version of the description. Stored ones of another version are replaced."""
PREVIEWS_LIMIT = 2
"""Files that are described at once, in this process. `config.kernels` allows for their kernels."""
WAITING_LIMIT = 10
"""Files of one person that may wait. A message may have as many."""
PREVIEWS_PER_MINUTE = 30
READ_LIMIT_S = 30.0
"""Reading 30 MB of CSV takes about 5 s of CPU time, and kernels have a low priority."""
TOO_MUCH = "reading it takes too much time or memory."
NO_ROOM = "it is too large for the place where files are read."


class TooManyPreviews(Exception):
    """The person asks for more previews than are made at once."""


def find_or_read_table(attachment: Attachment, user_id: int) -> TableReading | None:
    """Return the description of an attachment; `None` if it is no table, or if no kernel can read it now.

    Blocks until the file is described. Raises TooManyPreviews.
    """
    if _suffix(attachment) not in PREVIEW_SUFFIXES:
        return None
    stored = AttachmentPreview.objects.filter(attachment=attachment, version=VERSION).first()
    if stored is not None:
        return parse_table_reading(stored.content)
    if not is_enabled():
        return None
    _count_request(user_id)
    # Otherwise this thread would hold its connection for as long as the kernel takes.
    close_connection()
    preview = async_to_sync(read_attachment)(attachment, user_id)
    if preview is not None and preview.is_lasting:
        values = {"version": VERSION, "content": preview.as_json()}
        # The attachment may have been deleted meanwhile.
        with suppress(IntegrityError):
            AttachmentPreview.objects.update_or_create(attachment=attachment, defaults=values)
    return preview


def stored_readings(attachment_ids: Iterable[uuid.UUID]) -> dict[uuid.UUID, TableReading]:
    """Return the readings of these attachments that are stored already, by the attachments' ids."""
    rows = AttachmentPreview.objects.filter(attachment__in=list(attachment_ids), version=VERSION)
    return {row.attachment_id: parse_table_reading(row.content) for row in rows}


def _count_request(user_id: int) -> None:
    """Raise TooManyPreviews if the person has made too many requests in this minute."""
    key = f"table-previews:{user_id}:{int(time.time() // 60)}"
    cache = caches["process"]
    cache.add(key, 0, 120)
    if cache.incr(key) > PREVIEWS_PER_MINUTE:
        raise TooManyPreviews


@dataclass(slots=True)
class _Limits:
    """The limits of one event loop on previews: how many run at once, and who has requests."""

    free: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(PREVIEWS_LIMIT))
    locks: defaultdict[int, asyncio.Lock] = field(default_factory=lambda: defaultdict(asyncio.Lock))
    """Lock of each person with a request."""
    requests: defaultdict[int, int] = field(default_factory=lambda: defaultdict(int))
    """Requests of each person."""

    @asynccontextmanager
    async def admit(self, user_id: int) -> AsyncGenerator[None]:
        """Wait until a file of this person may be read. Raises TooManyPreviews."""
        if self.requests[user_id] > WAITING_LIMIT:
            raise TooManyPreviews
        self.requests[user_id] += 1
        try:
            async with self.locks[user_id], self.free:
                yield
        finally:
            self.requests[user_id] -= 1
            if not self.requests[user_id]:
                del self.requests[user_id], self.locks[user_id]


_limits: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, _Limits] = weakref.WeakKeyDictionary()


async def read_attachment(attachment: Attachment, user_id: int) -> TableReading | None:
    """Describe an attachment in a new kernel; `None` if none can read it now. Raises TooManyPreviews."""
    limits = _limits.setdefault(asyncio.get_running_loop(), _Limits())
    async with limits.admit(user_id):
        try:
            data, notes = await sync_to_async(_read_file)(attachment)
            name = name_in_code(attachment.name, attachment.mime_type)
            if name.lower().endswith(".txt") and not _has_tabs(data):
                return None
            async with current_client().new_kernel() as kernel:
                name = await kernel.write_file(name, _in_one_piece(data))
                preview = await kernel.read_table(name, {}, limit_s=READ_LIMIT_S)
            return preview if preview.error else replace(preview, notes=(*notes, *preview.notes)[:NOTES_LIMIT])
        except (KernelsUnavailable, BytesUnavailable) as error:
            logger.warning("Attachment %s has no preview: %s", attachment.pk, error)
            return None
        except KernelGone as error:
            logger.warning("Attachment %s ended its kernel: %s", attachment.pk, error)
            return TableReading(error=TOO_MUCH, is_lasting=False)
        except ValueError as error:
            logger.warning("Attachment %s cannot be written into a kernel: %s", attachment.pk, error)
            return TableReading(error=NO_ROOM, is_lasting=False)


def _read_file(attachment: Attachment) -> tuple[bytes, list[str]]:
    """Return what the kernel reads, and notes about its encoding. Raises BytesUnavailable."""
    data = read_bytes_unconnected(attachment)
    if name_in_code(attachment.name, attachment.mime_type) != attachment.name:
        data = unpacked(data)
    if not is_text(attachment.mime_type):
        return data, []
    try:
        encoding = detect_encoding(data)
    except NotText:
        return data, []
    return encoding.to_utf8(data), describe_encoding(encoding)


def _suffix(attachment: Attachment) -> str:
    return attachment.name.lower().rpartition(".")[2]


def _has_tabs(data: bytes) -> bool:
    """Return whether the first two lines are divided by tabs. Other text is prose."""
    lines = data.split(b"\n", 2)[:2]
    return len(lines) == 2 and all(b"\t" in line.strip() for line in lines)


async def _in_one_piece(data: bytes) -> AsyncIterator[bytes]:
    yield data
