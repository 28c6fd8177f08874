"""Code that a person runs in the Python session: turns without a model, and blocks that are run again."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from channels.db import database_sync_to_async
from pytest_django import Settings

from chat.answering.turns.runner import start_turn
from chat.answering.turns.start import Edit, Regenerate, RunCode
from chat.models import Conversation, Message, PythonSession, QuotaUse, Turn
from chat.people.quotas.enforcement import count_usage
from chat.people.quotas.resources import QuotaExceeded, Resource
from chat.python.reruns import replay
from chat.python.reruns.recorded_outputs import RerunRefused
from chat.python.reruns.rerun import IS_LIVE, NO_CODE, rerun
from chat.python.reruns.verdicts import Verdict
from chat.python.sessions.errors import KernelTimeUsedUp, SessionUnavailable
from chat.python.sessions.run import CellResult, run_in_held_kernel
from chat.python.sessions.session_kernel import IS_BUSY, LeasedKernel
from chat.vocabulary.parts import OUTCOME_OK, CodeExecutionResult, Engine, ExecutableCode, InlineData
from tests.chat.python.sessions.cells import run_cell
from tests.chat.turn_driver import WAIT_LIMIT_S, Tab, fresh_page, new_conversation, parts_of, start_and_wait

pytestmark = pytest.mark.django_db(transaction=True)

PLOT = "import matplotlib.pyplot as plt\nplt.plot([1, 2, 4])\nplt.show()\nprint('drawn')"


async def run(conversation: Conversation, code: str) -> Turn:
    return await start_and_wait(start_turn(RunCode(conversation.owner, conversation.pk, code)))


async def rerun_last(turn: Turn, index: int = 0, *, from_start: bool = False) -> tuple[Verdict, str]:
    message = await Message.objects.aget(pk=turn.message_id)
    comparison = await rerun(message, index, from_start=from_start)
    return comparison.verdict, comparison.detail


async def test_code_of_the_user_runs_in_a_turn_without_a_model(sessions: Settings) -> None:
    conversation = await new_conversation()
    tab = Tab(conversation.pk)
    with tab.following():
        turn = await run(conversation, "x = 6\nprint(x * 7)")
    assert turn.status == "done"
    assert [type(part) for part in await parts_of(turn)] == [ExecutableCode, CodeExecutionResult]
    code, result = await parts_of(turn)
    assert isinstance(code, ExecutableCode)
    assert isinstance(result, CodeExecutionResult)
    assert (code.code, code.engine, code.made_by) == ("x = 6\nprint(x * 7)", Engine.SESSION, "")
    assert (result.output, result.outcome, result.made_by) == ("42\n", OUTCOME_OK, "")
    assert (await Message.objects.aget(pk=turn.user_message_id)).text == "```python\nx = 6\nprint(x * 7)\n```"
    assert tab.page.transcript == await fresh_page(conversation)
    # The question is shown as code, without its fence. Only its source, for editing and copying, has the fence.
    assert '<p class="heading">Your code</p><div class="code-block">' in tab.page.transcript
    assert tab.page.transcript.count("```") == 2


async def test_code_of_the_user_can_draw_graphs_and_can_fail(sessions: Settings) -> None:
    conversation = await new_conversation()
    drawn = await parts_of(await run(conversation, PLOT))
    assert [type(part) for part in drawn].count(InlineData) == 1
    failed = await parts_of(await run(conversation, "1 / 0"))
    assert isinstance(failed[-1], CodeExecutionResult)
    assert "ZeroDivisionError" in (failed[-1].output or "")


async def test_code_of_the_user_runs_again_if_it_is_regenerated_or_edited(sessions: Settings) -> None:
    conversation = await new_conversation()
    first = await run(conversation, "n = globals().get('n', 0) + 1\nprint(n)")
    again = await start_and_wait(start_turn(Regenerate(conversation.owner, conversation.pk)))
    assert (await parts_of(again))[1].long_text == "2\n"
    assert again.is_own_code
    edit = Edit(conversation.owner, conversation.pk, "```python\nprint(-n)\n```", message_id=first.user_message_id)
    edited = await start_and_wait(start_turn(edit))
    assert (await parts_of(edited))[1].long_text == "-2\n"


async def test_block_with_the_same_result_gets_the_verdict_reproduced(sessions: Settings) -> None:
    conversation = await new_conversation()
    turn = await run(conversation, PLOT)
    assert await rerun_last(turn) == (Verdict.REPRODUCED, "The output is the same.")
    message = await Message.objects.aget(pk=turn.message_id)
    assert (message.reruns or {})["0"]["verdict"] == "reproduced"
    assert 'data-verdict="reproduced"' in await fresh_page(conversation)


async def test_block_is_rerun_in_the_current_session_or_after_all_earlier_blocks(sessions: Settings) -> None:
    conversation = await new_conversation()
    await run(conversation, "n = 0")
    turn = await run(conversation, "n += 1\nprint(n)")
    assert await rerun_last(turn) == (Verdict.DIFFERS, "Line 1 was “1” and is now “2”.")
    assert await rerun_last(turn, from_start=True) == (Verdict.REPRODUCED, "The output is the same.")


async def test_other_code_waits_until_all_blocks_of_a_rerun_have_run(
    sessions: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    conversation = await new_conversation()
    await run(conversation, "log = []")
    turn = await run(conversation, "print(log)")
    is_waiting = asyncio.Event()
    others: list[asyncio.Task[CellResult]] = []

    def note_wait(sentence: str) -> None:
        assert sentence == IS_BUSY
        is_waiting.set()

    async def run_block(held: LeasedKernel, code: str, **arguments: Any) -> CellResult:
        result = await run_in_held_kernel(held, code, **arguments)
        if not others:
            others.append(asyncio.create_task(run_cell(conversation, "log.append('other')", on_note=note_wait)))
            async with asyncio.timeout(WAIT_LIMIT_S):
                await is_waiting.wait()
        return result

    monkeypatch.setattr(replay, "run_in_held_kernel", run_block)
    assert await rerun_last(turn, from_start=True) == (Verdict.REPRODUCED, "The output is the same.")
    assert (await others[0]).execution.status == "ok"


async def test_block_that_now_fails_gets_the_verdict_failed(sessions: Settings) -> None:
    conversation = await new_conversation()
    await run(conversation, "n = 1")
    turn = await run(conversation, "print(n)")
    await run(conversation, "del n")
    verdict, detail = await rerun_last(turn)
    assert (verdict, detail) == (Verdict.FAILED, "The code failed: “NameError: name 'n' is not defined”.")


async def test_rerun_is_refused_without_code_or_while_the_answer_is_live(sessions: Settings) -> None:
    conversation = await new_conversation()
    turn = await run(conversation, "print(1)")
    with pytest.raises(RerunRefused, match=NO_CODE):
        await rerun_last(turn, 1)
    await Turn.objects.filter(pk=turn.pk).aupdate(status=Turn.Status.WAITING)
    with pytest.raises(RerunRefused, match=IS_LIVE):
        await rerun_last(turn)


async def test_running_time_of_code_is_counted_and_limited(sessions: Settings) -> None:
    conversation = await new_conversation()
    sessions.QUOTAS = {**sessions.QUOTAS, "kernel_seconds_per_day": 1}
    await database_sync_to_async(count_usage)(conversation.owner_id, Resource.KERNEL_TIME, 900)
    turn = await run(conversation, "import time\ntime.sleep(0.2)")
    used = await QuotaUse.objects.aget(user=conversation.owner)
    assert used.kernel_ms >= 1_100
    session = await PythonSession.objects.aget(conversation=conversation)
    with pytest.raises(QuotaExceeded, match="Your code in Python sessions has run for 1 second today"):
        await run(conversation, "1")
    with pytest.raises(KernelTimeUsedUp):
        await rerun_last(turn, from_start=True)
    # The tool set tells the model and the reader why its code did not run.
    with pytest.raises(SessionUnavailable, match="of at most 1 second a day"):
        await run_cell(conversation, "1")
    assert (await PythonSession.objects.aget(pk=session.pk)).generation == session.generation
    # No code ran. Connecting to the kernel and reading its contents are counted by CPU time.
    assert (await QuotaUse.objects.aget(pk=used.pk)).kernel_ms - used.kernel_ms < 100
