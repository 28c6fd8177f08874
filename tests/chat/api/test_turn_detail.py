"""Turns in JSON."""

from __future__ import annotations

import pytest
from django.test import Client

from chat.models import Turn, User
from chat.stream_events import Finish
from tests.factories import make_conversation, make_model_message

pytestmark = pytest.mark.django_db


def test_failed_turn_has_an_error_without_what_is_for_staff(client: Client, owner: User) -> None:
    message = make_model_message(
        make_conversation(owner), status=Turn.Status.FAILED, error_code="storage", error_detail="secret"
    )
    response = client.get(f"/api/v1/turns/{message.turn.pk}/")
    assert response.json()["error"]["code"] == "storage"
    assert b"secret" not in response.content


def test_interrupted_turn_has_an_error(client: Client, owner: User) -> None:
    message = make_model_message(make_conversation(owner), status=Turn.Status.INTERRUPTED)
    error = client.get(f"/api/v1/turns/{message.turn.pk}/").json()["error"]
    assert error["code"] == "interrupted"
    assert error["detail"].endswith(".")


def test_turn_has_both_words_for_its_finish_and_its_number_of_rounds(client: Client, owner: User) -> None:
    message = make_model_message(make_conversation(owner), finish=Finish.LENGTH.value, finish_reason="MAX_TOKENS")
    Turn.objects.update(round_count=3, cost="0.1")
    turn = client.get(f"/api/v1/turns/{message.turn.pk}/").json()
    assert (turn["finish"], turn["finish_reason"], turn["rounds"]) == ("length", "MAX_TOKENS", 3)
    assert (turn["status"], turn["error"], turn["cost"]) == ("done", None, "0.10000000")
