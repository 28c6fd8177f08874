"""Updates of many rows by one statement."""

from __future__ import annotations

import uuid
from decimal import Decimal
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from chat.models import Turn
from chat.turns.row_updates import update_rows
from tests.factories import make_conversation, make_model_message

pytestmark = pytest.mark.django_db


def make_turns(count: int) -> list[Turn]:
    """Return ended turns of different conversations."""
    return [make_model_message(make_conversation()).turn for _ in range(count)]


def test_values_of_each_kind_arrive_in_their_rows() -> None:
    first, second, other = make_turns(3)
    at = timezone.now()
    # The rows need not have the same fields.
    rows: dict[uuid.UUID, dict[str, Any]] = {
        first.pk: {"error_code": "a", "usage": {"total": 1}, "cost": Decimal("0.5"), "ended_at": at},
        second.pk: {"error_code": "b", "sources": [{"url": "é'%s"}], "lease_expires_at": None},
        uuid.uuid4(): {"error_code": "c"},
    }
    before = Turn.objects.filter(pk=other.pk).values().get()
    assert update_rows(Turn, rows) == 2
    first.refresh_from_db()
    second.refresh_from_db()
    assert (first.error_code, first.usage, first.cost, first.ended_at) == ("a", {"total": 1}, Decimal("0.5"), at)
    assert (second.error_code, second.sources, second.lease_expires_at) == ("b", [{"url": "é'%s"}], None)
    assert Turn.objects.filter(pk=other.pk).values().get() == before


def test_rows_with_other_values_are_left_alone() -> None:
    done, live, stopped = make_turns(3)
    Turn.objects.filter(pk=live.pk).update(status="running")
    Turn.objects.filter(pk=stopped.pk).update(status="stopped")
    rows = {turn.pk: {"error_code": "x"} for turn in (done, live, stopped)}
    assert update_rows(Turn, rows, only={"status": ("running", "stopped")}) == 2
    assert set(Turn.objects.filter(error_code="x")) == {live, stopped}


def test_rows_share_a_statement() -> None:
    rows = {turn.pk: {"error_code": "x"} for turn in make_turns(3)}
    with CaptureQueriesContext(connection) as queries:
        assert update_rows(Turn, {}) == 0
        assert len(queries) == 0
        assert update_rows(Turn, rows) == 3
        assert len(queries) == 1
