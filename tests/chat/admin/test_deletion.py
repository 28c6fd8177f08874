"""Superusers delete whole conversations and users, together with everything that belongs to them."""

from __future__ import annotations

import re

import pytest
from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.contrib.admin.models import LogEntry
from django.test import Client

from attachments.models import Attachment
from chat.answering.turns.deletions import delete_due
from chat.models import ApiToken, Conversation, LoginSession, Message, MessageAttachment, Part, Turn, TurnEvent, User
from chat.models.deletion import restorable_conversations
from chat.people.account.due_deletions import delete_due_accounts
from tests.chat.admin.actions import post_action
from tests.chat.admin.factories import SECRET, admin_url, client_of, make_secret_conversation
from tests.factories import attach, make_conversation, make_graph, make_model_message, make_user

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
    assert not Conversation.objects.exists()
    assert delete_due() == 1
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
    assert delete_due() == 2
    assert not Attachment.objects.exists()


def test_superuser_deletes_a_user_with_their_conversations(superuser: Client, conversation: Conversation) -> None:
    url = admin_url(User, conversation.owner.pk, "delete")
    assert superuser.get(url).status_code == 200
    assert superuser.post(url, {"post": "yes"}).status_code == 302
    assert not Conversation.objects.exists()
    assert f'value="{conversation.owner.pk}"' not in superuser.get(admin_url(User)).content.decode()
    assert delete_due() == 0, "the conversations are deleted with the account"
    assert delete_due_accounts() == 1
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
    assert delete_due_accounts() == 1
    assert not LogEntry.objects.filter(user_id=other.pk).exists()


def fields_of(page: str) -> dict[str, str]:
    """Return the hidden fields of the confirmation."""
    found = re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)">', page)
    assert len(found) < 10, "a form may have only a thousand fields"
    return dict(found)


def test_confirmation_page_shows_the_counts_and_deletes_only_the_confirmed_conversations(superuser: Client) -> None:
    owner, other = make_user("anna"), make_user("bert")
    Conversation.objects.bulk_create(Conversation(owner=owner, title=f"title-{number}") for number in range(2400))
    first, kept = Conversation.objects.all()[0], make_conversation(other)
    make_graph(make_model_message(first))
    shared = make_graph(make_model_message(kept))
    attach(Message.objects.filter(conversation=first, role="model").get(), shared)
    page = post_action(superuser, "delete_selected", [first], "?user=anna", select_across="1").content.decode()
    assert re.findall(r"<li>(\w+: [\d,]+)</li>", page) == ["Conversations: 2,400", "Messages: 2", "Files: 1"]
    assert page.count("title-") == 20
    assert "and 2,380 more" in page
    # This conversation is created after the confirmation page was shown.
    late = make_conversation(owner)
    response = superuser.post(f"{admin_url(Conversation)}?user=anna", fields_of(page))
    assert response.status_code == 302
    assert set(Conversation.objects.all()) == {kept, late}
    assert Conversation.with_deleted.count() == 2402, "the rows are deleted in the background"
    assert LogEntry.objects.count() == 2400
    assert restorable_conversations().count() == 0


def test_a_malformed_or_endless_list_of_confirmed_ids_deletes_nothing(superuser: Client) -> None:
    for model, row in ((Conversation, make_conversation()), (User, make_user())):
        for ids in ("no-id", "9" * 40, f"{row.pk},", "\x00", f"{row.pk}," * 10_001):
            data = {"action": "delete_selected", ACTION_CHECKBOX_NAME: str(row.pk), "post": "yes", "confirmed_ids": ids}
            assert superuser.post(admin_url(model), data).status_code == 302
    assert Conversation.objects.count() == 1
    assert not LogEntry.objects.exists()


def test_a_deleted_account_is_hidden_at_once_and_its_name_can_be_used_again(superuser: Client) -> None:
    owner = make_user("anna", password="a long pass phrase")
    make_model_message(make_conversation(owner))
    _, secret = ApiToken.objects.issue(owner.pk, name="a token", life=None)
    browser = client_of(owner)
    data = {"action": "delete_selected", ACTION_CHECKBOX_NAME: str(owner.pk)}
    page = superuser.post(admin_url(User), data).content.decode()
    assert re.findall(r"<li>(\w+: [\d,]+)</li>", page) == ["Users: 1", "Conversations: 1", "Messages: 2", "Files: 0"]
    assert "its name can be given to a new account at once" in page
    assert superuser.post(admin_url(User), fields_of(page)).status_code == 302
    assert ApiToken.objects.authenticate(secret) is None
    assert browser.get("/api/v1/conversations/").status_code in (401, 403)
    assert not LoginSession.objects.filter(user=owner).exists()
    assert not Client().login(username="anna", password="a long pass phrase")
    assert superuser.get(admin_url(User, owner.pk), follow=True).request["PATH_INFO"] == "/admin/"
    again = make_user("Anna")
    make_conversation(again)
    assert delete_due_accounts() == 1
    assert Conversation.with_deleted.get().owner == again
