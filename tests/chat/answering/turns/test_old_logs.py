"""The logs of ended turns are deleted in short transactions, and no statement reads a whole table."""

from __future__ import annotations

import threading
from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from chat.answering.turns import old_logs
from chat.answering.turns.old_logs import delete_old_logs, delete_some_logs
from chat.models import Turn, TurnEvent
from tests.factories import make_conversation, make_model_message

pytestmark = pytest.mark.django_db


def make_turns(count: int, *, rows: int, minutes: int = -1) -> list[Turn]:
    """Create ended turns whose logs have some rows, and are kept for some minutes."""
    conversation = make_conversation()
    turns = [make_model_message(conversation).turn for _ in range(count)]
    TurnEvent.objects.bulk_create(
        TurnEvent(turn=turn, seq=seq, name="text", data={}) for turn in turns for seq in range(2, rows + 1)
    )
    Turn.objects.filter(pk__in=[turn.pk for turn in turns]).update(
        log_kept_until=timezone.now() + timedelta(minutes=minutes)
    )
    return turns


def test_only_logs_that_have_expired_are_deleted() -> None:
    make_turns(2, rows=5)
    kept = make_turns(1, rows=5, minutes=1)
    live = make_model_message(make_conversation(), status=Turn.Status.RUNNING).turn
    unreadable = make_model_message(make_conversation()).turn
    Turn.objects.filter(pk=unreadable.pk).update(log_kept_until=None)
    assert delete_old_logs() == 10
    assert set(TurnEvent.objects.values_list("turn", flat=True)) == {kept[0].pk, live.pk, unreadable.pk}
    assert Turn.objects.filter(log_kept_until__isnull=False).get() == kept[0]
    with CaptureQueriesContext(connection) as queries:
        assert delete_old_logs() == 0
    assert len(queries) == 1, "an idle process only reads"


def test_long_log_is_deleted_in_several_transactions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(old_logs, "ROWS_AT_ONCE", 4)
    monkeypatch.setattr(old_logs, "PAUSE_S", 0)
    (turn,) = make_turns(1, rows=10)
    assert delete_old_logs() == 4
    assert Turn.objects.filter(log_kept_until__isnull=False).get() == turn
    assert delete_some_logs(threading.Event()) == 6
    assert not TurnEvent.objects.exists()
    assert not Turn.objects.filter(log_kept_until__isnull=False).exists()


def test_many_short_logs_are_deleted_in_several_transactions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(old_logs, "TURNS_AT_ONCE", 2)
    monkeypatch.setattr(old_logs, "PAUSE_S", 0)
    make_turns(5, rows=1)
    delete_some_logs(threading.Event())
    assert not TurnEvent.objects.exists()


def test_no_statement_of_the_deletion_scans_a_whole_database_table() -> None:
    make_turns(2, rows=5)
    with CaptureQueriesContext(connection) as queries:
        delete_old_logs()
    statements = [query["sql"] for query in queries if query["sql"].startswith(("SELECT", "DELETE", "UPDATE"))]
    assert len(statements) == 5
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            # A small table is read whole because that is faster. Without that choice, the plan uses an index or fails.
            cursor.execute("SET LOCAL enable_seqscan = off")
        for statement in statements:
            cursor.execute(f"EXPLAIN {'QUERY PLAN' if connection.vendor == 'sqlite' else ''} {statement}")
            plan = "\n".join(str(row) for row in cursor.fetchall())
            assert "SCAN" not in plan, plan
            assert "Seq Scan" not in plan, plan
