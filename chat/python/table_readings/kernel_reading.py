"""Reads the table in an attachment, in a new kernel, which ends afterwards.

The kernel gets text as UTF-8, like the model and the code of answers.

One file of each person is read at a time, and at most `PREVIEWS_LIMIT` files in this process. `live_readings` limits
the number of waiting files.
"""

from __future__ import annotations

import asyncio
import logging
import weakref
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from channels.db import database_sync_to_async

from attachments.models import Attachment
from attachments.store import BytesUnavailable, read_bytes_unconnected
from chat.python.kernels.errors import KernelGone, KernelsUnavailable
from chat.python.kernels.in_kernel.table_source import Choices
from chat.python.kernels.table_reading import TableReading
from chat.python.sessions.places import current_client
from chat.python.table_readings.file_for_kernel import FileForKernel, file_for_kernel

logger = logging.getLogger(__name__)

PREVIEWS_LIMIT = 2
"""Maximum number of files that are read at the same time in this process. `config.kernels` allows for their
kernels."""
READ_LIMIT_S = 30.0
"""Maximum time of one reading. 30 MB of CSV take about 5 s of CPU time, and kernels have a low priority."""
TOO_MUCH = "reading it takes too much time or memory."
NO_ROOM = "it is too large for the place where files are read."


@dataclass(slots=True)
class _Limits:
    """Limits the readings of one event loop: how many run at the same time, of all people and of one person."""

    free: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(PREVIEWS_LIMIT))
    locks: weakref.WeakValueDictionary[int, asyncio.Lock] = field(default_factory=weakref.WeakValueDictionary)
    """The lock of each person whose file is read or waits, by the id."""

    @asynccontextmanager
    async def admit(self, user_id: int) -> AsyncGenerator[None]:
        """Wait until a file of this person may be read. The block then reads it."""
        lock = self.locks.setdefault(user_id, asyncio.Lock())
        async with lock, self.free:
            yield


_limits: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, _Limits] = weakref.WeakKeyDictionary()


async def read_attachment(attachment: Attachment, choices: Choices) -> TableReading | None:
    """Return the reading of a table; `None` for prose without choices, or if no kernel or storage can be used now."""
    limits = _limits.setdefault(asyncio.get_running_loop(), _Limits())
    async with limits.admit(attachment.owner_id):
        try:
            read = database_sync_to_async(read_file, thread_sensitive=False)
            file: FileForKernel = await read(attachment, choices.get("encoding", ""))
            if not choices and not file.may_be_table:
                return None
            async with current_client().new_kernel() as kernel:
                name = await kernel.write_file(file.name, _in_one_piece(file.data))
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
    return file.with_encoding(reading, is_chosen="encoding" in choices)


async def read_workbook(attachment: Attachment) -> str:
    """Return the cells of a workbook as lines; empty if the file is no workbook or has too many cells.

    Raises BytesUnavailable if storage does not have the file now, KernelsUnavailable if no kernel can be started,
    KernelGone if the kernel ends, and ValueError if the file is too large for the kernel.
    """
    limits = _limits.setdefault(asyncio.get_running_loop(), _Limits())
    async with limits.admit(attachment.owner_id):
        data: bytes = await database_sync_to_async(read_bytes_unconnected, thread_sensitive=False)(attachment)
        async with current_client().new_kernel() as kernel:
            name = await kernel.write_file(attachment.name, _in_one_piece(data))
            return await kernel.sheet_text(name, limit_s=READ_LIMIT_S)


def read_file(attachment: Attachment, chosen_encoding: str = "") -> FileForKernel:
    """Return the file that the kernel gets for an attachment. Raises BytesUnavailable if storage lacks it now."""
    data = read_bytes_unconnected(attachment)
    return file_for_kernel(attachment.name, attachment.mime_type, data, chosen_encoding=chosen_encoding)


async def _in_one_piece(data: bytes) -> AsyncIterator[bytes]:
    yield data
