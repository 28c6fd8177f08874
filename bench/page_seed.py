"""Creates a user with a session and conversations: `python -m bench.with_django bench.page_seed MESSAGES ...`.

The rows are those of finished turns: questions, and answers in Markdown. Some answers ran code that drew a graph.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field

from django.db import transaction
from django.utils import timezone

from attachments.models import Attachment
from bench.generated_text import TextGenerator
from bench.seed import sign_in
from chat.models import Conversation, Message, MessageAttachment, Part, Turn, User
from chat.vocabulary.parts import OUTCOME_OK, JSONObject, PartKind, Role

BATCH_ROWS = 2_000
GRAPHS_OF_FIVE = 2
"""Number of answers with a graph among each five."""

CODE = """\
import numpy as np
import matplotlib.pyplot as plt

x = np.linspace(0, 10, 500)
for phase in (0, 1, 2):
    plt.plot(x, np.sin(x + phase), label=f"phase {phase}")
plt.legend()
plt.show()
"""

PART_DATA: Mapping[PartKind, JSONObject] = {
    PartKind.EXECUTABLE_CODE: {"language": "PYTHON"},
    PartKind.CODE_EXECUTION_RESULT: {"outcome": OUTCOME_OK},
}
"""Kind of a part -> its fields besides the text."""


def main(*counts: str) -> None:
    """Print `{"cookie": ..., "conversations": {messages: id}}`, with one conversation for each number of messages."""
    owner, texts = User.objects.create(username="reader", password="!"), TextGenerator()
    with transaction.atomic():
        conversations = {count: str(make_conversation(owner, texts, int(count)).pk) for count in counts}
    print(json.dumps({"cookie": sign_in(owner), "conversations": conversations}))


@dataclass(slots=True)
class Rows:
    """Unsaved rows of a conversation."""

    messages: list[Message] = field(default_factory=list)
    turns: list[Turn] = field(default_factory=list)
    parts: list[Part] = field(default_factory=list)
    graphs: list[Attachment] = field(default_factory=list)
    placed_graphs: list[MessageAttachment] = field(default_factory=list)

    def save(self) -> None:
        """Insert all rows."""
        Message.objects.bulk_create(self.messages, batch_size=BATCH_ROWS)
        Turn.objects.bulk_create(self.turns, batch_size=BATCH_ROWS)
        Part.objects.bulk_create(self.parts, batch_size=BATCH_ROWS)
        Attachment.objects.bulk_create(self.graphs, batch_size=BATCH_ROWS)
        MessageAttachment.objects.bulk_create(self.placed_graphs, batch_size=BATCH_ROWS)

    def add_parts(self, message: Message, *contents: tuple[PartKind, str]) -> None:
        """Add a part of each kind and text."""
        self.parts += [
            Part(message=message, index=index, kind=kind, text=text, data=PART_DATA.get(kind, {}))
            for index, (kind, text) in enumerate(contents)
        ]


def make_conversation(owner: User, texts: TextGenerator, messages: int) -> Conversation:
    """Create a conversation with this number of messages."""
    conversation = Conversation.objects.create(owner=owner, title="A long one")
    rows = Rows()
    answer: Message | None = None
    for index in range(0, messages, 2):
        question = Message(
            conversation=conversation, parent=answer, index=index, role=Role.USER, text=texts.generate(20)
        )
        answer = Message(conversation=conversation, parent=question, index=index + 1, role=Role.MODEL)
        has_graph = index // 2 % 5 < GRAPHS_OF_FIVE
        contents = [(PartKind.TEXT, generate_markdown(texts))]
        if has_graph:
            contents += [(PartKind.EXECUTABLE_CODE, CODE), (PartKind.CODE_EXECUTION_RESULT, "done\n")]
            contents += [(PartKind.TEXT, texts.generate(40))]
            rows.graphs.append(make_graph(owner))
            rows.placed_graphs.append(
                MessageAttachment(message=answer, attachment=rows.graphs[-1], index=0, part_index=2)
            )
        answer.text = "\n[GRAPH:0]\n".join(text for kind, text in contents if kind is PartKind.TEXT)
        rows.messages += [question, answer]
        rows.add_parts(question, (PartKind.TEXT, question.text))
        rows.add_parts(answer, *contents)
        rows.turns.append(make_turn(question, answer, has_code_execution=has_graph))
    rows.save()
    return conversation


def generate_markdown(texts: TextGenerator) -> str:
    """Return Markdown with a heading, three paragraphs, a list, a table and a code block."""
    rows = "\n".join(f"| {texts.generate(2)} | {number} |" for number in range(5))
    items = "\n".join(f"- **{texts.generate(1)}** {texts.generate(8)}" for _ in range(4))
    return (
        f"## {texts.generate(4)}\n\n{texts.generate(50)}\n\n{items}\n\n{texts.generate(40)}\n\n"
        f"| a | b |\n| --- | --- |\n{rows}\n\n```python\n{CODE}```\n\n{texts.generate(30)}\n"
    )


def make_graph(owner: User) -> Attachment:
    """Return an unsaved graph, whose bytes no page reads."""
    return Attachment(
        owner=owner,
        name="graph.png",
        mime_type="image/png",
        size_bytes=40_000,
        sha256=uuid.uuid4().hex * 2,
        width=640,
        height=480,
        is_graph=True,
        status=Attachment.Status.STORED,
        storage_name="graph.png",
    )


def make_turn(question: Message, answer: Message, *, has_code_execution: bool) -> Turn:
    """Return an unsaved turn, which has ended."""
    now = timezone.now()
    return Turn(
        conversation=question.conversation,
        user_message=question,
        message=answer,
        status=Turn.Status.DONE,
        provider="gemini",
        model="plotline-demo",
        code_execution=has_code_execution,
        code_reason="It asks for a graph." if has_code_execution else "",
        usage={"prompt": 300, "candidates": 400, "total": 700},
        started_at=now,
        first_part_at=now,
        ended_at=now,
    )
