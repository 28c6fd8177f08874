"""Queries that only the API makes. The caller has checked what the user may read."""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from decimal import Decimal

from django.db.models import BigIntegerField, Count, Sum
from django.db.models.fields.json import KeyTextTransform
from django.db.models.functions import Cast

from chat.models import Conversation, Message, Turn
from chat.stream_events import Usage
from chat.transcript.records import MessageRecord, records_in_order

TOKEN_COUNTS = ("prompt", "tool_use", "thoughts", "candidates", "cached", "total")


@dataclass(frozen=True, slots=True)
class UsageTotals:
    """What a conversation has used."""

    turns: int
    tokens: Usage
    cost: Decimal | None
    """US dollars; `None` if no price is known."""


def shown_messages(
    conversation: Conversation, *, first_index: int, limit: int
) -> tuple[list[MessageRecord], int | None]:
    """Return shown messages from an index on, and the index where the next page begins, if there is one.

    Raises Deleted.
    """
    rows = Message.objects.filter(conversation=conversation, is_shown=True, index__gte=first_index).order_by("index")
    keys = list(rows.values_list("pk", "index")[: limit + 1])
    next_index = keys[limit][1] if len(keys) > limit else None
    return list(records_in_order([pk for pk, _ in keys[:limit]])), next_index


def live_turn_id(conversation: Conversation) -> uuid.UUID | None:
    """Return the id of the conversation's live turn."""
    live = Turn.objects.filter(conversation=conversation, status__in=Turn.LIVE)
    return live.values_list("pk", flat=True).first()


def usage_totals(conversation: Conversation) -> UsageTotals:
    """Return the sums over all turns that have ended, shown or not, and over the request for the title. One query."""
    ended = Turn.objects.filter(conversation=conversation).exclude(status__in=Turn.LIVE)
    counts = {name: Sum(Cast(KeyTextTransform(name, "usage"), BigIntegerField())) for name in TOKEN_COUNTS}
    sums = ended.aggregate(turns=Count("pk"), spent=Sum("cost"), **counts)
    tokens = {name: sums[name] or 0 for name in TOKEN_COUNTS}
    tokens["total"] += conversation.side_tokens
    costs = [cost for cost in (sums["spent"], conversation.side_cost) if cost is not None]
    return UsageTotals(sums["turns"], Usage(**tokens), sum(costs, Decimal(0)) if costs else None)
