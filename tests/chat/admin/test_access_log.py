"""Whoever reads leaves a line, which nobody changes and its owner sees; with reasons, nothing is shown before one."""

from __future__ import annotations

import io
import zipfile
from datetime import timedelta
from functools import partial
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.contrib.auth.models import User
from django.db import IntegrityError, connection, transaction
from django.db.models import Model
from django.test import AsyncClient, Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from pytest_django import Settings

from attachments.models import Attachment
from chat.admin import guard
from chat.models import (
    AccessEntry,
    Conversation,
    Decision,
    Message,
    MessageAttachment,
    Part,
    Review,
    TurnEvent,
    Verdict,
)
from chat.models.appended import Unchangeable, create_triggers, drop_triggers
from chat.models.reviews import NOTED_ONCE_WITHIN
from tests.chat.admin.people import SECRET, admin_url, client_of, one_of_each, person, secret_conversation
from tests.factories import make_conversation, make_user

pytestmark = pytest.mark.django_db

Action = AccessEntry.Action
READINGS = "/accounts/readings/"


@pytest.fixture
def conversation() -> Conversation:
    return secret_conversation()


@pytest.fixture
def reviewer() -> Client:
    return client_of(person("reviewer"))


@pytest.fixture
def asks_for_reasons(settings: Settings) -> None:
    settings.REVIEW_NEEDS_REASON = True


def page_of(conversation: Conversation, door: str = "change/") -> str:
    return f"/admin/chat/conversation/{conversation.pk}/{door}"


def file_of(conversation: Conversation) -> str:
    return page_of(conversation, f"files/{Attachment.objects.get().pk}/")


def later(settings_time: timedelta) -> None:
    """As if all lines had been written so much earlier; what the database refuses, a test may do."""
    drop_triggers(connection)
    AccessEntry.objects.update(created_at=timezone.now() - settings_time)
    create_triggers(connection)


# --- every reading leaves a line


def test_a_page_that_is_read_leaves_one_line_for_a_while(reviewer: Client, conversation: Conversation) -> None:
    for door in ("change/", "change/?as=sent", "change/?version=x", "change/"):
        assert SECRET in reviewer.get(page_of(conversation, door)).content.decode()
    entry = AccessEntry.objects.get()
    assert (entry.reader_name, entry.owner, entry.action) == ("reviewer", conversation.owner, Action.READ)
    assert (entry.conversation_id, entry.conversation_title) == (conversation.pk, conversation.title)
    later(NOTED_ONCE_WITHIN)
    reviewer.get(page_of(conversation))
    client_of(person("superuser")).get(page_of(conversation))
    assert AccessEntry.objects.count() == 3


@pytest.mark.parametrize("model", [Message, Part, MessageAttachment, TurnEvent])
@pytest.mark.parametrize("page", ["change", "history"])
def test_rows_below_it_are_readings_of_it(conversation: Conversation, model: type[Model], page: str) -> None:
    row = model._default_manager.first()
    assert row is not None
    assert client_of(person("superuser")).get(admin_url(model, row.pk, page)).status_code == 200
    assert AccessEntry.objects.get().conversation_id == conversation.pk


def test_a_file_leaves_a_line_unless_its_conversation_was_just_read(
    reviewer: Client, conversation: Conversation
) -> None:
    assert reviewer.get(file_of(conversation)).content == b"some bytes"
    entry = AccessEntry.objects.get()
    assert (entry.action, entry.detail) == (Action.FILE, f"{SECRET}.png")
    later(timedelta(hours=1))
    reviewer.get(page_of(conversation))
    reviewer.get(file_of(conversation))
    assert list(AccessEntry.objects.values_list("action", flat=True)) == [Action.READ, Action.FILE]


def test_a_file_is_shown_in_its_own_conversation_alone(reviewer: Client, conversation: Conversation) -> None:
    other = make_conversation(conversation.owner)
    assert reviewer.get(file_of(other)).status_code == 404
    assert not AccessEntry.objects.exists()


def test_lists_show_nothing_that_was_said_but_the_queue_its_titles() -> None:
    rows = one_of_each()
    boss = client_of(person("superuser"))
    for model in rows:
        page = boss.get(admin_url(model)).content.decode()
        assert (SECRET in page) == (model is Conversation), model
        if model is Conversation:
            assert f"{SECRET} title" in page
            assert f"{SECRET} asked" not in page
    assert AccessEntry.objects.count() == 1  # the one that was there


def test_turns_say_nothing_of_what_was_said(conversation: Conversation) -> None:
    turn = conversation.turns.get()
    operator = client_of(person("operator"))
    for page in ("change", "history"):
        assert SECRET not in operator.get(admin_url(type(turn), turn.pk, page)).content.decode()


def test_other_columns_are_no_filters(conversation: Conversation) -> None:
    boss = client_of(person("superuser"))
    for model, lookup in (
        (Conversation, "title__contains"),
        (Conversation, "messages__text__contains"),
        (Conversation, "owner__password__startswith"),
        (Message, "text__contains"),
        (Part, "text__startswith"),
        (TurnEvent, "data__contains"),
        (AccessEntry, "conversation_title__contains"),
    ):
        assert boss.get(f"{admin_url(model)}?{lookup}=Z").status_code == 400


# --- the log cannot be changed


def test_the_log_cannot_be_changed_by_any_path(conversation: Conversation) -> None:
    boss = person("superuser")
    Review.objects.decide([conversation.pk], boss, Decision.FLAGGED, note="bad")
    AccessEntry.objects.note(boss, [conversation], Action.READ)
    for row in (AccessEntry.objects.get(), Verdict.objects.get()):
        model: Any = type(row)
        with pytest.raises(Unchangeable):
            row.save()
        with pytest.raises(Unchangeable):
            row.delete()
        with pytest.raises(Unchangeable):
            model.objects.all().delete()
        rows = model._base_manager
        for change in (
            partial(rows.update, created_at=timezone.now()),
            partial(model.objects.filter(pk=row.pk).update, created_at=timezone.now()),
            partial(model.objects.bulk_update, [row], ["created_at"]),
        ):
            with pytest.raises(IntegrityError, match="never changed"), transaction.atomic():
                change()
        assert model.objects.count() == 1


def test_nobody_edits_it_in_the_admin(conversation: Conversation) -> None:
    boss = person("superuser")
    AccessEntry.objects.note(boss, [conversation], Action.READ)
    entry = AccessEntry.objects.get()
    client = client_of(boss)
    assert client.get("/admin/chat/accessentry/add/").status_code == 403
    for page in ("change", "delete"):
        assert client.post(admin_url(AccessEntry, entry.pk, page), {"post": "yes"}).status_code == 403
    data = {"action": "delete_selected", ACTION_CHECKBOX_NAME: [str(entry.pk)], "post": "yes"}
    client.post("/admin/chat/accessentry/", data)
    assert AccessEntry.objects.count() == 1


@pytest.mark.skipif(connection.vendor != "sqlite", reason="only SQLite drops them with a table that is remade")
def test_triggers_stand_after_the_last_migration() -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT name FROM sqlite_master WHERE type = 'trigger' AND name LIKE '%_appended'")
        found = {name for (name,) in cursor.fetchall()}
    assert found == {"chat_accessentry_appended", "chat_verdict_appended"}, "call create_triggers at its end"


def test_lines_outlast_reader_and_conversation_and_go_with_their_owner(conversation: Conversation) -> None:
    reader, owner = person("reviewer"), conversation.owner
    Review.objects.decide([conversation.pk], reader, Decision.TAKEN)
    client_of(reader).get(page_of(conversation))
    boss = client_of(person("superuser"))
    boss.post(f"/admin/auth/user/{reader.pk}/delete/", {"post": "yes"})
    assert not User.objects.filter(pk=reader.pk).exists()
    assert Review.objects.get().assignee is None
    assert "reviewer" in boss.get(page_of(conversation)).content.decode()
    boss.post(page_of(conversation, "delete/"), {"post": "yes"})
    assert not Verdict.objects.exists()
    page = client_of(owner).get(READINGS).content.decode()
    assert "reviewer" in page
    assert f"{SECRET} title" in page
    assert "(deleted)" in page
    boss.get("/admin/")  # told once: what was deleted
    # Its page in the admin does without both, and keeps the title to itself.
    listed = boss.get("/admin/chat/accessentry/").content.decode()
    assert "reviewer" in listed
    assert str(conversation.pk) in listed
    assert SECRET not in listed
    boss.post(f"/admin/auth/user/{owner.pk}/delete/", {"post": "yes"})
    assert not AccessEntry.objects.exists()


# --- its owner sees it


def test_owners_see_who_read_theirs_and_nobody_elses(reviewer: Client, conversation: Conversation) -> None:
    reviewer.get(page_of(conversation))
    page = client_of(conversation.owner).get(READINGS).content.decode()
    assert "reviewer" in page
    assert f'href="/c/{conversation.pk}/"' in page
    assert "Nobody has read any of yours." in client_of(make_user()).get(READINGS).content.decode()
    assert READINGS in client_of(conversation.owner).get("/accounts/tokens/").content.decode()
    assert READINGS in client_of(conversation.owner).get(conversation.get_absolute_url()).content.decode()


def test_the_owners_page_is_paged_and_takes_the_same_queries(conversation: Conversation) -> None:
    reader, client = make_user("reader"), client_of(conversation.owner)

    def fill(first: int, count: int) -> None:
        for number in range(first, first + count):
            AccessEntry.objects.note(reader, [conversation], Action.READ, reason=f"reason {number}.")

    def queries() -> int:
        with CaptureQueriesContext(connection) as captured:
            assert client.get(READINGS).status_code == 200
        return len(captured)

    fill(0, 3)
    few = queries()
    fill(3, 57)
    assert queries() == few
    first = client.get(READINGS)
    assert "reason 59." in first.content.decode()
    assert "reason 9." not in first.content.decode()
    rest = client.get(f"{READINGS}?before={first.context['end']}").content.decode()
    assert [f"reason {number}." in rest for number in (0, 9, 10)] == [True, True, False]
    for odd in ("x", "9" * 5000, "-1", "%00", "1e9", "٣"):
        assert client.get(f"{READINGS}?before={odd}").status_code == 200


# --- reasons


@pytest.mark.usefixtures("asks_for_reasons")
def test_nothing_is_shown_without_a_reason_anywhere() -> None:
    rows = one_of_each()
    AccessEntry.objects.all()._raw_delete("default")
    client = client_of(person("superuser"))
    paths = [f"{admin_url(model)}{query}" for model in rows for query in ("", f"?q={SECRET[:-1]}", "?o=1.2.3")]
    paths += [admin_url(model, row.pk, page) for model, row in rows.items() for page in ("change", "history", "delete")]
    conversation = rows[Conversation]
    assert isinstance(conversation, Conversation)
    paths += [file_of(conversation), page_of(conversation, "change/?as=sent"), page_of(conversation, "reason/")]
    for path in paths:
        response = client.get(path, follow=True)
        page = response.content.decode()
        assert SECRET not in page, path
        if "?q=" in path and "/chat/" in path:
            assert str(conversation.pk) not in page, path
    assert client.get(file_of(conversation)).status_code == 403
    for action in ("delete_selected", "export_results", "export", "assign"):
        data = {"action": action, ACTION_CHECKBOX_NAME: [str(conversation.pk)]}
        response = client.post(admin_url(Conversation), data)
        assert response.streaming == (action == "export_results")
        if not response.streaming:
            assert SECRET not in response.content.decode(), action
    assert not AccessEntry.objects.exists()


@pytest.mark.usefixtures("asks_for_reasons")
def test_a_reason_opens_one_conversation_for_an_hour(
    reviewer: Client, conversation: Conversation, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = make_conversation(conversation.owner, title=f"{SECRET} other")
    asked = reviewer.get(page_of(conversation, "change/?as=sent"))
    form = asked.headers["Location"]
    assert form.startswith(page_of(conversation, "reason/"))
    assert "sees your name and this reason" in reviewer.get(form).content.decode()
    for reason in ("", "  ", "x" * 501):
        refused = reviewer.post(form, {"reason": reason})
        assert refused.status_code == 400
        assert 'role="alert"' in refused.content.decode()
    assert not AccessEntry.objects.exists()
    opened = reviewer.post(form, {"reason": "Reported by <its> user"})
    assert opened.headers["Location"] == page_of(conversation, "change/?as=sent")
    page = reviewer.get(page_of(conversation)).content.decode()
    assert SECRET in page
    assert "Reported by &lt;its&gt; user" in page
    assert AccessEntry.objects.get().reason == "Reported by <its> user"
    assert "Reported by &lt;its&gt; user" in client_of(conversation.owner).get(READINGS).content.decode()
    assert reviewer.get(file_of(conversation)).status_code == 200
    queue = reviewer.get(admin_url(Conversation)).content.decode()
    assert f"{SECRET} title" in queue
    assert f"{SECRET} other" not in queue
    assert f"Conversation {other.pk.hex[:8]}" in queue
    # Words are looked for in what is open; ids everywhere.
    assert str(conversation.pk) in reviewer.get(f"{admin_url(Conversation)}?q={SECRET}").content.decode()
    assert str(other.pk) not in reviewer.get(f"{admin_url(Conversation)}?q={SECRET}").content.decode()
    assert str(other.pk) in reviewer.get(f"{admin_url(Conversation)}?q={other.pk}").content.decode()
    # It holds for nobody else, and not for ever.
    assert reviewer.get(page_of(other)).status_code == 302
    assert client_of(person("superuser")).get(page_of(conversation)).status_code == 302
    monkeypatch.setattr(guard, "REASON_HOLDS_S", -1)
    reviewer.post(form, {"reason": "again"})
    assert reviewer.get(page_of(conversation)).status_code == 302


@pytest.mark.usefixtures("asks_for_reasons")
@pytest.mark.parametrize("target", ["https://evil.example/", "//evil.example/", "javascript:alert(1)", "", "/\\evil"])
def test_a_reason_leads_nowhere_else(reviewer: Client, conversation: Conversation, target: str) -> None:
    response = reviewer.post(f"{page_of(conversation, 'reason/')}?next={target}", {"reason": "because"})
    assert response.headers["Location"] == page_of(conversation)


@pytest.mark.usefixtures("asks_for_reasons")
def test_so_many_reasons_are_held_and_no_more(
    reviewer: Client, conversation: Conversation, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(guard, "HELD_AT_ONCE", 2)
    others = [make_conversation(conversation.owner) for _ in range(2)]
    for each in (conversation, *others):
        reviewer.post(page_of(each, "reason/"), {"reason": "because"})
    assert [reviewer.get(page_of(each)).status_code for each in (conversation, *others)] == [302, 200, 200]


# --- exports


async def exported(client: AsyncClient, data: dict[str, object]) -> tuple[int, bytes]:
    response = await client.post("/admin/chat/conversation/", data)
    if not response.streaming:
        return response.status_code, response.content
    body = b"".join([chunk async for chunk in response.streaming_content])  # type: ignore[attr-defined]
    return response.status_code, body


@pytest.mark.django_db(transaction=True)
async def test_exports_are_written_down_with_their_reason(settings: Settings) -> None:
    conversations, client = [], AsyncClient()
    owner = await sync_to_async(make_user)("owner")
    conversations = [await sync_to_async(secret_conversation)(owner) for _ in range(2)]
    empty = await sync_to_async(make_conversation)(owner)
    boss = await sync_to_async(person)("superuser")
    ids = [each.pk for each in conversations]
    await sync_to_async(Review.objects.decide)(ids, boss, Decision.FLAGGED, note=f"says {SECRET}")
    await client.aforce_login(await sync_to_async(person)("reviewer"))
    chosen = [str(each.pk) for each in (*conversations, empty)]
    data: dict[str, object] = {"action": "export", ACTION_CHECKBOX_NAME: chosen}
    status, body = await exported(client, data)
    names = zipfile.ZipFile(io.BytesIO(body)).namelist()
    assert status == 200
    assert len({name.split("/")[0] for name in names}) == 2
    lines = AccessEntry.objects.filter(action=Action.EXPORTED)
    assert {pk async for pk in lines.values_list("conversation_id", flat=True)} == {each.pk for each in conversations}
    settings.REVIEW_NEEDS_REASON = True
    for more in ({}, {"confirmed": "yes"}, {"confirmed": "yes", "reason": " "}):
        status, body = await exported(client, data | more)
        assert (status, SECRET.encode() in body) == (200, False)
        assert b'name="reason"' in body
    assert await lines.acount() == 2
    status, body = await exported(client, data | {"action": "export_results"})
    assert (status, SECRET.encode() in body, b"flagged" in body) == (200, False, True)
    status, body = await exported(client, data | {"confirmed": "yes", "reason": "asked by the court"})
    assert len(zipfile.ZipFile(io.BytesIO(body)).namelist()) == len(names)
    assert await lines.filter(reason="asked by the court").acount() == 2
