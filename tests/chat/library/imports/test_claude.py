"""Claude's export: versions, citations, artifacts, tools and files are imported, and a grown conversation continues."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import pytest

from chat.library.imports.chatgpt_files import ArchiveFiles
from chat.library.imports.claude import is_claude, parse_conversations
from chat.library.imports.claude_artifacts import split_artifacts
from chat.library.imports.importer import import_file
from chat.library.imports.json_paths import JSONValue
from chat.library.imports.records import ParsedConversation
from chat.library.imports.refusal import RefusedImport
from chat.library.imports.store import ImportResult
from chat.models import Conversation, Message
from chat.vocabulary.parts import JSON, Thought
from tests.chat.library.exports.samples import png
from tests.chat.library.imports.documents import zipped
from tests.factories import make_user

ROOT = "00000000-0000-4000-8000-000000000000"


def message(key: str, sender: str, *blocks: dict[str, Any], minute: int = 0, **fields: Any) -> dict[str, Any]:
    """Return a message as Claude exports it. Without blocks it is one of 2023."""
    texts = [block["text"] for block in blocks if block.get("type") == "text"]
    return {
        "uuid": key,
        "text": "\n".join(texts),
        "content": list(blocks),
        "sender": sender,
        "created_at": f"2026-03-29T07:{minute:02d}:35.552627Z",
        "updated_at": f"2026-03-29T07:{minute:02d}:35.552627Z",
        "attachments": [],
        "files": [],
    } | fields


def text(value: str, **fields: Any) -> dict[str, Any]:
    return (
        {"start_timestamp": None, "stop_timestamp": None, "flags": None, "type": "text", "text": value}
        | {"citations": []}
        | fields
    )


def call(name: str, **values: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": f"toolu_{name}", "name": name, "input": values, "message": None}


def result(name: str, *content: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return (
        {"type": "tool_result", "tool_use_id": f"toolu_{name}", "name": name, "content": list(content)}
        | {"is_error": False}
        | fields
    )


def conversation_of(*messages: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return {
        "uuid": "34bd3ec6",
        "name": "Bridges",
        "summary": "",
        "created_at": "2026-03-29T07:00:34.084721Z",
        "updated_at": "2026-03-29T08:00:00Z",
        "account": {"uuid": "c1a9"},
        "chat_messages": list(messages),
    } | fields


def parsed(*messages: dict[str, Any], **fields: Any) -> ParsedConversation:
    document = JSONValue([conversation_of(*messages, **fields)])
    return next(parse_conversations(document, ArchiveFiles()))


def answer_of(*blocks: dict[str, Any]) -> list[tuple[str, str]]:
    """Return the parts of an answer with these blocks."""
    read = parsed(message("u", "human", text("Hi")), message("a", "assistant", *blocks, minute=1))
    return [(part.kind.value, part.long_text.strip()) for part in read.messages[1].parts]


def test_messages_times_and_title_are_those_of_the_file() -> None:
    read = parsed(
        message("u", "human", text("Which bridge?")),
        message("a", "assistant", text("The old one."), minute=1, model="claude-sonnet-4-5"),
    )
    assert (read.title, read.created_at.isoformat()) == ("Bridges", "2026-03-29T07:00:34.084721+00:00")
    assert [(one.role.value, one.text, one.created_at.minute) for one in read.messages] == [
        ("user", "Which bridge?", 0),
        ("model", "The old one.", 1),
    ]
    assert read.messages[1].turn is not None
    assert read.messages[1].turn.model == "claude-sonnet-4-5"


def test_message_of_an_early_export_that_has_only_a_text_field_is_read() -> None:
    question = {"uuid": "u", "sender": "human", "text": "Hi", "created_at": "2023-08-01T10:00:00+00:00"}
    answer = {"uuid": "a", "sender": "assistant", "text": "Hello", "created_at": "2023-08-01T10:00:05+00:00"}
    assert [one.text for one in parsed(question, answer).messages] == ["Hi", "Hello"]


def test_edited_question_becomes_a_version_and_the_path_with_the_last_message_is_shown() -> None:
    read = parsed(
        message("u", "human", text("One"), parent_message_uuid=ROOT),
        message("a", "assistant", text("1"), minute=1, parent_message_uuid="u"),
        message("u2", "human", text("Two"), minute=2, parent_message_uuid=ROOT),
        message("a2", "assistant", text("2"), minute=3, parent_message_uuid="u2"),
        message("a3", "assistant", text("two"), minute=4, parent_message_uuid="u2"),
    )
    assert {one.text: one.parent for one in read.messages} == {
        "One": None,
        "1": "u",
        "Two": None,
        "2": "u2",
        "two": "u2",
    }
    assert [one.text for one in read.messages if one.is_shown] == ["Two", "two"]


def test_messages_in_a_cycle_are_left_out_and_the_last_message_with_a_repeated_id_is_used() -> None:
    read = parsed(
        message("u", "human", text("One"), parent_message_uuid="u"),
        message("x", "human", text("x"), parent_message_uuid="y"),
        message("y", "assistant", text("y"), parent_message_uuid="x"),
        message("d", "human", text("first"), parent_message_uuid=ROOT),
        message("d", "human", text("second"), parent_message_uuid=ROOT),
    )
    assert [one.text for one in read.messages if one.role == "user"] == ["second"]


@pytest.mark.parametrize(
    ("blocks", "expected"),
    [
        ([text('A <antArtifact type="text/markdown" title="a > b">One')], ["A", "**Document “a \\> b”**\n\nOne"]),
        ([{"type": "text", "text": ["x"]}], ["(A part of kind `text` was not imported.)"]),
        ([{"type": "text", "text": None}, None, text("One")], ["(A part of kind `?` was not imported.)", "One"]),
        (
            [{"type": "thinking", "thinking": ["x"]}, {"type": 3, "text": "One"}],
            ["One", "(A part of kind `?` was not imported.)"],
        ),
        ([{"type": "tool_result", "content": {"type": "text", "text": "One"}}], ["One"]),
        (
            [{"type": "tool_result", "content": [{"type": "local_resource", "name": "a*b.md"}]}],
            [r"(Not imported: file “a\*b.md”. Claude's export does not have its content.)"],
        ),
    ],
)
def test_block_in_an_unusual_form_is_read_or_replaced_by_a_sentence(blocks: list[Any], expected: list[str]) -> None:
    answer = message("a", "assistant", minute=1) | {"content": blocks, "attachments": {}, "files": [None, "a.png"]}
    read = parsed(message("u", "human", text("Hi")), answer, name=4)
    assert [part.long_text.strip() for part in read.messages[1].parts][: len(expected)] == expected


def test_conversation_without_a_time_gets_the_time_of_its_first_message() -> None:
    empty: JSON = {"uuid": "e", "name": "Empty"}
    document = JSONValue([None, empty, conversation_of(message("u", "human", text("Hi"), minute=7), created_at=None)])
    assert is_claude(document)
    assert [one.created_at.minute for one in parse_conversations(document, ArchiveFiles())] == [7]


def test_questions_and_answers_are_inserted_where_they_are_missing_so_that_roles_alternate() -> None:
    read = parsed(
        message("a", "assistant", text("Hello")),
        message("u", "human", text("One"), minute=1),
        message("v", "human", text("Two"), minute=2),
    )
    assert [(one.role.value, one.text) for one in read.messages] == [
        ("user", "(The conversation begins with an answer.)"),
        ("model", "Hello"),
        ("user", "One"),
        ("model", ""),
        ("user", "Two"),
        ("model", ""),
    ]


def test_citations_become_links_and_sources() -> None:
    block = text(
        "Built in 1894. It stands.",
        citations=[
            {
                "uuid": "1",
                "start_index": 0,
                "end_index": 14,
                "details": {"type": "web_search_citation", "url": "https://a.example/b"},
            },
            {"uuid": "2", "start_index": 0, "end_index": 14, "title": "Second", "url": "https://b.example/"},
            {"uuid": "3", "end_index": 10**9, "details": {"url": "javascript:alert(1)"}},
            {"uuid": "4", "end_index": "x", "url": "https://c.example/"},
            None,
        ],
    )
    found = result("web_search", {"type": "knowledge", "title": "History", "url": "https://a.example/b", "text": "t"})
    read = parsed(
        message("u", "human", text("Hi")), message("a", "assistant", call("web_search", query="q"), found, block)
    )
    answer = read.messages[1]
    assert answer.text == (
        "Built in 1894. ([History](https://a.example/b), [Second](https://b.example/)) It stands."
        " ([c.example](https://c.example/))"
    )
    assert answer.turn is not None
    assert [source["url"] for source in answer.turn.sources] == [
        "https://a.example/b",
        "https://b.example/",
        "https://c.example/",
    ]


def test_tool_calls_and_results_become_thoughts_and_sentences_replace_unknown_blocks() -> None:
    assert answer_of(
        {"type": "thinking", "thinking": "Hm", "summaries": [{"summary": "s"}], "cut_off": False},
        call("web_fetch", url="https://a.example/"),
        result("web_fetch", {"type": "text", "text": "Page", "uuid": "1"}, {"type": "hologram"}),
        {"type": "token_budget"},
        {"type": "voice_note", "text": "Spoken"},
    ) == [
        ("thought", "Hm"),
        ("thought", '`web_fetch`\n\n```json\n{\n "url": "https://a.example/"\n}\n```'),
        ("thought", "Page\n\n(A part of kind `hologram` was not imported.)"),
        ("text", "Spoken"),
        ("text", "(A part of kind `voice_note` was not imported.)"),
    ]


def test_code_of_the_analysis_tool_and_its_result_are_shown() -> None:
    assert answer_of(call("repl", code="console.log(1)"), result("repl", {"type": "text", "text": "1"})) == [
        ("text", "```javascript\nconsole.log(1)\n```"),
        ("text", "```text\n1\n```"),
    ]


def test_each_update_of_an_artifact_is_shown_as_a_new_version_of_its_document() -> None:
    create = {"id": "art", "command": "create", "type": "application/vnd.ant.code", "language": "python"}
    blocks = [
        call("artifacts", **create, title="Script", content="print(1)", version_uuid="v"),
        result("artifacts", {"type": "text", "text": "OK"}),
        call("artifacts", id="art", command="update", old_str="1", new_str="2"),
        call("artifacts", id="art", command="rewrite", content="print(3)"),
        call("artifacts", id="art", command="update", old_str="absent", new_str="x"),
        call("create_file", path="/mnt/user-data/outputs/plan.md", file_text="# Plan", description="d"),
        call("str_replace", path="/mnt/user-data/outputs/plan.md", old_str="Plan", new_str="Trip"),
    ]
    assert [shown for _, shown in answer_of(*blocks)] == [
        "**Document “Script”**\n\n```python\nprint(1)\n```",
        "**Document “Script”, version 2**\n\n```python\nprint(2)\n```",
        "**Document “Script”, version 3**\n\n```python\nprint(3)\n```",
        "**Change of the document “Script”**\n\n```text\nabsent\n```\n\n→\n\n```text\nx\n```",
        "**Document “plan.md”**\n\n# Plan",
        "**Document “plan.md”, version 2**\n\n# Trip",
    ]


def test_update_of_an_artifact_applies_to_its_version_on_the_same_path_of_messages() -> None:
    def artifact(**values: Any) -> dict[str, Any]:
        return call("artifacts", id="art", **values)

    create = artifact(command="create", type="text/markdown", title="Plan", content="Day 1")
    read = parsed(
        message("u", "human", text("Plan"), parent_message_uuid=ROOT),
        message("a", "assistant", create, minute=1, parent_message_uuid="u"),
        message("u2", "human", text("Left"), minute=2, parent_message_uuid="a"),
        message(
            "a2", "assistant", artifact(command="update", old_str="1", new_str="2"), minute=3, parent_message_uuid="u2"
        ),
        message("u3", "human", text("Right"), minute=4, parent_message_uuid="a"),
        message(
            "a3", "assistant", artifact(command="update", old_str="1", new_str="3"), minute=5, parent_message_uuid="u3"
        ),
    )
    texts = {one.key: one.text for one in read.messages}
    assert texts["a2"].endswith("version 2**\n\nDay 2")
    assert texts["a3"].endswith("version 2**\n\nDay 3")


def test_artifact_tags_in_a_text_become_documents() -> None:
    tag = '<antArtifact identifier="x" type="text/html" title="Page">\n<b>1</b>\n</antArtifact>'
    before, thought, between, document, after = split_artifacts(f"A<antThinking>hm</antThinking>B{tag}C")
    assert (before, between, after) == ("A", "B", "C")
    assert thought == Thought("hm")
    assert not isinstance(document, str | Thought)
    assert document.markdown(document.content or "") == "**Document “Page”**\n\n```html\n<b>1</b>\n```"
    assert [*split_artifacts("a <antArtifact> without end")] == ["a <antArtifact> without end"]


@pytest.mark.django_db
def test_file_becomes_an_attachment_or_a_sentence_replaces_it() -> None:
    question = message(
        "u",
        "human",
        text("Look"),
        attachments=[
            {"file_name": "", "file_size": 6, "file_type": "txt", "extracted_content": "pasted"},
            {"file_name": "report.pdf", "file_type": "pdf", "extracted_content": "Pages"},
        ],
        files=[{"file_name": "here.png", "file_uuid": "f-1"}, {"file_name": "gone.png"}],
        files_v2=[{"file_name": "here.png", "file_uuid": "f-1"}],
    )
    document = json.dumps([conversation_of(question)]).encode()
    archive = zipped({"conversations.json": document, "users.json": b"[]", "files/f-1.png": png("red")})
    made = import_file(archive, owner_id=make_user().pk)
    (conversation,) = Conversation.objects.filter(pk__in=made.created)
    asked = conversation.messages.get(role="user")
    files = [one.attachment for one in asked.message_attachments.select_related("attachment").order_by("index")]
    assert [(file.name, file.sha256) for file in files] == [
        ("text.txt", hashlib.sha256(b"pasted").hexdigest()),
        ("report.pdf.txt", hashlib.sha256(b"Pages").hexdigest()),
        ("here.png", hashlib.sha256(png("red")).hexdigest()),
    ]
    assert asked.text == "Look\n\n(Not imported: file “gone.png”. Claude's export does not have its content.)"


@pytest.mark.django_db
def test_later_export_with_more_messages_continues_the_conversation_and_a_new_title_does_not() -> None:
    owner = make_user().pk

    def load(*messages: dict[str, Any], **fields: Any) -> ImportResult:
        return import_file(json.dumps([conversation_of(*messages, **fields)]).encode(), owner_id=owner)

    begin = [message("u", "human", text("Hi")), message("a", "assistant", text("Hello"), minute=1)]
    more = [message("v", "human", text("More"), minute=2), message("b", "assistant", text("Yes"), minute=3)]
    first, renamed, grown = load(*begin), load(*begin, name="Other"), load(*begin, *more)
    assert (len(first.created), renamed.created, renamed.continued, grown.created) == (1, (), (), ())
    assert grown.continued == first.created
    assert [*Message.objects.order_by("index").values_list("text", flat=True)] == ["Hi", "Hello", "More", "Yes"]


@pytest.mark.parametrize(
    "fields",
    [
        {"chat_messages": [7]},
        {"chat_messages": {}},
    ],
)
def test_error_contains_the_json_path_of_an_invalid_value(fields: dict[str, Any]) -> None:
    with pytest.raises(RefusedImport, match=r"^\$\[0\]\."):
        list(parse_conversations(JSONValue([conversation_of(**fields)]), ArchiveFiles()))
