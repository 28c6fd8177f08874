"""Conversations and messages in JSON: settings, lists page by page, search, and how many queries they take."""

from __future__ import annotations

import base64
from datetime import timedelta
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.test import AsyncClient, Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from attachments.models import Attachment
from chat.api.events import RETOLD_FROM
from chat.models import Conversation, Part, Turn, TurnEvent
from chat.parts import PartKind
from tests.chat.api.calling import Event, parsed
from tests.chat.exports.building import exported_bytes
from tests.factories import attach, make_attachment, make_conversation, make_graph, make_model_message, make_user

pytestmark = pytest.mark.django_db
LIST = "/api/v1/conversations/"


@pytest.fixture
def owner() -> User:
    return make_user()


@pytest.fixture
def client(owner: User) -> Client:
    client = Client()
    client.force_login(owner)
    return client


def all_of(client: Client, path: str) -> list[dict[str, Any]]:
    """The results of all pages."""
    found: list[dict[str, Any]] = []
    following: str | None = path
    while following:
        page = client.get(following).json()
        found += page["results"]
        following = page["next"]
    return found


def queries_of(client: Client, path: str) -> int:
    """How many a call takes."""
    with CaptureQueriesContext(connection) as queries:
        assert client.get(path).status_code == 200
    return len(queries)


def test_conversation_is_made_changed_and_deleted(client: Client) -> None:
    given = {"title": " A  plan ", "model": "flash", "code_execution": "off", "system_instruction": "Be brief. "}
    created = client.post(LIST, given, content_type="application/json")
    made = created.json()
    assert created.status_code == 201
    assert made | given | {"title": "A plan"} == made
    path = created.headers["Location"]
    assert path == f"{LIST}{made['id']}/"
    changes = {"archived": True, "pinned": True, "title": "B"}
    changed = client.patch(path, changes, content_type="application/json").json()
    assert changed == made | changes | {"updated_at": changed["updated_at"]}
    row = Conversation.objects.get()
    assert row.title_source == Conversation.TitleSource.USER
    assert client.patch(path, {"archived": True}, content_type="application/json").json()["archived"] is True
    assert Conversation.objects.get().archived_at == row.archived_at
    assert client.patch(path, {"archived": False}, content_type="application/json").json()["archived"] is False
    assert client.patch(path, {}, content_type="application/json").status_code == 200
    assert client.delete(path).status_code == 204
    assert not Conversation.objects.exists()


def test_pages_hold_each_conversation_once(client: Client, owner: User) -> None:
    made = {str(make_conversation(owner, title=f"Number {number}").pk) for number in range(7)}
    # The same moment for all: then their ids give the order.
    Conversation.objects.update(updated_at=timezone.now())
    found = [said["id"] for said in all_of(client, f"{LIST}?limit=2")]
    assert len(found) == 7
    assert set(found) == made


def test_list_can_be_narrowed(client: Client, owner: User) -> None:
    plain, archived, pinned = (make_conversation(owner, title=title) for title in ("One", "Two", "Three"))
    Conversation.objects.filter(pk=archived.pk).update(archived_at=timezone.now())
    Conversation.objects.filter(pk=pinned.pk).update(pinned_at=timezone.now())
    narrowed = {"": 3, "archived=true": 1, "archived=false": 2, "pinned=true": 1, "pinned=false&archived=false": 1}
    for query, count in narrowed.items():
        assert len(all_of(client, f"{LIST}?{query}")) == count, query
    assert all_of(client, f"{LIST}?pinned=false&archived=false")[0]["id"] == str(plain.pk)


def test_words_are_found_where_they_stand(client: Client, owner: User) -> None:
    conversation = make_conversation(owner, title="Botany")
    message = make_model_message(conversation, parts=((PartKind.TEXT, "The Mimosa folds its leaves."),))
    make_conversation(title="Another's Mimosa")
    make_conversation(owner, title="Chess")
    (found,) = all_of(client, f"{LIST}?q=mimos leaves")
    assert found["id"] == str(conversation.pk)
    assert found["match"] == {"message_id": str(message.pk), "excerpt": "The Mimosa folds its leaves."}
    assert all_of(client, f"{LIST}?q=%22leaves mimosa%22") == []
    assert all_of(client, f"{LIST}?q=!!") == []
    assert len(all_of(client, f"{LIST}?q=")) == 2


def test_lists_take_as_many_queries_however_long_they_are(client: Client, owner: User) -> None:
    def fill() -> Conversation:
        conversation = make_conversation(owner, title="Mimosa")
        for _ in range(3):
            make_graph(make_model_message(conversation), part_index=0)
        return conversation

    conversation = fill()
    paths = [LIST, f"{LIST}?q=mimosa", f"{LIST}{conversation.pk}/messages/", f"{LIST}{conversation.pk}/"]
    before = [queries_of(client, path) for path in paths]
    for _ in range(4):
        fill()
        make_graph(make_model_message(conversation), part_index=0)
    assert [queries_of(client, path) for path in paths] == before
    assert max(before) <= 9


def test_messages_say_everything_of_their_parts(client: Client, owner: User) -> None:
    conversation = make_conversation(owner)
    message = make_model_message(
        conversation,
        parts=(
            (PartKind.THOUGHT, "Hm."),
            (PartKind.EXECUTABLE_CODE, "print(1)"),
            (PartKind.CODE_EXECUTION_RESULT, "1\n"),
            (PartKind.TEXT, ""),
        ),
    )
    Part.objects.filter(message=message, index=1).update(language="PYTHON", call_id="c1")
    Part.objects.filter(message=message, index=2).update(outcome="OUTCOME_OK", call_id="c1")
    Part.objects.filter(message=message, index=3).update(thought_signature=b"\x00\xffsigned")
    graph = make_graph(message, part_index=2)
    attach(message.turn.user_message, file := make_attachment(owner))
    question, answer = all_of(client, f"{LIST}{conversation.pk}/messages/")
    assert answer["parts"] == [
        {"index": 0, "kind": "thought", "text": "Hm."},
        {"index": 1, "kind": "executable_code", "code": "print(1)", "language": "PYTHON", "id": "c1"},
        {"index": 2, "kind": "code_execution_result", "output": "1\n", "outcome": "OUTCOME_OK", "id": "c1"},
        {
            "index": 3,
            "kind": "text",
            "text": "",
            "thought_signature": base64.b64encode(b"\x00\xffsigned").decode(),
        },
    ]
    assert answer["usage"] == {
        "prompt": 3,
        "tool_use": None,
        "thoughts": None,
        "candidates": 4,
        "cached": None,
        "total": 7,
    }
    assert answer["attachments"] == [
        {
            "id": str(graph.pk),
            "index": 0,
            "is_graph": True,
            "mime_type": "image/png",
            "name": "graph.png",
            "size_bytes": 10,
            "width": 640,
            "height": 480,
            "status": "pending",
            "url": f"/api/v1/attachments/{graph.pk}/content/",
        }
    ]
    assert question["attachments"][0]["id"] == str(file.pk)
    assert (question["status"], question["usage"], question["turn_id"]) == ("done", None, None)
    first, second = (client.get(f"{LIST}{conversation.pk}/messages/?limit=1{end}").json() for end in ("", "&cursor=1"))
    assert first["next"] == f"{LIST}{conversation.pk}/messages/?limit=1&cursor=1"
    assert (first["results"], second["results"], second["next"]) == ([question], [answer], None)


def test_usage_counts_every_answer(client: Client, owner: User) -> None:
    conversation = make_conversation(owner)
    for cost in ("0.10", "0.02"):
        make_model_message(conversation, cost=cost)
    Conversation.objects.filter(pk=conversation.pk).update(side_tokens=5, side_cost="0.003")
    assert client.get(f"{LIST}{conversation.pk}/").json()["usage"] == {
        "turns": 2,
        "prompt": 6,
        "tool_use": 0,
        "thoughts": 0,
        "candidates": 8,
        "cached": 0,
        "total": 19,
        "cost": "0.12300000",
    }


def test_turn_says_how_it_ended_but_not_what_is_for_staff(client: Client, owner: User) -> None:
    message = make_model_message(
        make_conversation(owner), status=Turn.Status.FAILED, error_code="storage", error_detail="secret"
    )
    response = client.get(f"/api/v1/turns/{message.turn.pk}/")
    assert response.json()["error"]["code"] == "storage"
    assert b"secret" not in response.content


@pytest.mark.django_db(transaction=True)
async def test_turn_whose_log_is_forgotten_is_told_from_its_parts(owner: User) -> None:
    message = await _sync(_finished_message, owner)
    path = f"/api/v1/turns/{message.turn.pk}/events/"
    client = AsyncClient()
    await client.aforce_login(owner)
    events = await _events(client, path)
    assert [(event.name, event.data) for event in events] == [
        ("status", {"status": "running"}),
        ("thought", {"delta": "Hm."}),
        ("code_executable", {"executable_code": "print(1)", "code_language": "PYTHON"}),
        ("code_execution_result", {"code_execution_output": "1\n", "code_execution_outcome": "success"}),
        (
            "graph",
            {
                "index": 0,
                "attachment_id": str(message.graph_id),
                "mime_type": "image/png",
                "width": 640,
                "height": 480,
            },
        ),
        ("text", {"delta": "One."}),
        ("status", {"status": "done"}),
        (
            "usage",
            {"prompt": 3, "tool_use": None, "thoughts": None, "candidates": 4, "cached": None, "total": 7},
        ),
        ("done", {"finish_reason": "STOP", "message_id": str(message.pk)}),
    ]
    assert [event.seq for event in events] == list(range(RETOLD_FROM, RETOLD_FROM + len(events)))
    for number, event in enumerate(events[:-1]):
        assert await _events(client, path, str(event.seq)) == events[number + 1 :]
    assert (await client.get(path, headers={"Last-Event-ID": str(events[-1].seq)})).status_code == 204
    # A number of the log that was: nobody can tell what came after it.
    gone = await client.get(path, headers={"Last-Event-ID": "3"})
    assert (gone.status_code, gone.headers["Content-Type"]) == (410, "application/problem+json")
    wrong = await client.get(path, headers={"Last-Event-ID": "three"})
    assert wrong.status_code == 400
    assert (await client.head(path)).status_code == 200


def _finished_message(owner: User) -> Any:  # noqa: ANN401 - a message with an id more
    message = make_model_message(
        make_conversation(owner),
        parts=(
            (PartKind.THOUGHT, "Hm."),
            (PartKind.EXECUTABLE_CODE, "print(1)"),
            (PartKind.CODE_EXECUTION_RESULT, "1\n"),
            (PartKind.TEXT, "One."),
        ),
        finish_reason="STOP",
    )
    Part.objects.filter(message=message, index=1).update(language="PYTHON")
    Part.objects.filter(message=message, index=2).update(outcome="OUTCOME_OK")
    Turn.objects.update(ended_at=timezone.now() - timedelta(days=2))
    TurnEvent.objects.filter(turn=message.turn).update(data={"index": 0, "text": "half"})
    graph: Attachment = make_graph(message, part_index=2)
    message.graph_id = graph.pk  # type: ignore[attr-defined]
    return message


async def _events(client: AsyncClient, path: str, after: str = "") -> list[Event]:
    response: Any = await client.get(path, headers={"Last-Event-ID": after} if after else {})
    assert response.headers["Content-Type"] == "text/event-stream"
    body = b"".join([block async for block in response.streaming_content])
    return list(parsed(iter(body.split(b"\n"))))


async def _sync(function: Any, *arguments: Any) -> Any:  # noqa: ANN401 - whatever it takes and returns
    return await sync_to_async(function)(*arguments)


def test_export_and_import_bring_a_conversation_back(owner: User) -> None:
    """Of the doors only: the formats have tests of their own."""
    client = Client()
    client.force_login(owner)
    conversation = make_model_message(make_conversation(title="Theirs")).conversation
    file = exported_bytes(conversation, "json")
    taken = client.post("/api/v1/import/", file, content_type="application/json")
    assert taken.status_code == 201, taken.content
    (made,) = taken.json()["ids"]
    assert client.get(f"{LIST}{made}/").json()["title"] == "Theirs"
    again = client.post("/api/v1/import/", {"file": SimpleUploadedFile("a.json", file)})
    assert (again.status_code, again.json()) == (200, {"ids": [], "known_ids": [made]})
    archive = exported_bytes(make_model_message(make_conversation(title="More")).conversation, "zip")
    assert client.post("/api/v1/import/", archive, content_type="application/zip").status_code == 201
