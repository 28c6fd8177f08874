"""Recovery of turns whose process has died, and of the logs that they leave."""

from __future__ import annotations

import uuid
from datetime import timedelta

import pytest
from channels.db import database_sync_to_async
from django.utils import timezone
from pytest_django import Settings

from chat.answering.turns import recovery
from chat.answering.turns.old_logs import delete_old_logs
from chat.answering.turns.runner import Runner, start_turn, stop_turn
from chat.models import PythonSession, Turn, TurnEvent
from chat.models.database_uptime import Uptime
from chat.python.sessions import rows
from tests.chat.turn_driver import Tab, ask_and_wait, fresh_page, make_question, new_conversation
from tests.factories import make_conversation, make_model_message

pytestmark = pytest.mark.django_db(transaction=True)


async def test_turn_that_has_lost_its_lease_stores_nothing_more(emulated: Settings) -> None:
    conversation = await new_conversation(model="scenario-endless-50")
    tab = Tab(conversation.pk)
    with tab.following():
        started = await start_turn(make_question(conversation, "go"))
        await tab.receive(3)
    # This is the state after a long pause of this process: the lease has expired, and another process ends the turn.
    expired = timezone.now() - timedelta(seconds=1)
    await Turn.objects.filter(pk=started.turn.pk).aupdate(lease_owner="another", lease_expires_at=expired)
    assert await database_sync_to_async(recovery.interrupt_expired)() == [conversation.pk]
    events = await TurnEvent.objects.filter(turn=started.turn).acount()
    await Runner.current().drain()
    turn = await Turn.objects.select_related("message").aget(pk=started.turn.pk)
    assert turn.status == "interrupted"
    assert await TurnEvent.objects.filter(turn=turn).acount() == events
    assert turn.message.text
    assert "was interrupted" in await fresh_page(conversation)


async def test_recovery_does_not_end_live_turns_of_this_process(emulated: Settings) -> None:
    conversation = await new_conversation(model="scenario-endless")
    await start_turn(make_question(conversation, "go"))
    assert await database_sync_to_async(recovery.sweep)() == 0
    await stop_turn(conversation.pk)
    await Runner.current().drain()


def leave_turn_behind(log: dict[str, object]) -> uuid.UUID:
    """Store a turn of a dead process with one row in its log; return its id."""
    message = make_model_message(make_conversation(), parts=(), status=Turn.Status.RUNNING)
    TurnEvent.objects.filter(turn=message.turn).update(name="part", data=log)
    expired = timezone.now() - timedelta(seconds=9)
    Turn.objects.filter(pk=message.turn.pk).update(lease_owner="dead", lease_expires_at=expired)
    return message.turn.pk


def test_unreadable_log_does_not_stop_the_recovery_of_other_turns() -> None:
    unreadable = leave_turn_behind({"index": 0, "part": {"kind": "newer_kind"}, "attachment": None})
    readable = leave_turn_behind({"index": 0, "part": {"kind": "text", "text": "kept"}, "attachment": None})
    assert recovery.sweep() == 2
    first, second = Turn.objects.get(pk=unreadable), Turn.objects.get(pk=readable)
    assert (first.status, first.error_code, first.log_kept_until) == ("failed", "storage", None)
    assert (second.status, second.message.text) == ("interrupted", "kept")
    assert second.log_kept_until is not None


def test_new_code_can_run_at_once_after_recovery_has_ended_an_interrupted_turn() -> None:
    """The lease of its cell may last longer than that of the turn."""
    turn = Turn.objects.get(pk=leave_turn_behind({"index": 0, "part": {"kind": "text", "text": "kept"}}))
    Turn.objects.filter(pk=turn.pk).update(engine="session")
    session = rows.open_session(turn.conversation_id, None)
    PythonSession.objects.update(state="running", kernel_id="k")
    assert rows.begin_cell(session.pk, 0, turn.message_id)
    assert not rows.begin_cell(session.pk, 0, None)
    assert recovery.sweep() == 1
    assert rows.begin_cell(session.pk, 0, None)


async def test_old_logs_are_deleted_and_pages_stay_the_same(emulated: Settings) -> None:
    conversation = await new_conversation(model="scenario-code")
    turn = await ask_and_wait(conversation, "go")
    page = await fresh_page(conversation)
    assert await database_sync_to_async(delete_old_logs)() == 0
    await Turn.objects.aupdate(log_kept_until=timezone.now() - timedelta(seconds=1))
    assert await database_sync_to_async(delete_old_logs)() > 0
    assert not await TurnEvent.objects.filter(turn=turn).aexists()
    assert await fresh_page(conversation) == page


def test_uptime_is_long_enough_after_the_database_has_answered_for_a_lease_without_gaps() -> None:
    uptime = Uptime(6, recovery.SWEEP_INTERVAL_S)

    def is_safe(answered_s: float, *, work_s: float = 0.0) -> bool:
        uptime.note_answer(answered_s)
        uptime.note_pause(answered_s + work_s)
        return uptime.is_long_enough(answered_s)

    assert [is_safe(second) for second in (100, 102, 104, 106, 108)] == [False, False, False, True, True]
    # Time that the process itself works is no gap.
    assert is_safe(110, work_s=20)
    assert is_safe(132)
    uptime.note_failure()
    assert [is_safe(second) for second in (134, 138, 140)] == [False, False, True]
    # A late answer and a pause of the process are gaps.
    assert [is_safe(second) for second in (146, 148, 150, 152)] == [False, False, False, True]
