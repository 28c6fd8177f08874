"""Reads tables in this process. Each attachment has one reading at a time, which later requests wait for.

A new choice is read after it.

A reading goes on if its callers are cancelled, and its result is stored. Everything here runs in the server's event
loop. Threads use `reading_requests`.
"""

from __future__ import annotations

import asyncio
import logging
import time
import uuid
import weakref
from collections.abc import Iterable, Mapping
from typing import TypeAlias

from channels.db import database_sync_to_async
from django.core.cache import caches

from attachments.models import Attachment
from chat.python.kernels.table_reading import TableReading
from chat.python.sessions.places import close_client, is_enabled
from chat.python.table_readings.choices import InvalidChoice, change_choices, check_effect
from chat.python.table_readings.kernel_reading import read_attachment
from chat.python.table_readings.stored_readings import load_choices, store_choices, store_reading, stored_readings
from chat.python.table_readings.table_files import can_hold_table

logger = logging.getLogger(__name__)

PREVIEWS_PER_MINUTE = 30
WAITING_LIMIT = 10
"""Maximum number of waiting readings of one person. A message may have as many files."""
END_LIMIT_S = 5.0
FAILURE_LIFETIME_S = 60
"""Time for which the failure of a reading is cached, if the reading may succeed later."""


class TooManyPreviews(Exception):
    """The person has too many waiting readings, or has asked for too many in this minute."""


Task: TypeAlias = asyncio.Task[TableReading | None]
"""A task that reads a file. Its result is `None` if the file is prose, or if it cannot be read now."""

_running: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, dict[uuid.UUID, Task]] = weakref.WeakKeyDictionary()
"""The newest reading of each attachment in each event loop, by the ids of attachments."""
_unfinished: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, dict[Task, int]] = weakref.WeakKeyDictionary()
"""The readings of each event loop that have not ended, with the ids of their owners."""


async def is_running(attachment_id: uuid.UUID) -> bool:
    """Return whether this process reads the attachment now."""
    return _find_running(attachment_id) is not None


async def join(attachment: Attachment) -> TableReading | None:
    """Read an attachment, or wait for the reading that runs already.

    Raises TooManyPreviews if the person asks for too many.
    """
    # Shielded, because other callers may wait for the same reading if this one is cancelled.
    try:
        return await asyncio.shield(_join(attachment))
    except InvalidChoice:
        # The running reading was one with a new choice, which does not fit the file. Read it as stored.
        return await asyncio.shield(_start(attachment, None))


async def begin(attachment: Attachment) -> None:
    """Begin to read an attachment, unless it is being read already.

    Raises TooManyPreviews if the person asks for too many.
    """
    _join(attachment)


async def choose(attachment: Attachment, changes: Mapping[str, object], limit_s: float) -> TableReading | None:
    """Read an attachment as its owner chooses. Store the choices with the result if the file can be read with them.

    `changes`: see `change_choices`. They change the choices that are stored when the reading begins.

    Raises TimeoutError after `limit_s`, while the reading goes on; InvalidChoice if the choices do not fit the file;
    and TooManyPreviews if the person asks for too many.
    """
    task = _start(attachment, changes)
    async with asyncio.timeout(limit_s):
        return await asyncio.shield(task)


async def reading_for_turn(
    attachments: Iterable[Attachment], limit_s: float, earlier: Iterable[Attachment] = ()
) -> dict[uuid.UUID, TableReading]:
    """Return the readings of the tables among the files of a question and of earlier ones, by the ids of attachments.

    `earlier`: files of earlier questions, whose readings may be missing, because the reader has changed or no kernel
    was free. They are not read again for a minute after a failure.

    Missing readings are begun, or joined if they run since the upload. This waits for them for at most `limit_s`
    seconds in all; then they go on for the next turn. An attachment is absent from the result if it holds no table, if
    reading it takes longer, or if no kernel can read it now. A reading with an `error` was refused, so there is no
    table. Call this in the server's event loop. It blocks neither the loop nor a database connection while a kernel
    works, and raises only errors of the database.
    """
    new = {one.pk: one for one in attachments if can_hold_table(one)}
    tables = new | {one.pk: one for one in earlier if can_hold_table(one)}
    if not tables:
        return {}
    readings: dict[uuid.UUID, TableReading]
    readings = await database_sync_to_async(stored_readings, thread_sensitive=False)(tables)
    tasks: dict[uuid.UUID, Task] = {}
    if is_enabled():
        try:
            failed = caches["process"].get_many([failure_key(pk) for pk in tables])
            for pk, table in tables.items():
                is_due = pk not in readings and (pk in new or failure_key(pk) not in failed)
                # If one runs although a reading is stored, a person has just made a new choice.
                if is_due or _find_running(pk):
                    tasks[pk] = _join(table)
        except TooManyPreviews:
            logger.info("A turn does not wait for all readings of its tables: its owner has too many of them.")
    if tasks:
        await asyncio.wait(tasks.values(), timeout=limit_s)
    for pk, task in tasks.items():
        if task.done() and not task.cancelled() and task.exception() is None and (reading := task.result()):
            readings[pk] = reading
    return readings


async def end_all() -> None:
    """End all readings of this event loop, and their kernels, because the process ends."""
    tasks = set(_unfinished.get(asyncio.get_running_loop(), {}))
    for task in tasks:
        task.cancel()
    if tasks:
        await asyncio.wait(tasks, timeout=END_LIMIT_S)
        # A kernel that is not ended lives on for minutes after its last client has gone.
        await close_client()


def failure_key(attachment_id: uuid.UUID) -> str:
    """Return the key of the process cache for a failed reading of an attachment."""
    return f"table-reading-failed:{attachment_id}"


def _find_running(attachment_id: uuid.UUID) -> Task | None:
    return _running.get(asyncio.get_running_loop(), {}).get(attachment_id)


def _join(attachment: Attachment) -> Task:
    return _find_running(attachment.pk) or _start(attachment, None)


def _start(attachment: Attachment, changes: Mapping[str, object] | None) -> Task:
    """Start a reading, which begins after the one that runs. `changes`: changes of the stored choices, or `None`.

    Raises TooManyPreviews if the person asks for too many.
    """
    loop = asyncio.get_running_loop()
    tasks, unfinished = _running.setdefault(loop, {}), _unfinished.setdefault(loop, {})
    # Count here and not where a reading waits for a kernel: before that, it may wait for another reading of its file.
    if [*unfinished.values()].count(attachment.owner_id) > WAITING_LIMIT:
        raise TooManyPreviews
    _count_request(attachment.owner_id)
    task = loop.create_task(_read(attachment, changes, tasks.get(attachment.pk)), name="table reading")
    tasks[attachment.pk] = task
    unfinished[task] = attachment.owner_id

    def forget(task: Task) -> None:
        del unfinished[task]
        if tasks.get(attachment.pk) is task:
            del tasks[attachment.pk]
        # Read the exception, because perhaps no caller waits for the task.
        error = None if task.cancelled() else task.exception()
        if error and not isinstance(error, InvalidChoice):
            logger.error("Attachment %s could not be read.", attachment.pk, exc_info=error)

    task.add_done_callback(forget)
    return task


async def _read(
    attachment: Attachment, changes: Mapping[str, object] | None, earlier: Task | None
) -> TableReading | None:
    if earlier is not None:
        await asyncio.wait({earlier})
    return await (_read_as_stored(attachment) if changes is None else _read_as_chosen(attachment, changes))


async def _read_as_stored(attachment: Attachment) -> TableReading | None:
    chosen = await database_sync_to_async(load_choices, thread_sensitive=False)(attachment.pk)
    reading = await read_attachment(attachment, chosen.choices)
    if reading is not None and reading.is_lasting:
        await database_sync_to_async(store_reading, thread_sensitive=False)(attachment.pk, reading, chosen)
    else:
        caches["process"].set(failure_key(attachment.pk), {"reading": reading}, FAILURE_LIFETIME_S)
    return reading


async def _read_as_chosen(attachment: Attachment, changes: Mapping[str, object]) -> TableReading | None:
    """Read the file and store the choices with the result. Raises InvalidChoice if the choices do not fit the file."""
    chosen = await database_sync_to_async(load_choices, thread_sensitive=False)(attachment.pk)
    choices = change_choices(chosen.choices, changes)
    reading = await read_attachment(attachment, choices)
    if reading is None or not reading.is_lasting:
        return reading
    check_effect(choices, reading)
    await database_sync_to_async(store_choices, thread_sensitive=False)(attachment.pk, reading, choices)
    return reading


def _count_request(user_id: int) -> None:
    """Raise TooManyPreviews if the person has made too many requests in this minute."""
    key = f"table-previews:{user_id}:{int(time.time() // 60)}"
    cache = caches["process"]
    cache.add(key, 0, 120)
    if cache.incr(key) > PREVIEWS_PER_MINUTE:
        raise TooManyPreviews
