"""A conversation with something of every kind, straight in the database, and what exports of it are read with."""

from __future__ import annotations

import io
import json
from typing import Any

from django.db.models import F
from django.utils import timezone
from PIL import Image

from attachments.models import Attachment
from chat.exports.download import Download
from chat.exports.registry import export_conversation
from chat.models import Conversation, Feedback, Message, Part, Turn
from chat.parts import PartKind, Role
from tests.factories import attach, make_attachment, make_conversation, make_model_message, make_user_message


def png(colour: str = "teal", size: tuple[int, int] = (64, 48)) -> bytes:
    """A small picture."""
    written = io.BytesIO()
    Image.new("RGB", size, colour).save(written, "PNG")
    return written.getvalue()


def add_parts(message: Message, *parts: Part) -> None:
    """More parts, in order."""
    for part in parts:
        part.message = message
        part.index = message.parts.count()
        part.save()


def graph_in(message: Message, part_index: int | None, colour: str = "teal", name: str = "graph.png") -> Attachment:
    """A graph of that colour after a part."""
    data = png(colour)
    graph = make_attachment(message.conversation.owner, data=data, is_graph=True, name=name)
    Attachment.objects.filter(pk=graph.pk).update(width=64, height=48)
    attach(message, graph, part_index=part_index)
    return graph


def rich_conversation(title: str = "Sales, by month") -> Conversation:
    """A file, thoughts, code with a graph, code that failed, a version out of view, sources."""
    conversation = make_conversation(title=title, system_instruction="Be brief.", code_execution="on")
    question = make_user_message(conversation, "Plot *this*:\n  1. <b>bold</b>\n# not a heading")
    attach(question, make_attachment(conversation.owner, data=b"month,sales\nJan,3\nFeb,5\n", name="sales.csv"))
    answer = make_model_message(conversation, parts=[(PartKind.THOUGHT, "Let me **think**.\n")])
    signature = b"\x00\xffsigned"
    add_parts(
        answer,
        Part(kind=PartKind.TEXT, text="I will read the file."),
        Part(
            kind=PartKind.EXECUTABLE_CODE,
            text="import pandas as pd\nprint(pd.read_csv('sales.csv').sales.sum())\n",
            language="PYTHON",
            call_id="call-1",
            thought_signature=signature,
        ),
        Part(kind=PartKind.CODE_EXECUTION_RESULT, text="8\n", outcome="OUTCOME_OK", call_id="call-1"),
        Part(kind=PartKind.INLINE_DATA, mime_type="image/png"),
        Part(kind=PartKind.EXECUTABLE_CODE, text="1 / 0\n", language="PYTHON"),
        Part(
            kind=PartKind.CODE_EXECUTION_RESULT,
            text="Traceback (most recent call last):\n  File x\nZeroDivisionError: division by zero\n",
            outcome="OUTCOME_FAILED",
        ),
        Part(kind=PartKind.TEXT, text="The sum is **8**.\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n```python\nx = 1\n"),
        Part(kind=PartKind.TEXT, text="", thought_signature=signature),
    )
    graph = graph_in(answer, 4)
    Part.objects.filter(message=answer, index=4).update(attachment=graph)
    Message.objects.filter(pk=answer.pk).update(text="I will read the file.\n[GRAPH:0]\nThe sum is **8**.")
    chunk = {"web": {"uri": "https://example.org/a?b=1", "title": "Example"}}
    Turn.objects.filter(message=answer).update(
        metadata={"groundingMetadata": {"groundingChunks": [chunk]}}, finish_reason="STOP", model_version="demo-1"
    )
    make_user_message(conversation, "And now `stop`.")
    make_model_message(
        conversation, parts=[(PartKind.TEXT, "Half an ans")], status=Turn.Status.STOPPED, model_version="demo-1"
    )
    Feedback.objects.give(answer, conversation.owner_id, is_good=False, reason="</script>The *graph* is wrong")
    _add_version(answer)
    # Factories let answers end a little later than now.
    conversation.turns.update(started_at=F("created_at"), first_part_at=F("created_at"), ended_at=F("created_at"))
    return conversation


def _add_version(answer: Message) -> None:
    assert answer.parent
    version = Message.objects.create(
        conversation=answer.conversation,
        parent=answer.parent,
        index=answer.index,
        role=Role.MODEL,
        text="An older answer.",
        is_shown=False,
    )
    Part.objects.create(message=version, index=0, kind=PartKind.TEXT, text="An older answer.")
    Turn.objects.create(
        conversation=answer.conversation,
        user_message=answer.parent,
        message=version,
        status=Turn.Status.DONE,
        provider="gemini",
        model="other-model",
        ended_at=timezone.now(),
    )


def exported(conversation: Conversation, format_name: str) -> Download:
    """The download, its bytes not taken yet."""
    return export_conversation(conversation, format_name, exported_at=timezone.now())


def exported_bytes(conversation: Conversation, format_name: str) -> bytes:
    """All of its bytes."""
    return b"".join(exported(conversation, format_name).chunks)


def exported_json(conversation: Conversation) -> dict[str, Any]:
    """The JSON export, read."""
    document: dict[str, Any] = json.loads(exported_bytes(conversation, "json"))
    return document
