"""Tables that this process reads now: one reading at a time for each attachment, which whoever asks then joins.

A reading goes on when those who asked for it have gone away, and its result is stored.
"""

from __future__ import annotations

import asyncio
import logging
import time
import uuid
import weakref
from collections.abc import Iterable
from typing import TypeAlias

from asgiref.sync import async_to_sync
from channels.db import database_sync_to_async
from django.core.cache import caches

from attachments.models import Attachment
from chat.models.database_thread import close_connection
from chat.python.kernels.in_kernel.table_source import Choices
from chat.python.kernels.table_reading import TableReading
from chat.python.sessions.places import is_enabled
from chat.python.table_readings.kernel_reading import TooManyPreviews, read_attachment
from chat.python.table_readings.stored_readings import (
    find_reading,
    load_choices,
    store_choices,
    store_reading,
    stored_readings,
)
from chat.python.table_readings.table_files import can_hold_table

logger = logging.getLogger(__name__)

PREVIEWS_PER_MINUTE = 30

_Task: TypeAlias = asyncio.Task[TableReading | None]

_running: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, dict[uuid.UUID, _Task]] = weakref.WeakKeyDictionary()
"""The readings of each event loop, by the ids of attachments."""


def find_running(attachment_id: uuid.UUID) -> _Task | None:
    """Return the reading of an attachment that runs in this event loop."""
    return _running.get(asyncio.get_running_loop(), {}).get(attachment_id)


def join_reading(attachment: Attachment) -> _Task:
    """Return the task that reads an attachment and stores the result; it is started unless it runs already.

    The result is `None` if the file is prose, or if no kernel can read it now. Whoever awaits the task should shield
    it. Raises TooManyPreviews, as the task may.
    """
    return find_running(attachment.pk) or _start(attachment, None)


async def read_as_chosen(attachment: Attachment, choices: Choices) -> TableReading | None:
    """Read an attachment with a person's choices. They and the result are stored if the file can be read so.

    `None`: no kernel can read it now. Raises TooManyPreviews.
    """
    while running := find_running(attachment.pk):
        await asyncio.wait({running})
    return await asyncio.shield(_start(attachment, choices))


def find_or_read_table(attachment: Attachment) -> TableReading | None:
    """Return how an attachment is read; `None` if it is no table, or if no kernel can read it now.

    Blocks a thread of a request under ASGI until the file is read. Raises TooManyPreviews.
    """
    if not can_hold_table(attachment):
        return None
    reading = find_reading(attachment.pk)
    if reading is not None or not is_enabled():
        return reading
    # Otherwise this thread would hold its connection for as long as the kernel takes.
    close_connection()
    return async_to_sync(_join)(attachment)


async def _join(attachment: Attachment) -> TableReading | None:
    return await asyncio.shield(join_reading(attachment))


async def reading_for_turn(attachments: Iterable[Attachment], limit_s: float) -> dict[uuid.UUID, TableReading]:
    """Return how the tables among the files of a question were read, by the ids of attachments.

    Readings that are not stored yet are begun, or joined if they run since the upload, and awaited for at most
    `limit_s` seconds in all; they go on afterwards, for the next turn. An attachment is absent if it holds no table,
    if reading it takes longer, or if no kernel can read it now. A reading with an `error` was refused: there is no
    table then. Call this in the server's event loop. It blocks neither the loop nor a connection of the database
    while a kernel works, and raises only errors of the database.
    """
    tables = {one.pk: one for one in attachments if can_hold_table(one)}
    if not tables:
        return {}
    readings: dict[uuid.UUID, TableReading]
    readings = await database_sync_to_async(stored_readings, thread_sensitive=False)(tables)
    tasks: dict[uuid.UUID, _Task] = {}
    if is_enabled():
        try:
            for pk in tables.keys() - readings.keys():
                tasks[pk] = join_reading(tables[pk])
        except TooManyPreviews:
            logger.info("A turn does not wait for the reading of its tables: its owner has too many readings.")
    if tasks:
        await asyncio.wait(tasks.values(), timeout=limit_s)
    for pk, task in tasks.items():
        if task.done() and not task.cancelled() and task.exception() is None and (reading := task.result()):
            readings[pk] = reading
    return readings


def begin_reading(attachment: Attachment) -> None:
    """Begin to read a file that was just uploaded, if it can hold a table, in the server's event loop.

    Called in a thread of a request under ASGI. Whoever asks later joins the reading or finds its result.
    """
    if is_enabled() and can_hold_table(attachment):
        async_to_sync(_begin)(attachment)


async def _begin(attachment: Attachment) -> None:
    try:
        join_reading(attachment)
    except TooManyPreviews:
        logger.info("Attachment %s is not read before somebody asks: its owner has too many readings.", attachment.pk)


def _start(attachment: Attachment, choices: Choices | None) -> _Task:
    """Start the task of a reading. `choices`: new ones, or `None` for those that are stored."""
    _count_request(attachment.owner_id)
    loop = asyncio.get_running_loop()
    tasks = _running.setdefault(loop, {})
    task = tasks[attachment.pk] = loop.create_task(_read(attachment, choices), name="table reading")

    def forget(task: _Task) -> None:
        del tasks[attachment.pk]
        # Perhaps nobody waits for it.
        if not task.cancelled() and (error := task.exception()) and not isinstance(error, TooManyPreviews):
            logger.error("Attachment %s could not be read.", attachment.pk, exc_info=error)

    task.add_done_callback(forget)
    return task


async def _read(attachment: Attachment, choices: Choices | None) -> TableReading | None:
    if choices is not None:
        reading = await read_attachment(attachment, choices)
        if reading is not None and not reading.error:
            await database_sync_to_async(store_choices, thread_sensitive=False)(attachment.pk, reading, choices)
        return reading
    chosen = await database_sync_to_async(load_choices, thread_sensitive=False)(attachment.pk)
    reading = await read_attachment(attachment, chosen.choices)
    if reading is not None and reading.is_lasting:
        await database_sync_to_async(store_reading, thread_sensitive=False)(attachment.pk, reading, chosen)
    return reading


def _count_request(user_id: int) -> None:
    """Raise TooManyPreviews if the person has made too many requests in this minute."""
    key = f"table-previews:{user_id}:{int(time.time() // 60)}"
    cache = caches["process"]
    cache.add(key, 0, 120)
    if cache.incr(key) > PREVIEWS_PER_MINUTE:
        raise TooManyPreviews
