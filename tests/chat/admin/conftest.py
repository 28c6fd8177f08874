"""Fixtures for the tests of the admin."""

from __future__ import annotations

import pytest
from django.test import Client

from chat.models import Conversation
from chat.vocabulary.parts import PartKind
from tests.chat.admin.factories import client_of, make_account
from tests.factories import make_conversation, make_graph, make_model_message, make_user_message


@pytest.fixture
def reviewer(db: None) -> Client:
    """A client that is logged in as a member of the group Reviewer, with the username `reviewer`."""
    return client_of(make_account("reviewer"))


@pytest.fixture
def superuser(db: None) -> Client:
    """A client that is logged in as a superuser, with the username `superuser`."""
    return client_of(make_account("superuser"))


@pytest.fixture
def conversation(db: None) -> Conversation:
    """The conversation “Primes”: a question, and an answer with code, its output and a graph."""
    conversation = make_conversation(title="Primes")
    make_user_message(conversation, "Draw them, please.")
    message = make_model_message(
        conversation,
        parts=[
            (PartKind.TEXT, "Here **they** are."),
            (PartKind.EXECUTABLE_CODE, "print(2)"),
            (PartKind.CODE_EXECUTION_RESULT, "2\n"),
        ],
    )
    make_graph(message, part_index=2)
    return conversation
