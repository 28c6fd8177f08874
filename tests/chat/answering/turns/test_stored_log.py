"""Turns that are changed by their logs: other answers continue while a long log is read."""

from __future__ import annotations

import asyncio
import threading
from datetime import timedelta

import pytest
from channels.db import database_sync_to_async
from django.utils import timezone
from pytest_django import Settings

from chat.answering.turns import recovery
from chat.answering.turns.runner import Runner, decide, start_turn, stop_turn
from chat.answering.turns.stored_log import StoredLog, UnreadableLog
from chat.messages.answer import Answer
from chat.messages.approval import ApprovalDecision
from chat.messages.changes import Change, TextAppended
from chat.messages.log import to_row
from chat.models import Turn, TurnEvent
from chat.vocabulary.part_kinds import PartKind
from tests.chat.answering.turns.approvals import approval_id_of, ask_for_code, reread
from tests.chat.turn_driver import make_question, new_conversation
from tests.factories import make_conversation, make_model_message
from tests.polling import wait_until_awaited

pytestmark = pytest.mark.django_db(transaction=True)

LIMIT_S = 60.0


class HeldFold:
    """Pauses every reading of a log at its first change. Live answers continue, because the event loop
    assembles them.
    """

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.has_begun, self._may_go_on = threading.Event(), threading.Event()
        loop_thread, apply = threading.current_thread(), Answer.apply

        def hold(answer: Answer, change: Change) -> None:
            if threading.current_thread() is not loop_thread:
                self.has_begun.set()
                assert self._may_go_on.wait(LIMIT_S), "the fold was never let go"
            apply(answer, change)

        monkeypatch.setattr(Answer, "apply", hold)

    async def wait_until_begun(self) -> None:
        """Wait until a thread reads a log."""
        assert await asyncio.get_running_loop().run_in_executor(None, self.has_begun.wait, LIMIT_S)

    def let_go(self) -> None:
        """Let all readings continue."""
        self._may_go_on.set()


@pytest.mark.usefixtures("code_tools")
@pytest.mark.parametrize(("action", "status"), [("approve", "done"), ("stop", "stopped"), ("recover", "interrupted")])
async def test_other_answers_are_stored_while_a_long_log_is_read(
    emulated: Settings, monkeypatch: pytest.MonkeyPatch, action: str, status: str
) -> None:
    turn, conversation = await ask_for_code(), await new_conversation(model="scenario-text")
    decision = ApprovalDecision(await approval_id_of(turn), is_approved=True)
    if action == "recover":
        expired = timezone.now() - timedelta(seconds=9)
        await Turn.objects.filter(pk=turn.pk).aupdate(status="running", lease_owner="dead", lease_expires_at=expired)
    actions = {
        "approve": lambda: decide(lambda: turn.pk, decision),
        "stop": lambda: stop_turn(turn.conversation_id),
        "recover": database_sync_to_async(recovery.interrupt_expired, thread_sensitive=False),
    }
    fold = HeldFold(monkeypatch)
    change = asyncio.ensure_future(actions[action]())
    await fold.wait_until_begun()
    other = await start_turn(make_question(conversation))
    await wait_until_awaited(Turn.objects.filter(pk=other.turn.pk, status="done").aexists)
    assert not change.done()
    fold.let_go()
    assert await change
    await Runner.current().drain()
    assert (await reread(turn)).status == status


def test_rows_that_were_added_to_a_log_after_its_first_reading_are_read_too() -> None:
    message = make_model_message(make_conversation(), parts=((PartKind.TEXT, "one"),), status=Turn.Status.RUNNING)
    log = StoredLog(message.turn.pk)
    assert log.answer.text == "one"
    name, data = to_row(TextAppended(0, " two"))
    TurnEvent.objects.create(turn=message.turn, seq=log.last_seq + 1, name=name, data=data)
    log.read_on()
    log.read_on()
    assert log.answer.text == "one two"
    TurnEvent.objects.create(turn=message.turn, seq=log.last_seq + 1, name="append", data={"unknown": 1})
    log.read_on()
    with pytest.raises(UnreadableLog):
        _ = log.answer
