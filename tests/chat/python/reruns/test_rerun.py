"""Blocks of code that run again: pages show their output meanwhile, and they can be stopped."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import timedelta

import pytest
from channels.db import database_sync_to_async
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from pytest_django import Settings

from attachments.models import Attachment
from chat.answering.turns.call_output import CUT
from chat.answering.turns.runner import start_turn
from chat.answering.turns.start import RunCode
from chat.answering.turns.turn_threads import turn_store
from chat.models import Conversation, Message, Part, PythonSession, Turn
from chat.page.relay import broadcast
from chat.page.relay.frames import Announcement, Frame, UnorderedUpdate
from chat.page.transcript.reruns import rerun_view
from chat.python.kernels.outputs import ErrorOutput, Execution, ExecutionStatus, Output, TextOutput
from chat.python.reruns import rows
from chat.python.reruns.earlier_blocks import summary
from chat.python.reruns.live import stop_rerun
from chat.python.reruns.recorded_outputs import IMAGES_LIMIT, RerunRefused, output_of
from chat.python.reruns.rerun import IS_LIVE, RUNS_ALREADY, STOPPED, TOOK_TOO_LONG, rerun, run_everything
from chat.python.reruns.verdicts import Comparison, Verdict
from chat.python.sessions import reaper
from chat.python.sessions.errors import SessionUnavailable
from chat.python.sessions.run import STARTED_ANEW
from chat.vocabulary.parts import OUTCOME_OK, CodeExecutionResult, ExecutableCode, PartKind, PrintedImage
from chat.vocabulary.parts import Part as PartValue
from tests.chat.python.sessions.session_rows import soon
from tests.chat.turn_driver import Tab, fresh_page, new_conversation, parts_of, start_and_wait
from tests.dom import Page
from tests.factories import make_conversation, make_graph, make_model_message
from tests.polling import wait_until_awaited

pytestmark = pytest.mark.django_db(transaction=True)

STOPPABLE = """
import time
n = globals().get("n", 0) + 1
print("run", n, flush=True)
while n == 2:
    time.sleep(0.01)
"""
"""The second run of this code does not end by itself."""


async def run(conversation: Conversation, code: str) -> Turn:
    return await start_and_wait(start_turn(RunCode(conversation.owner, conversation.pk, code)))


async def begin_rerun(conversation: Conversation, tab: Tab) -> tuple[Message, asyncio.Task[Comparison]]:
    """Run the code twice; return its message, and the second run once the page shows its output."""
    turn = await run(conversation, STOPPABLE)
    message = await Message.objects.aget(pk=turn.message_id)
    tab.page = Page(f'<div id="transcript">{await fresh_page(conversation)}</div>')
    with tab.following():
        running = asyncio.create_task(rerun(message, 0, from_start=False))
        await tab.receive_text("run 2")
    return message, running


async def test_output_is_shown_while_code_runs_again_and_the_code_can_be_stopped(sessions: Settings) -> None:
    conversation = await new_conversation()
    tab = Tab(conversation.pk)
    message, running = await begin_rerun(conversation, tab)
    # A page that is loaded now shows the same.
    assert tab.page.transcript == await fresh_page(conversation)
    assert 'data-action="stop-rerun"' in tab.page.transcript
    with pytest.raises(RerunRefused, match=RUNS_ALREADY):
        await rerun(message, 0, from_start=False)
    assert await stop_rerun(message, 0)
    assert await running == Comparison(Verdict.STOPPED, STOPPED)
    page = await fresh_page(conversation)
    assert 'data-verdict="stopped"' in page
    assert "run 2" not in page
    assert not await stop_rerun(message, 0)
    # The code was interrupted, so the session is free.
    assert [part.long_text for part in await parts_of(await run(conversation, "print(n)"))][1] == "2\n"


async def test_rerun_continues_if_its_caller_is_cancelled_and_another_process_can_stop_it(
    emulated: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def run_forever(*arguments: object, on_output: Callable[[Output], None], **options: object) -> None:
        on_output(TextOutput("stdout", "run 2\n"))
        await asyncio.Event().wait()

    async def state() -> dict[str, str]:
        states: dict[str, dict[str, str]] = (await Message.objects.aget(pk=message.pk)).reruns or {}
        return states["0"]

    async def shows_output() -> bool:
        return (await state()).get("output") == "run 2\n"

    async def has_verdict() -> bool:
        return "verdict" in await state()

    message = await database_sync_to_async(make_finished_code)()
    monkeypatch.setattr("chat.python.reruns.rerun.run_blocks", run_forever)
    caller = asyncio.create_task(rerun(message, 0, from_start=False))
    await wait_until_awaited(shows_output)
    caller.cancel()
    with pytest.raises(asyncio.CancelledError):
        await caller
    # Another process requests the stop in this way.
    assert await turn_store.run(rows.request_stop, message.pk, 0)
    await wait_until_awaited(has_verdict)
    assert (await state())["verdict"] == "stopped"


def make_finished_code(images: Sequence[PrintedImage] = (), output: str = "1\n", **rerun: str) -> Message:
    """Store an answer with one block of code and its result. `images`: those that it printed. `rerun`: its state."""
    message = make_model_message(make_conversation(), parts=())
    result = CodeExecutionResult(output, OUTCOME_OK, images=tuple(images))
    values: list[PartValue] = [ExecutableCode("print(1)", "PYTHON"), result]
    Part.objects.bulk_create(
        Part.from_value(value, index=index, message_id=message.pk, attachment_id=None)
        for index, value in enumerate(values)
    )
    Message.objects.filter(pk=message.pk).update(reruns={"0": rerun})
    return message


def make_code_with_one_image(count: int) -> Message:
    """Store code whose result names one image many times, as an imported answer may do."""
    message = make_finished_code([PrintedImage(0, "data:image/png;base64,", 0, 0)] * count)
    make_graph(message)
    return message


async def test_image_that_occurs_many_times_in_a_result_is_read_once(
    emulated: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    reads: list[Attachment] = []

    def read(attachment: Attachment) -> bytes:
        reads.append(attachment)
        return b"png"

    monkeypatch.setattr("chat.python.reruns.recorded_outputs.read_bytes", read)
    monkeypatch.setattr("chat.python.reruns.rerun.run_blocks", print_1)
    message = await database_sync_to_async(make_code_with_one_image)(100)
    assert (
        await rerun(message, 0, from_start=False)
    ).detail == "There were 100 graphs before, and there are 0 graphs now."
    assert len(reads) == 1


async def print_1(*arguments: object, **options: object) -> Execution:
    """Give what the code of `make_finished_code` prints."""
    return Execution(ExecutionStatus.OK, (TextOutput("stdout", "1\n"),), 1, is_truncated=False)


@pytest.mark.parametrize(
    "output",
    [f"[{STARTED_ANEW.format(note='It was idle.')}]\n1\n", CUT.format(limit=100)],
)
async def test_comparison_ignores_notes_of_the_server_and_text_after_the_point_where_output_was_cut(
    emulated: Settings, monkeypatch: pytest.MonkeyPatch, output: str
) -> None:
    monkeypatch.setattr("chat.python.reruns.rerun.run_blocks", print_1)
    message = await database_sync_to_async(make_finished_code)(output=output)
    assert (await rerun(message, 0, from_start=False)).verdict == Verdict.REPRODUCED


def test_error_after_printed_text_starts_on_a_new_line() -> None:
    outputs = (TextOutput("stdout", "a"), ErrorOutput("TimeoutError", "too long", ""))
    execution = Execution(ExecutionStatus.FAILED, outputs, 1, is_truncated=False)
    assert output_of(execution).text == "a\nTimeoutError: too long\n"


async def test_rerun_is_refused_if_an_answer_begins_while_graphs_are_read(
    emulated: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    def read(attachment: Attachment) -> bytes:
        make_model_message(message.conversation, status=Turn.Status.RUNNING)
        return b"png"

    monkeypatch.setattr("chat.python.reruns.recorded_outputs.read_bytes", read)
    monkeypatch.setattr("chat.python.reruns.rerun.run_blocks", print_1)
    message = await database_sync_to_async(make_code_with_one_image)(1)
    with pytest.raises(RerunRefused, match=IS_LIVE):
        await rerun(message, 0, from_start=True)


async def test_block_whose_result_has_too_many_images_is_not_run_again(emulated: Settings) -> None:
    message = await database_sync_to_async(make_code_with_one_image)(IMAGES_LIMIT + 1)
    with pytest.raises(RerunRefused, match="too many images"):
        await rerun(message, 0, from_start=False)


async def test_earlier_verdict_is_kept_if_no_kernel_is_free_for_a_rerun(
    emulated: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def refuse(*arguments: object, **options: object) -> None:
        raise SessionUnavailable("No kernel is free.")

    message = await database_sync_to_async(make_finished_code)(verdict="differs", detail="So.")
    monkeypatch.setattr("chat.python.reruns.rerun.run_blocks", refuse)
    with pytest.raises(RerunRefused, match="No kernel is free"):
        await rerun(message, 0, from_start=False)
    assert (await Message.objects.aget(pk=message.pk)).reruns == {"0": {"verdict": "differs", "detail": "So."}}


def test_block_can_run_again_if_the_process_of_its_rerun_has_died() -> None:
    message = make_finished_code(verdict="", output="so far", until="2020-01-01T00:00:00+00:00")
    assert not rows.request_stop(message.pk, 0)
    message.refresh_from_db()
    view = rerun_view(message.pk, 0, ExecutableCode("print(1)", "PYTHON"), message.reruns)
    assert view
    assert (view.is_running, view.output) == (False, "")
    assert rows.begin(message.pk, 0)
    assert not rows.begin(message.pk, 0)
    assert rows.note_output(message.pk, 0, "more")
    assert rows.request_stop(message.pk, 0)
    assert not rows.note_output(message.pk, 0, "more")


def test_lease_of_a_rerun_ends_by_the_clock_of_the_database(monkeypatch: pytest.MonkeyPatch) -> None:
    message, real_now = make_finished_code(), timezone.now
    assert rows.begin(message.pk, 0)
    # The clock of another process.
    monkeypatch.setattr(timezone, "now", lambda: real_now() + timedelta(hours=1))
    assert not rows.begin(message.pk, 0)
    assert rows.note_output(message.pk, 0, "more")
    monkeypatch.undo()
    message.refresh_from_db()
    assert (message.reruns or {})["0"]["until"] < (real_now() + timedelta(minutes=30)).isoformat()


def test_conversation_is_locked_before_the_end_of_a_rerun_is_stored() -> None:
    message = make_finished_code()
    assert rows.begin(message.pk, 0)
    with CaptureQueriesContext(connection) as queries:
        assert rows.end(message.pk, 0, None, from_start=False)
    first = next(query["sql"] for query in queries if query["sql"].startswith("SELECT"))
    assert first.partition(" FROM ")[2].startswith('"chat_conversation"')
    assert ("FOR UPDATE" in first) == connection.features.has_select_for_update


async def test_rerun_of_a_dead_process_is_ended_and_the_page_no_longer_offers_to_stop_it(sessions: Settings) -> None:
    conversation = await new_conversation()
    turn = await run(conversation, "print(1)")
    message = await Message.objects.aget(pk=turn.message_id)
    assert await turn_store.run(rows.begin, message.pk, 0)
    tab = Tab(conversation.pk)
    tab.page = Page(f'<div id="transcript">{await fresh_page(conversation)}</div>')
    assert 'data-action="stop-rerun"' in tab.page.transcript
    # A dead process leaves a cell whose lease is not renewed.
    abandoned = PythonSession.objects.filter(conversation=conversation)
    assert await abandoned.filter(last_message=message).aupdate(busy_until=soon(-1)) == 1
    before = (await Conversation.objects.aget(pk=conversation.pk)).revision
    await asyncio.to_thread(reaper.reap, rows.end_abandoned)
    await message.arefresh_from_db()
    assert message.reruns == {"0": {}}
    assert (await Conversation.objects.aget(pk=conversation.pk)).revision == before + 1
    assert 'data-action="stop-rerun"' not in await fresh_page(conversation)
    assert not await turn_store.run(rows.end_abandoned, message.pk)


async def test_all_blocks_of_a_rerun_share_one_time_limit(sessions: Settings) -> None:
    conversation = await new_conversation()
    first = await run(conversation, "print('first')")
    turn = await run(conversation, "print('last')")
    message = await Message.objects.aget(pk=turn.message_id)
    # The limit of one cell is so long that it does not end this block within the test.
    sessions.KERNEL_CELL_LIMIT_S = 600
    earlier = Part.objects.filter(message_id=first.message_id, kind=PartKind.EXECUTABLE_CODE)
    assert await earlier.aupdate(text="while True: pass") == 1
    sessions.TURN_LIMIT_S = 1
    comparison = await rerun(message, 0, from_start=True)
    assert comparison == Comparison(Verdict.STOPPED, TOOK_TOO_LONG.format(limit_s=1))
    sessions.TURN_LIMIT_S = 600
    # The code was interrupted, so the session is free. If the limit was over before the new kernel was ready, a note
    # about it comes first.
    assert [part.long_text for part in await parts_of(await run(conversation, "print(7)"))][1].endswith("7\n")


@dataclass(eq=False)
class Shown:
    """The frames that open pages are sent."""

    frames: list[Frame] = field(default_factory=list)

    def deliver(self, frame: Frame) -> None:
        """Keep a frame."""
        self.frames.append(frame)


async def test_page_says_that_a_block_was_never_run_again_until_its_first_rerun(sessions: Settings) -> None:
    conversation = await new_conversation()
    turn = await run(conversation, "print(1)")
    assert "never run again" in await fresh_page(conversation)
    await rerun(await Message.objects.aget(pk=turn.message_id), 0, from_start=False)
    assert "never run again" not in await fresh_page(conversation)


async def test_each_block_gets_a_verdict_when_all_blocks_are_run_again(sessions: Settings) -> None:
    conversation = await new_conversation()
    first = await run(conversation, "x = 1\nprint(x)")
    second = await run(conversation, "import uuid\nprint(uuid.uuid4().hex[:5], 'text')")
    third = await run(conversation, "print(x + 1)")
    page = Shown()
    broadcast.subscribe(conversation.pk, page)
    try:
        verdicts = await run_everything(conversation.pk)
    finally:
        broadcast.unsubscribe(conversation.pk, page)
    # Pages show the verdict of a block at its end, and everything again when the last one has ended.
    texts = [frame.text for frame in page.frames if isinstance(frame, UnorderedUpdate)]
    assert any("Line 1 was" in text for text in texts)
    assert isinstance(page.frames[-1], Announcement)
    assert [(one.message_id, one.index, one.comparison.verdict.value) for one in verdicts] == [
        (first.message_id, 0, "reproduced"),
        (second.message_id, 0, "differs"),
        (third.message_id, 0, "reproduced"),
    ]
    assert summary(verdicts) == Comparison(Verdict.DIFFERS, "2 of 3 blocks of code gave the same again. Different: 1.")
    reloaded = await fresh_page(conversation)
    assert (reloaded.count('data-verdict="reproduced"'), reloaded.count('data-verdict="differs"')) == (2, 1)
