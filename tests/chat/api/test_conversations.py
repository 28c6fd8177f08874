"""Conversations in JSON: settings, lists page by page, search, usage, exports and imports."""

from __future__ import annotations

from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from pytest_django import Settings

from chat.models import Conversation, Turn, User
from chat.vocabulary.parts import PartKind
from tests.chat.library.exports.samples import exported_bytes
from tests.factories import make_conversation, make_graph, make_model_message

pytestmark = pytest.mark.django_db
LIST = "/api/v1/conversations/"


def all_results(client: Client, path: str) -> list[dict[str, Any]]:
    """Return the results of all pages."""
    results: list[dict[str, Any]] = []
    next_url: str | None = path
    while next_url:
        page = client.get(next_url).json()
        results += page["results"]
        next_url = page["next"]
    return results


def count_queries(client: Client, path: str) -> int:
    """Return how many queries a call runs."""
    with CaptureQueriesContext(connection) as queries:
        assert client.get(path).status_code == 200
    return len(queries)


def test_conversation_is_created_changed_and_deleted(client: Client) -> None:
    settings = {"title": " A  plan ", "model": "flash", "code_execution": "off", "system_instruction": "Be brief. "}
    response = client.post(LIST, settings, content_type="application/json")
    created = response.json()
    assert response.status_code == 201
    assert created | settings | {"title": "A plan"} == created
    path = response.headers["Location"]
    assert path == f"{LIST}{created['id']}/"
    changes = {"archived": True, "pinned": True, "title": "B"}
    changed = client.patch(path, changes, content_type="application/json").json()
    assert changed == created | changes | {"updated_at": changed["updated_at"]}
    row = Conversation.objects.get()
    assert row.title_source == Conversation.TitleSource.USER
    assert client.patch(path, {"archived": True}, content_type="application/json").json()["archived"] is True
    assert Conversation.objects.get().archived_at == row.archived_at
    assert client.patch(path, {"archived": False}, content_type="application/json").json()["archived"] is False
    assert client.patch(path, {}, content_type="application/json").status_code == 200
    assert client.delete(path).status_code == 204
    assert not Conversation.objects.exists()


def test_approval_is_auto_by_default_and_only_auto_and_ask_are_accepted(client: Client) -> None:
    created = client.post(LIST, {}, content_type="application/json")
    path = created.headers["Location"]
    assert created.json()["approval"] == "auto"
    for value in ("always", "never"):
        for send, address in ((client.post, LIST), (client.patch, path)):
            response = send(address, {"approval": value}, content_type="application/json")
            assert response.status_code == 400
            assert response.json()["errors"] == {"approval": ["This must be one of auto, ask."]}
    assert Conversation.objects.get().approval == "auto"
    for value in ("ask", "auto"):
        assert client.patch(path, {"approval": value}, content_type="application/json").json()["approval"] == value


def test_settings_private_data_and_release_can_be_changed_and_are_stored(client: Client) -> None:
    created = client.post(LIST, {}, content_type="application/json")
    path = created.headers["Location"]
    assert (created.json()["private_data"], created.json()["release"]) == (False, "auto")
    changed = client.patch(path, {"private_data": True, "release": "ask"}, content_type="application/json").json()
    assert (changed["private_data"], changed["release"]) == (True, "ask")
    assert client.patch(path, {"private_data": "yes"}, content_type="application/json").status_code == 400
    row = Conversation.objects.get()
    assert (row.private_data, row.release) == (True, "ask")
    project = {"name": "Thesis", "private_data": True}
    assert client.post("/api/v1/projects/", project, content_type="application/json").json()["private_data"] is True


def test_error_for_an_unlisted_model_names_the_models_that_can_be_chosen(client: Client, settings: Settings) -> None:
    settings.ALLOW_UNLISTED_MODELS = False
    settings.GEMINI_EMULATED = False
    settings.DEFAULT_MODEL = ""
    response = client.post(LIST, {"model": "gemini-0-imaginary"}, content_type="application/json")
    assert response.status_code == 422
    detail = str(response.json())
    assert "There is no model “gemini-0-imaginary” here. Choose one of these: flash, pro, research, image, " in detail
    assert not Conversation.objects.exists()
    created = client.post(LIST, {"model": "flash"}, content_type="application/json")
    assert created.status_code == 201
    path, unknown = created.headers["Location"], {"model": "gemini-0-imaginary"}
    assert client.patch(path, unknown, content_type="application/json").status_code == 422
    settings.ALLOW_UNLISTED_MODELS = True
    assert client.post(LIST, {"model": "gemini-0-imaginary"}, content_type="application/json").status_code == 201


def test_pages_of_the_list_have_each_conversation_once(client: Client, owner: User) -> None:
    ids = {str(make_conversation(owner, title=f"Number {number}").pk) for number in range(7)}
    # All conversations have the same time, so the ids determine the order.
    Conversation.objects.update(updated_at=timezone.now())
    listed = [conversation["id"] for conversation in all_results(client, f"{LIST}?limit=2")]
    assert len(listed) == 7
    assert set(listed) == ids


def test_page_has_fewer_conversations_if_their_instructions_are_long(
    client: Client, owner: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("chat.api.queries.PAGE_LIMIT_CHARS", 1_000)
    conversations = [make_conversation(owner, system_instruction="x" * chars) for chars in (10, 2_000, 700, 300, 300)]
    pages, url = [], "/api/v1/conversations/"
    while url:
        page = client.get(url).json()
        pages.append([one["id"] for one in page["results"]])
        url = page["next"]
    oldest, huge, *newest = (str(one.pk) for one in conversations)
    assert pages == [[newest[2], newest[1]], [newest[0]], [huge], [oldest]]


def test_pages_are_ordered_by_the_time_of_the_last_change(client: Client, owner: User) -> None:
    titles = [make_conversation(owner, title=f"Number {number}").title for number in range(5)]
    listed = [conversation["title"] for conversation in all_results(client, f"{LIST}?limit=2")]
    assert listed == titles[::-1]


def test_list_of_conversations_can_be_filtered(client: Client, owner: User) -> None:
    plain, archived, pinned = (make_conversation(owner, title=title) for title in ("One", "Two", "Three"))
    Conversation.objects.filter(pk=archived.pk).update(archived_at=timezone.now())
    Conversation.objects.filter(pk=pinned.pk).update(pinned_at=timezone.now())
    counts = {"": 3, "archived=true": 1, "archived=false": 2, "pinned=true": 1, "pinned=false&archived=false": 1}
    for query, count in counts.items():
        assert len(all_results(client, f"{LIST}?{query}")) == count, query
    assert all_results(client, f"{LIST}?pinned=false&archived=false")[0]["id"] == str(plain.pk)


def test_search_finds_conversations_that_contain_all_words(client: Client, owner: User) -> None:
    conversation = make_conversation(owner, title="Botany")
    message = make_model_message(conversation, parts=((PartKind.TEXT, "The Mimosa folds its leaves."),))
    make_conversation(title="Another's Mimosa")
    make_conversation(owner, title="Chess")
    (result,) = all_results(client, f"{LIST}?q=mimos leaves")
    assert result["id"] == str(conversation.pk)
    assert result["match"] == {"message_id": str(message.pk), "excerpt": "The Mimosa folds its leaves."}
    assert all_results(client, f"{LIST}?q=%22leaves mimosa%22") == []
    assert all_results(client, f"{LIST}?q=!!") == []
    assert len(all_results(client, f"{LIST}?q=")) == 2
    assert not any("match" in other for other in all_results(client, LIST))


def test_number_of_queries_does_not_depend_on_the_length_of_lists(client: Client, owner: User) -> None:
    def create() -> Conversation:
        conversation = make_conversation(owner, title="Mimosa")
        for _ in range(3):
            make_graph(make_model_message(conversation), part_index=0)
        return conversation

    conversation = create()
    paths = [LIST, f"{LIST}?q=mimosa", f"{LIST}{conversation.pk}/messages/", f"{LIST}{conversation.pk}/"]
    before = [count_queries(client, path) for path in paths]
    for _ in range(4):
        create()
        make_graph(make_model_message(conversation), part_index=0)
    assert [count_queries(client, path) for path in paths] == before
    assert max(before) <= 10


def test_usage_of_a_conversation_counts_every_answer(client: Client, owner: User) -> None:
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
        "estimated": 0,
        "cost": "0.12300000",
    }


@pytest.mark.parametrize("status", Turn.LIVE)
def test_conversation_has_the_id_of_its_live_turn(client: Client, owner: User, status: Turn.Status) -> None:
    message = make_model_message(make_conversation(owner), status=status)
    conversation = client.get(f"{LIST}{message.conversation_id}/").json()
    assert (conversation["live_turn_id"], conversation["usage"]["turns"]) == (str(message.turn.pk), 0)


def test_exported_conversation_can_be_imported(client: Client) -> None:
    conversation = make_model_message(make_conversation(title="Theirs")).conversation
    file = exported_bytes(conversation, "json")
    imported = client.post("/api/v1/import/", file, content_type="application/json")
    assert imported.status_code == 201, imported.content
    (new_id,) = imported.json()["ids"]
    assert client.get(f"{LIST}{new_id}/").json()["title"] == "Theirs"
    again = client.post("/api/v1/import/", {"file": SimpleUploadedFile("a.json", file)})
    assert (again.status_code, again.json()) == (200, {"ids": [], "known_ids": [new_id]})
    archive = exported_bytes(make_model_message(make_conversation(title="More")).conversation, "zip")
    assert client.post("/api/v1/import/", archive, content_type="application/zip").status_code == 201
