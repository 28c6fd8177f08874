"""What must be so before a turn begins, and what finding out costs."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection, transaction
from pytest_django import Settings

from chat.models import Turn
from chat.turns.deciding import StartRefused
from chat.turns.starting import Asked, StartedTurn, create_turn
from tests.factories import make_conversation, make_user

pytestmark = pytest.mark.django_db


def started(owner: User) -> StartedTurn:
    """An answer that is being written, in a conversation of its own."""
    return create_turn(make_conversation(owner).pk, Asked("go"), lease_owner="test")


def test_nobody_has_more_answers_written_at_once_than_the_limit(settings: Settings) -> None:
    settings.LIVE_TURNS_LIMIT = 2
    ada, ben = make_user(), make_user()
    first, _ = started(ada), started(ada)
    with pytest.raises(StartRefused, match="2 answers are being written for you already"), transaction.atomic():
        started(ada)
    started(ben)
    Turn.objects.filter(pk=first.turn.pk).update(status=Turn.Status.DONE)
    started(ada)


@pytest.mark.skipif(connection.vendor != "sqlite", reason="PostgreSQL chooses by what its tables hold")
def test_looking_for_live_answers_goes_through_no_list_of_conversations() -> None:
    asked: list[tuple[str, Any]] = []

    def listen(execute: Any, sql: str, parameters: Any, *told: Any) -> Any:  # noqa: ANN401 - Django's own
        asked.append((sql, parameters))
        return execute(sql, parameters, *told)

    with connection.execute_wrapper(listen):
        started(make_user())
    [(sql, parameters)] = [one for one in asked if one[0].startswith("SELECT") and "'running'" in one[0]]
    with connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN QUERY PLAN {sql}", parameters)
        plan = " ".join(detail for *_, detail in cursor.fetchall())
    assert "chat_turn USING INDEX live_turns_by_lease" in plan
    assert "SEARCH chat_conversation USING INDEX sqlite_autoindex_chat_conversation_1 (id=?)" in plan
    assert "owner" not in plan
