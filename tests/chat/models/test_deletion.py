"""Long conversations are deleted in several transactions."""

from __future__ import annotations

import pytest
from django.db import connection

from attachments.models import Attachment
from chat.answering.turns.deletions import delete_accounts_in_background, delete_due, delete_in_background
from chat.models import Conversation, Message, PythonSession, Turn, User, deletion, write_pauses
from chat.models.deletion import delete_conversation, hide_accounts
from chat.people.account.due_deletions import delete_due_accounts
from tests.factories import attach, make_attachment, make_conversation, make_graph, make_model_message, make_user


@pytest.fixture
def long_conversation(monkeypatch: pytest.MonkeyPatch) -> Conversation:
    """Create eight messages, which make three slices, with a graph in each answer."""
    monkeypatch.setattr(deletion, "SLICE_MESSAGES", 3)
    conversation = make_conversation()
    for _ in range(4):
        make_graph(make_model_message(conversation))
    return conversation


@pytest.fixture
def pauses(monkeypatch: pytest.MonkeyPatch) -> list[list[int]]:
    """Return the indexes of the messages that are left at each pause, at which others may write."""
    left: list[list[int]] = []

    def pause(_: float) -> None:
        assert not connection.in_atomic_block
        left.append(sorted(Message.objects.values_list("index", flat=True)))

    monkeypatch.setattr("chat.models.deletion.time.sleep", pause)
    return left


@pytest.mark.django_db(transaction=True)
@pytest.mark.skipif(connection.vendor != "sqlite", reason="PostgreSQL has several writers, and needs no pause")
def test_other_writers_can_write_between_slices_of_a_deletion(
    long_conversation: Conversation, pauses: list[list[int]]
) -> None:
    kept = make_attachment(long_conversation.owner)
    attach(make_model_message(make_conversation(long_conversation.owner), status=Turn.Status.DONE), kept)
    attach(Message.objects.get(conversation=long_conversation, index=7), kept)
    others = [0, 1]
    deleted = delete_conversation(long_conversation)
    assert pauses == [sorted([*others, 0, 1, 2, 3, 4]), sorted([*others, 0, 1])]
    assert len(deleted) == 4
    assert not Conversation.objects.filter(pk=long_conversation.pk).exists()
    assert list(Attachment.objects.all()) == [kept]


@pytest.mark.django_db(transaction=True)
@pytest.mark.skipif(connection.vendor != "sqlite", reason="PostgreSQL has several writers, and needs no pause")
@pytest.mark.parametrize("what", ["conversations", "account"])
def test_other_writers_can_write_between_deletions_of_conversations(
    pauses: list[list[int]], monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    monkeypatch.setattr(write_pauses, "WORK_S", 0)
    owner = make_user()
    for _ in range(3):
        make_model_message(make_conversation(owner), status=Turn.Status.DONE)
    if what == "conversations":
        delete_in_background(list(Conversation.objects.values_list("pk", flat=True)))
        assert delete_due() == 3
    else:
        make_attachment(owner)
        hide_accounts([owner.pk])
        assert delete_due_accounts() == 1
        assert not User.objects.exists()
    assert pauses[:3] == [[0, 0, 1, 1], [0, 1], []]
    assert len(pauses) == (3 if what == "conversations" else 4)


@pytest.mark.django_db(transaction=True)
def test_deleting_an_account_stops_its_running_answer_and_detaches_its_python_session() -> None:
    message = make_model_message(make_conversation(), status=Turn.Status.RUNNING)
    owner = message.conversation.owner
    session = PythonSession.objects.create(conversation=message.conversation, owner=owner)
    delete_accounts_in_background([owner.pk])
    message.turn.refresh_from_db()
    session.refresh_from_db()
    assert message.turn.stop_requested
    assert session.conversation is None, "the reaper ends it"
    assert not Conversation.objects.exists()


@pytest.mark.django_db
def test_deletion_inside_a_transaction_is_not_split_into_several_transactions(
    long_conversation: Conversation, pauses: list[list[int]]
) -> None:
    assert len(delete_conversation(long_conversation)) == 4
    assert pauses == []
    assert not Message.objects.exists()
