"""The usage counters of people in the database, and their limits.

One statement increments and reads a counter. It locks the counter's row until the end of the transaction. So if two
transactions use something, in any processes, the second one sees what the first one has used. In a transaction, these
rows are locked last: after turns, conversations and users.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time, timedelta
from typing import Any

from django.conf import settings
from django.db import connection
from django.db.models import Count, Exists, OuterRef, Sum

from attachments.models import Attachment
from chat.models import ImportedConversation, ImportJob, ImportPiece, Quota, QuotaUse, Turn, User
from chat.models.sql_functions import EstimatedTokens, is_uncounted
from chat.people.quotas.resources import DAILY, Resource, ResourceUsage, limit_of

_USES = QuotaUse._meta.db_table
_QUOTAS = Quota._meta.db_table
_USERS = User._meta.db_table
_MEMBERS = User.groups.through._meta.db_table
_COUNTERS = ", ".join(resource.counter for resource in DAILY)


def add_usage(
    amounts: Mapping[int, Mapping[Resource, int]], *, day: date, reads: Sequence[Resource]
) -> dict[int, dict[Resource, ResourceUsage]]:
    """Add to the counters of several people. Return their usage of the resources in `reads` after that.

    `amounts`: user id -> resource -> amount, which may be negative. Runs one statement, inside the caller's
    transaction.
    """
    if not amounts:
        return {}
    # The rows are always in the same order, which prevents deadlocks.
    rows = [_row(user_id, day, amounts[user_id]) for user_id in sorted(amounts)]
    places = ", ".join(["(" + ", ".join(["%s"] * len(rows[0])) + ")"] * len(rows))
    sums = ", ".join(f"{one.counter} = {_USES}.{one.counter} + excluded.{one.counter}" for one in DAILY)
    sql = (
        f"INSERT INTO {_USES} (user_id, day, {_COUNTERS}) VALUES {places}"
        f" ON CONFLICT (user_id, day) DO UPDATE SET {sums} RETURNING user_id{_columns(reads, _USES)}"
    )
    with connection.cursor() as cursor:
        cursor.execute(sql, [value for row in rows for value in row])
        return {user_id: _usages(reads, values) for user_id, *values in cursor.fetchall()}


def read_usage(user_id: int, resources: Iterable[Resource], *, day: date) -> dict[Resource, ResourceUsage]:
    """Return what a person has used on a day, by resource. Runs one query, and further ones for tokens and storage."""
    reads = list(resources)
    sql = (
        f"SELECT 1{_columns(reads, 'used', user='person.id')} FROM {_USERS} person"
        f" LEFT JOIN {_USES} used ON used.user_id = person.id AND used.day = %s WHERE person.id = %s"
    )
    with connection.cursor() as cursor:
        cursor.execute(sql, [day.isoformat(), user_id])
        row = cursor.fetchone()
    nothing = [*([0] * len(reads)), None, "," * (len(reads) - 1)]
    usages = _usages(reads, row[1:] if row else nothing)
    if Resource.TOKENS in usages:
        usages[Resource.TOKENS] = with_estimate(usages[Resource.TOKENS], user_id, day)
    if Resource.STORAGE in usages:
        limit = usages[Resource.STORAGE].limit
        usages[Resource.STORAGE] = ResourceUsage(Resource.STORAGE, stored_bytes(user_id), limit)
    return usages


def with_estimate(usage: ResourceUsage, user_id: int, day: date) -> ResourceUsage:
    """Return the tokens that a person has used on a day, with the estimated part of them. Runs one query."""
    begins_at = datetime.combine(day, time(), UTC)
    estimated = uncounted_answers(user_id, begins_at, begins_at + timedelta(days=1)).estimated_tokens
    # Deletions and imports change the stored turns, but not what was counted. So limit the estimate.
    return replace(usage, estimated=min(estimated, max(0, usage.used)))


@dataclass(frozen=True, slots=True)
class UncountedAnswers:
    """Answers whose providers reported no tokens, or not those of all requests."""

    answers: int
    estimated_tokens: int


def uncounted_answers(user_id: int, since: datetime, until: datetime) -> UncountedAnswers:
    """Return the answers of a person that ended in this time and whose tokens are not counted. Imported ones are left
    out.
    """
    is_imported = ImportedConversation.objects.filter(
        conversation=OuterRef("conversation"), created_at__gte=OuterRef("created_at")
    )
    turns = Turn.objects.filter(
        is_uncounted(), ~Exists(is_imported), conversation__owner=user_id, ended_at__gte=since, ended_at__lt=until
    )
    sums = turns.order_by().aggregate(answers=Count("pk"), tokens=Sum(EstimatedTokens("usage")))
    return UncountedAnswers(sums["answers"], sums["tokens"] or 0)


def stored_bytes(user_id: int) -> int:
    """Return the size of all files of a person, including graphs and files that are uploaded to be imported.

    While such a file is imported, its conversations count in its place.
    """
    imported = ImportPiece.objects.filter(job__owner=user_id, job__state=ImportJob.State.RUNNING)
    files = Attachment.objects.filter(owner_id=user_id).exclude(pk__in=imported.values("attachment")).order_by()
    total: int = files.aggregate(total=Sum("size_bytes", default=0))["total"]
    return total


def _row(user_id: int, day: date, amounts: Mapping[Resource, int]) -> list[int | str]:
    return [user_id, day.isoformat(), *(amounts.get(resource, 0) for resource in DAILY)]


def _columns(reads: Sequence[Resource], uses: str, user: str = f"{_USES}.user_id") -> str:
    """Return the SQL columns of a `ResourceUsage`: the usage of each resource, and the limits in a person's rows.

    The limits of all resources are joined with commas to one text for the person and one for their groups, because
    PostgreSQL needs 0.06 ms to plan the subqueries of each further limit.
    """
    if not reads:
        return ""
    counters = "".join(f", {f'COALESCE({uses}.{one.counter}, 0)' if one.is_daily else '0'}" for one in reads)
    own = _joined(f"own.{one.limit}" for one in reads)
    # In a row, 0 means that there is no limit. So 0 counts as the highest limit of several groups.
    shared = _joined(f"CASE WHEN MIN(shared.{one.limit}) = 0 THEN 0 ELSE MAX(shared.{one.limit}) END" for one in reads)
    return (
        f"{counters}, (SELECT {own} FROM {_QUOTAS} own WHERE own.user_id = {user}),"
        f" (SELECT {shared} FROM {_MEMBERS} member JOIN {_QUOTAS} shared ON shared.group_id = member.group_id"
        f" WHERE member.user_id = {user})"
    )


def _joined(columns: Iterable[str]) -> str:
    """Return the SQL of a text that joins these numbers with commas. Null becomes empty."""
    return " || ',' || ".join(f"COALESCE(CAST({column} AS TEXT), '')" for column in columns)


def _usages(reads: Sequence[Resource], values: Sequence[Any]) -> dict[Resource, ResourceUsage]:
    if not reads:
        return {}
    *counters, own, shared = values
    nothing = "," * (len(reads) - 1)
    limits = [first or second for first, second in zip((own or nothing).split(","), shared.split(","), strict=True)]
    return {
        resource: ResourceUsage(resource, used, limit_of(resource, int(limit) if limit else None, settings.QUOTAS))
        for resource, used, limit in zip(reads, counters, limits, strict=True)
    }
