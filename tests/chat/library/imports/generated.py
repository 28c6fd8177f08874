"""Conversations of every shape, which Hypothesis generates in the database."""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

from django.utils import timezone
from hypothesis import strategies as st

from attachments.models import Attachment, PendingUpload
from chat.models import CallDecision, Conversation, Feedback, Message, MessageAttachment, Round, Turn, User
from chat.models import Part as PartRow
from chat.vocabulary.parts import (
    CodeExecutionResult,
    Display,
    Engine,
    ExecutableCode,
    FileData,
    FunctionCall,
    FunctionResponse,
    InlineData,
    JSONObject,
    Part,
    PrintedImage,
    Refusal,
    Role,
    Text,
    Thought,
    ToolCall,
    ToolResponse,
    Unsupported,
)
from chat.vocabulary.stream_events import Finish
from tests.chat.library.exports.samples import png
from tests.factories import make_conversation

ODD_TEXTS = (
    "",
    "a plain text",
    "two\nlines\r\nand\ttabs ",
    "<script>alert(1)</script>",
    "</script><!-- ]]> &amp;",
    "[GRAPH:0] \n[GRAPH:0]\n",
    "```python\nx = 1",
    "“quoted” 'and' \"so\" \\ \\n \\u0041",
    "line\u2028end\u2029\x85\x0b\x0c",
    "\ufeff\u202eevil\u200b\u00ad",
    "\x1b[31mred\x1b[0m \x7f",
    "e\u0301 Ωж日本語 🎉 👩‍👩‍👧",
    "\ufffd \ufffe \U0010ffff",
    "=1+1",
    "x" * 200,
)
TEXTS = st.one_of(
    st.sampled_from(ODD_TEXTS),
    # Databases store no NUL and no half of a surrogate pair.
    st.text(alphabet=st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=6),
)
WORDS = st.sampled_from(["", "STOP", "MAX_TOKENS", "OUTCOME_OK", "PYTHON", "weiß nicht"])
JSON_VALUES = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-(2**40), 2**40), TEXTS),
    lambda values: st.one_of(st.lists(values, max_size=3), st.dictionaries(TEXTS, values, max_size=3)),
    max_leaves=3,
)
OBJECTS = st.dictionaries(TEXTS, JSON_VALUES, max_size=2)
FINISHES = st.sampled_from(["", *(finish.value for finish in Finish)])
USAGES = st.dictionaries(st.sampled_from(["prompt", "total"]), st.none() | st.integers(0, 10**6))
PROVIDER_DATA = st.dictionaries(st.sampled_from(["fields", "content", "extra"]), JSON_VALUES, max_size=2)
SIGNATURES = st.sampled_from(["", "AP9zaWduZWQ=", "-_-_"])
"""Base64 in the standard and in the URL-safe alphabet."""
COMMON_FIELDS = st.fixed_dictionaries(
    {"round": st.integers(0, 3), "made_by": WORDS},
    optional={
        "provider_data": PROVIDER_DATA
        | st.builds(lambda data, text: {**data, "thought_signature": text}, PROVIDER_DATA, SIGNATURES)
    },
)
ENGINES = st.sampled_from(Engine)
IMAGES = [png("teal"), png("red", (1, 1)), png("white", (300, 2))]
IMAGE_SIZES = {IMAGES[0]: (64, 48), IMAGES[1]: (1, 1), IMAGES[2]: (300, 2)}
FILES = [b"a,b\n1,2\n", "ä;ö\n".encode(), b"%PDF-1.4 nothing"]
FILE_TYPES = {FILES[0]: "text/plain", FILES[1]: "text/plain", FILES[2]: "application/pdf"}
NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)

_numbers = itertools.count()


def amounts() -> st.SearchStrategy[Decimal]:
    """Return amounts of US dollars."""
    return st.decimals(0, 1000, places=8)


FIELDS: Mapping[type[Part], dict[str, st.SearchStrategy[Any]]] = {
    Text: {"text": TEXTS},
    Thought: {"text": TEXTS, "duration_ms": st.none() | st.integers(0, 10**6)},
    ExecutableCode: {
        "code": TEXTS,
        "language": WORDS,
        "call_id": WORDS,
        "engine": ENGINES,
        "is_edited": st.booleans(),
    },
    CodeExecutionResult: {"output": st.none() | TEXTS, "outcome": WORDS, "call_id": WORDS, "engine": ENGINES},
    InlineData: {"mime_type": st.sampled_from(["", "image/png"]), "name": TEXTS},
    FileData: {"uri": TEXTS, "mime_type": WORDS},
    FunctionCall: {"name": TEXTS, "arguments": st.none() | OBJECTS, "call_id": WORDS},
    FunctionResponse: {
        "name": TEXTS,
        "result": OBJECTS,
        "call_id": WORDS,
        "is_error": st.booleans(),
        "refusal": st.none() | st.sampled_from(Refusal),
    },
    ToolCall: {"name": TEXTS, "arguments": st.none() | OBJECTS, "call_id": WORDS},
    ToolResponse: {"name": TEXTS, "result": st.none() | OBJECTS, "call_id": WORDS},
    Display: {"bundle": OBJECTS | st.dictionaries(st.sampled_from(["text/plain", "image/png"]), JSON_VALUES)},
    Unsupported: {},
}


def parts() -> st.SearchStrategy[Part]:
    """Return parts of every kind."""
    return st.one_of([_parts_of(part_type, fields) for part_type, fields in FIELDS.items()])


def _parts_of(part_type: type[Part], fields: dict[str, st.SearchStrategy[Any]]) -> st.SearchStrategy[Part]:
    values = st.tuples(st.fixed_dictionaries(fields), COMMON_FIELDS)
    return values.map(lambda values: part_type(**values[0], **values[1]))


@st.composite
def conversations(draw: st.DrawFn, owner: User) -> Conversation:
    """Generate a tree of up to a dozen messages with parts and files of all kinds, of which one path is shown."""
    conversation = make_conversation(
        owner,
        title=draw(TEXTS),
        system_instruction=draw(TEXTS),
        code_execution=draw(st.sampled_from(["auto", "on", "off"])),
        engine=draw(st.sampled_from(["auto", "native", "session"])),
        approval=draw(st.sampled_from(["auto", "ask"])),
        release=draw(st.sampled_from(["auto", "ask"])),
        web_search=draw(st.sampled_from(["auto", "on", "off"])),
        private_data=draw(st.booleans()),
        title_source=draw(st.sampled_from(["words", "model", "user"])),
    )
    columns = {"side_tokens": draw(st.integers(0, 10**9)), "side_cost": draw(st.none() | amounts())}
    # Each conversation begins at another time: with the same time, equal texts would be the same conversation.
    created_at = NOW + timedelta(seconds=next(_numbers))
    Conversation.objects.filter(pk=conversation.pk).update(created_at=created_at, updated_at=NOW, **columns)
    conversation.refresh_from_db()
    messages: list[Message] = []
    for number in range(draw(st.integers(0, 3))):
        answers = [message for message in messages if message.role == Role.MODEL]
        parent = draw(st.sampled_from([None, *answers])) if number else None
        question = add_message(draw, conversation, parent, Role.USER, len(messages))
        messages.append(question)
        for _ in range(draw(st.integers(0 if number else 1, 2))):
            messages.append(add_message(draw, conversation, question, Role.MODEL, len(messages)))
    show_path(draw, messages)
    return conversation


def add_message(
    draw: st.DrawFn, conversation: Conversation, parent: Message | None, role: Role, number: int
) -> Message:
    """Add a message, and the turn of an answer."""
    message = Message.objects.create(
        conversation=conversation,
        parent=parent,
        index=0 if parent is None else parent.index + 1,
        role=role,
        text=draw(TEXTS),
        is_shown=False,
        last_shown=draw(st.integers(0, 20)),
        created_at=NOW + timedelta(seconds=number),
    )
    links = [add_file(draw, message, index) for index in range(draw(st.integers(0, 2)))]
    add_parts(draw, message, links)
    if role is Role.MODEL:
        assert parent is not None
        add_turn(draw, message, parent)
        if draw(st.booleans()):
            feedback = Feedback.objects.create(
                message=message, user=conversation.owner, is_good=draw(st.booleans()), reason=draw(TEXTS)
            )
            updated_at = NOW + timedelta(seconds=number)
            Feedback.objects.filter(pk=feedback.pk).update(created_at=NOW, updated_at=updated_at)
    return message


def add_file(draw: st.DrawFn, message: Message, index: int) -> MessageAttachment:
    """Attach a file or an image to a message. Sometimes it is attached to an earlier message too."""
    earlier = list(Attachment.objects.filter(message_attachments__message__conversation=message.conversation)[:1])
    is_shared: bool = draw(st.booleans())
    if earlier and is_shared and not message.message_attachments.exists():
        attachment = earlier[0]
    else:
        attachment = make_file(draw, message)
    part_index = draw(st.none() | st.integers(0, 4))
    return MessageAttachment.objects.create(message=message, attachment=attachment, index=index, part_index=part_index)


def make_file(draw: st.DrawFn, message: Message) -> Attachment:
    """Return a new file or image of the message's user."""
    is_graph = message.role == Role.MODEL and draw(st.booleans())
    is_image = is_graph or draw(st.booleans())
    data: bytes = draw(st.sampled_from(IMAGES if is_image else FILES))
    width, height = IMAGE_SIZES.get(data, (None, None))
    attachment = Attachment.objects.create(
        owner=message.conversation.owner,
        name=draw(st.sampled_from(["graph.png", "data", "日本語.txt", "a b'c\".png"])),
        mime_type=FILE_TYPES.get(data, "image/png"),
        size_bytes=len(data),
        sha256=hashlib.sha256(data).hexdigest(),
        width=width,
        height=height,
        is_graph=is_graph,
    )
    PendingUpload.objects.create(attachment=attachment, data=data, next_attempt_at=timezone.now())
    return attachment


def add_parts(draw: st.DrawFn, message: Message, links: list[MessageAttachment]) -> None:
    """Add up to three parts. Inline data has the bytes of the first file, and a result may have printed it."""
    rows: list[PartRow] = []
    for index, part in enumerate(draw(st.lists(parts(), max_size=3))):
        attachment = links[0].attachment if links and isinstance(part, InlineData) else None
        if isinstance(part, CodeExecutionResult) and links and draw(st.booleans()):
            offset = draw(st.integers(0, len(part.output or "")))
            part = replace(part, images=(PrintedImage(offset, "data:image/png;base64,", 76, links[0].index),))
        rows.append(PartRow.from_value(part, index=index, message=message, attachment=attachment))
    PartRow.objects.bulk_create(rows)


def add_turn(draw: st.DrawFn, message: Message, question: Message) -> None:
    """Add the turn of an answer, with up to two rounds."""
    round_count = draw(st.integers(0, 2))
    turn = Turn.objects.create(
        conversation=message.conversation,
        user_message=question,
        message=message,
        status=draw(st.sampled_from(["done", "stopped", "failed", "interrupted"])),
        provider="gemini",
        endpoint=draw(st.sampled_from(["", "local"])),
        model=draw(st.sampled_from(["gemini-3-flash-preview", "plotline-demo"])),
        code_mode=draw(st.sampled_from(["auto", "on", "off"])),
        code_execution=draw(st.booleans()),
        code_reason=draw(TEXTS),
        engine=draw(st.sampled_from(["", "native", "session"])),
        move_reason=draw(TEXTS),
        model_note=draw(TEXTS),
        moved_before_round=draw(st.none() | st.integers(0, 3)),
        chosen=draw(st.sampled_from([{}, {"code_mode": "on"}, {"model": "x", "continues": True}])),
        parameters=draw(st.sampled_from([{}, {"label": "Quick", "temperature": 0.5, "prices": {"input": "1.250000"}}])),
        left_out=draw(st.integers(0, 5)),
        cost=draw(st.none() | amounts()),
        usage=draw(USAGES),
        round_count=round_count,
        finish=draw(FINISHES),
        finish_reason=draw(WORDS),
        finish_message=draw(TEXTS),
        error_code=draw(st.sampled_from(["", "overloaded"])),
        retry_after_s=draw(st.none() | st.floats(0, 100)),
        response_id=draw(WORDS),
        model_version=draw(WORDS),
        sources=draw(st.lists(st.fixed_dictionaries({"url": TEXTS, "title": TEXTS}), max_size=2)),
        queries=draw(st.lists(TEXTS, max_size=2)),
        created_at=NOW,
        started_at=NOW,
        first_part_at=draw(st.none() | st.just(NOW)),
        ended_at=NOW + timedelta(seconds=9),
    )
    Round.objects.bulk_create(generate_round(draw, turn, index) for index in range(round_count))
    CallDecision.objects.bulk_create(generate_decision(draw, turn, number) for number in range(draw(st.integers(0, 2))))


def generate_decision(draw: st.DrawFn, turn: Turn, number: int) -> CallDecision:
    """Return a decision that is not saved. An import does not keep who decided."""
    return CallDecision(
        turn=turn,
        call_id=draw(WORDS),
        is_result=draw(st.booleans()),
        is_approved=draw(st.booleans()),
        code=draw(st.none() | TEXTS),
        is_timeout=draw(st.booleans()),
        decided_at=NOW + timedelta(seconds=number),
    )


def generate_round(draw: st.DrawFn, turn: Turn, index: int) -> Round:
    """Return a round that is not saved."""
    provider_usage: JSONObject = draw(OBJECTS)
    return Round(
        turn=turn,
        index=index,
        usage=draw(USAGES),
        provider_usage=provider_usage,
        finish=draw(FINISHES),
        finish_reason=draw(WORDS),
        finish_message=draw(TEXTS),
        response_id=draw(WORDS),
        model_version=draw(WORDS),
        metadata=draw(OBJECTS),
        started_calls=draw(st.lists(WORDS, max_size=2)),
        state=draw(TEXTS),
    )


def show_path(draw: st.DrawFn, messages: list[Message]) -> None:
    """Show one path of the tree."""
    if not messages:
        return
    message: Message | None = draw(st.sampled_from(messages))
    while message is not None:
        Message.objects.filter(pk=message.pk).update(is_shown=True)
        message = message.parent
