"""Superusers delete whole conversations and users, together with everything that belongs to them."""

from __future__ import annotations

import pytest
from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.contrib.admin.models import LogEntry
from django.test import Client

from attachments.models import Attachment
from chat.models import Conversation, Message, MessageAttachment, Part, Turn, TurnEvent, User
from tests.chat.admin.factories import SECRET, admin_url, client_of, make_secret_conversation
from tests.factories import make_conversation, make_user

pytestmark = pytest.mark.django_db


@pytest.fixture
def conversation() -> Conversation:
    return make_secret_conversation()


def assert_no_content_is_left() -> None:
    for model in (Conversation, Message, Part, MessageAttachment, Turn, TurnEvent, Attachment):
        assert not model._default_manager.exists(), model


def test_superuser_deletes_a_whole_conversation(superuser: Client, conversation: Conversation) -> None:
    url = admin_url(Conversation, conversation.pk, "delete")
    assert f"{SECRET} title" in superuser.get(url).content.decode()
    assert superuser.post(url, {"post": "yes"}).status_code == 302
    assert_no_content_is_left()


def test_superuser_deletes_several_conversations_and_no_title_is_logged(
    superuser: Client, conversation: Conversation
) -> None:
    kept = make_conversation()
    ids = [str(conversation.pk), str(make_conversation().pk)]
    data = {"action": "delete_selected", ACTION_CHECKBOX_NAME: ids, "post": "yes"}
    assert superuser.post(admin_url(Conversation), data).status_code == 302
    assert list(Conversation.objects.all()) == [kept]
    assert {entry.object_repr for entry in LogEntry.objects.all()} == {f"Conversation {pk[:8]}" for pk in ids}
    assert not Attachment.objects.exists()


def test_superuser_deletes_a_user_with_their_conversations(superuser: Client, conversation: Conversation) -> None:
    url = admin_url(User, conversation.owner.pk, "delete")
    assert superuser.get(url).status_code == 200
    assert superuser.post(url, {"post": "yes"}).status_code == 302
    assert not User.objects.filter(pk=conversation.owner.pk).exists()
    assert_no_content_is_left()


def test_confirmation_page_counts_log_entries_that_are_deleted_with_staff(
    superuser: Client, conversation: Conversation
) -> None:
    other = make_user("other", is_staff=True, is_superuser=True)
    url = admin_url(User, other.pk, "delete")
    assert "what they did in the admin" not in superuser.get(url).content.decode()
    client_of(other).post(admin_url(Conversation, conversation.pk, "delete"), {"post": "yes"})
    assert "lines about what they did in the admin: 1" in superuser.get(url).content.decode().lower()
    entry_url = admin_url(LogEntry, LogEntry.objects.get().pk, "delete")
    assert superuser.post(entry_url, {"post": "yes"}).status_code == 403
    superuser.post(url, {"post": "yes"})
    assert not LogEntry.objects.filter(user_id=other.pk).exists()
