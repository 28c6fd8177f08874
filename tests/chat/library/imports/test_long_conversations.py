"""A long conversation is imported in several transactions, but either completely or not at all."""

from __future__ import annotations

import json

import pytest
from django.db import connection
from django.utils import timezone

from chat.library.imports import importer, store
from chat.library.imports.importer import import_file
from chat.library.imports.refusal import RefusedImport
from chat.models import Conversation, ImportedConversation, Message, User, write_pauses
from tests.chat.library.imports.test_chatgpt import conversation_of, node
from tests.factories import make_user

MESSAGES = 8

pytestmark = pytest.mark.skipif(connection.vendor != "sqlite", reason="PostgreSQL has several writers, and no pauses")


class Failure(Exception):
    """An import is ended by a test."""


@pytest.fixture(autouse=True)
def small_slices(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "TRANSACTION_ROWS", 10)
    monkeypatch.setattr(store, "SLICE_MESSAGES", 3)
    # A pause is due after every transaction.
    monkeypatch.setattr(write_pauses, "WORK_S", -1.0)


@pytest.fixture
def owner(transactional_db: None) -> User:
    return make_user()


def long_file() -> bytes:
    """Return a conversation in ChatGPT's form."""
    roles = ("user", "assistant")
    nodes = [
        node(str(number), str(number - 1) if number else None, roles[number % 2], f"text {number}", time=1.7e9 + number)
        for number in range(MESSAGES)
    ]
    return json.dumps([conversation_of(*nodes, current=nodes[-1]["id"])]).encode()


def test_import_of_a_long_conversation_pauses_between_its_transactions(
    owner: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[tuple[int, bool]] = []

    def pause(_: float) -> None:
        assert not connection.in_atomic_block
        seen.append((Message.objects.count(), Conversation.objects.get().archived_at is not None))

    monkeypatch.setattr("chat.models.write_pauses.time.sleep", pause)
    result = import_file(long_file(), owner_id=owner.pk)
    assert seen == [(0, True), (3, True), (6, True)]
    conversation = Conversation.objects.get(pk=result.created[0])
    assert conversation.archived_at is None
    texts = [message.text for message in conversation.messages.order_by("index")]
    assert texts == [f"text {number}" for number in range(MESSAGES)]
    assert import_file(long_file(), owner_id=owner.pk).existing == result.created


@pytest.mark.parametrize("dies", [False, True])
def test_next_import_deletes_what_a_failed_import_has_left(
    owner: User, monkeypatch: pytest.MonkeyPatch, dies: bool
) -> None:
    def fail_after_two_slices(_: float) -> None:
        if Message.objects.count() == 6:
            raise Failure

    with monkeypatch.context() as failing:
        failing.setattr("chat.models.write_pauses.time.sleep", fail_after_two_slices)
        if dies:
            # A process that dies deletes nothing.
            failing.setattr(store, "delete_conversation", lambda _: None)
        with pytest.raises(Failure):
            import_file(long_file(), owner_id=owner.pk)
    assert Message.objects.count() == (6 if dies else 0)
    ImportedConversation.objects.update(created_at=timezone.now() - store.UNFINISHED_LIMIT)
    result = import_file(long_file(), owner_id=owner.pk)
    assert [conversation.pk for conversation in Conversation.objects.all()] == list(result.created)
    assert Message.objects.count() == MESSAGES
    assert ImportedConversation.objects.count() == 1


def test_import_is_refused_while_another_process_imports_the_same_conversation(
    owner: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    def import_elsewhere(_: float) -> None:
        # The other import runs in the first pause only. As another process, it has no list of users who import here.
        monkeypatch.setattr("chat.models.write_pauses.time.sleep", lambda _: None)
        monkeypatch.setattr(importer, "_importing_users", set())
        with pytest.raises(RefusedImport, match="is being imported just now"):
            import_file(long_file(), owner_id=owner.pk)

    monkeypatch.setattr("chat.models.write_pauses.time.sleep", import_elsewhere)
    result = import_file(long_file(), owner_id=owner.pk)
    assert [conversation.pk for conversation in Conversation.objects.all()] == list(result.created)
    assert Message.objects.count() == MESSAGES
