"""Token counts and costs of conversations. Answers that are not shown count too, because they were billed."""

from __future__ import annotations

import uuid
from collections.abc import Collection
from decimal import Decimal

from django.db.models import BigIntegerField, Count, F, Q, Sum
from django.db.models.fields.json import KeyTextTransform
from django.db.models.functions import Cast

from chat.catalogue.costs import calculate_cost
from chat.catalogue.setups import Setup
from chat.fragments import ConversationUsage
from chat.models import Conversation, Turn
from chat.providers import is_demo
from chat.stream_events import Usage
from chat.transcript.answer_details import dollars

ENDED = ~Q(turns__status__in=Turn.LIVE)


def answer_cost(usage: Usage | None, setup: Setup) -> Decimal | None:
    """Return US dollars; `None` if no price is known, and for the emulator, which costs nothing."""
    return None if usage is None or is_demo(setup.provider, setup.endpoint) else calculate_cost(usage, setup.prices)


def conversation_usage(conversation_id: uuid.UUID) -> ConversationUsage:
    """Return the sums over all turns that have ended, and over the requests for titles. One query."""
    return conversation_usages([conversation_id]).get(conversation_id, ConversationUsage(0, "", 0))


def conversation_usages(conversation_ids: Collection[uuid.UUID]) -> dict[uuid.UUID, ConversationUsage]:
    """Return the usage of several conversations, by id, with one query. Ids that do not exist are left out."""
    tokens = Cast(KeyTextTransform("total", "turns__usage"), BigIntegerField())
    sums = (
        Conversation.objects.filter(pk__in=conversation_ids)
        .order_by()
        .annotate(
            ended=Count("turns", filter=ENDED),
            tokens=Sum(tokens, filter=ENDED),
            spent=Sum("turns__cost", filter=ENDED),
            unpriced=Count("turns", filter=ENDED & Q(turns__cost__isnull=True, turns__usage__total__gt=0)),
        )
        .values_list("pk", "ended", "tokens", "spent", "unpriced", F("side_tokens"), F("side_cost"))
    )
    usages = {}
    for pk, turns, counted, spent, unpriced, side_tokens, side_cost in sums:
        costs = [cost for cost in (spent, side_cost) if cost is not None]
        amount = dollars(sum(costs[1:], costs[0])) if costs else ""
        if amount and unpriced:
            amount = f"at least {amount}"
        usages[pk] = ConversationUsage((counted or 0) + side_tokens, amount, turns)
    return usages
