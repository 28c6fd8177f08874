"""Creates rows for tests through the models. Names and texts are arbitrary unless a test passes them."""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Sequence
from datetime import datetime, timedelta

from django.utils import timezone

from attachments.models import Attachment, PendingUpload
from chat.answering.turns.finish import LOG_LIFETIME
from chat.messages.changes import PartStarted
from chat.messages.log import to_row
from chat.models import Conversation, Message, MessageAttachment, Part, Project, Turn, TurnEvent, User
from chat.vocabulary.parts import PartKind, Role, Text

_numbers = itertools.count(1)


def make_user(
    username: str = "", *, password: str | None = None, is_staff: bool = False, is_superuser: bool = False
) -> User:
    """Create a user. Hashing a password is slow: tests without one log in with `Client.force_login`."""
    user = User(username=username or f"user{next(_numbers)}", is_staff=is_staff, is_superuser=is_superuser)
    user.set_password(password)
    user.save()
    return user


def make_conversation(
    owner: User | None = None,
    *,
    title: str = "",
    project: Project | None = None,
    temporary_seen_at: datetime | None = None,
    **settings: str | bool,
) -> Conversation:
    """Create an empty conversation, with a new owner unless one is passed."""
    return Conversation.objects.create(
        owner=owner or make_user(), title=title, project=project, temporary_seen_at=temporary_seen_at, **settings
    )


def make_user_message(conversation: Conversation, text: str = "What is this?") -> Message:
    """Create a user message after the last message."""
    return Message.objects.create(
        conversation=conversation,
        parent=_last(conversation),
        index=conversation.messages.count(),
        role=Role.USER,
        text=text,
    )


def _last(conversation: Conversation) -> Message | None:
    return conversation.messages.order_by("-index").first()


def make_model_message(
    conversation: Conversation,
    *,
    parts: Sequence[tuple[PartKind, str]] = ((PartKind.TEXT, "An answer."),),
    status: Turn.Status = Turn.Status.DONE,
    **turn_fields: str | int | None,
) -> Message:
    """Create an answer with its turn, and a question if the last message is not one. Parts are (kind, text)."""
    asked = _last(conversation)
    if asked is None or asked.role == Role.MODEL:
        asked = make_user_message(conversation)
    text = "".join(text for kind, text in parts if kind is PartKind.TEXT)
    message = Message.objects.create(
        conversation=conversation, parent=asked, index=conversation.messages.count(), role=Role.MODEL, text=text
    )
    Part.objects.bulk_create(
        Part(message=message, index=index, kind=kind, text=text) for index, (kind, text) in enumerate(parts)
    )
    now = timezone.now()
    turn = Turn.objects.create(
        conversation=conversation,
        user_message=asked,
        message=message,
        status=status,
        provider="gemini",
        model="plotline-demo",
        usage={"prompt": 3, "candidates": 4, "total": 7},
        created_at=now,
        started_at=now,
        first_part_at=now + timedelta(seconds=2),
        ended_at=None if status in Turn.LIVE else now + timedelta(seconds=5),
        log_kept_until=None if status in Turn.LIVE else now + LOG_LIFETIME,
        **turn_fields,
    )
    name, data = to_row(PartStarted(0, Text(text)))
    TurnEvent.objects.create(turn=turn, seq=1, name=name, data=data)
    return message


def make_attachment(owner: User, *, data: bytes = b"some bytes", is_graph: bool = False, **fields: str) -> Attachment:
    """Create an attachment whose upload is pending."""
    attachment = Attachment.objects.create(
        owner=owner,
        name=fields.pop("name", "graph.png" if is_graph else "data.csv"),
        mime_type="image/png" if is_graph else "text/csv",
        size_bytes=len(data),
        sha256=hashlib.sha256(data).hexdigest(),
        width=640 if is_graph else None,
        height=480 if is_graph else None,
        is_graph=is_graph,
        **fields,
    )
    PendingUpload.objects.create(attachment=attachment, data=data, next_attempt_at=timezone.now())
    return attachment


def make_graph(message: Message, *, part_index: int | None = None) -> Attachment:
    """Create a graph in a message, after one of its parts or at its end."""
    graph = make_attachment(message.conversation.owner, is_graph=True)
    attach(message, graph, part_index=part_index)
    return graph


def attach(message: Message, attachment: Attachment, *, part_index: int | None = None) -> MessageAttachment:
    """Add the attachment to the message, with the next index."""
    return MessageAttachment.objects.create(
        message=message, attachment=attachment, index=message.message_attachments.count(), part_index=part_index
    )


def make_long_conversation(owner: User | None = None, *, messages: int, lines: int = 1) -> Conversation:
    """Create a conversation of questions and answers with few SQL statements; the text of message n is `Message n.`

    `lines`: number of paragraphs of each message.
    """
    conversation = make_conversation(owner, title="A long one")
    rows: list[Message] = []
    for index in range(messages):
        role, text = (Role.MODEL if index % 2 else Role.USER), "\n\n".join([f"Message {index}."] * lines)
        parent = rows[-1] if rows else None
        rows.append(Message(conversation=conversation, parent=parent, index=index, role=role, text=text))
    Message.objects.bulk_create(rows)
    Part.objects.bulk_create(Part(message=row, index=0, kind=PartKind.TEXT, text=row.text) for row in rows)
    Turn.objects.bulk_create(
        Turn(
            conversation=conversation,
            user_message=question,
            message=answer,
            status=Turn.Status.DONE,
            provider="gemini",
            model="plotline-demo",
            ended_at=timezone.now(),
        )
        for question, answer in zip(rows[::2], rows[1::2], strict=False)
    )
    return conversation
