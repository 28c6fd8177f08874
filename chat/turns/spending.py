"""What a conversation has used and cost so far: every answer counts, in view or not, as each was paid for."""

from __future__ import annotations

import uuid
from decimal import Decimal

from django.conf import settings
from django.db.models import BigIntegerField, Count, Q, Sum
from django.db.models.fields.json import KeyTextTransform
from django.db.models.functions import Cast

from chat.catalogue.costs import cost_of
from chat.catalogue.setups import Setup
from chat.fragments import ConversationUsage
from chat.models import Conversation, Turn
from chat.parts import Usage
from chat.turns.about import dollars


def answer_cost(usage: Usage | None, setup: Setup) -> Decimal | None:
    """US dollars; None where no price is known, and of the emulator, which bills nobody."""
    return None if usage is None or settings.GEMINI_EMULATED else cost_of(usage, setup.prices)


def conversation_usage(conversation_id: uuid.UUID) -> ConversationUsage:
    """Sums over all turns that have ended, and what was asked beside them; two queries."""
    total = Cast(KeyTextTransform("total", "usage"), BigIntegerField())
    ended = Turn.objects.filter(conversation_id=conversation_id).exclude(status__in=Turn.LIVE)
    sums = ended.aggregate(
        turns=Count("pk"),
        tokens=Sum(total),
        spent=Sum("cost"),
        unpriced=Count("pk", filter=Q(cost__isnull=True, usage__total__gt=0)),
    )
    beside = Conversation.objects.filter(pk=conversation_id).values_list("side_tokens", "side_cost").first()
    side_tokens, side_cost = beside or (0, None)
    costs = [cost for cost in (sums["spent"], side_cost) if cost is not None]
    amount = dollars(sum(costs[1:], costs[0])) if costs else ""
    if amount and sums["unpriced"]:
        amount = f"at least {amount}"
    return ConversationUsage((sums["tokens"] or 0) + side_tokens, amount, sums["turns"])
