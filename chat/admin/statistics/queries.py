"""Reads the statistics of the overview. The database aggregates, and the number of queries is constant."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal

from django.contrib.auth import get_user_model
from django.db.models import (
    Case,
    Count,
    Exists,
    Min,
    OuterRef,
    Q,
    QuerySet,
    Sum,
    Value,
    When,
    Window,
)
from django.db.models.functions import RowNumber

from attachments.models import Attachment, PendingUpload
from chat.admin.statistics.statistics import (
    UPLOAD_AGES,
    LiveTurns,
    Overview,
    UploadBacklog,
    UsageTotals,
    WaitPercentiles,
    count_failures,
    percentile_rank,
)
from chat.models import ImportedConversation, Turn
from chat.models.sql_functions import EstimatedTokens, SecondsBetween, TotalTokens, UtcDay, is_uncounted
from chat.python.sessions.places import service_status


@dataclass(frozen=True, slots=True)
class _TurnCounts:
    """The result of one query over the turns of a period."""

    usage_by_day_and_model: Mapping[tuple[date, str], UsageTotals]
    outcomes: Mapping[tuple[str, str, str], int]
    """Number of turns by status, error code and `Finish`."""
    answered_by_day: Mapping[date, int]
    """Number of turns with a first part."""


def read_overview(length_days: int, now: datetime) -> Overview:
    """Return the statistics of the last `length_days` UTC days, including today, up to `now`."""
    today = now.date()
    days = tuple(today - timedelta(days=back) for back in reversed(range(length_days)))
    since = now.replace(hour=0, minute=0, second=0, microsecond=0) - timedelta(days=length_days - 1)
    turns = _answered_here(Turn.objects.filter(created_at__gte=since, created_at__lte=now).order_by(), since)
    counts = _count_turns(turns)
    has_asked = Exists(turns.filter(conversation__owner=OuterRef("pk")))
    return Overview(
        days=days,
        measured_at=now,
        usage_by_day_and_model=counts.usage_by_day_and_model,
        failures=count_failures(counts.outcomes),
        users_by_day=_count_users(turns),
        users=get_user_model()._default_manager.filter(has_asked).count(),
        waits_by_day=_read_waits(turns, counts.answered_by_day),
        backlog=_read_backlog(now),
        live_turns=_read_live_turns(now),
        kernels=service_status(),
    )


def _answered_here(turns: QuerySet[Turn], since: datetime) -> QuerySet[Turn]:
    """Exclude imported turns: those that were in a conversation when it was imported."""
    imports = ImportedConversation.objects.filter(created_at__gte=since)
    # The condition is checked for every turn, so it is only added if there was an import in the period.
    if not imports.exists():
        return turns
    is_imported = imports.filter(conversation=OuterRef("conversation"), created_at__gte=OuterRef("created_at"))
    return turns.filter(~Exists(is_imported))


def _count_turns(turns: QuerySet[Turn]) -> _TurnCounts:
    tokens, estimated = TotalTokens("usage"), EstimatedTokens("usage")
    rows = turns.values_list(UtcDay("created_at"), "model", "status", "error_code", "finish").annotate(
        turns=Count("*"),
        with_first_part=Count("first_part_at"),
        tokens=Sum(tokens),
        with_tokens=Count(tokens),
        dollars=Sum("cost"),
        priced=Count("cost"),
        estimated=Sum(estimated),
        not_counted=Count("pk", filter=is_uncounted()),
    )
    usage: defaultdict[tuple[date, str], UsageTotals] = defaultdict(UsageTotals)
    outcomes: Counter[tuple[str, str, str]] = Counter()
    answered: Counter[date] = Counter()
    for day, model, status, error_code, finish, count, with_first_part, *sums in rows:
        total, with_tokens, dollars, priced, estimate, uncounted = sums
        unpriced = max(0, with_tokens - priced)
        usage[day, model] += UsageTotals(count, total or 0, dollars or Decimal(0), unpriced, uncounted, estimate or 0)
        outcomes[status, error_code, finish] += count
        answered[day] += with_first_part
    return _TurnCounts(dict(usage), outcomes, answered)


def _count_users(turns: QuerySet[Turn]) -> Mapping[date, int]:
    rows = turns.values_list(UtcDay("created_at")).annotate(users=Count("conversation__owner", distinct=True))
    return dict(rows)


def _read_waits(turns: QuerySet[Turn], answered_by_day: Mapping[date, int]) -> Mapping[date, WaitPercentiles]:
    """Return percentiles by nearest rank, so that each is the wait of a real turn."""
    ranks = {
        day: (percentile_rank(count, 50), percentile_rank(count, 95)) for day, count in answered_by_day.items() if count
    }
    rows = (
        turns.filter(first_part_at__isnull=False)
        .annotate(
            day=UtcDay("created_at"),
            wait_s=SecondsBetween("first_part_at", "created_at"),
            rank=Window(RowNumber(), partition_by="day", order_by="wait_s"),
        )
        .filter(rank__in={rank for pair in ranks.values() for rank in pair})
        .values_list("day", "rank", "wait_s")
    )
    waits = {(day, rank): wait_s for day, rank, wait_s in rows}
    # Turns may start or be deleted between the two queries. A day whose ranks are then missing is left out.
    return {
        day: WaitPercentiles(waits[day, p50], waits[day, p95])
        for day, (p50, p95) in ranks.items()
        if (day, p50) in waits and (day, p95) in waits
    }


def _read_backlog(now: datetime) -> tuple[UploadBacklog, ...]:
    age_number = Case(
        *(
            When(attachment__created_at__gt=now - limit, then=Value(number))
            for number, (_, limit) in enumerate(UPLOAD_AGES)
            if limit
        ),
        default=Value(len(UPLOAD_AGES) - 1),
    )
    rows = (
        PendingUpload.objects.exclude(attachment__status=Attachment.Status.STORED)
        .order_by()
        .values_list(age_number, "attachment__status")
        .annotate(files=Count("*"), size_bytes=Sum("attachment__size_bytes"))
    )
    return tuple(UploadBacklog(UPLOAD_AGES[number][0], *rest) for number, *rest in sorted(rows))


def _read_live_turns(now: datetime) -> tuple[LiveTurns, ...]:
    has_expired = Q(lease_expires_at__lt=now)
    rows = (
        Turn.objects.filter(status__in=Turn.LIVE)
        .order_by()
        .values_list("lease_owner")
        .annotate(turns=Count("*"), expired_leases=Count("pk", filter=has_expired), oldest_at=Min("created_at"))
    )
    return tuple(LiveTurns(*row) for row in sorted(rows))
