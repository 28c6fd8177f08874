"""The JSON export: its schema, what it contains, and what it must not contain."""

from __future__ import annotations

import base64
import json
from dataclasses import fields

import pytest
from django.db.models import F
from jsonschema import Draft202012Validator

from attachments.models import Attachment, PendingUpload
from chat.library.exports import source
from chat.library.exports.file_names import file_stem
from chat.models import Turn, TurnEvent
from chat.vocabulary.part_json import json_names
from chat.vocabulary.parts import PartKind
from chat.vocabulary.stream_events import Finish, Usage
from tests.chat.library.exports.samples import (
    exported,
    exported_bytes,
    exported_json,
    png,
    rich_conversation,
    session_conversation,
)
from tests.environment import ROOT
from tests.factories import make_conversation, make_model_message

pytestmark = pytest.mark.django_db

SCHEMA = json.loads((ROOT / "docs/export-format.schema.json").read_text())


def test_export_is_valid_by_its_schema() -> None:
    Draft202012Validator.check_schema(SCHEMA)
    for conversation in (rich_conversation(), session_conversation(), make_conversation()):
        document = exported_json(conversation)
        Draft202012Validator(SCHEMA, format_checker=Draft202012Validator.FORMAT_CHECKER).validate(document)


def test_schema_has_every_kind_and_every_field_of_a_part() -> None:
    properties = SCHEMA["$defs"]["part"]["properties"]
    assert properties["kind"]["enum"] == [kind.value for kind in PartKind]
    names = {name for kind in PartKind for name in json_names(kind)}
    assert set(properties) == names | {"index", "kind", "attachment_index"}


def test_schema_has_every_status_finish_and_token_count() -> None:
    definitions = SCHEMA["$defs"]
    assert definitions["turn"]["properties"]["status"]["enum"] == Turn.Status.values
    assert definitions["finish"]["enum"] == ["", *Finish]
    assert definitions["usage"]["propertyNames"]["enum"] == [field.name for field in fields(Usage)]


def test_export_says_that_a_new_conversation_runs_code_without_approval() -> None:
    assert exported_json(make_conversation())["conversation"]["approval"] == "auto"


def test_export_contains_the_messages_of_all_versions() -> None:
    messages = exported_json(rich_conversation())["messages"]
    assert [(m["index"], m["role"], m["is_shown"]) for m in messages] == [
        (0, "user", True),
        (1, "model", True),
        (1, "model", False),
        (2, "user", True),
        (3, "model", True),
    ]


def test_export_contains_the_parts_of_an_answer_and_the_usage_and_sources_of_its_turn() -> None:
    answer = exported_json(rich_conversation())["messages"][1]
    assert [part["kind"] for part in answer["parts"]] == [
        "thought",
        "text",
        "executable_code",
        "code_execution_result",
        "inline_data",
        "executable_code",
        "code_execution_result",
        "text",
        "text",
    ]
    assert base64.b64decode(answer["parts"][2]["thought_signature"]) == b"\x00\xffsigned"
    assert answer["parts"][8] == {
        "index": 8,
        "kind": "text",
        "round": 0,
        "text": "",
        "thought_signature": "AP9zaWduZWQ=",
    }
    assert answer["parts"][4] == {
        "index": 4,
        "kind": "inline_data",
        "round": 0,
        "mime_type": "image/png",
        "attachment_index": 0,
    }
    assert answer["turn"]["usage"] == {"prompt": 3, "candidates": 4, "total": 7}
    assert answer["turn"]["finish_reason"] == "STOP"
    assert answer["turn"]["sources"] == [{"url": "https://example.org/a?b=1", "title": "Example"}]


def test_export_contains_the_bytes_of_attachments() -> None:
    document = exported_json(rich_conversation())
    files = {attachment["name"]: base64.b64decode(attachment["data"]) for attachment in document["attachments"]}
    assert files == {"sales.csv": b"month,sales\nJan,3\nFeb,5\n", "graph.png": png()}


def test_attachment_of_two_versions_is_exported_once() -> None:
    conversation = rich_conversation()
    question = conversation.messages.get(index=0)
    edited = conversation.messages.create(index=0, role="user", text="Edited", is_shown=False)
    edited.message_attachments.create(attachment=question.message_attachments.get().attachment, index=0)
    document = exported_json(conversation)
    assert len(document["attachments"]) == 2
    assert [len(message["attachments"]) for message in document["messages"]] == [1, 1, 1, 0, 0, 0]


def test_export_contains_no_error_details_instructions_accounts_or_client_ids() -> None:
    answer = make_model_message(make_conversation(), error_detail="canary-detail", lease_owner="canary-lease")
    Turn.objects.update(
        parameters={"label": "Quick", "instruction": "canary-instruction"},
        client_id="canary-client",
        account="canary-account",
    )
    document = exported_bytes(answer.conversation, "json")
    assert b"Quick" in document
    assert b"canary" not in document


def test_export_of_a_live_answer_contains_the_text_received_so_far() -> None:
    answer = make_model_message(make_conversation(), parts=[], status=Turn.Status.RUNNING)
    TurnEvent.objects.all().delete()
    part = {"kind": "text", "round": 0, "text": "So far"}
    answer.turn.events.create(seq=1, name="part", data={"index": 0, "part": part, "attachment": None})
    document = exported_json(answer.conversation)
    assert document["is_live"] is True
    assert document["messages"][1]["parts"] == [{"index": 0, **part}]
    assert document["messages"][1]["turn"]["status"] == "running"
    for format_name in ("md", "html", "ipynb"):
        assert b"was still being written when this was exported" in exported_bytes(answer.conversation, format_name)


def test_data_of_an_attachment_that_storage_has_lost_is_null() -> None:
    conversation = rich_conversation()
    PendingUpload.objects.filter(attachment__is_graph=True).delete()
    document = exported_json(conversation)
    assert [(attachment["name"], attachment["data"] is None) for attachment in document["attachments"]] == [
        ("sales.csv", False),
        ("graph.png", True),
    ]
    Draft202012Validator(SCHEMA).validate(document)
    for format_name in ("md", "html", "ipynb", "zip"):
        assert exported_bytes(conversation, format_name)
    assert Attachment.objects.count() == 2


def test_export_can_be_embedded_in_an_html_script_element() -> None:
    conversation = make_conversation(title="</script><!-- \u2028")
    make_model_message(conversation, parts=[(PartKind.TEXT, "</script><script>alert(1)</script>")])
    document = exported_bytes(conversation, "json")
    assert b"</" not in document
    assert b"<!--" not in document
    assert json.loads(document)["conversation"]["title"] == "</script><!-- \u2028"


def test_switching_a_version_during_the_export_does_not_change_which_messages_are_shown(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(source, "BATCH_MESSAGES", 1)
    conversation = rich_conversation()
    conversation.messages.filter(index=1).update(last_shown=F("index"))
    chunks = exported(conversation, "json").chunks
    document = next(chunk for chunk in chunks if b'"role": "user"' in chunk)
    answers = conversation.messages.filter(index=1).order_by("created_at")
    shown, hidden = answers
    answers.filter(pk=shown.pk).update(is_shown=False)
    answers.filter(pk=hidden.pk).update(is_shown=True, last_shown=9)
    messages = json.loads(b'{"messages": [' + document + b"".join(chunks))["messages"]
    assert [(m["is_shown"], m["last_shown"]) for m in messages if m["index"] == 1] == [(True, 1), (False, 1)]


TITLES = ["../../etc/passwd", "a\r\nSet-Cookie: x=1", "CON", "", "x" * 200, "Ωμέγα 日本", "..."]


def test_combining_marks_of_the_title_are_kept_in_the_file_name() -> None:
    assert file_stem("हिन्दी भाषा: \u0301 ภาษาไทย!") == "हिन्दी-भाषा-ภาษาไทย"


@pytest.mark.parametrize("title", TITLES)
def test_export_has_a_safe_file_name_whatever_its_title_is(title: str) -> None:
    name = exported(make_conversation(title=title), "json").name
    assert name.endswith(".json")
    assert not set(name) & set('/\\\r\n"<>:|?*')
    assert not name.startswith((".", "CON."))
    assert len(name.encode()) < 200


def test_parts_made_by_a_function_and_rounds_are_exported() -> None:
    answer = exported_json(session_conversation())["messages"][1]
    code, graph, display, result, response = answer["parts"][1:6]
    assert code == {
        "index": 1,
        "kind": "executable_code",
        "round": 0,
        "made_by": "call-1",
        "code": "plot()",
        "language": "PYTHON",
        "id": "call-1",
        "engine": "session",
    }
    assert graph["attachment_index"] == 0
    assert display["display"]["text/plain"] == "   a\n0  1"
    assert (result["engine"], result["made_by"], result["output"]) == ("session", "call-1", "done\n")
    assert response["result"] == {"output": "done\n"}
    assert [part["round"] for part in answer["parts"]] == [0, 0, 0, 0, 0, 0, 1, 1, 1]
    rounds = answer["turn"]["rounds"]
    assert [(one["finish"], one["started_calls"]) for one in rounds] == [("stop", ["call-1"]), ("length", [])]
    assert rounds[0]["provider_usage"] == {"promptTokenCount": 3}
    assert rounds[1]["metadata"] == {"safetyRatings": []}


def test_export_lists_markers_of_graphs_but_not_text_that_looks_like_a_marker() -> None:
    messages = exported_json(rich_conversation())["messages"]
    assert "markers" in messages[0]
    assert messages[0]["markers"] == []
    [marker] = messages[1]["markers"]
    assert messages[1]["text"][marker["start"] : marker["end"]] == "\n[GRAPH:0]\n"
    assert (marker["kind"], marker["index"]) == ("graph", 0)


def test_export_contains_provider_endpoint_and_model_of_an_answer() -> None:
    answer = exported_json(rich_conversation())["messages"][1]
    assert [answer["turn"][name] for name in ("provider", "endpoint", "model", "engine")] == [
        "gemini",
        "",
        "plotline-demo",
        "",
    ]
