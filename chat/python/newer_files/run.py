"""Runs all code of a conversation on a newer file, in a new kernel that ends afterwards.

The run belongs to the server's event loop, not to a request. Each process, and each person, has only one run at a time.
It counts as running while its lease lasts. Deleting the row stops the run.
"""

from __future__ import annotations

import asyncio
import logging
import uuid
import weakref
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace

from channels.db import database_sync_to_async
from django.conf import settings

from attachments.chosen_readings import chosen_encodings
from chat.models import NewerFileRun
from chat.python.kernels.errors import KernelGone, KernelsUnavailable
from chat.python.kernels.outputs import Execution
from chat.python.newer_files import rows
from chat.python.newer_files.numbers import LostNumberJSON, find_lost_numbers
from chat.python.newer_files.rows import INTERRUPTED, LEASE_S
from chat.python.reruns.earlier_blocks import compare_with_answer
from chat.python.reruns.new_kernel import run_in_new_kernel, took_too_long
from chat.python.reruns.recorded_outputs import output_of
from chat.python.sessions.branch import CodeBlock, replay_codes
from chat.python.sessions.errors import SessionUnavailable
from chat.python.sessions.files import SessionFile, session_files
from chat.vocabulary.parts import OUTCOME_OK

logger = logging.getLogger(__name__)

RUNS_LIMIT = 1
"""Maximum number of runs at the same time in this process. `config.kernels` allows for their kernels."""
RENEWALS_PER_LEASE = 3
END_LIMIT_S = 5.0

_tasks: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, set[asyncio.Task[None]]] = weakref.WeakKeyDictionary()
_slots: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Semaphore] = weakref.WeakKeyDictionary()


async def launch(run_id: uuid.UUID) -> asyncio.Task[None]:
    """Start the task of a run whose row was stored. Call this in the server's event loop."""
    loop = asyncio.get_running_loop()
    tasks = _tasks.setdefault(loop, set())
    task = loop.create_task(_run(run_id), name="newer file")
    tasks.add(task)
    task.add_done_callback(_forget)
    return task


def _forget(task: asyncio.Task[None]) -> None:
    _tasks[task.get_loop()].discard(task)
    if not task.cancelled() and (error := task.exception()):
        # Log only its type, because its text may quote the conversation.
        logger.error("Code did not run to its end on a newer file: %s", type(error).__name__)


async def end_all() -> None:
    """End all runs of this event loop, and their kernels, because the process ends."""
    tasks = set(_tasks.get(asyncio.get_running_loop(), ()))
    for task in tasks:
        task.cancel()
    if tasks:
        await asyncio.wait(tasks, timeout=END_LIMIT_S)


@dataclass(frozen=True, slots=True)
class _Plan:
    """The code and the files of a run, as they are in the conversation when it begins."""

    run: NewerFileRun
    owner_id: int
    blocks: Sequence[CodeBlock]
    files: Sequence[SessionFile]


def _load(run_id: uuid.UUID) -> _Plan:
    run = NewerFileRun.objects.select_related("conversation", "replaced", "newer").get(pk=run_id)
    encoding = chosen_encodings([run.newer]).get(run.newer_id)
    files = [
        replace(file, attachment=run.newer, encoding=encoding) if file.attachment.pk == run.replaced_id else file
        for file in session_files(run.conversation_id)
        # Files that code wrote come from the earlier file. The code writes them again.
        if not file.is_kept
    ]
    return _Plan(run, run.conversation.owner_id, replay_codes(run.conversation_id), files)


async def _run(run_id: uuid.UUID) -> None:
    numbers: Sequence[LostNumberJSON] = ()
    error = INTERRUPTED
    limit = asyncio.timeout(settings.TURN_LIMIT_S)
    try:
        async with _renewed_lease(run_id), _slots.setdefault(asyncio.get_running_loop(), asyncio.Semaphore(RUNS_LIMIT)):
            plan = await database_sync_to_async(_load, thread_sensitive=False)(run_id)
            async with limit:
                outputs = await _run_blocks(plan)
            find = database_sync_to_async(find_lost_numbers, thread_sensitive=False)
            numbers = await find(plan.run.conversation_id, plan.run.replaced, plan.run.newer, outputs)
        error = ""
    except (KernelGone, KernelsUnavailable, SessionUnavailable) as refusal:
        error = str(refusal)
    except TimeoutError:
        if not limit.expired():
            raise
        error = took_too_long()
    finally:
        await database_sync_to_async(rows.end, thread_sensitive=False)(run_id, numbers, error)


async def _run_blocks(plan: _Plan) -> Mapping[CodeBlock, str]:
    outputs: dict[CodeBlock, str] = {}
    verdicts: list[Mapping[str, object]] = []

    async def note_end(block: CodeBlock, execution: Execution) -> None:
        outputs[block] = await _store_verdict(plan.run.pk, block, execution, verdicts)

    await run_in_new_kernel(plan.owner_id, plan.blocks, plan.files, note_end)
    return outputs


async def _store_verdict(
    run_id: uuid.UUID, block: CodeBlock, execution: Execution, verdicts: list[Mapping[str, object]]
) -> str:
    """Store the verdict of a block, and return its new output; an empty text if it failed."""
    after = output_of(execution)
    # On another thread than live turns, because storage may be slow.
    comparison = await database_sync_to_async(compare_with_answer, thread_sensitive=False)(block, after)
    if comparison is not None:
        verdicts.append(
            {
                "message_id": str(block.message_id),
                "index": block.part_index,
                "verdict": comparison.verdict.value,
                "detail": comparison.detail,
            }
        )
        await database_sync_to_async(rows.store_blocks, thread_sensitive=False)(run_id, verdicts)
    return after.text if after.outcome == OUTCOME_OK else ""


@asynccontextmanager
async def _renewed_lease(run_id: uuid.UUID) -> AsyncGenerator[None]:
    """Renew the lease until the block ends. If the row was deleted, cancel the block."""
    task = asyncio.current_task()
    assert task is not None, "a coroutine runs in a task"

    async def renew_repeatedly() -> None:
        while True:
            try:
                goes_on = await database_sync_to_async(rows.renew, thread_sensitive=False)(run_id)
            except Exception:
                logger.warning("the lease of a run on a newer file could not be renewed", exc_info=True)
                goes_on = True
            if not goes_on:
                task.cancel()
                return
            await asyncio.sleep(LEASE_S / RENEWALS_PER_LEASE)

    renewal = asyncio.create_task(renew_repeatedly())
    try:
        yield
    finally:
        renewal.cancel()
        await asyncio.wait({renewal})
