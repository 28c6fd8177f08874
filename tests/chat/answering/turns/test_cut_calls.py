"""Function calls whose answer ends before them: what the page and the next request say, and what tools are told.

The next request goes to the emulator, which refuses a call without exactly one response.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Any, TypeAlias

import pytest
from channels.db import database_sync_to_async
from django.utils import timezone
from pytest_django import Settings

from chat.answering.turns import recovery
from chat.answering.turns.draining import RESTART
from chat.answering.turns.runner import Runner, start_turn, stop_turn
from chat.messages import closing
from chat.models import Conversation, Turn
from chat.vocabulary.parts import FunctionResponse, Refusal
from tests.chat.answering.tools import recording_tools
from tests.chat.answering.tools.recording_tools import RecordingTools, UseTools
from tests.chat.turn_driver import (
    Tab,
    ask_and_wait,
    calls_since,
    count_calls,
    fresh_page,
    make_question,
    new_conversation,
    parts_of,
)

pytestmark = pytest.mark.django_db(transaction=True)

End: TypeAlias = Callable[[Turn], Awaitable[object]]


async def stop(turn: Turn) -> None:
    """Stop a turn, as its owner does."""
    await stop_turn(turn.conversation_id)


async def die(turn: Turn) -> None:
    """Let the lease of a turn expire, as after the death of its process, and recover the turn as another process."""
    expired = timezone.now() - timedelta(seconds=1)
    await Turn.objects.filter(pk=turn.pk).aupdate(lease_owner="dead", lease_expires_at=expired)
    assert await database_sync_to_async(recovery.interrupt_expired)() == [turn.conversation_id]
    Runner.current()._turns[turn.pk].cancel()


async def restart(turn: Turn) -> None:
    """End a turn as a process that hands over to the next one does."""
    Runner.current()._turns[turn.pk].interrupt(RESTART)


async def cut(conversation: Conversation, end: End) -> Turn:
    """Ask, end the turn when a call has printed, drawn and printed, and return it as stored."""
    tab = Tab(conversation.pk)
    with tab.following():
        started = await start_turn(make_question(conversation))
        await tab.receive_text("after")
        await end(started.turn)
        await Runner.current().drain()
    return await Turn.objects.select_related("message").aget(pk=started.turn.pk)


async def next_contents(emulated: Settings, conversation: Conversation) -> list[dict[str, Any]]:
    """Ask again, and return the contents that the model was sent."""
    recording_tools.choose(RecordingTools([]))
    before = count_calls(emulated.GOOGLE_GEMINI_BASE_URL)
    assert (await ask_and_wait(conversation, "next")).status == "done"
    contents: list[dict[str, Any]] = calls_since(emulated.GOOGLE_GEMINI_BASE_URL, before)[0]["request"]["contents"]
    return contents


async def responses_of(turn: Turn) -> list[FunctionResponse]:
    """Return the stored responses of a turn."""
    return [part for part in await parts_of(turn) if isinstance(part, FunctionResponse)]


@pytest.mark.parametrize(
    ("end", "status", "refusal", "words"),
    [
        (stop, "stopped", Refusal.ABORTED, "Function stopped"),
        (die, "interrupted", Refusal.LOST, "Function cut off"),
        (restart, "interrupted", Refusal.LOST, "Function cut off"),
    ],
)
async def test_finished_interrupted_and_unstarted_calls_get_different_responses(
    emulated: Settings, use_tools: UseTools, end: End, status: str, refusal: Refusal, words: str
) -> None:
    tools = use_tools("echo", "plot_wait", "run")
    conversation = await new_conversation(model="scenario-function-calls-3", code_execution="off")
    turn = await cut(conversation, end)
    assert turn.status == status
    assert [call.name for call in tools.calls] == ["echo", "plot_wait"]
    responses = await responses_of(turn)
    assert [(one.name, one.refusal) for one in responses] == [
        ("echo", None),
        ("plot_wait", refusal),
        ("run", Refusal.NOT_RUN),
    ]
    page = await fresh_page(conversation)
    assert words in page
    assert "Function not run" in page

    _, calls, results, *_ = await next_contents(emulated, conversation)
    assert [part["functionCall"]["name"] for part in calls["parts"]] == ["echo", "plot_wait", "run"]
    sent = [part["functionResponse"] for part in results["parts"] if "functionResponse" in part]
    assert [one["name"] for one in sent] == ["echo", "plot_wait", "run"]
    assert sent[1]["response"] == {
        "error": f"{closing.CUT[_outcome(refusal)][1]} {closing.CHECK_FIRST} {closing.SHOWN}",
        "output": "before\nafter\n",
        "graphs": 1,
    }
    assert sent[2]["response"] == {"error": closing.NOT_RUN}
    # No code runs twice.
    assert len(tools.calls) == 2


def _outcome(refusal: Refusal) -> str:
    return next(outcome for outcome, (one, _) in closing.CUT.items() if one is refusal)


async def test_unreleased_output_of_an_interrupted_call_is_not_sent(emulated: Settings, use_tools: UseTools) -> None:
    emulated.RESULTS_NEED_APPROVAL = True
    use_tools("plot_wait")
    conversation = await new_conversation(model="scenario-function-call", code_execution="off")
    turn = await cut(conversation, stop)
    [response] = await responses_of(turn)
    assert response.refusal is Refusal.WITHHELD
    contents = await next_contents(emulated, conversation)
    [sent] = [part["functionResponse"]["response"] for part in contents[2]["parts"] if "functionResponse" in part]
    assert sent.keys() == {"error"}
    assert closing.NOT_RELEASED in sent["error"]
    assert "inlineData" not in str(contents)


async def test_answer_that_reaches_its_time_limit_stops_the_running_call(
    emulated: Settings, use_tools: UseTools, monkeypatch: pytest.MonkeyPatch
) -> None:
    tools = use_tools("plot_wait")
    emulated.TURN_LIMIT_S = 86_399
    limits: list[asyncio.Timeout] = []
    real_timeout = asyncio.timeout

    def timeout(delay_s: float | None) -> asyncio.Timeout:
        limit = real_timeout(delay_s)
        if delay_s == emulated.TURN_LIMIT_S:
            limits.append(limit)
        return limit

    async def reach_limit(turn: Turn) -> None:
        limits[0].reschedule(asyncio.get_running_loop().time())

    monkeypatch.setattr(asyncio, "timeout", timeout)
    turn = await cut(await new_conversation(model="scenario-function-call", code_execution="off"), reach_limit)
    assert (turn.status, turn.error_code) == ("failed", "limit")
    assert tools.ended == [call.call_id for call in tools.calls]
    assert [one.refusal for one in await responses_of(turn)] == [Refusal.ABORTED]


@pytest.mark.parametrize(("end", "abandoned"), [(stop, 0), (restart, 0), (die, 1)])
async def test_tool_set_is_notified_if_the_turn_of_a_running_call_has_ended(
    use_tools: UseTools, end: End, abandoned: int
) -> None:
    """In the process of the turn, the call itself ends. After its death, any process tells the tools."""
    tools = use_tools("plot_wait")
    conversation = await new_conversation(model="scenario-function-call", code_execution="off")
    told_before_the_call_ended = []

    async def end_and_note(turn: Turn) -> None:
        await end(turn)
        told_before_the_call_ended.append(tools.abandoned)

    await cut(conversation, end_and_note)
    assert tools.ended == [call.call_id for call in tools.calls]
    assert told_before_the_call_ended == [abandoned]
    assert tools.abandoned == abandoned


async def test_recovery_continues_if_a_tool_set_cannot_end_its_calls(
    use_tools: UseTools, monkeypatch: pytest.MonkeyPatch
) -> None:
    tools = use_tools("plot_wait")

    async def fail() -> None:
        raise OSError("The service is away.")

    monkeypatch.setattr(tools, "abandon", fail)
    conversation = await new_conversation(model="scenario-function-call", code_execution="off")
    assert (await cut(conversation, die)).status == "interrupted"
