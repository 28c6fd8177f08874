"""Temporary conversations: where they do not appear, and when they are deleted."""

from __future__ import annotations

import json
from datetime import datetime, timedelta

import pytest
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from attachments.models import Attachment
from chat.library.exports.registry import export_all
from chat.models import Conversation, Message, Share, ShareRefused, Turn, User, temporary_conversations
from chat.models.database_uptime import Uptime
from chat.models.deletion import BEING_DELETED
from chat.models.temporary_conversations import RENEWAL_INTERVAL, delete_abandoned
from chat.page.relay import socket_revalidation
from chat.people.access import conversations_of
from tests.factories import make_conversation, make_graph, make_model_message, make_user

pytestmark = pytest.mark.django_db

LIMIT = timedelta(minutes=10) + RENEWAL_INTERVAL
SECOND = timedelta(seconds=1)


def make_temporary(owner: User | None = None, *, age: timedelta = timedelta()) -> Message:
    """Create a temporary conversation with an answer and a graph, whose last page was seen some time ago."""
    message = make_model_message(make_conversation(owner, title="Zebra plans"))
    make_graph(message, part_index=0)
    set_age(message, age)
    message.conversation.refresh_from_db()
    return message


def set_age(message: Message, age: timedelta) -> None:
    then = timezone.now() - age
    Conversation.objects.filter(pk=message.conversation_id).update(temporary_seen_at=then, updated_at=then)


def client_of(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


def test_temporary_conversation_can_be_started_and_made_permanent_on_the_page() -> None:
    client = client_of(make_user())
    path = client.post("/c/new/temporary/").headers["Location"]
    page = client.get(path).content.decode()
    assert "Deleted 10 minutes after you close its last tab." in page
    assert 'data-action="share"' not in page
    assert client.post(f"{path}keep/").headers["Location"] == path
    page = client.get(path).content.decode()
    assert "Keep this conversation" not in page
    assert 'data-action="share"' in page
    assert not Conversation.objects.get().is_temporary
    # The button was pressed in another tab, too.
    assert client.post(f"{path}keep/").status_code == 302


def test_new_conversation_and_home_page_never_open_a_temporary_conversation() -> None:
    user = make_user()
    client = client_of(user)
    first = client.post("/c/new/temporary/").headers["Location"]
    assert client.post("/c/new/").headers["Location"] != first
    assert client.get("/").headers["Location"] != first


def test_temporary_conversation_is_in_no_list_search_gallery_or_export() -> None:
    owner = make_user()
    conversation = make_temporary(owner).conversation
    client = client_of(owner)

    def appears() -> list[bool]:
        pages = ["/conversations/", "/conversations/?q=zebra", "/gallery/"]
        pages += ["/api/v1/conversations/", "/api/v1/conversations/?q=zebra"]
        shown = [str(conversation.pk) in client.get(page).content.decode() for page in pages]
        exported = b"".join(export_all(conversations_of(owner), exported_at=timezone.now()).chunks)
        return [*shown, conversation.pk.hex[:12].encode() in exported]

    assert appears() == [False] * 6
    assert client.get(conversation.get_absolute_url()).status_code == 200
    temporary_conversations.keep(conversation)
    assert appears() == [True] * 6


def test_staff_neither_find_nor_open_a_temporary_conversation() -> None:
    message = make_temporary()
    admin = client_of(make_user(is_staff=True, is_superuser=True))
    review = f"/admin/chat/conversation/{message.conversation_id}/change/"
    row = f"/admin/chat/message/{message.pk}/change/"
    part = f"/admin/chat/part/{message.parts.get().pk}/change/"
    file = f"/admin/chat/conversation/{message.conversation_id}/files/{Attachment.objects.get().pk}/"

    def reads() -> list[int]:
        return [admin.get(path).status_code for path in (review, row, part, file)]

    queue = "/admin/chat/conversation/"
    assert str(message.conversation_id) not in admin.get(queue).content.decode()
    # Django redirects from rows that do not exist to its index.
    assert reads() == [302, 302, 302, 404]
    temporary_conversations.keep(message.conversation)
    assert str(message.conversation_id) in admin.get(queue).content.decode()
    assert reads() == [200, 200, 200, 200]


def test_temporary_conversation_cannot_be_shared() -> None:
    conversation = make_temporary().conversation
    with pytest.raises(ShareRefused):
        Share.objects.issue(conversation)
    client = client_of(conversation.owner)
    assert client.post(f"/c/{conversation.pk}/shares/").status_code == 400
    path = f"/api/v1/conversations/{conversation.pk}/shares/"
    assert client.post(path, "{}", content_type="application/json").status_code == 409


@pytest.mark.parametrize(("age", "is_deleted"), [(LIMIT - 5 * SECOND, False), (LIMIT + SECOND, True)])
def test_temporary_conversation_is_deleted_with_its_files_after_the_limit(age: timedelta, is_deleted: bool) -> None:
    make_temporary(age=age)
    normal = make_conversation()
    Conversation.objects.filter(pk=normal.pk).update(updated_at=timezone.now() - timedelta(days=900))
    assert delete_abandoned() == int(is_deleted)
    assert Attachment.objects.exists() is not is_deleted
    assert Conversation.objects.count() == (1 if is_deleted else 2)


def test_lifetime_of_temporary_conversations_is_a_setting(settings: Settings) -> None:
    make_temporary(age=LIMIT + SECOND)
    settings.TEMPORARY_LIMIT_MIN = 20
    assert delete_abandoned() == 0


def test_open_pages_renew_a_temporary_conversation_but_do_not_write_at_each_check() -> None:
    message = make_temporary(age=LIMIT + SECOND)
    conversation = message.conversation

    def seen_at() -> datetime | None:
        return Conversation.objects.get(pk=conversation.pk).temporary_seen_at

    # The process calls this every few seconds for all open pages.
    socket_revalidation._revisions([str(conversation.pk)])
    first = seen_at()
    assert first is not None
    assert timezone.now() - first < timedelta(seconds=30)
    assert delete_abandoned() == 0
    socket_revalidation._revisions([str(conversation.pk)])
    assert seen_at() == first
    set_age(message, LIMIT + SECOND)
    assert client_of(conversation.owner).get(conversation.get_absolute_url()).status_code == 200
    assert delete_abandoned() == 0


def test_running_answer_or_recent_change_prevents_deletion_of_a_temporary_conversation() -> None:
    message = make_temporary(age=LIMIT + SECOND)
    turns = Turn.objects.filter(message=message)
    turns.update(status=Turn.Status.RUNNING)
    assert delete_abandoned() == 0
    turns.update(status=Turn.Status.DONE)
    Conversation.objects.update(updated_at=timezone.now())
    assert delete_abandoned() == 0
    set_age(message, LIMIT + SECOND)
    # A turn that waits for a decision does not prevent the deletion, because no page is open to decide.
    turns.update(status=Turn.Status.WAITING)
    assert delete_abandoned() == 1


def test_interrupted_deletion_is_continued_and_cannot_be_undone() -> None:
    message = make_temporary(age=LIMIT + SECOND)
    Conversation.objects.update(temporary_seen_at=BEING_DELETED)
    temporary_conversations.renew([message.conversation_id])
    assert not temporary_conversations.keep(message.conversation)
    assert client_of(message.conversation.owner).post(f"/c/{message.conversation_id}/keep/").status_code == 404
    assert delete_abandoned() == 1
    assert not Conversation.objects.exists()


def test_no_temporary_conversation_is_deleted_right_after_an_outage() -> None:
    uptime = Uptime(6, 2)
    uptime.note_answer(100.0)
    assert not uptime.has_lasted(60, 159.0)
    assert uptime.has_lasted(60, 160.0)
    uptime.note_failure()
    assert not uptime.has_lasted(60, 300.0)


def test_api_can_create_read_and_make_permanent_a_temporary_conversation() -> None:
    client = client_of(make_user())

    def send(method: str, path: str, **body: object) -> tuple[int, dict[str, object]]:
        response = getattr(client, method)(path, json.dumps(body), content_type="application/json")
        return response.status_code, response.json()

    status, made = send("post", "/api/v1/conversations/", is_temporary=True, title="Draft")
    path = f"/api/v1/conversations/{made['id']}/"
    assert (status, made["is_temporary"]) == (201, True)
    assert client.get(path).json()["is_temporary"] is True
    assert client.get("/api/v1/conversations/").json()["results"] == []
    status, kept = send("patch", path, is_temporary=False, title="Kept")
    assert (status, kept["is_temporary"], kept["title"]) == (200, False, "Kept")
    assert send("patch", path, is_temporary=True)[0] == 422
    assert [one["title"] for one in client.get("/api/v1/conversations/").json()["results"]] == ["Kept"]
    assert send("post", "/api/v1/conversations/", is_temporary=False)[1]["is_temporary"] is False
