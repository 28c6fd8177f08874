"""Runs a block of code of an answer again in the Python session, and stores a verdict: does it give the same?"""

from __future__ import annotations

import asyncio
import uuid
from dataclasses import dataclass

from channels.db import database_sync_to_async
from django.conf import settings

from attachments.store import BytesUnavailable, read_bytes
from chat.answering.turns.call_output import before_cut
from chat.answering.turns.turn_threads import turn_store
from chat.messages.records import MessageRecord, records_by_id
from chat.models import Message
from chat.python.kernels.outputs import Execution, ImageOutput
from chat.python.reruns.live import LiveRerun
from chat.python.reruns.notes import without_notes
from chat.python.reruns.recorded_runs import RecordedRun, recorded_run
from chat.python.reruns.replay import run_blocks
from chat.python.reruns.rows import has_live_turn
from chat.python.reruns.verdicts import Comparison, RunOutput, Verdict, compare
from chat.python.sessions.branch import replay_codes
from chat.python.sessions.errors import KernelTimeUsedUp, SessionUnavailable
from chat.python.sessions.outcomes import OUTCOMES
from chat.python.tool_set.code_run import CodeRun
from chat.python.tool_set.outputs import OutputParts, joined_parts
from chat.vocabulary.code_outcomes import UNFINISHED
from chat.vocabulary.data_uris import extract_images
from chat.vocabulary.parts import ExecutableCode

NO_CODE = "This part holds no Python code."
NOT_SHOWN = "This answer is not shown now. Switch to its version first."
IS_LIVE = "An answer is still being written here. Stop it, or wait until it is done."
NOTHING_RAN = "There is no Python code here that can be run again."
NO_RESULT = "This code has no result to compare with: it was stopped."
NO_GRAPH = "A graph of this code could not be read from storage just now. Try again soon."
TOO_MANY_IMAGES = "This code gave too many images to compare them with new ones."
GONE = "This answer was deleted."
RUNS_ALREADY = "This code is being run again already. Stop it, or wait until it is done."
STOPPED = "The code was stopped before its end."
TOOK_TOO_LONG = "The code was stopped after {limit_s:g} seconds, the limit for it and the code before it."


IMAGES_LIMIT = 200
"""Images of one run that are compared. Comparing two takes some milliseconds, or 0.3 s for the largest."""
IMAGES_LIMIT_BYTES = 100 * 1024 * 1024
"""Size of the images of one run together. All of them are in memory until the code has run."""


class RerunRefused(Exception):
    """The code cannot be run again. The text is a sentence that says why."""


@dataclass(frozen=True, slots=True)
class _Block:
    """A block of code, what it gave before, and the code that ran before it in the conversation."""

    run: RecordedRun
    before: RunOutput
    earlier: tuple[str, ...]
    owner_id: int
    language: str
    """The language of the owner's pages."""


async def rerun(message: Message, index: int, *, from_start: bool) -> Comparison:
    """Run the code of a part again, store the verdict, and show it on open pages.

    `from_start`: restart the session, and run all earlier blocks of the shown version first. Otherwise the session is
    used as it stands. The code runs on if the caller is cancelled, for TURN_LIMIT_S at most, which includes the earlier
    blocks and waiting for a kernel. Raises RerunRefused and KernelTimeUsedUp.
    """
    # Not on the thread of live turns, because storage may be slow.
    block = await database_sync_to_async(_load, thread_sensitive=False)(message.pk, index)
    live = LiveRerun(message, index, block.language)
    return await asyncio.shield(live.launch(_run(live, block, from_start=from_start)))


async def run_everything(conversation_id: uuid.UUID) -> Comparison:
    """Restart the session, and run all code of the shown version again. The verdict is that of the last block.

    Code that was stopped, or ran out of time, is left out. Raises RerunRefused and KernelTimeUsedUp.
    """
    last = await database_sync_to_async(_last_block, thread_sensitive=False)(conversation_id)
    if last is None:
        raise RerunRefused(NOTHING_RAN)
    message, index = last
    return await rerun(message, index, from_start=True)


def _last_block(conversation_id: uuid.UUID) -> tuple[Message, int] | None:
    blocks = replay_codes(conversation_id)
    message = Message.objects.filter(pk=blocks[-1].message_id).first() if blocks else None
    return (message, blocks[-1].part_index) if message else None


async def _run(live: LiveRerun, block: _Block, *, from_start: bool) -> Comparison:
    """Run a block again, show its output while it runs, and store the verdict: whether the result is the same."""
    # A turn may have begun while images were read from storage.
    if not await live.begin():
        is_live = await turn_store.run(has_live_turn, live.message.conversation_id)
        raise RerunRefused(IS_LIVE if is_live else RUNS_ALREADY)
    comparison = None
    codes = [*(block.earlier if from_start else ()), block.run.code]
    limit = asyncio.timeout(settings.TURN_LIMIT_S)

    async def run_codes(outputs: OutputParts) -> Execution:
        return await run_blocks(
            live.message,
            block.owner_id,
            codes,
            is_restarted=from_start,
            on_output=outputs.add,
            on_note=outputs.add_note,
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
    """Return the block. Raises RerunRefused."""
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
    if not run.outcome or run.outcome in UNFINISHED:
        raise RerunRefused(NO_RESULT)
    text, is_cut = before_cut(without_notes(run.text))
    earlier = replay_codes(record.message.conversation_id, before=(record.message.index, index))
    return _Block(
        run,
        RunOutput(run.outcome, text, _images(record, run), is_cut),
        tuple(block.code for block in earlier),
        record.message.conversation.owner_id,
        record.message.conversation.owner.shown_language,
    )


def _images(record: MessageRecord, run: RecordedRun) -> tuple[bytes, ...]:
    """Return the bytes of the images that the code gave. Raises RerunRefused."""
    by_index, of_parts = record.attachments_by_index(), record.attachments_of_parts()
    attachments = [of_parts.get(index) for index in run.image_parts]
    attachments += [by_index.get(index) for index in run.printed_images]
    images = [attachment for attachment in attachments if attachment and attachment.is_image]
    # An imported answer may name one image many times.
    by_id = {image.pk: image for image in images}
    if len(images) > IMAGES_LIMIT or sum(image.size_bytes for image in by_id.values()) > IMAGES_LIMIT_BYTES:
        raise RerunRefused(TOO_MANY_IMAGES)
    try:
        data = {pk: read_bytes(image) for pk, image in by_id.items()}
    except BytesUnavailable as error:
        raise RerunRefused(NO_GRAPH) from error
    return tuple(data[image.pk] for image in images)


def output_of(execution: Execution) -> RunOutput:
    """Return what an execution gave, in the form in which recorded runs are compared."""
    # The same way as into an answer, so that line breaks before errors and after images are the same.
    run = recorded_run([ExecutableCode("", "PYTHON"), *joined_parts(execution.outputs)], 0)
    assert run is not None, "the first part is Python code"
    extraction = extract_images(run.text)
    images = [output.data for output in execution.outputs if isinstance(output, ImageOutput)]
    images += [image.data for image in extraction.images]
    return RunOutput(OUTCOMES[execution.status], extraction.text, tuple(images))
