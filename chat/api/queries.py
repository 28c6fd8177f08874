"""Queries that only the API makes. The caller has checked what the user may read."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import dataclass, fields
from decimal import Decimal
from itertools import accumulate

from django.db.models import BigIntegerField, Count, Sum
from django.db.models.fields.json import KeyTextTransform
from django.db.models.functions import Cast

from chat.messages.records import MessageRecord, message_chars, records_in_order
from chat.models import Conversation, ListPosition, Message, Page, Turn
from chat.models.projects import ProjectPage
from chat.vocabulary.stream_events import Usage

PAGE_LIMIT_CHARS = 2 * 1024 * 1024
"""Limit for the parts of all messages on one page. Their text is in the response twice: joined, and in the parts.

It is also the limit for the instructions of all conversations or projects on one page.
"""
TOKEN_COUNTS = [one.name for one in fields(Usage)]


@dataclass(frozen=True, slots=True)
class UsageTotals:
    """What a conversation has used."""

    turns: int
    tokens: Usage
    cost: Decimal | None
    """US dollars; `None` if no price is known."""


def fitting_conversations(page: Page) -> Page:
    """Return the first conversations, at least one, whose instructions together fit into `PAGE_LIMIT_CHARS`."""
    fitting = _number_of_fitting([len(one.system_instruction) for one in page.conversations])
    if fitting == len(page.conversations):
        return page
    last, ranks = page.conversations[fitting - 1], page.ranks[:fitting]
    return Page(page.conversations[:fitting], ListPosition(last.updated_at, last.pk, ranks[-1] if ranks else 0), ranks)


def fitting_projects(page: ProjectPage) -> ProjectPage:
    """Return the first projects, at least one, whose instructions together fit into `PAGE_LIMIT_CHARS`."""
    fitting = _number_of_fitting([len(one.instruction) for one in page.projects])
    if fitting == len(page.projects):
        return page
    last = page.projects[fitting - 1]
    return ProjectPage(page.projects[:fitting], ListPosition(last.updated_at, last.pk))


def _number_of_fitting(sizes: Sequence[int]) -> int:
    """Return how many of the first items with these sizes fit on a page; at least 1 if there are any."""
    totals = accumulate(sizes)
    return max(1, sum(total <= PAGE_LIMIT_CHARS for total in totals)) if sizes else 0


def shown_messages(
    conversation: Conversation, *, first_index: int, limit: int
) -> tuple[list[MessageRecord], int | None]:
    """Return shown messages from an index on, and the index where the next page begins, if there is one.

    A page has as many messages as fit into `PAGE_LIMIT_CHARS`, but at least one. Raises Deleted if the
    conversation was deleted meanwhile.
    """
    rows = Message.objects.filter(conversation=conversation, is_shown=True, index__gte=first_index).order_by("index")
    keys = list(rows.values_list("pk", "index")[: limit + 1])
    fitting = _fitting_on_a_page([pk for pk, _ in keys[:limit]])
    next_index = keys[len(fitting)][1] if len(keys) > len(fitting) else None
    return list(records_in_order(fitting)), next_index


def _fitting_on_a_page(message_ids: list[uuid.UUID]) -> list[uuid.UUID]:
    """Return the ids of the first of these messages, as many as fit on a page."""
    sizes = message_chars(Message.objects.filter(pk__in=message_ids))
    return message_ids[: _number_of_fitting([sizes.get(pk, 0) for pk in message_ids])]


def live_turn_id(conversation: Conversation) -> uuid.UUID | None:
    """Return the id of the conversation's live turn; `None` if there is none."""
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
