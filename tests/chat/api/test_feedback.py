"""Ratings of answers: stored, shown in lists of messages, removed, and refused."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from chat.models import Conversation, Feedback, Message, Turn, User
from tests.factories import make_conversation, make_model_message, make_user_message

pytestmark = pytest.mark.django_db


@pytest.fixture
def answer(owner: User) -> Message:
    """An answer of the owner's conversation."""
    return make_model_message(make_conversation(owner))


def path_of(message: Message) -> str:
    """Return the path of a message's rating."""
    return f"/api/v1/messages/{message.pk}/feedback/"


def listed_feedback(client: Client, conversation: Conversation) -> list[Any]:
    """Return the feedback of each shown message."""
    page = client.get(f"/api/v1/conversations/{conversation.pk}/messages/").json()
    return [message["feedback"] for message in page["results"]]


def test_rating_can_be_set_replaced_listed_and_deleted(client: Client, answer: Message) -> None:
    assert listed_feedback(client, answer.conversation) == [None, None]
    for rating in ({"is_good": False, "reason": " graph wrong\n"}, {"is_good": True}, {"is_good": True, "reason": ""}):
        response = client.put(path_of(answer), rating, content_type="application/json")
        expected = {"is_good": rating["is_good"], "reason": str(rating.get("reason", "")).strip()}
        assert (response.status_code, response.json()) == (200, expected)
        assert listed_feedback(client, answer.conversation) == [None, expected]
        assert Feedback.objects.get().user == answer.conversation.owner
    for _ in range(2):
        assert client.delete(path_of(answer)).status_code == 204
        assert listed_feedback(client, answer.conversation) == [None, None]


@pytest.mark.parametrize(
    ("rating", "field", "sentence"),
    [
        ({}, "is_good", "This field is required."),
        ({"is_good": None}, "is_good", "This field may not be null."),
        ({"is_good": "true"}, "is_good", "This must be true or false."),
        ({"is_good": 1}, "is_good", "This must be true or false."),
        ({"is_good": True, "reason": 5}, "reason", "Not a valid string."),
        ({"is_good": True, "reason": "x" * 1001}, "reason", "A reason can have at most 1,000 characters. Shorten it."),
        ({"is_good": True, "reason": "x" * 2**20}, "reason", "A reason can have at most 1,000 characters. Shorten it."),
        ({"is_good": True, "why": "x"}, "why", "There is no field “why” here; known: is_good, reason."),
    ],
)
def test_invalid_rating_is_refused(
    client: Client, answer: Message, rating: dict[str, Any], field: str, sentence: str
) -> None:
    response = client.put(path_of(answer), rating, content_type="application/json")
    assert response.status_code == 400
    assert response.json()["errors"] == {field: [sentence]}
    assert not Feedback.objects.exists()


def test_only_ended_answers_can_be_rated(client: Client, answer: Message) -> None:
    question = make_user_message(answer.conversation)
    live = make_model_message(answer.conversation, status=Turn.Status.QUEUED)
    for message in (question, live):
        response = client.put(path_of(message), {"is_good": True}, content_type="application/json")
        assert response.status_code == 409
        assert response.json()["type"].endswith("#problem-not-ratable")
    assert not Feedback.objects.exists()
