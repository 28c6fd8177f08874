"""Reads and writes of whole rows as plain SQL."""

from __future__ import annotations

import uuid
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.db import connection, transaction
from django.db.models.functions import Now
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from chat.models import Message, Part, Turn
from chat.models.plain_sql import database_time, insert_rows, select_rows, update_rows
from chat.vocabulary.parts import Role, Text
from tests.factories import make_conversation, make_model_message
from tests.polling import wait_until

pytestmark = pytest.mark.django_db


def make_turns(count: int) -> list[Turn]:
    """Return ended turns of different conversations."""
    return [make_model_message(make_conversation()).turn for _ in range(count)]


def test_values_of_each_type_are_stored_in_the_right_rows() -> None:
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


def test_update_with_a_condition_changes_only_rows_that_meet_it() -> None:
    done, live, stopped = make_turns(3)
    Turn.objects.filter(pk=live.pk).update(status="running")
    Turn.objects.filter(pk=stopped.pk).update(status="stopped")
    rows = {turn.pk: {"error_code": "x"} for turn in (done, live, stopped)}
    assert update_rows(Turn, rows, only={"status": ("running", "stopped")}) == 2
    assert set(Turn.objects.filter(error_code="x")) == {live, stopped}


def test_rows_with_the_same_fields_are_updated_by_one_statement() -> None:
    rows = {turn.pk: {"error_code": "x"} for turn in make_turns(3)}
    with CaptureQueriesContext(connection) as queries:
        assert update_rows(Turn, {}) == 0
        assert len(queries) == 0
        assert update_rows(Turn, rows) == 3
        assert len(queries) == 1


def test_select_rows_returns_the_matching_rows_with_all_columns_in_the_given_order() -> None:
    first, second, _ = make_turns(3)
    Turn.objects.filter(pk=first.pk).update(usage={"total": 1}, cost=Decimal("0.5"), client_id="é'%s")
    rows = select_rows(
        Turn, "id IN %s AND status = %s ORDER BY client_id IS NULL", [second.pk, first.pk, uuid.uuid4()], "done"
    )
    assert rows == [first, second]
    first.refresh_from_db()
    assert [vars(rows[0])[name.attname] for name in Turn._meta.concrete_fields] == [
        vars(first)[name.attname] for name in Turn._meta.concrete_fields
    ]


def test_column_of_a_joined_table_is_an_attribute_of_the_row() -> None:
    [turn] = make_turns(1)
    [row] = select_rows(
        Turn,
        "chat_turn.id = %s",
        turn.pk,
        columns="chat_turn.id, owner_id",
        joined="JOIN chat_conversation ON chat_conversation.id = conversation_id",
    )
    assert vars(row)["owner_id"] == turn.conversation.owner_id


def test_select_rows_with_an_empty_list_of_values_runs_no_query() -> None:
    make_turns(1)
    with CaptureQueriesContext(connection) as queries:
        assert select_rows(Turn, "id IN %s", []) == []
    assert len(queries) == 0


def test_row_inserted_by_plain_sql_equals_the_row_that_the_orm_reads() -> None:
    conversation = make_conversation()
    message = Message(conversation=conversation, index=0, role=Role.USER, text="é'%s")
    insert_rows([message])
    stored = Message.objects.get(pk=message.pk)
    for field in Message._meta.concrete_fields:
        assert vars(stored)[field.attname] == vars(message)[field.attname]
    insert_rows([Part.from_value(Text("x"), index=index, message=message) for index in range(3)])
    assert [row.value for row in stored.parts.order_by("index")] == [Text("x")] * 3
    # An inserted row can be changed as any other.
    message.text = "changed"
    message.save()
    assert Message.objects.filter(pk=message.pk, text="changed").exists()


def test_database_time_is_the_clock_time_even_inside_a_transaction() -> None:
    make_turns(1)
    now = Turn.objects.annotate(now=Now()).values_list("now", flat=True).get()
    with transaction.atomic():
        first = database_time()
        assert abs(first - now) <= timedelta(minutes=1)
        wait_until(lambda: database_time() > first)
