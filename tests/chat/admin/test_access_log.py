"""The access log: every read adds an entry, entries cannot be changed, and owners see theirs."""

from __future__ import annotations

from datetime import timedelta
from functools import partial
from typing import Any

import pytest
from django.db import IntegrityError, connection, transaction
from django.db.models import Model
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from attachments.models import Attachment
from chat.answering.turns.deletions import delete_due
from chat.migrations import _append_only
from chat.models import (
    AccessEntry,
    Conversation,
    Message,
    MessageAttachment,
    Part,
    Review,
    ReviewDecision,
    TurnEvent,
    User,
    Verdict,
)
from chat.models.access_log import REPEAT_INTERVAL
from chat.models.append_only import ImmutableRowError
from chat.people.account.due_deletions import delete_due_accounts
from tests.chat.admin.factories import (
    SECRET,
    admin_url,
    client_of,
    make_account,
    make_row_of_each_model,
    make_secret_conversation,
    review_url,
)
from tests.factories import make_conversation, make_user

pytestmark = pytest.mark.django_db

Action = AccessEntry.Action
READINGS_URL = "/accounts/readings/"


@pytest.fixture
def conversation() -> Conversation:
    return make_secret_conversation()


def file_url(conversation: Conversation) -> str:
    return review_url(conversation, f"files/{Attachment.objects.get().pk}/")


def backdate_entries(age: timedelta) -> None:
    """Change the time of all entries. The trigger that forbids changes is dropped and created again."""
    name = "chat_accessentry_appended"
    [create] = [one for one in _append_only.CREATE[connection.vendor] if f"CREATE TRIGGER {name}" in one]
    table = " ON chat_accessentry" if connection.vendor == "postgresql" else ""
    with connection.cursor() as cursor:
        cursor.execute(f"DROP TRIGGER {name}{table}")
        AccessEntry.objects.update(created_at=timezone.now() - age)
        cursor.execute(create)


# --- every read adds an entry


def test_repeated_reads_of_a_page_add_one_entry_per_interval(reviewer: Client, conversation: Conversation) -> None:
    for path in ("change/", "change/?as=sent", "change/?version=x", "change/"):
        assert SECRET in reviewer.get(review_url(conversation, path)).content.decode()
    entry = AccessEntry.objects.get()
    assert (entry.reader_name, entry.owner, entry.action) == ("reviewer", conversation.owner, Action.READ)
    assert (entry.conversation_id, entry.conversation_title) == (conversation.pk, conversation.title)
    backdate_entries(REPEAT_INTERVAL)
    reviewer.get(review_url(conversation))
    client_of(make_account("superuser")).get(review_url(conversation))
    assert AccessEntry.objects.count() == 3


@pytest.mark.parametrize("model", [Message, Part, MessageAttachment, TurnEvent])
@pytest.mark.parametrize("page", ["change", "history"])
def test_opening_a_row_is_logged_as_a_read_of_its_conversation(
    superuser: Client, conversation: Conversation, model: type[Model], page: str
) -> None:
    row = model._default_manager.first()
    assert row is not None
    assert superuser.get(admin_url(model, row.pk, page)).status_code == 200
    assert AccessEntry.objects.get().conversation_id == conversation.pk


def test_opening_a_file_is_logged_unless_its_conversation_was_just_read(
    reviewer: Client, conversation: Conversation
) -> None:
    assert reviewer.get(file_url(conversation)).content == b"some bytes"
    entry = AccessEntry.objects.get()
    assert (entry.action, entry.detail) == (Action.FILE, f"{SECRET}.png")
    backdate_entries(timedelta(hours=1))
    reviewer.get(review_url(conversation))
    reviewer.get(file_url(conversation))
    assert list(AccessEntry.objects.values_list("action", flat=True)) == [Action.READ, Action.FILE]


def test_reviewer_cannot_open_a_file_by_the_url_of_another_conversation(
    reviewer: Client, conversation: Conversation
) -> None:
    other = make_conversation(conversation.owner)
    assert reviewer.get(file_url(other)).status_code == 404
    assert not AccessEntry.objects.exists()


def test_lists_show_no_content_except_titles_in_the_queue(superuser: Client) -> None:
    for model in make_row_of_each_model():
        page = superuser.get(admin_url(model)).content.decode()
        assert (SECRET in page) == (model is Conversation), model
        if model is Conversation:
            assert f"{SECRET} title" in page
            assert f"{SECRET} asked" not in page
    assert AccessEntry.objects.count() == 1, "only the entry that make_row_of_each_model created"


def test_turn_pages_show_no_content(conversation: Conversation) -> None:
    turn = conversation.turns.get()
    operator = client_of(make_account("operator"))
    for page in ("change", "history"):
        assert SECRET not in operator.get(admin_url(type(turn), turn.pk, page)).content.decode()


def test_url_parameters_cannot_filter_lists_by_other_columns_than_declared(
    superuser: Client, conversation: Conversation
) -> None:
    for model, lookup in (
        (Conversation, "title__contains"),
        (Conversation, "messages__text__contains"),
        (Conversation, "owner__password__startswith"),
        (Message, "text__contains"),
        (Part, "text__startswith"),
        (TurnEvent, "data__contains"),
        (AccessEntry, "conversation_title__contains"),
    ):
        assert superuser.get(f"{admin_url(model)}?{lookup}=Z").status_code == 400


# --- entries cannot be changed


def test_entries_and_verdicts_cannot_be_changed_by_any_query(conversation: Conversation) -> None:
    boss = make_account("superuser")
    Review.objects.decide([conversation.pk], boss, ReviewDecision.FLAGGED, note="bad")
    AccessEntry.objects.record(boss, [conversation], Action.READ)
    for row in (AccessEntry.objects.get(), Verdict.objects.get()):
        model: Any = type(row)
        with pytest.raises(ImmutableRowError):
            row.save()
        with pytest.raises(ImmutableRowError):
            row.delete()
        with pytest.raises(ImmutableRowError):
            model.objects.all().delete()
        for change in (
            partial(model._base_manager.update, created_at=timezone.now()),
            partial(model.objects.filter(pk=row.pk).update, created_at=timezone.now()),
            partial(model.objects.bulk_update, [row], ["created_at"]),
        ):
            with pytest.raises(IntegrityError, match="never changed"), transaction.atomic():
                change()
        assert model.objects.count() == 1


@pytest.mark.skipif(connection.vendor != "sqlite", reason="only SQLite drops the triggers of a rebuilt table")
def test_triggers_exist_after_the_last_migration() -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT name FROM sqlite_master WHERE type = 'trigger' AND name LIKE '%_appended'")
        names = {name for (name,) in cursor.fetchall()}
    assert names == {"chat_accessentry_appended", "chat_verdict_appended"}, (
        "the migration that rebuilt a table must execute CREATE again"
    )


def test_entries_outlive_reader_and_conversation_and_are_deleted_with_the_owners_account(
    superuser: Client, conversation: Conversation
) -> None:
    reader, owner = make_account("reviewer"), conversation.owner
    Review.objects.decide([conversation.pk], reader, ReviewDecision.TAKEN)
    client_of(reader).get(review_url(conversation))
    superuser.post(admin_url(User, reader.pk, "delete"), {"post": "yes"})
    assert delete_due_accounts() == 1
    assert not User.objects.filter(pk=reader.pk).exists()
    assert Review.objects.get().assignee is None
    assert "reviewer" in superuser.get(review_url(conversation)).content.decode()
    superuser.post(review_url(conversation, "delete/"), {"post": "yes"})
    assert delete_due() == 1
    assert not Verdict.objects.exists()
    page = client_of(owner).get(READINGS_URL).content.decode()
    assert "reviewer" in page
    assert f"{SECRET} title" in page
    assert "(deleted)" in page
    superuser.get("/admin/")  # This page shows, and so removes, the message that names the deleted conversation.
    entries = superuser.get("/admin/chat/accessentry/").content.decode()
    assert "reviewer" in entries
    assert str(conversation.pk) in entries
    assert SECRET not in entries
    superuser.post(admin_url(User, owner.pk, "delete"), {"post": "yes"})
    assert delete_due_accounts() == 1
    assert not AccessEntry.objects.exists()


# --- owners see the entries of their conversations


def test_owners_see_who_read_their_own_conversations(reviewer: Client, conversation: Conversation) -> None:
    reviewer.get(review_url(conversation))
    owner = client_of(conversation.owner)
    page = owner.get(READINGS_URL).content.decode()
    assert "reviewer" in page
    assert f'href="/c/{conversation.pk}/"' in page
    assert "Nobody has read any of yours." in client_of(make_user()).get(READINGS_URL).content.decode()
    assert READINGS_URL in owner.get("/accounts/tokens/").content.decode()
    # Only the settings link to the page.
    assert READINGS_URL not in owner.get(conversation.get_absolute_url()).content.decode()


def test_owners_page_is_paginated_with_a_constant_number_of_queries(conversation: Conversation) -> None:
    reader, client = make_user("reader"), client_of(conversation.owner)

    def add_entries(first: int, count: int) -> None:
        for number in range(first, first + count):
            AccessEntry.objects.record(reader, [conversation], Action.READ, reason=f"reason {number}.")

    def count_queries() -> int:
        with CaptureQueriesContext(connection) as queries:
            assert client.get(READINGS_URL).status_code == 200
        return len(queries)

    add_entries(0, 3)
    queries_of_few = count_queries()
    add_entries(3, 57)
    assert count_queries() == queries_of_few
    first = client.get(READINGS_URL)
    assert "reason 59." in first.content.decode()
    assert "reason 9." not in first.content.decode()
    rest = client.get(f"{READINGS_URL}?before={first.context['end']}").content.decode()
    assert [f"reason {number}." in rest for number in (0, 9, 10)] == [True, True, False]
    for invalid in ("x", "9" * 5000, "-1", "%00", "1e9", "٣"):
        assert client.get(f"{READINGS_URL}?before={invalid}").status_code == 200
