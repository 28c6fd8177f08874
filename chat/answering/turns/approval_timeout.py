"""Denies approvals that nobody has decided within `APPROVAL_LIMIT_H`. The turn then continues with the denial.

Any web process may do this. If several try at once, only one of them finds the turn waiting.
"""

from __future__ import annotations

import asyncio
import logging
import uuid
from concurrent.futures import Future
from datetime import timedelta

from django.conf import settings
from django.db import OperationalError
from django.db.models.functions import Coalesce
from django.utils import timezone

from chat.answering.turns.draining import Draining, is_draining
from chat.answering.turns.finish import end_turn_from_log
from chat.answering.turns.resume import DecisionRefused, current_approval
from chat.answering.turns.runner import decide
from chat.answering.turns.stored_log import StoredLog
from chat.messages.approval import ApprovalDecision
from chat.models import Turn

logger = logging.getLogger(__name__)

DENIED_AT_ONCE = 16
"""Maximum number of turns that one process resumes in one sweep. Each of them makes a request to its provider."""


def deny_overdue_approvals(loop: asyncio.AbstractEventLoop) -> list[Future[None]]:
    """Deny overdue approvals on this event loop. Return a future for each turn that is resumed.

    A process that is draining denies none; the other processes do.
    """
    if is_draining():
        return []
    return [asyncio.run_coroutine_threadsafe(_deny(*overdue), loop) for overdue in find_overdue_approvals()]


def find_overdue_approvals() -> list[tuple[uuid.UUID, str]]:
    """Return the ids of at most DENIED_AT_ONCE overdue turns, each with the id of its approval.

    A turn whose log does not hold its approval is ended as interrupted.
    """
    limit = timezone.now() - timedelta(hours=settings.APPROVAL_LIMIT_H)
    waiting = Turn.objects.live_of_everyone().filter(status=Turn.Status.WAITING)
    # Servers of an earlier version stored no `waiting_since`.
    overdue = waiting.annotate(since=Coalesce("waiting_since", "created_at")).filter(since__lt=limit)
    found: list[tuple[uuid.UUID, str]] = []
    for turn in overdue:
        if len(found) == DENIED_AT_ONCE:
            break
        approval_id = _approval_id(turn)
        if approval_id:
            found.append((turn.pk, approval_id))
        else:
            waiting_now = Turn.objects.filter(status=Turn.Status.WAITING)
            end_turn_from_log(StoredLog(turn.pk), waiting_now, Turn.Status.INTERRUPTED)
    return found


def _approval_id(turn: Turn) -> str:
    """Return the id of the approval that a turn waits for; empty if its log cannot be read."""
    try:
        approval = current_approval(turn)
    except OperationalError:
        raise
    except Exception:
        logger.exception("the log of turn %s could not be read", turn.pk)
        return ""
    return approval.approval_id if approval else ""


async def _deny(turn_id: uuid.UUID, approval_id: str) -> None:
    denial = ApprovalDecision(approval_id, is_approved=False, is_timeout=True)
    try:
        # No permission is checked, because the system denies, and not a user.
        if await decide(lambda: turn_id, denial):
            logger.info("turn %s goes on without a decision: nobody made it in time", turn_id)
    except (DecisionRefused, Draining):
        # Meanwhile somebody has decided or stopped the turn. If this process is draining, another one will deny it.
        pass
    except Exception:
        logger.exception("turn %s could not be resumed", turn_id)
