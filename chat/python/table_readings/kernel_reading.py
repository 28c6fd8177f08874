"""Reads the table in an attachment, in a new kernel, which ends afterwards.

The kernel gets text as the model and the code of answers get it: as UTF-8.

The work is limited: one file of each person at a time, and `PREVIEWS_LIMIT` files in this process.
"""

from __future__ import annotations

import asyncio
import logging
import weakref
from collections import defaultdict
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace

from channels.db import database_sync_to_async

from attachments.chosen_encodings import encoding_of
from attachments.code_files import name_in_code, unpacked
from attachments.encoding_names import encoding_name
from attachments.models import Attachment
from attachments.store import BytesUnavailable, read_bytes_unconnected
from attachments.text_encoding import NotText, TextEncoding
from chat.python.kernels.errors import KernelGone, KernelsUnavailable
from chat.python.kernels.in_kernel.table_source import Choices
from chat.python.kernels.table_reading import NOTES_LIMIT, TableReading
from chat.python.sessions.places import current_client
from chat.python.table_readings.encoding_notes import describe_encoding
from chat.python.table_readings.table_files import has_table_lines, suffix_of
from chat.vocabulary.text_types import is_text

logger = logging.getLogger(__name__)

PREVIEWS_LIMIT = 2
"""Files that are described at once, in this process. `config.kernels` allows for their kernels."""
WAITING_LIMIT = 10
"""Files of one person that may wait. A message may have as many."""
READ_LIMIT_S = 30.0
"""Reading 30 MB of CSV takes about 5 s of CPU time, and kernels have a low priority."""
TOO_MUCH = "reading it takes too much time or memory."
NO_ROOM = "it is too large for the place where files are read."


class TooManyPreviews(Exception):
    """The person asks for more previews than are made at once."""


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


async def read_attachment(attachment: Attachment, choices: Choices) -> TableReading | None:
    """Read an attachment as its owner chose; `None` if it is prose, or no kernel can read it now.

    Raises TooManyPreviews.
    """
    limits = _limits.setdefault(asyncio.get_running_loop(), _Limits())
    async with limits.admit(attachment.owner_id):
        try:
            read = database_sync_to_async(_read_file, thread_sensitive=False)
            data, encoding = await read(attachment, choices.get("encoding", ""))
            name = name_in_code(attachment.name, attachment.mime_type)
            if suffix_of(name) == "txt" and not has_table_lines(data):
                return None
            async with current_client().new_kernel() as kernel:
                name = await kernel.write_file(name, _in_one_piece(data))
                reading = await kernel.read_table(name, choices, limit_s=READ_LIMIT_S)
        except (KernelsUnavailable, BytesUnavailable) as error:
            logger.warning("Attachment %s has no preview: %s", attachment.pk, error)
            return None
        except KernelGone as error:
            logger.warning("Attachment %s ended its kernel: %s", attachment.pk, error)
            return TableReading(error=TOO_MUCH, is_lasting=False)
        except ValueError as error:
            logger.warning("Attachment %s cannot be written into a kernel: %s", attachment.pk, error)
            return TableReading(error=NO_ROOM, is_lasting=False)
    if reading.error or encoding is None:
        return reading
    return _with_encoding(reading, encoding, is_chosen="encoding" in choices)


def _read_file(attachment: Attachment, chosen_encoding: str) -> tuple[bytes, TextEncoding | None]:
    """Return what the kernel reads, and the encoding of text. Raises BytesUnavailable."""
    data = read_bytes_unconnected(attachment)
    if not is_text(attachment.mime_type):
        return data, None
    data = unpacked(data)
    try:
        encoding = encoding_of(data, chosen_encoding)
    except NotText:
        return data, None
    return encoding.to_utf8(data), encoding


def _with_encoding(reading: TableReading, encoding: TextEncoding, *, is_chosen: bool) -> TableReading:
    """Return the reading with the encoding, which was found or chosen before a kernel got the file."""
    candidates = {"encoding": list(map(encoding_name, encoding.candidates))} if encoding.candidates else {}
    return replace(
        reading,
        notes=(*describe_encoding(encoding, is_chosen=is_chosen), *reading.notes)[:NOTES_LIMIT],
        reading={"encoding": encoding.name, **reading.reading},
        candidates={**candidates, **reading.candidates},
    )


async def _in_one_piece(data: bytes) -> AsyncIterator[bytes]:
    yield data
