"""What a conversation has used and cost so far: every answer counts, in view or not, as each was paid for."""

from __future__ import annotations

import uuid
from decimal import Decimal
from typing import Any

from django.conf import settings
from django.db.models import BigIntegerField, Count, Q, QuerySet, Sum
from django.db.models.fields.json import KeyTextTransform
from django.db.models.functions import Cast

from chat.catalogue.costs import cost_of
from chat.catalogue.setups import Setup
from chat.fragments import ConversationUsage
from chat.models import Conversation, Turn
from chat.parts import Usage
from chat.statements import Select, given
from chat.turns.about import dollars


def answer_cost(usage: Usage | None, setup: Setup) -> Decimal | None:
    """US dollars; None where no price is known, and of the emulator, which bills nobody."""
    return None if usage is None or settings.GEMINI_EMULATED else cost_of(usage, setup.prices)


def _sums() -> QuerySet[Turn, tuple[Any, ...]]:
    ended = Turn.objects.filter(conversation=given(Turn, "conversation_id")).exclude(status__in=Turn.LIVE)
    return (
        ended.order_by()
        .values("conversation")
        .annotate(
            turns=Count("pk"),
            tokens=Sum(Cast(KeyTextTransform("total", "usage"), BigIntegerField())),
            spent=Sum("cost"),
            unpriced=Count("pk", filter=Q(cost__isnull=True, usage__total__gt=0)),
        )
        .values_list("turns", "tokens", "spent", "unpriced")
    )


_SUMS = Select(_sums)
_BESIDE = Select(
    lambda: Conversation.objects.filter(pk=given(Conversation, "id")).order_by().values_list("side_tokens", "side_cost")
)


def conversation_usage(conversation_id: uuid.UUID) -> ConversationUsage:
    """Sums over all turns that have ended, and what was asked beside them; two queries."""
    turns, tokens, spent, unpriced = next(iter(_SUMS.rows(conversation_id=conversation_id)), (0, 0, None, 0))
    side_tokens, side_cost = next(iter(_BESIDE.rows(id=conversation_id)), (0, None))
    costs = [cost for cost in (spent, side_cost) if cost is not None]
    amount = dollars(sum(costs[1:], costs[0])) if costs else ""
    if amount and unpriced:
        amount = f"at least {amount}"
    return ConversationUsage((tokens or 0) + side_tokens, amount, turns)
