"""Token counts and costs of conversations. Answers that are not shown count too, because they were billed."""

from __future__ import annotations

import uuid
from collections.abc import Collection

from django.db.models import BigIntegerField, Count, Q, Sum
from django.db.models.fields.json import KeyTextTransform
from django.db.models.functions import Cast

from chat.models import Conversation, Turn
from chat.page.message_views import ConversationUsage
from chat.page.transcript.answer_details import dollars


def conversation_usage(conversation: Conversation) -> ConversationUsage:
    """Return the sums over all turns that have ended, and over the requests for titles. One query."""
    return conversation_usages([conversation])[conversation.pk]


def conversation_usages(conversations: Collection[Conversation]) -> dict[uuid.UUID, ConversationUsage]:
    """Return the usage of several conversations, by id, with one query."""
    ended = Turn.objects.filter(conversation__in=[one.pk for one in conversations]).exclude(status__in=Turn.LIVE)
    tokens = Cast(KeyTextTransform("total", "usage"), BigIntegerField())
    sums = (
        ended.order_by()
        .values("conversation_id")
        .annotate(
            ended=Count("pk"),
            tokens=Sum(tokens),
            spent=Sum("cost"),
            unpriced_tokens=Sum(tokens, filter=Q(cost__isnull=True)),
        )
        .values_list("conversation_id", "ended", "tokens", "spent", "unpriced_tokens")
    )
    by_conversation = {pk: values for pk, *values in sums}
    usages = {}
    for conversation in conversations:
        turns, counted, spent, unpriced_tokens = by_conversation.get(conversation.pk, (0, None, None, None))
        costs = [cost for cost in (spent, conversation.side_cost) if cost is not None]
        amount = dollars(sum(costs[1:], costs[0])) if costs else ""
        if amount and unpriced_tokens:
            amount = f"at least {amount}"
        usages[conversation.pk] = ConversationUsage((counted or 0) + conversation.side_tokens, amount, turns)
    return usages
