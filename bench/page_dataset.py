"""A large account: 10,000 conversations with 100,000 messages, one of them with 1,000 messages and 200 graphs.

Only the long conversation has parts and turns, because lists and search read only titles and texts. The texts
are generated, and they are the same in every run.
"""

from __future__ import annotations

import itertools
import random
import uuid
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from django.db import transaction
from django.utils import timezone

from attachments.models import Attachment
from chat.models import Conversation, Message, MessageAttachment, Part, Turn, User
from chat.parts import OUTCOME_OK, JSONObject, PartKind, Role

CONVERSATIONS = 10_000
MESSAGES = 100_000
LONG_MESSAGES = 1_000
LONG_GRAPHS = 200

#: Search terms that occur in one message of a hundred.
ENGLISH, GERMAN, CHINESE = "gradient descent", "Primzahlen", "机器学习"

#: A search term that occurs in one message.
RARE_WORD = "zugzwang"

#: One conversation of as many is in Chinese.
_CHINESE_EVERY = 10

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


@dataclass(frozen=True, slots=True)
class PageDataset:
    """The owner of the account, and what the requests need."""

    owner: User
    empty: Conversation
    long: Conversation
    most_common_word: str


class TextGenerator:
    """Generates texts of invented words, whose frequencies fall with their rank as in natural languages."""

    def __init__(self) -> None:
        self._random = random.Random(20)
        syllables = [a + b for a in "bcdfghklmnprstvw" for b in ("a", "e", "i", "o", "u", "ein", "ung", "er")]
        latin = ["".join(self._random.choices(syllables, k=self._random.randint(1, 4))) for _ in range(20_000)]
        self.most_common_word = latin[0]
        han = [chr(0x4E00 + number) for number in range(3_000)]
        self._latin = self._random.choices(latin, [1 / (rank + 1) for rank in range(len(latin))], k=400_000)
        self._han = self._random.choices(han, [1 / (rank + 5) for rank in range(len(han))], k=400_000)

    def generate(self, length: int, *, is_chinese: bool = False) -> str:
        """Return a text of `length` words, or of twice as many Chinese characters."""
        pool, size = (self._han, 2 * length) if is_chinese else (self._latin, length)
        start = self._random.randrange(len(pool) - size)
        text = ("" if is_chinese else " ").join(pool[start : start + size])
        if self._random.random() < 0.01:
            text += CHINESE if is_chinese else f" {ENGLISH} {GERMAN}"
        return text

    def choose_message_length(self) -> int:
        """Return a random number of words."""
        return self._random.randint(20, 150)


def make_dataset() -> PageDataset:
    """Fill an empty database, which takes half a minute."""
    owner, texts = User.objects.create(username="reader"), TextGenerator()
    with transaction.atomic():
        long = _make_long_conversation(owner, texts)
        others = [
            Conversation(owner=owner, title=texts.generate(6, is_chinese=not number % _CHINESE_EVERY)[:200])
            for number in range(CONVERSATIONS - 2)
        ]
        Conversation.objects.bulk_create(others, batch_size=_BATCH_ROWS)
        messages = _generate_short_messages(others, texts)
        while batch := list(itertools.islice(messages, _BATCH_ROWS)):
            Message.objects.bulk_create(batch)
        Message.objects.filter(conversation=others[len(others) // 2], index=0).update(text=f"What is {RARE_WORD}?")
        empty = Conversation.objects.create(owner=owner)
    return PageDataset(owner, empty, long, texts.most_common_word)


def _generate_short_messages(conversations: list[Conversation], texts: TextGenerator) -> Iterator[Message]:
    """Yield the messages of the other conversations, distributed as evenly as possible."""
    total = MESSAGES - LONG_MESSAGES
    for number, conversation in enumerate(conversations):
        parent: Message | None = None
        first, last = (total * position // len(conversations) for position in (number, number + 1))
        for index in range(last - first):
            text = texts.generate(texts.choose_message_length(), is_chinese=not number % _CHINESE_EVERY)
            role = Role.MODEL if index % 2 else Role.USER
            parent = Message(conversation=conversation, parent=parent, index=index, role=role, text=text)
            yield parent


@dataclass(slots=True)
class _Rows:
    """Unsaved rows of the long conversation."""

    messages: list[Message] = field(default_factory=list)
    turns: list[Turn] = field(default_factory=list)
    parts: list[Part] = field(default_factory=list)
    graphs: list[Attachment] = field(default_factory=list)
    message_attachments: list[MessageAttachment] = field(default_factory=list)

    def save(self) -> None:
        Message.objects.bulk_create(self.messages)
        Turn.objects.bulk_create(self.turns)
        Part.objects.bulk_create(self.parts)
        Attachment.objects.bulk_create(self.graphs)
        MessageAttachment.objects.bulk_create(self.message_attachments)


def _make_long_conversation(owner: User, texts: TextGenerator) -> Conversation:
    """Create questions and answers in Markdown. Two of five answers ran code that drew a graph."""
    conversation = Conversation.objects.create(owner=owner, title="A long one")
    rows = _Rows()
    previous: Message | None = None
    for number in range(LONG_MESSAGES // 2):
        question = Message(
            conversation=conversation, parent=previous, index=2 * number, role=Role.USER, text=texts.generate(20)
        )
        answer = Message(conversation=conversation, parent=question, index=2 * number + 1, role=Role.MODEL)
        previous = answer
        has_graph = number % 5 < 5 * LONG_GRAPHS // (LONG_MESSAGES // 2)
        contents = [(PartKind.TEXT, _generate_markdown(texts))]
        if has_graph:
            contents += [(PartKind.EXECUTABLE_CODE, _CODE), (PartKind.CODE_EXECUTION_RESULT, "done\n")]
            contents += [(PartKind.TEXT, texts.generate(40))]
            graph = _make_graph(owner)
            rows.graphs.append(graph)
            rows.message_attachments.append(MessageAttachment(message=answer, attachment=graph, index=0, part_index=2))
        answer.text = "\n[GRAPH:0]\n".join(text for kind, text in contents if kind is PartKind.TEXT)
        rows.messages += [question, answer]
        rows.parts.append(Part(message=question, index=0, kind=PartKind.TEXT, text=question.text))
        rows.parts += [_make_part(answer, index, kind, text) for index, (kind, text) in enumerate(contents)]
        rows.turns.append(_make_turn(conversation, question, answer, has_code_execution=has_graph))
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


def _make_graph(owner: User) -> Attachment:
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


def _make_turn(conversation: Conversation, question: Message, answer: Message, *, has_code_execution: bool) -> Turn:
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
