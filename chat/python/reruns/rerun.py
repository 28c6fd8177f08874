"""Runs a block of code of an answer again in the Python session, and stores whether the result is the same."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Sequence
from dataclasses import dataclass

from channels.db import database_sync_to_async
from django.conf import settings

from chat.answering.turns.turn_threads import turn_store
from chat.messages.records import records_by_id
from chat.models import Message
from chat.python.kernels.outputs import Execution
from chat.python.reruns.earlier_blocks import BlockVerdict, EarlierBlocks
from chat.python.reruns.live import LiveRerun
from chat.python.reruns.recorded_outputs import RerunRefused, output_before, output_of
from chat.python.reruns.recorded_runs import recorded_run
from chat.python.reruns.replay import run_blocks
from chat.python.reruns.rows import has_live_turn
from chat.python.reruns.verdicts import Comparison, RunOutput, Verdict, compare
from chat.python.sessions.branch import CodeBlock, replay_codes
from chat.python.sessions.errors import KernelTimeUsedUp, SessionUnavailable
from chat.python.tool_set.code_run import CodeRun
from chat.python.tool_set.outputs import OutputParts

NO_CODE = "This part holds no Python code."
NOT_SHOWN = "This answer is not shown now. Switch to its version first."
IS_LIVE = "An answer is still being written here. Stop it, or wait until it is done."
NOTHING_RAN = "There is no Python code here that can be run again."
GONE = "This answer was deleted."
RUNS_ALREADY = "This code is being run again already. Stop it, or wait until it is done."
STOPPED = "The code was stopped before its end."
TOOK_TOO_LONG = "The code was stopped after {limit_s:g} seconds, the limit for it and the code before it."


@dataclass(frozen=True, slots=True)
class _Block:
    """A block of code, its earlier result, and the blocks before it in the conversation."""

    code: str
    before: RunOutput
    earlier: Sequence[CodeBlock]
    owner_id: int
    language: str
    """The language of the owner's pages."""


async def rerun(message: Message, index: int, *, from_start: bool) -> Comparison:
    """Run the code of a part again, store the verdict, and show it on open pages.

    `from_start`: restart the session, and run all earlier blocks of the shown version first, which get verdicts, too.
    Otherwise the block runs with the session's present variables. If the caller is cancelled, the code runs on. It may
    take TURN_LIMIT_S at most, with the earlier blocks and the wait for a kernel. Raises RerunRefused if the code cannot
    run, and KernelTimeUsedUp if the owner has no time left today.
    """
    verdicts = await _rerun(message, index, from_start=from_start)
    return verdicts[-1].comparison


async def run_everything(conversation_id: uuid.UUID) -> Sequence[BlockVerdict]:
    """Restart the session, and run all code of the shown version again; return the verdicts in order.

    Code that was stopped, or ran out of time, is left out. Raises RerunRefused if no code can run, and KernelTimeUsedUp
    if the owner has no time left today.
    """
    last = await database_sync_to_async(_last_block, thread_sensitive=False)(conversation_id)
    if last is None:
        raise RerunRefused(NOTHING_RAN)
    message, index = last
    return await _rerun(message, index, from_start=True)


def _last_block(conversation_id: uuid.UUID) -> tuple[Message, int] | None:
    blocks = replay_codes(conversation_id)
    message = Message.objects.filter(pk=blocks[-1].message_id).first() if blocks else None
    return (message, blocks[-1].part_index) if message else None


async def _rerun(message: Message, index: int, *, from_start: bool) -> Sequence[BlockVerdict]:
    # On another thread than live turns, because storage may be slow.
    block = await database_sync_to_async(_load, thread_sensitive=False)(message.pk, index)
    live = LiveRerun(message, index, block.language)
    earlier = EarlierBlocks(message.conversation_id, block.earlier if from_start else (), block.language)
    comparison = await asyncio.shield(live.launch(_run(live, block, earlier, from_start=from_start)))
    return [*earlier.verdicts, BlockVerdict(message.pk, index, comparison)]


async def _run(live: LiveRerun, block: _Block, earlier: EarlierBlocks, *, from_start: bool) -> Comparison:
    """Run a block again, show its output while it runs, and store the verdict: whether the result is the same."""
    # A turn may have begun while images were read from storage.
    if not await live.begin():
        is_live = await turn_store.run(has_live_turn, live.message.conversation_id)
        raise RerunRefused(IS_LIVE if is_live else RUNS_ALREADY)
    comparison = None
    limit = asyncio.timeout(settings.TURN_LIMIT_S)

    async def run_codes(outputs: OutputParts) -> Execution:
        return await run_blocks(
            live.message,
            block.owner_id,
            [*earlier.codes, block.code],
            is_restarted=from_start,
            on_output=outputs.add,
            on_note=outputs.add_note,
            on_end=earlier.compare,
        )

    try:
        async with limit:
            execution = await live.show(CodeRun(run_codes))
        # In a thread, because comparing images takes some milliseconds for each.
        comparison = await asyncio.to_thread(compare, block.before, output_of(execution))
    except asyncio.CancelledError:
        comparison = Comparison(Verdict.STOPPED, STOPPED)
    except TimeoutError:
        if not limit.expired():
            raise
        comparison = Comparison(Verdict.STOPPED, TOOK_TOO_LONG.format(limit_s=settings.TURN_LIMIT_S))
    except KernelTimeUsedUp:
        raise
    except SessionUnavailable as error:
        raise RerunRefused(str(error)) from error
    finally:
        is_stored = await live.end(comparison, from_start=from_start)
    if not is_stored:
        raise RerunRefused(GONE)
    return comparison


def _load(message_id: uuid.UUID, index: int) -> _Block:
    """Return the block. Raises RerunRefused if it has no code or no result, or cannot run now."""
    record = records_by_id([message_id]).get(message_id)
    if record is None:
        raise RerunRefused(GONE)
    run = recorded_run(record.parts, index)
    if run is None:
        raise RerunRefused(NO_CODE)
    if not record.message.is_shown:
        raise RerunRefused(NOT_SHOWN)
    if has_live_turn(record.message.conversation_id):
        raise RerunRefused(IS_LIVE)
    before = output_before(record, run)
    conversation = record.message.conversation
    earlier = replay_codes(conversation.pk, before=(record.message.index, index))
    return _Block(run.code, before, earlier, conversation.owner_id, conversation.owner.shown_language)
