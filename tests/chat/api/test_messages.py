"""Messages in JSON: their parts, attachments and usage, page by page."""

from __future__ import annotations

import base64

import pytest
from django.test import Client

from chat.api.serializers.messages import PartSerializer
from chat.library.exports.as_json import part_json
from chat.models import Message, Part, Turn, User
from chat.vocabulary.part_json import json_names
from chat.vocabulary.parts import CodeExecutionResult, ExecutableCode, InlineData, PartKind, Text, Thought
from chat.vocabulary.parts import Part as PartValue
from tests.factories import (
    attach,
    make_attachment,
    make_conversation,
    make_graph,
    make_model_message,
    make_user_message,
)
from tests.part_examples import EXAMPLES

SIGNATURE = base64.b64encode(b"\x00\xffsigned").decode()


def path_of(message: Message) -> str:
    """Return the path of the list that holds a message."""
    return f"/api/v1/conversations/{message.conversation_id}/messages/"


def set_parts(message: Message, *parts: PartValue) -> None:
    """Store these parts in place of the message's own."""
    message.parts.all().delete()
    Part.objects.bulk_create(Part.from_value(part, message=message, index=index) for index, part in enumerate(parts))


def test_answer_holds_its_parts_in_order(client: Client, owner: User) -> None:
    message = make_model_message(make_conversation(owner))
    set_parts(
        message,
        Thought(text="Hm."),
        ExecutableCode(code="print(1)", language="PYTHON", call_id="c1"),
        CodeExecutionResult(output="1\n", outcome="OUTCOME_OK", call_id="c1"),
        Text(text="", provider_data={"thought_signature": SIGNATURE}, round=1),
    )
    answer = client.get(path_of(message)).json()["results"][1]
    assert answer["parts"] == [
        {"index": 0, "kind": "thought", "round": 0, "text": "Hm."},
        {
            "index": 1,
            "kind": "executable_code",
            "round": 0,
            "engine": "native",
            "code": "print(1)",
            "language": "PYTHON",
            "id": "c1",
        },
        {
            "index": 2,
            "kind": "code_execution_result",
            "round": 0,
            "engine": "native",
            "output": "1\n",
            "outcome": "OUTCOME_OK",
            "id": "c1",
        },
        {"index": 3, "kind": "text", "round": 1, "text": "", "thought_signature": SIGNATURE},
    ]


def test_messages_hold_their_attachments_and_usage(client: Client, owner: User) -> None:
    message = make_model_message(make_conversation(owner))
    graph = make_graph(message, part_index=0)
    attach(message.turn.user_message, file := make_attachment(owner))
    question, answer = client.get(path_of(message)).json()["results"]
    assert answer["usage"] == {
        "prompt": 3,
        "tool_use": None,
        "thoughts": None,
        "candidates": 4,
        "cached": None,
        "total": 7,
        "estimated": None,
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
    assert (answer["status"], answer["turn_id"]) == ("done", str(message.turn.pk))
    assert question["attachments"][0]["id"] == str(file.pk)
    assert (question["status"], question["usage"], question["turn_id"]) == ("done", None, None)


def test_messages_are_listed_page_by_page(client: Client, owner: User) -> None:
    path = path_of(make_model_message(make_conversation(owner)))
    question, answer = client.get(path).json()["results"]
    first, second = (client.get(f"{path}?limit=1{cursor}").json() for cursor in ("", "&cursor=1"))
    assert first["next"] == f"{path}?limit=1&cursor=1"
    assert (first["results"], second["results"], second["next"]) == ([question], [answer], None)


def test_json_of_a_part_has_the_index_of_the_attachment_with_its_bytes(client: Client, owner: User) -> None:
    message = make_model_message(make_conversation(owner))
    set_parts(message, Text(text="a"), InlineData(mime_type="image/png"))
    message.parts.filter(index=1).update(attachment=make_graph(message, part_index=1))
    part = client.get(path_of(message)).json()["results"][1]["parts"][1]
    assert part == {"index": 1, "kind": "inline_data", "round": 0, "mime_type": "image/png", "attachment_index": 0}


def test_serializer_of_parts_has_every_field_of_every_kind() -> None:
    names = {name for kind in PartKind for name in json_names(kind)}
    assert set(PartSerializer().fields) == names | {"index", "kind", "attachment_index"}


@pytest.mark.parametrize("part", EXAMPLES.values(), ids=EXAMPLES.keys())
def test_json_of_a_part_has_the_fields_of_its_kind_and_is_valid(part: PartValue) -> None:
    json = part_json(3, part, 2)
    assert set(json) == {"index", "kind", "attachment_index", *json_names(part.kind)}
    serializer = PartSerializer(data=json)
    assert serializer.is_valid(), serializer.errors


def test_page_of_the_list_has_fewer_messages_if_messages_are_long(
    client: Client, owner: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("chat.api.queries.PAGE_LIMIT_CHARS", 1_000)
    conversation = make_conversation(owner)
    for chars in (300, 300, 700, 2_000, 10):
        message = make_model_message(conversation)
        set_parts(message, Text(text="x" * chars))
    pages, url = [], path_of(message)
    while url:
        page = client.get(url).json()
        pages.append([one["index"] for one in page["results"]])
        url = page["next"]
    assert pages == [[0, 1, 2, 3, 4], [5, 6], [7], [8, 9]]


def test_text_that_looks_like_a_marker_is_not_listed_as_a_marker(client: Client, owner: User) -> None:
    typed = "What is [GRAPH:0]?\n[GRAPH:0]\n"
    conversation = make_conversation(owner)
    question = make_user_message(conversation, typed)
    attach(question, make_attachment(owner))
    message = make_model_message(conversation)
    set_parts(message, Text(text=f"😀 {typed}"), InlineData(mime_type="image/png"), Text(text=typed))
    make_graph(message, part_index=1)
    Message.objects.filter(pk=message.pk).update(text=f"😀 {typed}\n[GRAPH:0]\n{typed}")
    asked, answer = client.get(path_of(message)).json()["results"]
    assert asked["markers"] == []
    [marker] = answer["markers"]
    start = len(f"😀 {typed}")
    assert marker == {"start": start, "end": start + 11, "kind": "graph", "index": 0}
    assert answer["text"][marker["start"] : marker["end"]] == "\n[GRAPH:0]\n"


def test_answer_has_its_provider_endpoint_model_and_engine(client: Client, owner: User) -> None:
    message = make_model_message(make_conversation(owner), endpoint="local", engine="session")
    question, answer = client.get(path_of(message)).json()["results"]
    names = ("provider", "endpoint", "model", "engine")
    assert [answer[name] for name in names] == ["gemini", "local", "plotline-demo", "session"]
    assert [question[name] for name in names] == [None] * 4
    Turn.objects.update(endpoint="", engine="")
    _, answer = client.get(path_of(message)).json()["results"]
    assert [answer[name] for name in names] == ["gemini", "", "plotline-demo", None]
    Turn.objects.update(chosen={"own_code": True}, engine="session")
    _, answer = client.get(path_of(message)).json()["results"]
    assert [answer[name] for name in names] == [None, None, None, "session"]
