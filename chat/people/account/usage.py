"""The page with a person's usage: charts by day, and what is left of each limit."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta

from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from chat.models import QuotaUse
from chat.people.access import SignedInRequest
from chat.people.account.chart import Chart, Row, Table, draw_columns
from chat.people.account.number_format import format_integer, format_short
from chat.people.quotas.resources import Resource, ResourceUsage, day_end, day_of, duration_words, size_words, words
from chat.people.quotas.usage import read_usage, uncounted_answers
from chat.vocabulary.number_text import group_thousands

DAYS = 30
"""Number of days that the charts show, including today."""

CHARTS: Mapping[str, Callable[[QuotaUse], int]] = {
    "Answers": lambda use: use.turns,
    "Tokens": lambda use: use.tokens,
}


@dataclass(frozen=True, slots=True)
class LimitRow:
    """One line of the table of limits, in words."""

    resource: str
    """The name of the counter. The template uses it to name the resource."""
    used: str
    limit: str
    """The limit in words; empty if there is none."""
    left: str
    is_daily: bool
    is_used_up: bool
    estimated: str = ""
    """The estimated part of the usage in words; empty if nothing is estimated."""


@never_cache
@login_required
@require_safe
def usage(request: SignedInRequest) -> HttpResponse:
    """Show the usage of the last 30 days, and what is left of each limit. Runs five queries."""
    now = timezone.now()
    today = day_of(now)
    days = [today - timedelta(days=back) for back in reversed(range(DAYS))]
    uses = {use.day: use for use in QuotaUse.objects.filter(user=request.user, day__gte=days[0])}
    usages = read_usage(request.user.pk, Resource, day=today)
    uncounted = uncounted_answers(request.user.pk, now - timedelta(days=DAYS), now)
    context = {
        "charts": [build_chart(title, days, uses, amount_of) for title, amount_of in CHARTS.items()],
        "uncounted": uncounted,
        "estimated": words(Resource.TOKENS, uncounted.estimated_tokens) if uncounted.estimated_tokens else "",
        "limits": [limit_row(usage) for usage in usages.values()],
        # Today's counters start again then.
        "resets_at": day_end(now),
        "resets_in": duration_words(day_end(now) - now),
    }
    return render(request, "account/usage.html", context)


def build_chart(
    title: str, days: Sequence[date], uses: Mapping[date, QuotaUse], amount_of: Callable[[QuotaUse], int]
) -> Chart:
    """Return a chart with a column for each day. `uses`: the usage of each day on which something was used."""
    # A refund on a later day can make a day's sum negative.
    amounts = {day: max(0, amount_of(uses[day])) if day in uses else 0 for day in days}
    total = format_integer(sum(amounts.values()))
    noun = title.lower()
    columns = {day: {noun: float(amount)} for day, amount in amounts.items()}
    rows = [Row((f"{day:%Y-%m-%d}", format_integer(amount))) for day, amount in reversed(amounts.items())]
    return Chart(
        noun,
        title,
        "a day",
        summary=f"{title} by day over {len(days)} days: {total} in all. The figures are in the table below.",
        empty_text="None in these 30 days.",
        table=Table(("Day (UTC)", noun), (*rows, Row(("all days", total)))),
        columns=draw_columns(days, columns, [noun], format_short),
    )


def limit_row(usage: ResourceUsage) -> LimitRow:
    """Return the usage of a resource in words."""
    resource, used = usage.resource, max(0, usage.used)
    left = usage.left
    return LimitRow(
        resource.counter,
        used=_cell(resource, used),
        limit="" if usage.limit is None else _cell(resource, usage.limit),
        left="" if left is None else _cell(resource, left),
        is_daily=resource.is_daily,
        is_used_up=left == 0,
        estimated=_cell(resource, usage.estimated) if usage.estimated else "",
    )


def _cell(resource: Resource, amount: int) -> str:
    """Return an amount in words, without the unit if the first cell of its row has it."""
    match resource:
        case Resource.TURNS | Resource.TOKENS | Resource.CONVERSATIONS:
            return group_thousands(amount)
        case Resource.KERNEL_TIME:
            return f"{group_thousands(round(amount / 1000))} s"
        case Resource.IMPORTS | Resource.UPLOADS | Resource.STORAGE:
            return size_words(amount)
