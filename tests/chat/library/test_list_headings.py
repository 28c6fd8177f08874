"""Headings of the conversation list."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, tzinfo
from zoneinfo import ZoneInfo

import pytest

from chat.library.list_headings import Heading, group_by_day, heading_of
from chat.models import Conversation

TODAY = date(2026, 3, 3)


@pytest.mark.parametrize(
    ("age_days", "heading"),
    [
        (-1, Heading("today")),
        (0, Heading("today")),
        (1, Heading("yesterday")),
        (2, Heading("week")),
        (7, Heading("week")),
        (8, Heading("days")),
        (30, Heading("days")),
        (31, Heading("month", date(2026, 1, 1))),
        (62, Heading("month", date(2025, 12, 1))),
        (TODAY.toordinal() - 1, Heading("month", date(1, 1, 1))),
    ],
)
def test_heading_of_a_day_is_today_yesterday_week_days_or_a_month(age_days: int, heading: Heading) -> None:
    assert heading_of(TODAY - timedelta(days=age_days), TODAY) == heading


def test_headings_of_different_months_have_different_keys() -> None:
    assert [heading_of(day, TODAY).key for day in (TODAY, date(2025, 2, 1), date(2025, 1, 31))] == [
        "today",
        "2025-02",
        "2025-01",
    ]


@pytest.mark.parametrize(
    ("zone", "names"),
    [(UTC, ["today", "yesterday"]), (ZoneInfo("America/New_York"), ["yesterday", "week"])],
)
def test_days_begin_at_midnight_in_the_persons_time_zone(zone: tzinfo, names: list[str]) -> None:
    times = [datetime(2026, 3, 3, 1, tzinfo=UTC), datetime(2026, 3, 2, 1, tzinfo=UTC)]
    groups = list(group_by_day([Conversation(updated_at=at) for at in times], TODAY, zone))
    assert [group.heading.name for group in groups] == names
    assert not any(group.is_begun for group in groups)


def test_group_that_began_on_the_previous_page_is_marked_as_begun() -> None:
    at = datetime(2026, 3, 2, 12, tzinfo=UTC)
    rows = [Conversation(updated_at=at), Conversation(updated_at=at - timedelta(days=1))]
    groups = list(group_by_day(rows, TODAY, UTC, after=at + timedelta(hours=1)))
    assert [(group.heading.name, group.is_begun) for group in groups] == [("yesterday", True), ("week", False)]
