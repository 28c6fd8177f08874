"""A conversation of any length, with turns, parts and graphs, for the page benchmarks."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field

from django.utils import timezone

from attachments.models import Attachment
from bench.generated_text import TextGenerator
from chat.models import Conversation, Message, MessageAttachment, Part, Turn, User
from chat.vocabulary.parts import OUTCOME_OK, JSONObject, PartKind, Role

_BATCH_ROWS = 2_000

_CODE = """\
import numpy as np
import matplotlib.pyplot as plt

x = np.linspace(0, 10, 500)
for phase in (0, 1, 2):
    plt.plot(x, np.sin(x + phase), label=f"phase {phase}")
plt.legend()
plt.show()
"""


@dataclass(slots=True)
class _Rows:
    """Unsaved rows of the long conversation."""

    messages: list[Message] = field(default_factory=list)
    turns: list[Turn] = field(default_factory=list)
    parts: list[Part] = field(default_factory=list)
    graphs: list[Attachment] = field(default_factory=list)
    message_attachments: list[MessageAttachment] = field(default_factory=list)

    def save(self) -> None:
        Message.objects.bulk_create(self.messages, batch_size=_BATCH_ROWS)
        Turn.objects.bulk_create(self.turns, batch_size=_BATCH_ROWS)
        Part.objects.bulk_create(self.parts, batch_size=_BATCH_ROWS)
        Attachment.objects.bulk_create(self.graphs, batch_size=_BATCH_ROWS)
        MessageAttachment.objects.bulk_create(self.message_attachments, batch_size=_BATCH_ROWS)


def make_long_conversation(owner: User, texts: TextGenerator, messages: int, *, graphs: int) -> Conversation:
    """Create `messages` questions and answers in Markdown; `graphs` answers ran code that drew a graph."""
    conversation = Conversation.objects.create(owner=owner, title="A long one")
    rows = _Rows()
    answers = messages // 2
    previous: Message | None = None
    for number in range(answers):
        question = Message(
            conversation=conversation, parent=previous, index=2 * number, role=Role.USER, text=texts.generate(20)
        )
        answer = Message(conversation=conversation, parent=question, index=2 * number + 1, role=Role.MODEL)
        previous = answer
        has_graph = number % 5 < 5 * graphs // answers
        contents = [(PartKind.TEXT, _generate_markdown(texts))]
        if has_graph:
            contents += [(PartKind.EXECUTABLE_CODE, _CODE), (PartKind.CODE_EXECUTION_RESULT, "done\n")]
            contents += [(PartKind.TEXT, texts.generate(40))]
            graph = make_graph(owner)
            rows.graphs.append(graph)
            rows.message_attachments.append(MessageAttachment(message=answer, attachment=graph, index=0, part_index=2))
        answer.text = "\n[GRAPH:0]\n".join(text for kind, text in contents if kind is PartKind.TEXT)
        rows.messages += [question, answer]
        rows.parts.append(Part(message=question, index=0, kind=PartKind.TEXT, text=question.text))
        rows.parts += [_make_part(answer, index, kind, text) for index, (kind, text) in enumerate(contents)]
        rows.turns.append(make_turn(conversation, question, answer, has_code_execution=has_graph))
    rows.save()
    return conversation


def _generate_markdown(texts: TextGenerator) -> str:
    """Return Markdown with a heading, three paragraphs, a list, a table and a code block."""
    rows = "\n".join(f"| {texts.generate(2)} | {number} |" for number in range(5))
    items = "\n".join(f"- **{texts.generate(1)}** {texts.generate(8)}" for _ in range(4))
    return (
        f"## {texts.generate(4)}\n\n{texts.generate(50)}\n\n{items}\n\n{texts.generate(40)}\n\n"
        f"| a | b |\n| --- | --- |\n{rows}\n\n```python\n{_CODE}```\n\n{texts.generate(30)}\n"
    )


_PART_DATA: Mapping[PartKind, JSONObject] = {
    PartKind.EXECUTABLE_CODE: {"language": "PYTHON"},
    PartKind.CODE_EXECUTION_RESULT: {"outcome": OUTCOME_OK},
}
"""Fields of parts besides their text."""


def _make_part(message: Message, index: int, kind: PartKind, text: str) -> Part:
    return Part(
        message=message,
        index=index,
        kind=kind,
        text=text,
        data=_PART_DATA.get(kind, {}),
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


def make_turn(conversation: Conversation, question: Message, answer: Message, *, has_code_execution: bool) -> Turn:
    """Return an unsaved turn, which has ended."""
    now = timezone.now()
    return Turn(
        conversation=conversation,
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
