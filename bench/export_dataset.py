"""Generates one long conversation: `python -m bench.with_django bench.export_dataset MESSAGES GRAPHS`.

Every answer ran code, and some of the answers have a graph of 60 KB. The contents are the same in every run.
"""

from __future__ import annotations

import hashlib
import random
from dataclasses import dataclass, field
from datetime import timedelta

from django.utils import timezone

from attachments.models import Attachment, PendingUpload
from chat.models import Conversation, Message, MessageAttachment, Part, Turn, User
from chat.vocabulary.parts import PartKind, Role

GRAPH_BYTES = 60_000
SEED = 20261121
WORDS = ("the", "sales", "of", "each", "month", "rose", "by", "a", "third", "and", "then", "fell", "again")
PNG_SIGNATURE = b"\x89PNG\r\n\x1a\n"
BATCH_ROWS = 500
BATCH_UPLOADS = 50


@dataclass(slots=True)
class Rows:
    """Unsaved rows of the conversation."""

    messages: list[Message] = field(default_factory=list)
    turns: list[Turn] = field(default_factory=list)
    parts: list[Part] = field(default_factory=list)
    graphs: list[Attachment] = field(default_factory=list)
    uploads: list[PendingUpload] = field(default_factory=list)
    message_attachments: list[MessageAttachment] = field(default_factory=list)

    def add_answer(self, question: Message, answer: Message) -> None:
        """Add the turn and the parts of an answer."""
        turn = Turn(
            conversation=answer.conversation,
            user_message=question,
            message=answer,
            status=Turn.Status.DONE,
            provider="gemini",
            model="bench",
            ended_at=timezone.now(),
            usage={"total": 500},
        )
        self.turns.append(turn)
        text = answer.text
        contents = (
            (PartKind.TEXT, text[:300]),
            (PartKind.EXECUTABLE_CODE, "import math\nprint(math.pi)\n" * 8),
            (PartKind.CODE_EXECUTION_RESULT, "3.14159\n" * 20),
            (PartKind.TEXT, f"## Result\n\n- **{text[:200]}**\n- `{text[200:300]}`\n\n{text[300:]}"),
        )
        self.parts += [
            Part(message=answer, index=index, kind=kind, text=content) for index, (kind, content) in enumerate(contents)
        ]

    def add_graph(self, owner: User, answer: Message, data: bytes) -> None:
        """Add a graph that has not been uploaded, after the code of an answer."""
        graph = Attachment(
            owner=owner,
            name="graph.png",
            mime_type="image/png",
            size_bytes=len(data),
            sha256=hashlib.sha256(data).hexdigest(),
            width=640,
            height=480,
            is_graph=True,
        )
        self.graphs.append(graph)
        next_attempt_at = timezone.now() + timedelta(days=1)
        self.uploads.append(PendingUpload(attachment=graph, data=data, next_attempt_at=next_attempt_at))
        self.message_attachments.append(MessageAttachment(message=answer, attachment=graph, index=0, part_index=2))

    def save(self) -> None:
        """Insert all rows."""
        Attachment.objects.bulk_create(self.graphs, batch_size=BATCH_ROWS)
        PendingUpload.objects.bulk_create(self.uploads, batch_size=BATCH_UPLOADS)
        Message.objects.bulk_create(self.messages, batch_size=BATCH_ROWS)
        Turn.objects.bulk_create(self.turns, batch_size=BATCH_ROWS)
        Part.objects.bulk_create(self.parts, batch_size=BATCH_ROWS)
        MessageAttachment.objects.bulk_create(self.message_attachments, batch_size=BATCH_ROWS)


def main(message_count: str, graph_count: str) -> None:
    """Create the conversation and its owner."""
    generator = random.Random(SEED)
    owner = User.objects.create(username="bench")
    conversation = Conversation.objects.create(owner=owner, title="A long conversation")
    messages, graphs = int(message_count), int(graph_count)
    answers_per_graph = max(1, messages // 2 // max(1, graphs))
    rows = Rows()
    parent: Message | None = None
    for index in range(messages):
        text = " ".join(generator.choices(WORDS, k=120))
        role = Role.MODEL if index % 2 else Role.USER
        message = Message(conversation=conversation, parent=parent, index=index, role=role, text=text)
        rows.messages.append(message)
        if parent and role is Role.MODEL:
            rows.add_answer(parent, message)
            if index // 2 % answers_per_graph == 0 and len(rows.graphs) < graphs:
                data = PNG_SIGNATURE + generator.randbytes(GRAPH_BYTES - len(PNG_SIGNATURE))
                rows.add_graph(owner, message, data)
        parent = message
    rows.save()
