"""The lossless export: its schema, its completeness, and what is not in it."""

from __future__ import annotations

import base64
import json

import pytest
from jsonschema import Draft202012Validator

from attachments.models import Attachment, PendingUpload
from chat.models import Part, Turn, TurnEvent
from chat.parts import PartKind
from tests.chat.exports.building import exported, exported_bytes, exported_json, png, rich_conversation
from tests.environment import ROOT
from tests.factories import make_conversation, make_model_message

pytestmark = pytest.mark.django_db

SCHEMA = json.loads((ROOT / "docs/export-format.schema.json").read_text())


def test_export_keeps_its_schema() -> None:
    Draft202012Validator.check_schema(SCHEMA)
    for document in (exported_json(rich_conversation()), exported_json(make_conversation())):
        Draft202012Validator(SCHEMA, format_checker=Draft202012Validator.FORMAT_CHECKER).validate(document)


def test_all_versions_signatures_and_bytes_are_in_it() -> None:
    document = exported_json(rich_conversation())
    messages = document["messages"]
    assert [(m["index"], m["role"], m["is_shown"]) for m in messages] == [
        (0, "user", True),
        (1, "model", True),
        (1, "model", False),
        (2, "user", True),
        (3, "model", True),
    ]
    answer = messages[1]
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
    assert answer["parts"][8] == {"index": 8, "kind": "text", "text": "", "thought_signature": "AP9zaWduZWQ="}
    assert answer["parts"][4] == {"index": 4, "kind": "inline_data", "mime_type": "image/png", "attachment_index": 0}
    assert answer["turn"]["usage"] == {"prompt": 3, "candidates": 4, "total": 7}
    assert answer["turn"]["finish_reason"] == "STOP"
    kept = {found["name"]: base64.b64decode(found["data"]) for found in document["attachments"]}
    assert kept == {"sales.csv": b"month,sales\nJan,3\nFeb,5\n", "graph.png": png()}


def test_attachment_of_two_versions_is_in_it_once() -> None:
    conversation = rich_conversation()
    question = conversation.messages.get(index=0)
    edited = conversation.messages.create(index=0, role="user", text="Edited", is_shown=False)
    edited.message_attachments.create(attachment=question.message_attachments.get().attachment, index=0)
    document = exported_json(conversation)
    assert len(document["attachments"]) == 2
    assert [len(message["attachments"]) for message in document["messages"]] == [1, 1, 1, 0, 0, 0]


def test_what_a_person_may_not_read_is_not_in_it() -> None:
    answer = make_model_message(make_conversation(), error_detail="canary-detail", lease_owner="canary-lease")
    Turn.objects.update(parameters={"label": "Quick", "instruction": "canary-instruction"}, client_id="canary-client")
    written = exported_bytes(answer.conversation, "json")
    assert b"Quick" in written
    assert b"canary" not in written


def test_live_answer_is_in_it_as_far_as_it_has_come() -> None:
    answer = make_model_message(make_conversation(), status=Turn.Status.RUNNING)
    Part.objects.all().delete()
    TurnEvent.objects.all().delete()
    part = {"kind": "text", "text": "So far"}
    answer.turn.events.create(seq=1, name="part", data={"index": 0, "part": part, "attachment": None})
    document = exported_json(answer.conversation)
    assert document["is_live"] is True
    assert document["messages"][1]["parts"] == [{"index": 0, "kind": "text", "text": "So far"}]
    assert document["messages"][1]["turn"]["status"] == "running"
    for format_name in ("md", "html", "ipynb"):
        assert b"was still being written when this was exported" in exported_bytes(answer.conversation, format_name)


def test_bytes_that_are_missing_are_said_to_be() -> None:
    conversation = rich_conversation()
    PendingUpload.objects.filter(attachment__is_graph=True).delete()
    document = exported_json(conversation)
    assert [(found["name"], found["data"] is None) for found in document["attachments"]] == [
        ("sales.csv", False),
        ("graph.png", True),
    ]
    Draft202012Validator(SCHEMA).validate(document)
    for format_name in ("md", "html", "ipynb", "zip"):
        assert exported_bytes(conversation, format_name)
    assert Attachment.objects.count() == 2


def test_text_cannot_end_a_script_that_holds_it() -> None:
    conversation = make_conversation(title="</script><!-- \u2028")
    make_model_message(conversation, parts=[(PartKind.TEXT, "</script><script>alert(1)</script>")])
    written = exported_bytes(conversation, "json")
    assert b"</" not in written
    assert b"<!--" not in written
    assert json.loads(written)["conversation"]["title"] == "</script><!-- \u2028"


TITLES = ["../../etc/passwd", "a\r\nSet-Cookie: x=1", "CON", "", "x" * 200, "Ωμέγα 日本", "..."]


@pytest.mark.parametrize("title", TITLES)
def test_file_is_named_after_the_title_and_stays_a_label(title: str) -> None:
    name = exported(make_conversation(title=title), "json").name
    assert name.endswith(".json")
    assert not set(name) & set('/\\\r\n"<>:|?*')
    assert not name.startswith((".", "CON."))
    assert len(name.encode()) < 200
