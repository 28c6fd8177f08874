"""A conversation with content of every kind, written to the database directly, and functions that export it."""

from __future__ import annotations

import io
import json
from typing import Any

from django.db.models import F
from django.utils import timezone
from PIL import Image

from attachments.models import Attachment
from chat.library.exports.download import Download
from chat.library.exports.registry import export_conversation
from chat.models import Conversation, Feedback, Message, Round, Turn
from chat.models import Part as PartRow
from chat.vocabulary.parts import (
    OUTCOME_FAILED,
    OUTCOME_OK,
    CodeExecutionResult,
    Display,
    Engine,
    ExecutableCode,
    FunctionCall,
    FunctionResponse,
    InlineData,
    Part,
    PartKind,
    Role,
    Text,
)
from tests.factories import attach, make_attachment, make_conversation, make_model_message, make_user_message

SIGNATURE = {"thought_signature": "AP9zaWduZWQ="}
"""`provider_data` with the signature `\\x00\\xffsigned`."""


def png(colour: str = "teal", size: tuple[int, int] = (64, 48)) -> bytes:
    """Return a small PNG."""
    file = io.BytesIO()
    Image.new("RGB", size, colour).save(file, "PNG")
    return file.getvalue()


def add_parts(message: Message, *parts: Part) -> None:
    """Append parts to a message."""
    start = message.parts.count()
    PartRow.objects.bulk_create(
        PartRow.from_value(part, index=index, message=message) for index, part in enumerate(parts, start)
    )


def graph_in(message: Message, part_index: int | None, colour: str = "teal", name: str = "graph.png") -> Attachment:
    """Show a graph of this colour after a part, and return its attachment."""
    graph = make_attachment(message.conversation.owner, data=png(colour), is_graph=True, name=name)
    Attachment.objects.filter(pk=graph.pk).update(width=64, height=48)
    attach(message, graph, part_index=part_index)
    return graph


def rich_conversation(title: str = "Sales, by month") -> Conversation:
    """Return a conversation with a file, thoughts, code with a graph, failed code, a hidden version and sources."""
    conversation = make_conversation(title=title, system_instruction="Be brief.", code_execution="on")
    question = make_user_message(conversation, "Plot *this*:\n  1. <b>bold</b>\n# not a heading")
    attach(question, make_attachment(conversation.owner, data=b"month,sales\nJan,3\nFeb,5\n", name="sales.csv"))
    answer = make_model_message(conversation, parts=[(PartKind.THOUGHT, "Let me **think**.\n")])
    code = "import pandas as pd\nprint(pd.read_csv('sales.csv').sales.sum())\n"
    traceback = "Traceback (most recent call last):\n  File x\nZeroDivisionError: division by zero\n"
    add_parts(
        answer,
        Text("I will read the file."),
        ExecutableCode(code, language="PYTHON", call_id="call-1", provider_data=SIGNATURE),
        CodeExecutionResult("8\n", outcome=OUTCOME_OK, call_id="call-1"),
        InlineData(mime_type="image/png"),
        ExecutableCode("1 / 0\n", language="python"),
        CodeExecutionResult(traceback, outcome=OUTCOME_FAILED),
        Text("The sum is **8**.\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n```python\nx = 1\n"),
        Text("", provider_data=SIGNATURE),
    )
    graph = graph_in(answer, 4)
    PartRow.objects.filter(message=answer, index=4).update(attachment=graph)
    Message.objects.filter(pk=answer.pk).update(text="I will read the file.\n[GRAPH:0]\nThe sum is **8**.")
    source = {"url": "https://example.org/a?b=1", "title": "Example"}
    Turn.objects.filter(message=answer).update(
        sources=[source], queries=["sales"], finish="stop", finish_reason="STOP", model_version="demo-1", round_count=1
    )
    Round.objects.create(
        turn=answer.turn, index=0, usage={"prompt": 3}, finish="stop", finish_reason="STOP", model_version="demo-1"
    )
    make_user_message(conversation, "And now `stop`.")
    make_model_message(
        conversation, parts=[(PartKind.TEXT, "Half an ans")], status=Turn.Status.STOPPED, model_version="demo-1"
    )
    Feedback.objects.give(answer, conversation.owner_id, is_good=False, reason="</script>The *graph* is wrong")
    _add_version(answer)
    # The factory lets answers end a little later than now, and an import does not accept times in the future.
    conversation.turns.update(started_at=F("created_at"), first_part_at=F("created_at"), ended_at=F("created_at"))
    return conversation


def _add_version(answer: Message) -> None:
    """Add a hidden version of an answer."""
    assert answer.parent
    version = Message.objects.create(
        conversation=answer.conversation,
        parent=answer.parent,
        index=answer.index,
        role=Role.MODEL,
        text="An older answer.",
        is_shown=False,
    )
    add_parts(version, Text("An older answer."))
    Turn.objects.create(
        conversation=answer.conversation,
        user_message=answer.parent,
        message=version,
        status=Turn.Status.DONE,
        provider="gemini",
        model="other-model",
        ended_at=timezone.now(),
    )


def session_conversation() -> Conversation:
    """Return a conversation whose answer ran code in the Python session: two rounds, with a graph and a table."""
    conversation = make_conversation(title="Session")
    answer = make_model_message(conversation, parts=[])
    html = "<table><tr><td>1</td></tr></table>"
    add_parts(
        answer,
        FunctionCall("run_python", {"code": "plot()"}, call_id="call-1", provider_data=SIGNATURE),
        ExecutableCode("plot()", language="PYTHON", call_id="call-1", engine=Engine.SESSION, made_by="call-1"),
        InlineData(mime_type="image/png", made_by="call-1"),
        Display({"text/plain": "   a\n0  1", "text/html": html}, made_by="call-1"),
        CodeExecutionResult("done\n", outcome=OUTCOME_OK, call_id="call-1", engine=Engine.SESSION, made_by="call-1"),
        FunctionResponse("run_python", {"output": "done\n"}, call_id="call-1"),
        FunctionCall("list_files", {"below": "a*b"}, call_id="call-2", round=1),
        FunctionResponse("list_files", {"error": "away"}, call_id="call-2", is_error=True, round=1),
        Text("Here it is.", round=1),
    )
    graph = graph_in(answer, 2)
    PartRow.objects.filter(message=answer, index=2).update(attachment=graph)
    Message.objects.filter(pk=answer.pk).update(text="\n[GRAPH:0]\nHere it is.")
    Round.objects.create(
        turn=answer.turn,
        index=0,
        usage={"prompt": 3, "total": 5},
        provider_usage={"promptTokenCount": 3},
        finish="stop",
        finish_reason="STOP",
        response_id="response-1",
        model_version="demo-1",
        started_calls=["call-1"],
    )
    Round.objects.create(
        turn=answer.turn, index=1, finish="length", finish_message="Too long", metadata={"safetyRatings": []}
    )
    times = {name: F("created_at") for name in ("started_at", "first_part_at", "ended_at")}
    conversation.turns.update(round_count=2, finish="length", **times)
    return conversation


def exported(conversation: Conversation, format_name: str) -> Download:
    """Return an export of which no byte was read yet."""
    return export_conversation(conversation, format_name, exported_at=timezone.now())


def exported_bytes(conversation: Conversation, format_name: str) -> bytes:
    """Return all bytes of an export."""
    return b"".join(exported(conversation, format_name).chunks)


def exported_json(conversation: Conversation) -> dict[str, Any]:
    """Return the parsed JSON export."""
    document: dict[str, Any] = json.loads(exported_bytes(conversation, "json"))
    return document
