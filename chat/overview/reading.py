"""Rows → numbers: a few queries, however many rows there are, which the database adds up.

The functions that stand here are SQLite's own; Django's for days and durations call Python for each row there, which
takes ten times as long.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any, TypeAlias

from django.contrib.auth import get_user_model
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models import (
    BigIntegerField,
    Case,
    Count,
    DateField,
    Exists,
    FloatField,
    Func,
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
from django.db.models.sql.compiler import SQLCompiler

from attachments.models import Attachment, PendingUpload
from chat.emulator.embedded import kernel_count
from chat.models import ImportedConversation, Turn
from chat.overview.figures import AGES, Backlog, LiveTurns, Overview, Use, Waited, counted, place

Sql: TypeAlias = tuple[str, Any]


class _Own(Func):
    """Said in each database's own words."""

    sqlite: str
    postgresql: str
    between: tuple[str, str] = (", ", ", ")
    """What stands between arguments, on SQLite and on PostgreSQL."""

    def as_sqlite(self, compiler: SQLCompiler, connection: BaseDatabaseWrapper, **_: object) -> Sql:
        """On SQLite, which has times as text, UTC's."""
        return self.as_sql(compiler, connection, template=self.sqlite, arg_joiner=self.between[0])

    def as_postgresql(self, compiler: SQLCompiler, connection: BaseDatabaseWrapper, **_: object) -> Sql:
        """On PostgreSQL."""
        return self.as_sql(compiler, connection, template=self.postgresql, arg_joiner=self.between[1])


class _Day(_Own):
    """The day of a moment, UTC."""

    output_field = DateField()
    sqlite = "substr(%(expressions)s, 1, 10)"
    postgresql = "(%(expressions)s AT TIME ZONE 'UTC')::date"


class _Seconds(_Own):
    """From the second moment to the first."""

    output_field = FloatField()
    between = (") - julianday(", " - ")
    sqlite = "(julianday(%(expressions)s)) * 86400.0"
    postgresql = "EXTRACT(EPOCH FROM (%(expressions)s))::double precision"


class _Tokens(_Own):
    """All tokens of a turn's usage; null where they are not known."""

    output_field = BigIntegerField()
    sqlite = "json_extract(%(expressions)s, '$.total')"
    postgresql = "(%(expressions)s ->> 'total')::bigint"


def read_overview(length_days: int, now: datetime) -> Overview:
    """The numbers of so many days up to now, today included."""
    today = now.date()
    days = tuple(today - timedelta(days=back) for back in reversed(range(length_days)))
    since = now.replace(hour=0, minute=0, second=0, microsecond=0) - timedelta(days=length_days - 1)
    turns = Turn.objects.filter(created_at__gte=since, created_at__lte=now).order_by()
    # What was imported was not answered here. Asked of each turn it takes a tenth of the time: only where it matters.
    imports = ImportedConversation.objects.filter(created_at__gte=since)
    if imports.exists():
        earlier = imports.filter(conversation=OuterRef("conversation"), created_at__gte=OuterRef("created_at"))
        turns = turns.filter(~Exists(earlier))
    uses, endings, begun = _uses(turns)
    asked = Exists(turns.filter(conversation__owner=OuterRef("pk")))
    return Overview(
        days=days,
        at=now,
        uses=uses,
        failures=counted(endings),
        users_by_day=_users(turns),
        users=get_user_model()._default_manager.filter(asked).count(),
        waits=_waits(turns, begun),
        backlog=_backlog(now),
        live=_live(now),
        kernels=kernel_count(),
    )


def _uses(
    turns: QuerySet[Turn],
) -> tuple[Mapping[tuple[date, str], Use], Mapping[tuple[str, str, str], int], Mapping[date, int]]:
    """In one look at them: uses by day and model; turns by status, error code and finish reason; and by day those with
    a first part."""
    tokens = _Tokens("usage")
    rows = turns.values_list(_Day("created_at"), "model", "status", "error_code", "finish_reason").annotate(
        turns=Count("*"),
        begun=Count("first_part_at"),
        tokens=Sum(tokens),
        counted=Count(tokens),
        dollars=Sum("cost"),
        priced=Count("cost"),
    )
    uses: defaultdict[tuple[date, str], Use] = defaultdict(Use)
    endings: Counter[tuple[str, str, str]] = Counter()
    begun: Counter[date] = Counter()
    for day, model, status, error_code, finish_reason, number, with_part, total, with_tokens, dollars, priced in rows:
        uses[day, model] += Use(number, total or 0, dollars or Decimal(0), max(0, with_tokens - priced))
        endings[status, error_code, finish_reason] += number
        begun[day] += with_part
    return dict(uses), endings, begun


def _users(turns: QuerySet[Turn]) -> Mapping[date, int]:
    rows = turns.values_list(_Day("created_at")).annotate(users=Count("conversation__owner", distinct=True))
    return dict(rows)


def _waits(turns: QuerySet[Turn], begun: Mapping[date, int]) -> Mapping[date, Waited]:
    """Percentiles by nearest rank, so waits that there were; `begun`: turns of each day that have a first part."""
    places = {day: tuple(place(number, percent) for percent in (50, 95)) for day, number in begun.items() if number}
    rows = (
        turns.filter(first_part_at__isnull=False)
        .annotate(
            day=_Day("created_at"),
            wait_s=_Seconds("first_part_at", "created_at"),
            place=Window(RowNumber(), partition_by="day", order_by="wait_s"),
        )
        .filter(place__in={place for both in places.values() for place in both})
        .values_list("day", "place", "wait_s")
    )
    waits = {(day, place): wait_s for day, place, wait_s in rows}
    # A turn may have begun, or gone, since they were counted: then its day comes with the next look.
    return {
        day: Waited(waits[day, p50], waits[day, p95])
        for day, (p50, p95) in places.items()
        if (day, p50) in waits and (day, p95) in waits
    }


def _backlog(now: datetime) -> tuple[Backlog, ...]:
    whens = [
        When(attachment__created_at__gt=now - age, then=Value(number)) for number, (_, age) in enumerate(AGES) if age
    ]
    rows = (
        PendingUpload.objects.exclude(attachment__status=Attachment.Status.STORED)
        .order_by()
        .values_list(Case(*whens, default=Value(len(AGES) - 1)), "attachment__status")
        .annotate(files=Count("*"), size_bytes=Sum("attachment__size_bytes"))
    )
    return tuple(Backlog(AGES[age][0], *rest) for age, *rest in sorted(rows))


def _live(now: datetime) -> tuple[LiveTurns, ...]:
    is_silent = Q(lease_expires_at__lt=now)
    rows = (
        Turn.objects.filter(status__in=Turn.LIVE)
        .order_by()
        .values_list("lease_owner")
        .annotate(turns=Count("*"), silent=Count("pk", filter=is_silent), oldest_at=Min("created_at"))
    )
    return tuple(LiveTurns(*row) for row in sorted(rows))
