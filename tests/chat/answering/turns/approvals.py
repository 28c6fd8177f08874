"""Turns that wait for a decision, for tests: how to start them, and how to decide."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Any

from channels.db import database_sync_to_async
from django.utils import timezone

from chat.answering.turns.approval_timeout import deny_overdue_approvals
from chat.answering.turns.resume import current_approval
from chat.answering.turns.runner import Runner, decide
from chat.messages.approval import Approval, ApprovalDecision
from chat.models import Turn
from tests.chat.turn_driver import ask_and_wait, new_conversation

CODE = "number = 1\nprint(number * 11)"
"""The code of the first call of the scenario `function-code`."""
EDITED = "print('changed by a person')"


async def ask_for_code(scenario: str = "function-code") -> Turn:
    """Ask, and return the turn once it waits for a decision about its code."""
    conversation = await new_conversation(model=f"scenario-{scenario}", code_execution="off")
    turn = await ask_and_wait(conversation, "go")
    assert turn.status == "waiting"
    return await reread(turn)


async def reread(turn: Turn) -> Turn:
    """Return the turn as stored."""
    return await Turn.objects.select_related("conversation__owner", "message").aget(pk=turn.pk)


async def approval_id_of(turn: Turn) -> str:
    """Return the id of the approval that a turn waits for."""
    approval: Approval | None = await database_sync_to_async(current_approval)(await reread(turn))
    assert approval
    return approval.approval_id


async def decide_and_wait(turn: Turn, *, is_approved: bool = True, code: str | None = None) -> Turn:
    """Decide about the approval of a turn, and return the turn once it has ended or waits again."""
    decision = ApprovalDecision(await approval_id_of(turn), is_approved, code, decided_by=turn.conversation.owner_id)
    assert await decide(lambda: turn.pk, decision)
    await Runner.current().drain()
    return await reread(turn)


def responses_in(call: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the results in a request that the emulator has received."""
    parts = [part for content in call["request"]["contents"] for part in content["parts"]]
    return [part["functionResponse"]["response"] for part in parts if "functionResponse" in part]


def function_calls_in(call: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the function calls in a request that the emulator has received."""
    parts = [part for content in call["request"]["contents"] for part in content["parts"]]
    return [part for part in parts if "functionCall" in part]


async def let_pass(turn: Turn, hours: float) -> None:
    """Move the start of a turn, and the beginning of its last wait, to an earlier time."""
    earlier = timezone.now() - timedelta(hours=hours)
    await Turn.objects.filter(pk=turn.pk).aupdate(created_at=earlier - timedelta(hours=1), waiting_since=earlier)


async def deny_what_is_overdue() -> int:
    """Do what the sweep of a web process does; return how many turns are resumed."""
    futures = await database_sync_to_async(deny_overdue_approvals)(asyncio.get_running_loop())
    await asyncio.gather(*map(asyncio.wrap_future, futures))
    await Runner.current().drain()
    return len(futures)
