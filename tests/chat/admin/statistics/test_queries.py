"""The statistics match the rows, and reading them takes a constant number of queries."""

from __future__ import annotations

import math
import random
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from attachments.models import Attachment
from chat.admin.statistics.queries import read_overview
from chat.admin.statistics.statistics import UploadBacklog, UsageTotals
from chat.models import Conversation, ImportedConversation, Turn
from tests.factories import make_attachment, make_conversation, make_model_message, make_user

pytestmark = pytest.mark.django_db
NOW = datetime(2026, 3, 10, 15, 30, tzinfo=UTC)
TODAY = NOW.date()
QUERIES = 7
"""Queries of `read_overview` if no conversation was imported in the period."""


def make_turn(conversation: Conversation, at: datetime, wait_s: float | None = 1.0, **columns: Any) -> Turn:
    """Return a turn created at a time whose first part came `wait_s` later. `columns` sets further columns."""
    turn = make_model_message(conversation).turn
    first_part_at = None if wait_s is None else at + timedelta(seconds=wait_s)
    Turn.objects.filter(pk=turn.pk).update(created_at=at, first_part_at=first_part_at, **columns)
    turn.refresh_from_db()
    return turn


def test_turns_tokens_and_cost_are_added_up_by_day_and_model() -> None:
    conversation = make_conversation()
    usage = {"prompt": 1, "total": 1_000}
    for cost in ("0.10", "0.25"):
        make_turn(conversation, NOW, model="one", cost=Decimal(cost), usage=usage)
    make_turn(conversation, NOW - timedelta(days=1), model="one", cost=None, usage=usage)
    make_turn(conversation, NOW - timedelta(days=1), model="two", cost=None, usage={}, wait_s=None)
    make_turn(conversation, NOW - timedelta(days=1), model="two", usage={"total": None}, wait_s=None)
    overview = read_overview(7, NOW)
    yesterday = TODAY - timedelta(days=1)
    assert overview.usage_by_day_and_model == {
        (TODAY, "one"): UsageTotals(2, 2_000, Decimal("0.35"), 0),
        (yesterday, "one"): UsageTotals(1, 1_000, Decimal(0), 1),
        (yesterday, "two"): UsageTotals(2, 0, Decimal(0), 0),
    }
    assert overview.total_usage == UsageTotals(5, 3_000, Decimal("0.35"), 1)
    assert list(overview.usage_by_model) == ["one", "two"]
    assert len(overview.usage_by_day) == 7
    assert overview.usage_by_day[yesterday].turns == 3


def test_turns_with_unreported_tokens_and_their_estimated_tokens_are_counted_apart_from_reported_tokens() -> None:
    conversation = make_conversation()
    for usage in (
        {"total": 7, "estimated": None},
        {"total": 7, "estimated": 5},
        {"total": None, "estimated": 20},
        {"total": None},
        {},
    ):
        make_turn(conversation, NOW, model="one", usage=usage, cost=Decimal("0.1"))
    make_turn(conversation, NOW, model="one", usage={}, chosen={"own_code": True})
    make_turn(conversation, NOW, model="one", usage={}, status="running", ended_at=None)
    make_turn(conversation, NOW, model="one", usage={}, wait_s=None)
    total = read_overview(7, NOW).total_usage
    assert (total.turns, total.tokens, total.uncounted_turns, total.estimated_tokens) == (8, 14, 4, 25)


def test_statistics_period_begins_at_midnight_of_its_first_day_and_ends_now() -> None:
    conversation = make_conversation()
    midnight = NOW.replace(hour=0, minute=0)
    for at in (midnight - timedelta(days=6), midnight, NOW - timedelta(microseconds=1)):
        make_turn(conversation, at)
    for at in (midnight - timedelta(days=6, microseconds=1), NOW + timedelta(seconds=1)):
        make_turn(conversation, at)
    overview = read_overview(7, NOW)
    assert overview.total_usage.turns == 3
    assert (overview.days[0], overview.days[-1]) == (TODAY - timedelta(days=6), TODAY)
    assert read_overview(1, NOW).total_usage.turns == 2


def test_user_with_several_turns_is_counted_once_a_day_and_once_in_the_period() -> None:
    one, two = make_user(), make_user()
    make_conversation(make_user())
    for owner, back in ((one, 0), (one, 0), (two, 0), (one, 1)):
        make_turn(make_conversation(owner), NOW - timedelta(days=back))
    overview = read_overview(7, NOW)
    assert overview.users_by_day == {TODAY: 2, TODAY - timedelta(days=1): 1}
    assert overview.users == 2


def test_percentiles_of_waiting_times_use_the_nearest_rank() -> None:
    generator = random.Random(20260310)
    conversation = make_conversation()
    for count in (1, 2, 3, 19, 20, 21, 40):
        Turn.objects.all().delete()
        waits = [round(generator.uniform(0.01, 90), 3) for _ in range(count)]
        for wait_s in waits:
            make_turn(conversation, NOW - timedelta(hours=1), wait_s=wait_s)
        make_turn(conversation, NOW - timedelta(hours=1), wait_s=None)
        make_turn(conversation, NOW - timedelta(days=1), wait_s=500)
        percentiles = read_overview(7, NOW).waits_by_day[TODAY]
        sorted_waits = sorted(waits)
        assert percentiles.p50_s == pytest.approx(sorted_waits[math.ceil(count * 0.5) - 1], abs=0.002)
        assert percentiles.p95_s == pytest.approx(sorted_waits[math.ceil(round(count * 0.95, 6)) - 1], abs=0.002)


def test_turns_that_ended_before_their_conversation_was_imported_are_not_counted() -> None:
    conversation = make_conversation()
    imported = ImportedConversation.objects.create(owner=conversation.owner, conversation=conversation, digest="0")
    ImportedConversation.objects.filter(pk=imported.pk).update(created_at=NOW - timedelta(hours=2))
    make_turn(conversation, NOW - timedelta(days=2))
    make_turn(conversation, NOW - timedelta(hours=2))
    make_turn(conversation, NOW - timedelta(hours=1))
    assert read_overview(7, NOW).total_usage.turns == 1


def test_pending_uploads_are_grouped_by_age_and_status() -> None:
    owner = make_user()
    for age, status in (
        (timedelta(seconds=59), "pending"),
        (timedelta(seconds=61), "pending"),
        (timedelta(minutes=9), "pending"),
        (timedelta(days=2), "failed"),
        (timedelta(days=2), "stored"),
    ):
        attachment = make_attachment(owner, data=b"x" * 10)
        Attachment.objects.filter(pk=attachment.pk).update(created_at=NOW - age, status=status)
    assert read_overview(7, NOW).backlog == (
        UploadBacklog("under a minute", "pending", 1, 10),
        UploadBacklog("1 to 10 minutes", "pending", 2, 20),
        UploadBacklog("over a day", "failed", 1, 10),
    )


def test_live_turns_of_any_age_are_grouped_by_process() -> None:
    for process, lease_s in (("web-1", 5), ("web-1", -5), ("", None)):
        lease = None if lease_s is None else NOW + timedelta(seconds=lease_s)
        message = make_model_message(make_conversation(), status=Turn.Status.RUNNING)
        Turn.objects.filter(pk=message.turn.pk).update(
            created_at=NOW - timedelta(days=99), lease_owner=process, lease_expires_at=lease
        )
    live = read_overview(7, NOW).live_turns
    assert [(row.process, row.turns, row.expired_leases) for row in live] == [("", 1, 0), ("web-1", 2, 1)]
    assert {row.oldest_at for row in live} == {NOW - timedelta(days=99)}


def test_number_of_queries_does_not_depend_on_the_number_of_rows() -> None:
    for _ in range(2):
        conversation = make_conversation()
        for number in range(12):
            make_turn(conversation, NOW - timedelta(days=number % 5), model=f"model {number}", error_code=str(number))
            make_attachment(conversation.owner)
        with CaptureQueriesContext(connection) as queries:
            read_overview(90, NOW)
        assert len(queries) == QUERIES
