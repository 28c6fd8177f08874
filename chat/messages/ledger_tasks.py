"""Ledgers of numbers that this process makes now, outside the event loop: one task for each answer."""

from __future__ import annotations

import asyncio
import logging
import uuid
import weakref

from channels.db import database_sync_to_async

from chat.messages.stored_ledgers import has_results, store_ledger

logger = logging.getLogger(__name__)

_running: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, dict[uuid.UUID, asyncio.Task[None]]] = (
    weakref.WeakKeyDictionary()
)
"""By event loop, and the ids of messages."""
_LIMIT = 2
"""Ledgers that are made at once."""
_slots: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Semaphore] = weakref.WeakKeyDictionary()


def begin_ledger(message_id: uuid.UUID, *, only_with_results: bool = False) -> asyncio.Task[None]:
    """Begin to make the ledger of an answer, unless this is done already. Call this in the server's event loop.

    `only_with_results`: it is only traced if `has_results`.
    """
    loop = asyncio.get_running_loop()
    tasks = _running.setdefault(loop, {})
    if message_id not in tasks:
        tasks[message_id] = loop.create_task(_make(message_id, only_with_results), name="number ledger")
        tasks[message_id].add_done_callback(lambda task: _end(tasks, message_id, task))
    return tasks[message_id]


def _end(tasks: dict[uuid.UUID, asyncio.Task[None]], message_id: uuid.UUID, task: asyncio.Task[None]) -> None:
    del tasks[message_id]
    if not task.cancelled() and (error := task.exception()):
        # Without its text, which may quote the conversation. The ledger is made when it is next asked for.
        logger.error("The numbers of message %s could not be traced: %s", message_id, type(error).__name__)


async def _make(message_id: uuid.UUID, only_with_results: bool) -> None:
    async with _slots.setdefault(asyncio.get_running_loop(), asyncio.Semaphore(_LIMIT)):
        await database_sync_to_async(_store, thread_sensitive=False)(message_id, only_with_results)


def _store(message_id: uuid.UUID, only_with_results: bool) -> None:
    if not only_with_results or has_results(message_id):
        store_ledger(message_id)


async def begin(message_id: uuid.UUID) -> None:
    """Begin to make the ledger of an answer, for threads of views."""
    begin_ledger(message_id)
