"""Starts the tasks that make ledgers, which list an answer's numbers with their sources. Threads do the work."""

from __future__ import annotations

import asyncio
import logging
import uuid
import weakref

from channels.db import database_sync_to_async

from chat.messages.number_ledgers import store_ledger

logger = logging.getLogger(__name__)

_running: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, dict[uuid.UUID, asyncio.Task[None]]] = (
    weakref.WeakKeyDictionary()
)
"""Event loop -> id of a message -> the task that makes the ledger of this message."""
_LIMIT = 2
"""Maximum number of ledgers that are made at the same time."""
_slots: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Semaphore] = weakref.WeakKeyDictionary()


def begin_ledger(message_id: uuid.UUID, *, only_with_results: bool = False) -> asyncio.Task[None]:
    """Start the task that makes the ledger of an answer, unless it runs already. Call this in the server's event loop.

    `only_with_results`: see `store_ledger`.
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
        # The text of the error is not logged, because it may quote the conversation. The ledger is made at the next
        # request for it.
        logger.error("The numbers of message %s could not be traced: %s", message_id, type(error).__name__)


async def _make(message_id: uuid.UUID, only_with_results: bool) -> None:
    async with _slots.setdefault(asyncio.get_running_loop(), asyncio.Semaphore(_LIMIT)):
        store = database_sync_to_async(store_ledger, thread_sensitive=False)
        await store(message_id, only_with_results=only_with_results)


async def begin(message_id: uuid.UUID) -> None:
    """Do what `begin_ledger` does, for views: they run on threads, and call this through the event loop."""
    begin_ledger(message_id)
