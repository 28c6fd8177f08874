"""Limits, days and sentences: pure."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import pytest

from chat.models import Quota, QuotaUse
from chat.people.quotas.resources import (
    DAILY,
    QuotaExceeded,
    Resource,
    ResourceUsage,
    day_end,
    day_of,
    duration_words,
    limit_of,
    words,
)

NOW = datetime(2026, 11, 23, 18, 48, 30, tzinfo=UTC)
MB = 1024**2


def test_every_resource_has_a_column_for_its_limit_and_its_counter() -> None:
    limits = {field.name for field in Quota._meta.fields} - {"id", "user", "group"}
    assert limits == {resource.limit for resource in Resource}
    counters = {field.name for field in QuotaUse._meta.fields} - {"id", "user", "day"}
    assert counters == {resource.counter for resource in DAILY}


def test_limit_is_converted_to_the_unit_of_the_counter_and_0_means_no_limit() -> None:
    everyone = {resource.limit: 5 for resource in Resource}
    assert limit_of(Resource.TURNS, None, everyone) == 5
    assert limit_of(Resource.KERNEL_TIME, None, everyone) == 5_000
    assert limit_of(Resource.STORAGE, 2, everyone) == 2 * MB
    assert limit_of(Resource.TURNS, 0, everyone) is None
    assert limit_of(Resource.TURNS, None, everyone | {"turns_per_day": 0}) is None


@pytest.mark.parametrize(
    ("used", "limit", "amount", "is_allowed", "left"),
    [
        (0, 1, 1, True, 1),
        (1, 1, 1, False, 0),
        (1, 1, 0, False, 0),
        (4, 5, 1, True, 1),
        (4, 5, 2, False, 1),
        (9, 5, 0, False, 0),
        (9, None, 10**9, True, None),
    ],
)
def test_usage_of_a_resource_allows_amounts_up_to_the_limit(
    used: int, limit: int | None, amount: int, is_allowed: bool, left: int | None
) -> None:
    usage = ResourceUsage(Resource.TURNS, used, limit)
    assert (usage.allows(amount), usage.left) == (is_allowed, left)


def test_day_ends_at_midnight_utc_in_every_time_zone() -> None:
    elsewhere = NOW.astimezone(timezone(timedelta(hours=9)))
    assert elsewhere.day == 24
    assert day_of(elsewhere).isoformat() == "2026-11-23"
    assert day_end(elsewhere).isoformat() == "2026-11-24T00:00:00+00:00"


@pytest.mark.parametrize(
    ("duration", "expected"),
    [
        (timedelta(seconds=1), "1 minute"),
        (timedelta(minutes=2), "2 minutes"),
        (timedelta(minutes=59, seconds=1), "1 hour"),
        (timedelta(hours=5, minutes=11, seconds=30), "5 hours 12 minutes"),
        (timedelta(hours=24), "24 hours"),
    ],
)
def test_durations_are_rounded_up_to_whole_minutes(duration: timedelta, expected: str) -> None:
    assert duration_words(duration) == expected


def test_amounts_are_written_with_their_unit() -> None:
    assert words(Resource.TOKENS, 1_234_567) == "1,234,567 tokens"
    assert words(Resource.CONVERSATIONS, 1) == "1 conversation"
    assert words(Resource.KERNEL_TIME, 61_400) == "61 seconds"
    assert words(Resource.UPLOADS, 300) == "under 1 KB"
    assert words(Resource.UPLOADS, 2048) == "2 KB"
    assert words(Resource.UPLOADS, 1000 * 1024 - 600) == "999 KB"
    assert words(Resource.UPLOADS, 1000 * 1024) == "0.977 MB"
    assert words(Resource.UPLOADS, 3 * MB // 2) == "1.5 MB"
    assert words(Resource.STORAGE, 20 * 1024 * MB) == "20 GB"
    assert words(Resource.IMPORTS, 480 * MB) == "480 MB of text"


def exceeded(resource: Resource, used: int, limit: int, amount: int = 1, subject: str = "") -> QuotaExceeded:
    return QuotaExceeded(ResourceUsage(resource, used, limit), amount, now=NOW, subject=subject)


def test_refusal_has_the_numbers_and_the_time_of_the_next_day() -> None:
    error = exceeded(Resource.TURNS, 10_000, 10_000)
    assert str(error) == (
        "You have started 10,000 answers today, of at most 10,000 answers a day. More is possible from 00:00 UTC, in"
        " 5 hours 12 minutes."
    )
    assert (error.status, error.retry_after_s) == (429, 5 * 3600 + 11 * 60 + 30 + 1)
    assert str(exceeded(Resource.UPLOADS, 99 * MB, 100 * MB, 2 * MB, "“a.csv”")).startswith(
        "“a.csv” has 2 MB, which is too much. You have uploaded 99 MB today, of at most 100 MB a day. More is"
    )


def test_refusal_has_the_time_in_the_persons_time_zone() -> None:
    there = NOW.astimezone(ZoneInfo("Asia/Tokyo"))
    error = QuotaExceeded(ResourceUsage(Resource.TURNS, 5, 5), 1, now=there)
    assert "More is possible from 09:00 Asia/Tokyo, in 5 hours 12 minutes." in str(error)
    assert error.retry_after_s == exceeded(Resource.TURNS, 5, 5).retry_after_s


def test_refusal_has_no_time_if_waiting_does_not_help() -> None:
    error = exceeded(Resource.STORAGE, 9 * MB, 10 * MB, 2 * MB, "“a.csv”")
    assert str(error) == (
        "“a.csv” has 2 MB, which is too much. Your files take up 9 MB, of at most 10 MB. Delete conversations with"
        " graphs and files that you do not need."
    )
    assert (error.status, error.retry_after_s) == (403, None)


@pytest.mark.parametrize("resource", Resource)
def test_every_refusal_has_the_used_amount_and_the_limit(resource: Resource) -> None:
    sentence = str(exceeded(resource, 70 * resource.unit, 71 * resource.unit))
    assert "70 " in sentence
    assert "71 " in sentence
