"""The tool loop against the emulator: function calls are run, and their results are sent in the next round."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest
from channels.db import database_sync_to_async
from pytest_django import Settings

from chat.answering.prompt.history import STATE
from chat.answering.turns import runner, store, tool_loop
from chat.answering.turns.resume import DecisionRefused
from chat.answering.turns.runner import Runner, start_turn, stop_turn
from chat.messages import notices
from chat.messages.approval import ApprovalDecision
from chat.messages.log import fold
from chat.models import Conversation, Round, Turn
from chat.page.relay import broadcast
from chat.page.relay.frames import Announcement, Frame
from chat.vocabulary.parts import (
    OUTCOME_OK,
    CodeExecutionResult,
    ExecutableCode,
    FunctionCall,
    FunctionResponse,
    Refusal,
    Text,
    Thought,
)
from chat.vocabulary.stream_events import Finish
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


def responses_in(call: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the function responses in a request that the emulator has received."""
    parts = [part for content in call["request"]["contents"] for part in content["parts"]]
    return [part["functionResponse"] for part in parts if "functionResponse" in part]


async def test_function_is_run_and_its_result_is_sent_in_the_next_round(
    emulated: Settings, use_tools: UseTools
) -> None:
    tools = use_tools("echo")
    before = count_calls(emulated.GOOGLE_GEMINI_BASE_URL)
    conversation = await new_conversation(model="scenario-function-call", code_execution="off")
    tab = Tab(conversation.pk)
    turn = await ask_and_wait(conversation, "go", tab)
    assert turn.status == "done"
    [call] = tools.calls
    assert (call.name, call.arguments) == ("echo", {"value": 1})
    first, second = calls_since(emulated.GOOGLE_GEMINI_BASE_URL, before)
    assert [declared["name"] for declared in first["request"]["tools"][0]["functionDeclarations"]] == ["echo"]
    assert responses_in(second) == [{"id": call.call_id, "name": "echo", "response": {"arguments": {"value": 1}}}]
    answer = "".join(part.text for part in await parts_of(turn) if isinstance(part, Text) and part.round == 1)
    assert '`{"arguments": {"value": 1}}`' in answer
    assert tab.page.transcript == await fresh_page(conversation)
    assert tools.closed == 1


async def test_rounds_are_stored_and_their_token_counts_are_added_up(emulated: Settings, use_tools: UseTools) -> None:
    use_tools("echo")
    turn = await ask_and_wait(await new_conversation(model="scenario-function-call"), "go")
    rounds = [one async for one in Round.objects.filter(turn=turn)]
    assert [one.index for one in rounds] == [0, 1] == list(range(turn.round_count))
    assert turn.usage["total"] == sum(one.usage["total"] for one in rounds)
    assert len({one.response_id for one in rounds}) == 2
    assert turn.response_id == rounds[-1].response_id
    [call_id] = rounds[0].started_calls
    assert [part.call_id for part in await parts_of(turn) if isinstance(part, FunctionCall)] == [call_id]


async def test_next_turn_sends_the_earlier_rounds_in_order(emulated: Settings, use_tools: UseTools) -> None:
    use_tools("echo")
    conversation = await new_conversation(model="scenario-function-call", code_execution="off")
    await ask_and_wait(conversation, "first")
    before = count_calls(emulated.GOOGLE_GEMINI_BASE_URL)
    await ask_and_wait(conversation, "second")
    request = calls_since(emulated.GOOGLE_GEMINI_BASE_URL, before)[0]["request"]
    kinds = [(content["role"], [_wire_kind(part) for part in content["parts"]]) for content in request["contents"]]
    assert kinds == [
        ("user", ["text"]),
        ("model", ["functionCall"]),
        ("user", ["functionResponse"]),
        ("model", ["text", "text"]),
        # The newest question, and its date.
        ("user", ["text", "text"]),
    ]


def _wire_kind(part: dict[str, Any]) -> str:
    return next(name for name in part if name != "thoughtSignature")


async def test_calls_of_one_answer_are_run_one_after_the_other(emulated: Settings, use_tools: UseTools) -> None:
    tools = use_tools("echo", "run")
    before = count_calls(emulated.GOOGLE_GEMINI_BASE_URL)
    conversation = await new_conversation(model="scenario-function-calls-2", code_execution="off")
    tab = Tab(conversation.pk)
    turn = await ask_and_wait(conversation, "go", tab)
    assert turn.status == "done"
    assert [call.name for call in tools.calls] == ["echo", "run"]
    assert tools.ended == [call.call_id for call in tools.calls]
    _, second = calls_since(emulated.GOOGLE_GEMINI_BASE_URL, before)
    assert [response["id"] for response in responses_in(second)] == tools.ended
    assert tab.page.transcript == await fresh_page(conversation)


async def test_parts_that_a_function_shows_are_on_the_page_but_only_its_response_is_sent(
    emulated: Settings, use_tools: UseTools
) -> None:
    tools = use_tools("run")
    conversation = await new_conversation(model="scenario-function-call", code_execution="off")
    tab = Tab(conversation.pk)
    turn = await ask_and_wait(conversation, "go", tab)
    [call] = tools.calls
    made = [part for part in await parts_of(turn) if part.made_by == call.call_id]
    assert [type(part) for part in made] == [ExecutableCode, CodeExecutionResult, FunctionResponse]
    assert made[1].long_text == "1\n2\n"
    # The tool set gives its parts no ids: the loop does.
    assert {getattr(part, "call_id", "") for part in made} == {call.call_id}
    assert tab.page.transcript == await fresh_page(conversation)
    # The model gets only the response, not the parts that show the reader how the code ran.
    request = (await _next_request(emulated, conversation))["request"]
    assert not [part for content in request["contents"] for part in content["parts"] if "executableCode" in part]


async def _next_request(emulated: Settings, conversation: Conversation) -> dict[str, Any]:
    before = count_calls(emulated.GOOGLE_GEMINI_BASE_URL)
    await ask_and_wait(conversation, "next")
    return calls_since(emulated.GOOGLE_GEMINI_BASE_URL, before)[0]


@pytest.mark.parametrize(
    ("scenario", "name", "sentence"),
    [
        ("function-failing", "fail", "It cannot be done today."),
        ("function-call", "crash", tool_loop.FAILED),
        ("function-call", "silent", tool_loop.NO_RESULT),
        ("function-unknown", "echo", tool_loop.UNKNOWN.format(names="echo")),
        ("function-args-invalid", "echo", tool_loop.NOT_JSON),
    ],
)
async def test_error_is_sent_to_the_model_as_the_result(
    emulated: Settings, use_tools: UseTools, scenario: str, name: str, sentence: str
) -> None:
    tools = use_tools(name)
    before = count_calls(emulated.GOOGLE_GEMINI_BASE_URL)
    conversation = await new_conversation(model=f"scenario-{scenario}", code_execution="off")
    turn = await ask_and_wait(conversation, "go")
    assert turn.status == "done"
    assert len(tools.calls) == (0 if sentence in (tool_loop.NOT_JSON, tool_loop.UNKNOWN.format(names="echo")) else 1)
    [response] = [part for part in await parts_of(turn) if isinstance(part, FunctionResponse)]
    assert (response.is_error, response.refusal) == (True, None)
    assert response.result == {"error": sentence}
    _, second = calls_since(emulated.GOOGLE_GEMINI_BASE_URL, before)
    assert [one["response"] for one in responses_in(second)] == [{"error": sentence}]


async def test_turn_can_be_stopped_while_a_function_runs(emulated: Settings, use_tools: UseTools) -> None:
    tools = use_tools("wait")
    conversation = await new_conversation(model="scenario-function-call", code_execution="off")
    tab = Tab(conversation.pk)
    with tab.following():
        await start_turn(make_question(conversation))
        await tools.is_running.wait()
        await stop_turn(conversation.pk)
        await Runner.current().drain()
    turn = await Turn.objects.aget(conversation=conversation)
    assert turn.status == "stopped"
    assert tools.ended == [tools.calls[0].call_id]
    assert tools.closed == 1
    assert tab.page.transcript == await fresh_page(conversation)
    conversation.model = "scenario-text"
    await conversation.asave()
    request = (await _next_request(emulated, conversation))["request"]
    texts = [part.get("text") for content in request["contents"] for part in content["parts"]]
    assert not [text for text in texts if text and "no result" in text]


async def test_output_of_a_function_is_cut_and_the_answer_continues(emulated: Settings, use_tools: UseTools) -> None:
    emulated.ANSWER_LIMIT_CHARS = 5_000
    tools = use_tools("flood")
    turn = await ask_and_wait(await new_conversation(model="scenario-function-call", code_execution="off"), "go")
    assert turn.status == "done"
    assert tools.ended == [tools.calls[0].call_id]
    [result] = [part for part in await parts_of(turn) if isinstance(part, CodeExecutionResult)]
    assert result.outcome == OUTCOME_OK
    assert re.fullmatch(r"[0-9]{1500,2500}\n\[The output is longer than [12],\d+ characters.*\]\n", result.long_text)


async def test_function_output_counts_only_once_towards_the_limit_of_an_answer(
    emulated: Settings, use_tools: UseTools
) -> None:
    emulated.ANSWER_LIMIT_CHARS = 110_000
    use_tools("flood")
    turn = await ask_and_wait(await new_conversation(model="scenario-function-call", code_execution="off"), "go")
    assert turn.status == "done"
    [result] = [part for part in await parts_of(turn) if isinstance(part, CodeExecutionResult)]
    assert result.long_text == "0123456789" * 5_000


async def test_turn_ends_at_the_limit_of_rounds(emulated: Settings, use_tools: UseTools) -> None:
    emulated.ROUNDS_LIMIT = 3
    tools = use_tools("echo")
    conversation = await new_conversation(model="scenario-function-forever", code_execution="off")
    turn = await ask_and_wait(conversation, "go")
    assert (turn.status, turn.finish, turn.finish_reason) == ("done", Finish.ROUND_LIMIT, "STOP")
    assert len(tools.calls) == turn.round_count == 3
    page = await fresh_page(conversation)
    assert notices.FINISHES[Finish.ROUND_LIMIT].sentence in page


async def test_functions_that_were_not_declared_are_not_run(emulated: Settings, use_tools: UseTools) -> None:
    tools = use_tools("get_weather")
    emulated.TOOL_SETS = []
    turn = await ask_and_wait(await new_conversation(model="scenario-undeclared-function-calls"), "go")
    assert turn.status == "done"
    assert not tools.calls


async def test_session_state_follows_the_newest_results_and_earlier_content_is_unchanged(
    emulated: Settings, use_tools: UseTools
) -> None:
    use_tools("echo", state_text="The session holds the variable x.")
    before = count_calls(emulated.GOOGLE_GEMINI_BASE_URL)
    turn = await ask_and_wait(await new_conversation(model="scenario-function-call"), "go")
    first, second = (call["request"] for call in calls_since(emulated.GOOGLE_GEMINI_BASE_URL, before))
    sent = STATE.format(state="The session holds the variable x.")
    states = [request["contents"][-1]["parts"].pop() for request in (first, second)]
    assert states == [{"text": sent}] * 2
    assert sent not in json.dumps([first, second], ensure_ascii=False)
    assert [[*part] for part in second["contents"][-1]["parts"]] == [["functionResponse"]]
    assert second["contents"][: len(first["contents"])] == first["contents"]
    assert {**second, "contents": []} == {**first, "contents": []}
    assert [one.state async for one in Round.objects.filter(turn=turn)] == [sent] * 2


@pytest.mark.parametrize(("names", "error"), [(["echo"], OSError("The kernel is gone.")), ([], None)])
async def test_session_state_is_omitted_if_reading_it_fails_or_no_functions_are_declared(
    emulated: Settings, use_tools: UseTools, names: Sequence[str], error: Exception | None
) -> None:
    use_tools(*names, state_text="The session holds x.", state_error=error)
    before = count_calls(emulated.GOOGLE_GEMINI_BASE_URL)
    turn = await ask_and_wait(await new_conversation(model="scenario-function-call"), "go")
    assert turn.status == "done"
    assert "The session holds" not in json.dumps(calls_since(emulated.GOOGLE_GEMINI_BASE_URL, before))
    assert "" in [one.state async for one in Round.objects.filter(turn=turn)]


async def test_factory_of_a_tool_set_may_be_asynchronous(emulated: Settings, use_tools: UseTools) -> None:
    tools = use_tools("echo")
    emulated.TOOL_SETS = ["tests.chat.answering.tools.recording_tools.make_later"]
    turn = await ask_and_wait(await new_conversation(model="scenario-function-call"), "go")
    assert turn.status == "done"
    assert (len(tools.calls), tools.closed) == (1, 1)


# --- approval ------------------------------------------------------------------------------------------------------


@dataclass(eq=False)
class FrameRecorder:
    """A subscriber that records frames."""

    delivered: list[Frame] = field(default_factory=list)

    def deliver(self, frame: Frame) -> None:
        """Record a frame."""
        self.delivered.append(frame)


async def wait_for_approval(conversation: Conversation) -> Turn:
    """Ask, and return the turn once it waits for a decision."""
    turn = await ask_and_wait(conversation, "go")
    assert turn.status == "waiting"
    return turn


@pytest.fixture
async def waiting(use_tools: UseTools) -> tuple[Conversation, Turn, RecordingTools]:
    """A turn that waits for the approval of its only call."""
    tools = use_tools("echo", approved_names=["echo"])
    conversation = await new_conversation(model="scenario-function-call", code_execution="off")
    return conversation, await wait_for_approval(conversation), tools


async def awaited_approval_id(turn: Turn) -> str:
    """Return the id of the approval that a turn waits for."""
    return str((await turn.events.aget(name="approval")).data["approval_id"])


async def test_thought_has_a_duration_when_its_turn_waits_for_approval(use_tools: UseTools) -> None:
    use_tools("echo", approved_names=["echo"])
    turn = await wait_for_approval(await new_conversation(model="scenario-function-call-thought", code_execution="off"))
    answer = fold([row async for row in turn.events.order_by("seq").values_list("name", "data")])
    [thought] = [part for part in answer.parts if isinstance(part, Thought)]
    assert thought.duration_ms is not None


@pytest.mark.parametrize("is_approved", [True, False])
async def test_turn_continues_after_a_decision_about_its_call(
    waiting: tuple[Conversation, Turn, RecordingTools], emulated: Settings, is_approved: bool
) -> None:
    conversation, turn, tools = waiting
    before = count_calls(emulated.GOOGLE_GEMINI_BASE_URL)
    decision = ApprovalDecision(await awaited_approval_id(turn), is_approved)
    with pytest.raises(DecisionRefused, match="waits for another decision"):
        await runner.decide(lambda: turn.pk, ApprovalDecision("another call", is_approved=True))
    assert await runner.decide(lambda: turn.pk, decision)
    assert not await runner.decide(lambda: turn.pk, decision)
    with pytest.raises(DecisionRefused, match="already"):
        await runner.decide(lambda: turn.pk, ApprovalDecision(decision.approval_id, is_approved=not is_approved))
    await Runner.current().drain()
    await turn.arefresh_from_db()
    assert turn.status == "done"
    assert len(tools.calls) == is_approved
    [second] = calls_since(emulated.GOOGLE_GEMINI_BASE_URL, before)
    [response] = responses_in(second)
    expected = {"arguments": {"value": 1}} if is_approved else {"error": tool_loop.DENIED}
    assert response["response"] == expected
    seqs = [seq async for seq in turn.events.order_by("seq").values_list("seq", flat=True)]
    assert seqs == list(range(1, len(seqs) + 1))
    assert 'data-status="done"' in await fresh_page(conversation)


async def test_turn_can_be_stopped_while_it_waits_for_approval(
    waiting: tuple[Conversation, Turn, RecordingTools],
) -> None:
    conversation, turn, tools = waiting
    frames = FrameRecorder()
    broadcast.subscribe(conversation.pk, frames)
    assert await stop_turn(conversation.pk)
    broadcast.unsubscribe(conversation.pk, frames)
    # Open pages read a snapshot, because no process runs the turn.
    assert frames.delivered == [Announcement(str(conversation.pk), None)]
    await turn.arefresh_from_db()
    assert turn.status == "stopped"
    assert not tools.calls
    [response] = [part for part in await parts_of(turn) if isinstance(part, FunctionResponse)]
    assert response.refusal is Refusal.NOT_RUN
    with pytest.raises(DecisionRefused, match="any more"):
        await runner.decide(lambda: turn.pk, ApprovalDecision(await awaited_approval_id(turn), is_approved=True))


async def test_turn_that_is_stopped_just_before_it_waits_for_approval_is_ended(
    emulated: Settings, use_tools: UseTools, monkeypatch: pytest.MonkeyPatch
) -> None:
    tools = use_tools("echo", approved_names=["echo"])
    conversation = await new_conversation(model="scenario-function-call", code_execution="off")

    async def request_stop() -> None:
        await database_sync_to_async(store.request_stop)(conversation.pk)

    # The tools are closed after the last commit, and before the turn is stored as waiting.
    monkeypatch.setattr(tools, "aclose", request_stop)
    tab = Tab(conversation.pk)
    turn = await ask_and_wait(conversation, "go", tab)
    assert turn.status == "stopped"
    assert not tools.calls
    assert tab.page.transcript == await fresh_page(conversation)
