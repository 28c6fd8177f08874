"""ChatGPT's export: its tree is imported, and the nodes of one answer become one message."""

from __future__ import annotations

import io
import json
import zipfile
from typing import Any

import pytest

from chat.library.imports.importer import import_file
from chat.models import Conversation, Message
from tests.factories import make_user

pytestmark = pytest.mark.django_db


def node(key: str, parent: str | None, role: str, *texts: str, **fields: Any) -> dict[str, Any]:
    """Return a node as ChatGPT exports it."""
    content = fields.pop("content", None) or {"content_type": "text", "parts": list(texts)}
    message = {
        "id": key,
        "author": {"role": role, "name": None, "metadata": {}},
        "create_time": fields.pop("time", 1700000000.5),
        "content": content,
        "recipient": fields.pop("recipient", "all"),
        "metadata": {"model_slug": "gpt-4o"} | fields.pop("metadata", {}),
        "status": "finished_successfully",
        "weight": 1,
    }
    return {"id": key, "parent": parent, "children": [], "message": message if role else None}


def conversation_of(*nodes: dict[str, Any], current: str = "", **fields: Any) -> dict[str, Any]:
    mapping = {one["id"]: one for one in nodes}
    for one in nodes:
        if one["parent"]:
            mapping[one["parent"]]["children"].append(one["id"])
    defaults = {"title": "Pi", "create_time": 1700000000.0, "update_time": 1700000100.0, "current_node": current}
    return {**defaults, "conversation_id": "c-1", "mapping": mapping, **fields}


def import_conversations(*conversations: dict[str, Any]) -> list[Conversation]:
    result = import_file(json.dumps(list(conversations)).encode(), owner_id=make_user().pk)
    return [Conversation.objects.get(pk=pk) for pk in result.created]


def messages_of(conversation: Conversation) -> list[tuple[int, str, str, bool]]:
    """Return index, role, text and `is_shown` of each message."""
    rows = conversation.messages.order_by("index", "created_at", "text")
    return list(rows.values_list("index", "role", "text", "is_shown"))


THOUGHTS = {"content_type": "thoughts", "thoughts": [{"summary": "Hm", "content": "Easy"}]}
CODE = {"content_type": "code", "language": "python", "text": "print(3.14)"}
WITH_TOOLS = conversation_of(
    node("root", None, ""),
    node("s", "root", "system", "", metadata={"is_visually_hidden_from_conversation": True}),
    node("u", "s", "user", "What is pi?", time=1700000001.0),
    node("t", "u", "assistant", content=THOUGHTS),
    node("c", "t", "assistant", content=CODE, recipient="python"),
    node("o", "c", "tool", content={"content_type": "execution_output", "text": "3.14\n"}),
    node("a", "o", "assistant", "It is **3.14**.", time=1700000009.0),
    current="a",
)


def test_code_its_result_and_text_become_parts_of_one_answer() -> None:
    (conversation,) = import_conversations(WITH_TOOLS)
    assert (conversation.title, conversation.created_at.year) == ("Pi", 2023)
    assert messages_of(conversation) == [(0, "user", "What is pi?", True), (1, "model", "It is **3.14**.", True)]
    answer = conversation.messages.get(role="model")
    assert [(part.kind, part.text) for part in answer.parts.all()] == [
        ("thought", "**Hm**\n\nEasy"),
        ("executable_code", "print(3.14)"),
        ("code_execution_result", "3.14\n"),
        ("text", "It is **3.14**."),
    ]
    assert (answer.turn.model, answer.turn.status, answer.turn.code_execution) == ("gpt-4o", "done", True)


def test_edited_questions_and_regenerated_answers_become_versions() -> None:
    (conversation,) = import_conversations(
        conversation_of(
            node("root", None, ""),
            node("u1", "root", "user", "First", time=1.8e9),
            node("a1", "u1", "assistant", "One", time=1.7e9 + 1),
            node("a2", "u1", "assistant", "Two", time=1.7e9 + 2),
            node("u2", "a2", "user", "Next", time=1.7e9 + 3),
            node("u3", "a2", "user", "Next, edited", time=1.7e9 + 4),
            node("a3", "u3", "assistant", "Three", time=1.7e9 + 5),
            current="a3",
        )
    )
    assert messages_of(conversation) == [
        (0, "user", "First", True),
        (1, "model", "One", False),
        (1, "model", "Two", True),
        (2, "user", "Next", False),
        (2, "user", "Next, edited", True),
        (3, "model", "", False),
        (3, "model", "Three", True),
    ]
    unanswered = conversation.messages.get(index=3, text="")
    assert unanswered.turn.status == "interrupted"
    assert conversation.messages.get(text="Two").versions.count() == 2


def test_versions_that_differ_after_a_common_beginning_both_contain_it() -> None:
    (conversation,) = import_conversations(
        conversation_of(
            node("u", None, "user", "Go"),
            node("c", "u", "assistant", content={"content_type": "code", "text": "1"}, recipient="python"),
            node("o", "c", "tool", content={"content_type": "execution_output", "text": "1"}),
            node("a", "o", "assistant", "A", time=1.7e9 + 1),
            node("b", "o", "assistant", "B", time=1.7e9 + 2),
            current="b",
        )
    )
    assert messages_of(conversation)[1:] == [(1, "model", "A", False), (1, "model", "B", True)]
    assert all(answer.parts.count() == 3 for answer in conversation.messages.filter(role="model"))


def test_conversations_without_a_question_an_answer_or_an_image_file_are_imported() -> None:
    image = {"content_type": "multimodal_text", "parts": [{"content_type": "image_asset_pointer"}, "What is it?"]}
    conversations = import_conversations(
        conversation_of(node("a", None, "assistant", "I begin")),
        conversation_of(node("u", None, "user", content=image), conversation_id="c-2"),
        conversation_of(
            node("u", None, "user", "Search"),
            node("x", "u", "assistant", "query()", recipient="browser"),
            node("y", "x", "tool", content={"content_type": "tether_quote", "text": "found"}),
            conversation_id="c-3",
            title=None,
        ),
        conversation_of(node("root", None, ""), conversation_id="c-4"),
    )
    assert [messages_of(conversation)[0][2] for conversation in conversations] == [
        "(The conversation begins with an answer.)",
        "(Not imported: image. It is not in the archive.)\n\nWhat is it?",
        "Search",
    ]
    assert [part.kind for part in Message.objects.get(conversation=conversations[2], role="model").parts.all()] == [
        "thought"
    ] * 2
    assert conversations[2].title == "Imported from ChatGPT"


def test_same_export_is_imported_once() -> None:
    owner = make_user()
    file = json.dumps([WITH_TOOLS]).encode()
    first = import_file(file, owner_id=owner.pk)
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as opened:
        opened.writestr("conversations.json", file)
        opened.writestr("shared_conversations.json", b"[]")
        opened.writestr("user.json", b"{}")
    again = import_file(archive.getvalue(), owner_id=owner.pk)
    assert (again.created, again.existing) == ((), first.created)
    renamed = WITH_TOOLS | {"title": "Other", "update_time": 1700009999.0}
    assert import_file(json.dumps([renamed]).encode(), owner_id=owner.pk).created == ()
