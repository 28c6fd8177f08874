"""Deleting one's own account: it is planned, can be kept for some days, and is carried out in slices."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from pytest_django import Settings

from attachments.models import Attachment, ObjectDeletion
from chat.models import AccessEntry, ApiToken, Conversation, LoginSession, Message, Share, User
from chat.models.deletion import delete_conversation
from chat.people.account import due_deletions
from chat.people.account.deletion import keep_account
from chat.people.account.due_deletions import delete_due_accounts
from tests.factories import make_attachment, make_conversation, make_graph, make_model_message, make_user

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("fast_password_hasher")]

PASSWORD = "a long pass phrase"
PAGE = "/accounts/delete/"


@pytest.fixture
def person(fast_password_hasher: None) -> User:
    return make_user("ann", password=PASSWORD)


def log_in() -> Client:
    client = Client()
    assert client.post("/accounts/login/?next=/gallery/", {"login": "ann", "password": PASSWORD}).status_code == 302
    return client


def plan(client: Client) -> str:
    """Plan the deletion, and return the page that says so."""
    way = client.post(PAGE).headers["Location"]
    assert way.startswith("/accounts/reauthenticate/"), "the password is asked for first"
    response = client.post(way, {"password": PASSWORD})
    assert response.status_code == 200
    return response.content.decode()


def make_due(user: User) -> None:
    User.objects.filter(pk=user.pk).update(deletion_at=timezone.now() - timedelta(seconds=1))


def test_planning_an_account_deletion_logs_out_everywhere_and_disables_tokens_and_share_links(
    person: User, settings: Settings
) -> None:
    settings.ACCOUNT_DELETION_DAYS = 3
    here, phone = log_in(), log_in()
    _, secret = ApiToken.objects.issue(person.pk, name="a token", life=None)
    conversation = make_conversation(person)
    make_model_message(conversation)
    share = Share.objects.issue(conversation)
    assert Client().get(f"/s/{share.token}/").status_code == 200
    assert "after 3 days" in here.get(PAGE).content.decode()
    assert "Your account will be deleted" in plan(here)
    person.refresh_from_db()
    assert person.deletion_at is not None
    assert timedelta(days=2, hours=23) < person.deletion_at - timezone.now() < timedelta(days=3)
    assert [client.get(PAGE).status_code for client in (here, phone)] == [302, 302]
    assert ApiToken.objects.authenticate(secret) is None
    assert Client().get(f"/s/{share.token}/").status_code == 404
    assert delete_due_accounts() == 0


def test_deletion_of_an_account_cannot_be_cancelled_once_it_has_begun(person: User) -> None:
    # The statement of the owner began in time, and has waited until the deletion has deactivated the account.
    User.objects.update(deletion_at=timezone.now() + timedelta(seconds=60), is_active=False)
    keep_account(person)
    person.refresh_from_db()
    assert person.deletion_at is not None


def test_deletion_of_an_account_is_not_planned_with_a_wrong_password(person: User) -> None:
    client = log_in()
    way = client.post(PAGE).headers["Location"]
    client.post(way, {"password": "wrong"})
    person.refresh_from_db()
    assert person.deletion_at is None


def test_person_who_logs_in_again_can_cancel_the_deletion(person: User) -> None:
    _, secret = ApiToken.objects.issue(person.pk, name="a token", life=None)
    plan(log_in())
    client = Client()
    response = client.post("/accounts/login/?next=/gallery/", {"login": "ann", "password": PASSWORD})
    assert response.headers["Location"] == PAGE
    assert "Keep my account" in client.get(PAGE).content.decode()
    assert "Your account will be deleted on" in client.get("/gallery/").content.decode()
    client.post(f"{PAGE}keep/")
    assert "Keep my account" not in client.get(PAGE).content.decode()
    assert "will be deleted on" not in client.get("/gallery/").content.decode()
    assert ApiToken.objects.authenticate(secret) is not None
    assert delete_due_accounts() == 0


def test_deletion_cannot_be_cancelled_once_it_is_due(person: User) -> None:
    client = log_in()
    make_due(person)
    client.post(f"{PAGE}keep/")
    assert delete_due_accounts() == 1


def test_last_superuser_cannot_delete_their_account(client: Client) -> None:
    boss = make_user("boss", password=PASSWORD, is_staff=True, is_superuser=True)
    client.force_login(boss)
    assert "Make another account a superuser first" in client.get(PAGE).content.decode()
    client.post("/accounts/reauthenticate/", {"password": PASSWORD})
    assert client.post(PAGE).status_code == 400
    make_user("deputy", is_superuser=True)
    assert client.post(PAGE).status_code == 200


def test_account_whose_deletion_is_due_is_deleted_with_all_rows_and_other_accounts_stay(person: User) -> None:
    other = make_user("bob", is_staff=True)
    kept = make_graph(make_model_message(make_conversation(other)), part_index=0)
    for _ in range(2):
        conversation = make_conversation(person)
        make_graph(make_model_message(conversation), part_index=0)
        AccessEntry.objects.record(other, [conversation], AccessEntry.Action.READ)
    # It can still be restored when the account is deleted.
    Conversation.objects.filter(pk=conversation.pk).update(deleted_at=timezone.now())
    make_attachment(person)
    ApiToken.objects.issue(person.pk, name="a token", life=None)
    Client().force_login(person)
    make_due(person)
    assert delete_due_accounts() == 1
    assert list(User.objects.all()) == [other]
    assert [one.owner for one in Conversation.with_deleted.all()] == [other]
    assert list(Attachment.objects.all()) == [kept]
    assert not any(model.objects.exists() for model in (AccessEntry, ApiToken, LoginSession))
    assert ObjectDeletion.objects.filter(owner_id=person.pk).count() == 3, "the worker deletes the objects in storage"


def test_interrupted_deletion_is_continued_and_does_not_delay_other_deletions(
    person: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    for _ in range(3):
        make_model_message(make_conversation(person))
    make_due(person)
    other = make_user("bob")
    make_due(other)
    calls = []

    def delete_and_fail(conversation: Conversation) -> list[Attachment]:
        calls.append(conversation)
        if len(calls) == 2:
            raise ConnectionError("the database restarts")
        return delete_conversation(conversation)

    monkeypatch.setattr(due_deletions, "delete_conversation", delete_and_fail)
    assert delete_due_accounts() == 1
    assert not User.objects.filter(pk=other.pk).exists()
    person.refresh_from_db()
    assert (person.is_active, Conversation.with_deleted.count(), Conversation.objects.count()) == (False, 2, 0)
    assert delete_due_accounts() == 1
    assert not Message.objects.exists()


def test_check_for_due_account_deletions_runs_one_query_if_none_is_due(person: User) -> None:
    with CaptureQueriesContext(connection) as queries:
        assert delete_due_accounts() == 0
    assert len(queries) == 1
