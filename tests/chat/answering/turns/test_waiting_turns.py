"""Turns that wait for a decision: what does not affect them, and what ends the wait without a person."""

from __future__ import annotations

import pytest
from channels.db import database_sync_to_async
from pytest_django import Settings

from chat.answering.turns import recovery, tool_loop
from chat.answering.turns.approval_timeout import find_overdue_approvals
from chat.answering.turns.old_logs import delete_old_logs
from chat.answering.turns.resume import DecisionRefused
from chat.answering.turns.runner import Runner, decide, start_turn
from chat.answering.turns.start_rules import StartRefused
from chat.messages.approval import ApprovalDecision
from chat.models import CallDecision, Conversation, Turn
from tests.chat.answering.tools.code_tools import executed
from tests.chat.answering.turns.approvals import (
    CODE,
    approval_id_of,
    ask_for_code,
    decide_and_wait,
    deny_what_is_overdue,
    let_pass,
    reread,
    responses_in,
)
from tests.chat.turn_driver import ask_and_wait, calls_since, count_calls, create_turn, fresh_page, make_question

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("code_tools")]


async def test_recovery_and_shutdown_do_not_end_a_turn_that_waits_for_approval(emulated: Settings) -> None:
    turn = await ask_for_code()
    assert not Runner.current().live_turns()
    assert 'data-status="waiting"' in await fresh_page(turn.conversation)
    await Runner.current().drain()
    assert await database_sync_to_async(recovery.sweep)() == 0
    assert await database_sync_to_async(find_overdue_approvals)() == []
    assert await database_sync_to_async(delete_old_logs)() == 0
    turn = await reread(turn)
    assert (turn.status, turn.lease_owner, turn.lease_expires_at) == ("waiting", "", None)


async def test_turn_that_waits_for_approval_prevents_new_questions_only_in_its_conversation(emulated: Settings) -> None:
    emulated.LIVE_TURNS_LIMIT = 1
    turn = await ask_for_code()
    with pytest.raises(StartRefused, match="waits for your decision"):
        await start_turn(make_question(turn.conversation, "another"))
    # A waiting turn does not count as an answer that is being written.
    other = await database_sync_to_async(Conversation.objects.create)(
        owner=turn.conversation.owner, model="scenario-text"
    )
    assert (await ask_and_wait(other, "go")).status == "done"


async def test_decision_is_refused_while_its_owner_has_the_maximum_of_running_answers(emulated: Settings) -> None:
    turn = await ask_for_code()
    other = await database_sync_to_async(Conversation.objects.create)(
        owner=turn.conversation.owner, model="scenario-text"
    )
    running = await database_sync_to_async(create_turn)(make_question(other), lease_owner="elsewhere")
    emulated.LIVE_TURNS_LIMIT = 1
    approval = ApprovalDecision(await approval_id_of(turn), is_approved=True)
    with pytest.raises(DecisionRefused, match="1 answers are being written for you already"):
        await decide(lambda: turn.pk, approval)
    assert (await reread(turn)).status == "waiting"
    await Turn.objects.filter(pk=running.turn.pk).aupdate(status=Turn.Status.DONE)
    assert (await decide_and_wait(turn)).status == "done"


async def test_call_is_denied_if_nobody_decides_within_the_time_limit(emulated: Settings) -> None:
    emulated.APPROVAL_LIMIT_H = 3
    turn = await ask_for_code()
    approval_id = await approval_id_of(turn)
    await let_pass(turn, hours=2.9)
    assert await deny_what_is_overdue() == 0
    await let_pass(turn, hours=3.1)
    before = count_calls(emulated.GOOGLE_GEMINI_BASE_URL)
    assert await deny_what_is_overdue() == 1
    assert await deny_what_is_overdue() == 0
    turn = await reread(turn)
    assert turn.status == "done"
    assert executed(emulated.VAR_DIR) == []
    [request] = calls_since(emulated.GOOGLE_GEMINI_BASE_URL, before)
    assert responses_in(request) == [{"error": tool_loop.NOT_DECIDED}]
    stored = await CallDecision.objects.aget(turn=turn)
    assert (stored.is_approved, stored.is_timeout, stored.decided_by_id) == (False, True, None)
    with pytest.raises(DecisionRefused, match="within 3 h"):
        await decide(lambda: turn.pk, ApprovalDecision(approval_id, is_approved=True))


async def test_time_limit_for_a_decision_begins_anew_with_each_wait(emulated: Settings) -> None:
    turn = await ask_for_code("function-code-2")
    await let_pass(turn, hours=23)
    turn = await decide_and_wait(turn)
    assert turn.status == "waiting"
    assert await deny_what_is_overdue() == 0
    await let_pass(turn, hours=25)
    assert await deny_what_is_overdue() == 1
    assert (await reread(turn)).status == "done"
    assert executed(emulated.VAR_DIR) == [CODE]


async def test_time_limit_of_a_turn_does_not_include_the_wait(emulated: Settings) -> None:
    emulated.TURN_LIMIT_S = 1_000
    turn = await ask_for_code("function-code-2")
    assert 0 < turn.run_s < 60
    await Turn.objects.filter(pk=turn.pk).aupdate(run_s=500)
    await let_pass(turn, hours=1)
    turn = await decide_and_wait(turn)
    assert turn.status == "waiting"
    assert 500 < turn.run_s < 560
    await Turn.objects.filter(pk=turn.pk).aupdate(run_s=1_000)
    turn = await decide_and_wait(turn)
    assert (turn.status, turn.error_code) == ("failed", "limit")
    assert executed(emulated.VAR_DIR) == [CODE]


async def test_decision_made_just_before_the_timeout_is_kept(emulated: Settings) -> None:
    turn = await ask_for_code()
    await let_pass(turn, hours=25)
    approval_id = await approval_id_of(turn)
    overdue = await database_sync_to_async(find_overdue_approvals)()
    assert overdue == [(turn.pk, approval_id)]
    await decide_and_wait(turn)
    with pytest.raises(DecisionRefused, match="approved already"):
        await decide(lambda: turn.pk, ApprovalDecision(approval_id, is_approved=False, is_timeout=True))
    assert executed(emulated.VAR_DIR) == [CODE]


async def test_waiting_turn_with_an_unreadable_log_is_ended(emulated: Settings) -> None:
    turn = await ask_for_code()
    await let_pass(turn, hours=25)
    await turn.events.filter(name="approval").aupdate(data={"newer": "form"})
    readable = await ask_for_code()
    await let_pass(readable, hours=25)
    assert await deny_what_is_overdue() == 1
    assert ((await reread(turn)).status, (await reread(turn)).error_code) == ("failed", "storage")
    assert (await reread(readable)).status == "done"
