"""Results of code that a person must release before the model gets them."""

from __future__ import annotations

import pytest
from channels.db import database_sync_to_async
from pytest_django import Settings

from chat.answering.turns import tool_loop
from chat.answering.turns.resume import CodeRefused, current_approval
from chat.answering.turns.runner import Runner, decide, stop_turn
from chat.messages.approval import ApprovalDecision
from chat.models import Conversation, Turn
from chat.vocabulary.parts import FunctionResponse, Refusal
from tests.chat.answering.tools import recording_tools
from tests.chat.answering.tools.code_tools import executed
from tests.chat.answering.tools.recording_tools import RecordingTools
from tests.chat.answering.turns.approvals import (
    CODE,
    EDITED,
    approval_id_of,
    ask_for_code,
    decide_and_wait,
    deny_what_is_overdue,
    let_pass,
    reread,
    responses_in,
)
from tests.chat.turn_driver import ask_and_wait, calls_since, count_calls, fresh_page, new_conversation, parts_of

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("code_tools")]


@pytest.fixture
def held_results(emulated: Settings) -> Settings:
    """Settings with which results of code must be released."""
    emulated.RESULTS_NEED_APPROVAL = True
    return emulated


async def ask_and_run_code(scenario: str = "function-code") -> Turn:
    """Return a turn whose code has run, and which asks for the release of the result."""
    turn = await ask_for_code(scenario)
    turn = await decide_and_wait(turn)
    assert turn.status == "waiting"
    approval = await database_sync_to_async(current_approval)(turn)
    assert approval
    assert approval.is_result
    return turn


async def test_released_result_is_sent_to_the_model(held_results: Settings) -> None:
    before = count_calls(held_results.GOOGLE_GEMINI_BASE_URL)
    turn = await ask_and_run_code()
    assert executed(held_results.VAR_DIR) == [CODE]
    assert len(calls_since(held_results.GOOGLE_GEMINI_BASE_URL, before)) == 1
    turn = await decide_and_wait(turn)
    assert turn.status == "done"
    _, request = calls_since(held_results.GOOGLE_GEMINI_BASE_URL, before)
    assert responses_in(request) == [{"outcome": "OUTCOME_OK", "output": "11\n"}]
    response = next(part for part in await parts_of(turn) if isinstance(part, FunctionResponse))
    assert (response.refusal, response.is_error, response.round) == (None, False, 0)
    assert response.made_by == response.call_id
    assert executed(held_results.VAR_DIR) == [CODE]


async def test_results_need_a_release_if_the_conversation_is_set_so(emulated: Settings) -> None:
    conversation = await new_conversation(model="scenario-function-code", code_execution="off", release="ask")
    before = count_calls(emulated.GOOGLE_GEMINI_BASE_URL)
    turn = await decide_and_wait(await reread(await ask_and_wait(conversation, "go")))
    assert turn.status == "waiting"
    assert len(calls_since(emulated.GOOGLE_GEMINI_BASE_URL, before)) == 1
    await decide_and_wait(turn)
    _, request = calls_since(emulated.GOOGLE_GEMINI_BASE_URL, before)
    assert responses_in(request) == [{"outcome": "OUTCOME_OK", "output": "11\n"}]


async def test_unreleased_result_is_never_sent_to_the_model(held_results: Settings) -> None:
    before = count_calls(held_results.GOOGLE_GEMINI_BASE_URL)
    turn = await decide_and_wait(await ask_and_run_code(), is_approved=False)
    assert turn.status == "done"
    await Conversation.objects.filter(pk=turn.conversation_id).aupdate(model="scenario-text")
    await ask_and_wait(turn.conversation, "again")
    _, *later = calls_since(held_results.GOOGLE_GEMINI_BASE_URL, before)
    assert [responses_in(request) for request in later] == [[{"error": tool_loop.WITHHELD}]] * 2
    # The reader sees what the code printed.
    page = await fresh_page(turn.conversation)
    assert "11" in page
    assert "Result not sent to the model" in page


async def test_result_is_never_sent_if_the_turn_is_stopped_before_its_release(held_results: Settings) -> None:
    turn = await ask_and_run_code()
    assert await stop_turn(turn.conversation_id)
    before = count_calls(held_results.GOOGLE_GEMINI_BASE_URL)
    await Conversation.objects.filter(pk=turn.conversation_id).aupdate(model="scenario-text")
    await ask_and_wait(turn.conversation, "again")
    [request] = calls_since(held_results.GOOGLE_GEMINI_BASE_URL, before)
    assert responses_in(request) == [{"error": tool_loop.WITHHELD}]


async def test_repeated_approval_of_a_call_does_not_release_its_result(held_results: Settings) -> None:
    turn = await ask_for_code()
    decision = ApprovalDecision(await approval_id_of(turn), is_approved=True)
    assert await decide(lambda: turn.pk, decision)
    await Runner.current().drain()
    assert not await decide(lambda: turn.pk, decision)
    assert (await reread(turn)).status == "waiting"
    assert await approval_id_of(turn) != decision.approval_id


async def test_results_are_released_one_after_the_other_after_all_calls_have_run(
    held_results: Settings,
) -> None:
    before = count_calls(held_results.GOOGLE_GEMINI_BASE_URL)
    turn = await ask_for_code("function-code-3")
    for is_approved in (True, False, True):
        turn = await decide_and_wait(turn, is_approved=is_approved)
    # The denied call has no result that could be released.
    for is_approved in (False, True):
        assert turn.status == "waiting"
        turn = await decide_and_wait(turn, is_approved=is_approved)
    assert turn.status == "done"
    _, request = calls_since(held_results.GOOGLE_GEMINI_BASE_URL, before)
    first, second, third = responses_in(request)
    assert (first, second) == ({"error": tool_loop.WITHHELD}, {"error": tool_loop.DENIED})
    assert third["output"] == "33\n"


async def test_result_that_was_not_released_is_withheld_even_if_no_round_follows(held_results: Settings) -> None:
    held_results.ROUNDS_LIMIT = 1
    turn = await decide_and_wait(await ask_and_run_code(), is_approved=False)
    assert (turn.status, turn.finish) == ("done", "round_limit")
    response = next(part for part in await parts_of(turn) if isinstance(part, FunctionResponse))
    assert response.refusal is Refusal.WITHHELD


async def test_result_that_is_not_released_in_time_is_withheld(held_results: Settings) -> None:
    before = count_calls(held_results.GOOGLE_GEMINI_BASE_URL)
    turn = await ask_and_run_code()
    await let_pass(turn, hours=25)
    assert await deny_what_is_overdue() == 1
    assert (await reread(turn)).status == "done"
    _, request = calls_since(held_results.GOOGLE_GEMINI_BASE_URL, before)
    assert responses_in(request) == [{"error": tool_loop.WITHHELD}]


async def test_release_of_a_result_cannot_change_code(held_results: Settings) -> None:
    turn = await ask_and_run_code()
    with pytest.raises(CodeRefused):
        await decide(lambda: turn.pk, ApprovalDecision(await approval_id_of(turn), is_approved=True, code=EDITED))
    assert await stop_turn(turn.conversation_id)


async def test_result_of_a_function_without_code_is_held_back_too(held_results: Settings) -> None:
    held_results.TOOL_SETS = ["tests.chat.answering.tools.recording_tools.make"]
    recording_tools.choose(RecordingTools(("echo",)))
    conversation = await new_conversation(model="scenario-function-call", code_execution="off")
    turn = await ask_and_wait(conversation, "go")
    assert turn.status == "waiting"
    assert await stop_turn(conversation.pk)
