"""Token counts and costs of conversations. Answers that are not shown count too, because they were billed."""

from __future__ import annotations

import uuid
from collections.abc import Collection

from django.db.models import Count, Q, Sum
from django.db.models.functions import Coalesce

from chat.models import Conversation, Turn
from chat.models.sql_functions import EstimatedTokens, TotalTokens
from chat.page.message_views import ConversationUsage
from chat.page.transcript.answer_details import dollars


def conversation_usage(conversation: Conversation) -> ConversationUsage:
    """Return the sums over all ended turns and over the requests for titles. Runs one query."""
    return conversation_usages([conversation])[conversation.pk]


def conversation_usages(conversations: Collection[Conversation]) -> dict[uuid.UUID, ConversationUsage]:
    """Return the usage of several conversations, by id, with one query."""
    ended = Turn.objects.filter(conversation__in=[one.pk for one in conversations]).exclude(status__in=Turn.LIVE)
    estimated = EstimatedTokens("usage")
    counted = Coalesce(TotalTokens("usage"), 0) + Coalesce(estimated, 0)
    sums = (
        ended.order_by()
        .values("conversation_id")
        .annotate(
            ended=Count("pk"),
            tokens=Sum(counted),
            estimated=Sum(estimated),
            spent=Sum("cost"),
            unpriced_tokens=Sum(counted, filter=Q(cost__isnull=True)),
        )
        .values_list("conversation_id", "ended", "tokens", "estimated", "spent", "unpriced_tokens")
    )
    by_conversation = {pk: values for pk, *values in sums}
    usages = {}
    for conversation in conversations:
        turns, tokens, guessed, spent, unpriced = by_conversation.get(conversation.pk, (0, 0, None, None, None))
        costs = [cost for cost in (spent, conversation.side_cost) if cost is not None]
        amount = dollars(sum(costs[1:], costs[0])) if costs else ""
        if amount and unpriced:
            amount = f"at least {amount}"
        tokens += conversation.side_tokens
        usages[conversation.pk] = ConversationUsage(tokens, amount, turns, is_estimated=bool(guessed))
    return usages
