"""Reads that only the API makes; each starts from what `access` lets a person read."""

from __future__ import annotations

import uuid
from decimal import Decimal
from typing import Any

from django.contrib.auth.base_user import AbstractBaseUser
from django.contrib.auth.models import AnonymousUser
from django.db.models import BigIntegerField, Count, Sum
from django.db.models.fields.json import KeyTextTransform
from django.db.models.functions import Cast

from attachments.models import Attachment
from chat.access import NotFound, attachments_of, conversations_of
from chat.api.shapes import TOKENS
from chat.exports.reading import Told, told
from chat.models import Conversation, Message, Turn

CENTS = Decimal("0.00000001")
"""As finely as costs are kept: SQLite adds up more digits."""


def turn_of(user: AbstractBaseUser | AnonymousUser, turn_id: uuid.UUID) -> Turn:
    """A turn in a conversation that `user` may read. Raises NotFound."""
    try:
        return Turn.objects.get(pk=turn_id, conversation__in=conversations_of(user))
    except Turn.DoesNotExist:
        raise NotFound from None


def attachment_of(user: AbstractBaseUser | AnonymousUser, attachment_id: uuid.UUID) -> Attachment:
    """A file of theirs. Raises NotFound."""
    return attachments_of(user, [attachment_id])[0]


def messages_in_view(conversation: Conversation, *, start: int, limit: int) -> tuple[list[Told], int | None]:
    """Messages from an index on, and the index where the next page begins; None: there are no more.

    Raises Vanished.
    """
    rows = Message.objects.filter(conversation=conversation, is_shown=True, index__gte=start).order_by("index")
    found = list(rows.values_list("pk", "index")[: limit + 1])
    following = found[limit][1] if len(found) > limit else None
    return list(told([pk for pk, _ in found[:limit]])), following


def live_turn_id(conversation: Conversation) -> uuid.UUID | None:
    """The turn that is being written, if there is one."""
    live = Turn.objects.filter(conversation=conversation, status__in=Turn.LIVE)
    return live.values_list("pk", flat=True).first()


def usage_totals(conversation: Conversation) -> dict[str, Any]:
    """Tokens and US dollars of all turns that have ended, those out of view too, and what its title cost; one query."""
    ended = Turn.objects.filter(conversation=conversation).exclude(status__in=Turn.LIVE)
    counts = {name: Sum(Cast(KeyTextTransform(name, "usage"), BigIntegerField())) for name in TOKENS}
    sums = ended.aggregate(turns=Count("pk"), spent=Sum("cost"), **counts)
    costs = [cost for cost in (sums.pop("spent"), conversation.side_cost) if cost is not None]
    totals = {name: sums[name] or 0 for name in TOKENS}
    totals["total"] += conversation.side_tokens
    return {"turns": sums["turns"], **totals, "cost": f"{sum(costs, Decimal(0)).quantize(CENTS):f}" if costs else None}
