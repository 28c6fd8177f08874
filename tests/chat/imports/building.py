"""Conversations of every shape, made by Hypothesis straight in the database, and what is compared of their exports."""

from __future__ import annotations

import hashlib
import itertools
from copy import deepcopy
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

from django.contrib.auth.models import User
from django.utils import timezone
from hypothesis import strategies as st

from attachments.models import Attachment, PendingUpload
from chat.models import Conversation, Feedback, Message, MessageAttachment, Part, Turn
from chat.parts import PartKind, Role
from chat.turns.answer import DATA_URIS
from tests.chat.exports.building import png
from tests.factories import make_conversation

#: What databases store: no NUL and no half of a surrogate pair; all else that people and models write.
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
    st.text(alphabet=st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=6),
)
WORDS = st.sampled_from(["", "STOP", "MAX_TOKENS", "OUTCOME_OK", "PYTHON", "weiß nicht"])
JSON_VALUES = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-(2**40), 2**40), TEXTS),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(TEXTS, inner, max_size=3)),
    max_leaves=3,
)
FIELDS = st.dictionaries(st.sampled_from(["partMetadata", "toolCall", "extra"]), JSON_VALUES, max_size=2)
SIGNATURES = st.one_of(st.none(), st.binary(max_size=40))
KINDS = st.sampled_from(list(PartKind))
PICTURES = [png("teal"), png("red", (1, 1)), png("white", (300, 2))]
FILES = [b"a,b\n1,2\n", "ä;ö\n".encode(), b"%PDF-1.4 nothing"]
_numbers = itertools.count()
NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)


@st.composite
def conversations(draw: st.DrawFn, owner: User) -> Conversation:
    """A tree of up to a dozen messages with parts and files of all kinds; one path of it in view."""
    conversation = make_conversation(
        owner,
        title=draw(TEXTS),
        system_instruction=draw(TEXTS),
        code_execution=draw(st.sampled_from(["auto", "on", "off"])),
        title_source=draw(st.sampled_from(["words", "model", "user"])),
    )
    columns = {"side_tokens": draw(st.integers(0, 10**9)), "side_cost": draw(st.none() | amounts())}
    # No two begin at one time, as in life: the same words at the same time are the same conversation.
    begun_at = NOW + timedelta(seconds=next(_numbers))
    Conversation.objects.filter(pk=conversation.pk).update(created_at=begun_at, updated_at=NOW, **columns)
    conversation.refresh_from_db()
    told: list[Message] = []
    for number in range(draw(st.integers(0, 3))):
        # Of what follows nothing, and of what follows an answer.
        answers = [message for message in told if message.role == Role.MODEL]
        parent = draw(st.sampled_from([None, *answers])) if number else None
        question = add_message(draw, conversation, parent, Role.USER, len(told))
        told.append(question)
        for _ in range(draw(st.integers(0 if number else 1, 2))):
            told.append(add_message(draw, conversation, question, Role.MODEL, len(told)))
    Turn.objects.filter(conversation=conversation).update(created_at=NOW)
    show_path(draw, told)
    return conversation


def amounts() -> st.SearchStrategy[Decimal]:
    """US dollars."""
    return st.decimals(0, 1000, places=8)


def add_message(
    draw: st.DrawFn, conversation: Conversation, parent: Message | None, role: Role, number: int
) -> Message:
    """A message, with its turn where it is an answer."""
    message = Message.objects.create(
        conversation=conversation,
        parent=parent,
        index=0 if parent is None else parent.index + 1,
        role=role,
        text=draw(TEXTS),
        is_shown=False,
        last_shown=draw(st.integers(0, 20)),
    )
    Message.objects.filter(pk=message.pk).update(created_at=NOW + timedelta(seconds=number))
    files = [add_file(draw, message, index) for index in range(draw(st.integers(0, 2)))]
    add_parts(draw, message, files)
    if role == Role.MODEL:
        assert parent is not None
        add_turn(draw, message, parent)
        if draw(st.booleans()):
            given = Feedback(message=message, user=conversation.owner, is_good=draw(st.booleans()), reason=draw(TEXTS))
            Feedback.objects.bulk_create([given])
            Feedback.objects.filter(pk=given.pk).update(created_at=NOW, updated_at=NOW + timedelta(seconds=number))
    return message


def add_file(draw: st.DrawFn, message: Message, index: int) -> MessageAttachment:
    """A file or picture of the message; now and then one that stands in an earlier message too."""
    owner = message.conversation.owner
    earlier = list(Attachment.objects.filter(message_attachments__message__conversation=message.conversation)[:1])
    is_shared: bool = draw(st.booleans())
    if earlier and is_shared and not message.message_attachments.exists():
        attachment = earlier[0]
    else:
        is_graph = message.role == Role.MODEL and draw(st.booleans())
        is_picture = is_graph or draw(st.booleans())
        data: bytes = draw(st.sampled_from(PICTURES if is_picture else FILES))
        size = {PICTURES[0]: (64, 48), PICTURES[1]: (1, 1), PICTURES[2]: (300, 2)}.get(data, (None, None))
        mime_type = "image/png" if is_picture else {FILES[2]: "application/pdf"}.get(data, "text/plain")
        attachment = Attachment.objects.create(
            owner=owner,
            name=draw(st.sampled_from(["graph.png", "data", "日本語.txt", "a b'c\".png"])),
            mime_type=mime_type,
            size_bytes=len(data),
            sha256=hashlib.sha256(data).hexdigest(),
            width=size[0],
            height=size[1],
            is_graph=is_graph,
        )
        PendingUpload.objects.create(attachment=attachment, data=data, next_attempt_at=timezone.now())
    part_index = draw(st.none() | st.integers(0, 4))
    return MessageAttachment.objects.create(message=message, attachment=attachment, index=index, part_index=part_index)


def add_parts(draw: st.DrawFn, message: Message, files: list[MessageAttachment]) -> None:
    """Parts of all kinds, with signatures and what has no field of its own."""
    parts = []
    for index in range(draw(st.integers(0, 3))):
        kind = draw(KINDS)
        text = draw(st.none() | TEXTS)
        fields: dict[str, Any] = draw(FIELDS)
        attachment = files[0].attachment if files and kind is PartKind.INLINE_DATA else None
        if kind is PartKind.CODE_EXECUTION_RESULT and files and draw(st.booleans()):
            header = {"header": "data:image/png;base64,", "line_chars": 76, "attachment": files[0].index}
            fields[DATA_URIS] = [header | {"offset": draw(st.integers(0, len(text or "")))}]
        part = Part(
            message=message,
            index=index,
            kind=kind,
            text=text,
            language=draw(WORDS),
            outcome=draw(WORDS),
            call_id=draw(WORDS),
            mime_type=draw(st.sampled_from(["", "image/png"])),
            attachment=attachment,
            fields=fields,
            thought_signature=draw(SIGNATURES),
        )
        parts.append(part)
    Part.objects.bulk_create(parts)


def add_turn(draw: st.DrawFn, message: Message, question: Message) -> None:
    """The generation of an answer."""
    Turn.objects.create(
        conversation=message.conversation,
        user_message=question,
        message=message,
        status=draw(st.sampled_from(["done", "stopped", "failed", "interrupted"])),
        provider="gemini",
        model=draw(st.sampled_from(["gemini-3-flash-preview", "plotline-demo"])),
        code_mode=draw(st.sampled_from(["auto", "on", "off"])),
        code_execution=draw(st.booleans()),
        code_reason=draw(TEXTS),
        chosen=draw(st.sampled_from([{}, {"code_mode": "on"}, {"model": "x", "continues": True}])),
        parameters=draw(st.sampled_from([{}, {"label": "Quick", "temperature": 0.5, "prices": {"input": "1.250000"}}])),
        left_out=draw(st.integers(0, 5)),
        cost=draw(st.none() | amounts()),
        usage=draw(st.dictionaries(st.sampled_from(["prompt", "total"]), st.none() | st.integers(0, 10**6))),
        finish_reason=draw(WORDS),
        finish_message=draw(TEXTS),
        error_code=draw(st.sampled_from(["", "overloaded"])),
        retry_after_s=draw(st.none() | st.floats(0, 100)),
        response_id=draw(WORDS),
        model_version=draw(WORDS),
        metadata=draw(st.dictionaries(TEXTS, JSON_VALUES, max_size=2)),
        started_at=NOW,
        first_part_at=draw(st.none() | st.just(NOW)),
        ended_at=NOW + timedelta(seconds=9),
    )


def show_path(draw: st.DrawFn, told: list[Message]) -> None:
    """Bring one path into view."""
    if not told:
        return
    last: Message | None = draw(st.sampled_from(told))
    while last is not None:
        Message.objects.filter(pk=last.pk).update(is_shown=True)
        last = last.parent


def comparable(document: dict[str, Any]) -> dict[str, Any]:
    """An export without when it was made, with numbers for ids; of files' times nothing."""
    document = deepcopy(document)
    del document["exported_at"]
    numbers: dict[str, int] = {}

    def number(key: str | None) -> int | None:
        return None if key is None else numbers.setdefault(key, len(numbers))

    document["conversation"]["id"] = number(document["conversation"]["id"])
    for message in document["messages"]:
        message["id"], message["parent"] = number(message["id"]), number(message["parent"])
        for placed in message["attachments"]:
            placed["id"] = number(placed["id"])
        if turn := message.get("turn"):
            turn["id"], turn["user_message"] = None, number(turn["user_message"])
    for attachment in document["attachments"]:
        attachment["id"] = number(attachment["id"])
        del attachment["created_at"]
    return document
