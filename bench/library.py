"""A person's library at size: 10,000 conversations, 100,000 messages, one of 1,000 messages and 200 graphs.

Needs Django set up. Only the long conversation has parts and turns: of the others lists and search read nothing more
than titles and texts. Everything is made up, and the same in every run.
"""

from __future__ import annotations

import itertools
import random
import uuid
from collections.abc import Iterator
from dataclasses import dataclass

from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone

from attachments.models import Attachment
from chat.models import Conversation, Message, MessageAttachment, Part, Turn
from chat.parts import OUTCOME_OK, PartKind, Role

CONVERSATIONS = 10_000
MESSAGES = 100_000
LONG_MESSAGES = 1_000
LONG_GRAPHS = 200

#: Found by search: in one message of a hundred, and in one of all.
ENGLISH, GERMAN, CHINESE = "gradient descent", "Primzahlen", "机器学习"
RARE = "zugzwang"

_CHINESE_EVERY = 10
_BATCH = 2_000

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
class Library:
    """Whose it is, and the conversations that are measured."""

    owner: User
    empty: Conversation
    long: Conversation


class Words:
    """Text of made-up words, the first of them in every text and the last in few, as in real languages."""

    def __init__(self) -> None:
        self._random = random.Random(20)
        syllables = [a + b for a in "bcdfghklmnprstvw" for b in ("a", "e", "i", "o", "u", "ein", "ung", "er")]
        latin = ["".join(self._random.choices(syllables, k=self._random.randint(1, 4))) for _ in range(20_000)]
        #: Stands in most texts.
        self.most_common = latin[0]
        han = [chr(0x4E00 + number) for number in range(3_000)]
        self._latin = self._random.choices(latin, [1 / (rank + 1) for rank in range(len(latin))], k=400_000)
        self._han = self._random.choices(han, [1 / (rank + 5) for rank in range(len(han))], k=400_000)

    def text(self, length: int, *, chinese: bool = False) -> str:
        """So many words, or twice as many characters of Chinese."""
        pool, size = (self._han, 2 * length) if chinese else (self._latin, length)
        start = self._random.randrange(len(pool) - size)
        said = ("" if chinese else " ").join(pool[start : start + size])
        if self._random.random() < 0.01:
            said += CHINESE if chinese else f" {ENGLISH} {GERMAN}"
        return said

    def length(self) -> int:
        """Of a message, in words."""
        return self._random.randint(20, 150)


def make_library() -> Library:
    """Into an empty database; takes half a minute."""
    owner, words = User.objects.create(username="reader"), Words()
    with transaction.atomic():
        long = _long_conversation(owner, words)
        others = [
            Conversation(owner=owner, title=words.text(6, chinese=not number % _CHINESE_EVERY)[:200])
            for number in range(CONVERSATIONS - 2)
        ]
        Conversation.objects.bulk_create(others, batch_size=_BATCH)
        messages = _short_messages(others, words)
        while batch := list(itertools.islice(messages, _BATCH)):
            Message.objects.bulk_create(batch)
        Message.objects.filter(conversation=others[len(others) // 2], index=0).update(text=f"What is {RARE}?")
        empty = Conversation.objects.create(owner=owner)
    return Library(owner, empty, long)


def _short_messages(conversations: list[Conversation], words: Words) -> Iterator[Message]:
    """Those of all other conversations, as even as may be."""
    wanted = MESSAGES - LONG_MESSAGES
    for number, conversation in enumerate(conversations):
        before: Message | None = None
        first, last = (wanted * place // len(conversations) for place in (number, number + 1))
        for index in range(last - first):
            text = words.text(words.length(), chinese=not number % _CHINESE_EVERY)
            role = Role.MODEL if index % 2 else Role.USER
            before = Message(conversation=conversation, parent=before, index=index, role=role, text=text)
            yield before


def _long_conversation(owner: User, words: Words) -> Conversation:
    """Questions and answers in Markdown; two answers of five ran code that drew a graph."""
    conversation = Conversation.objects.create(owner=owner, title="A long one")
    messages, parts, turns = [], [], []
    graphs: list[Attachment] = []
    places: list[MessageAttachment] = []
    before: Message | None = None
    for number in range(LONG_MESSAGES // 2):
        question = Message(
            conversation=conversation, parent=before, index=2 * number, role=Role.USER, text=words.text(20)
        )
        answer = Message(conversation=conversation, parent=question, index=2 * number + 1, role=Role.MODEL)
        before = answer
        draws = number % 5 < 5 * LONG_GRAPHS // (LONG_MESSAGES // 2)
        told = [(PartKind.TEXT, _markdown(words))]
        if draws:
            told += [(PartKind.EXECUTABLE_CODE, _CODE), (PartKind.CODE_EXECUTION_RESULT, "done\n")]
            told += [(PartKind.TEXT, words.text(40))]
            graphs.append(_graph(owner))
            places.append(MessageAttachment(message=answer, attachment=graphs[-1], index=0, part_index=2))
        answer.text = "\n[GRAPH:0]\n".join(text for kind, text in told if kind is PartKind.TEXT)
        messages += [question, answer]
        parts.append(Part(message=question, index=0, kind=PartKind.TEXT, text=question.text))
        parts += [
            Part(
                message=answer,
                index=index,
                kind=kind,
                text=text,
                language="PYTHON" if kind is PartKind.EXECUTABLE_CODE else "",
                outcome=OUTCOME_OK if kind is PartKind.CODE_EXECUTION_RESULT else "",
            )
            for index, (kind, text) in enumerate(told)
        ]
        turns.append(_turn(conversation, question, answer, code_execution=draws))
    Message.objects.bulk_create(messages)
    Turn.objects.bulk_create(turns)
    Part.objects.bulk_create(parts)
    Attachment.objects.bulk_create(graphs)
    MessageAttachment.objects.bulk_create(places)
    return conversation


def _markdown(words: Words) -> str:
    """Three paragraphs, a list, a table and a formula's worth of code."""
    rows = "\n".join(f"| {words.text(2)} | {number} |" for number in range(5))
    items = "\n".join(f"- **{words.text(1)}** {words.text(8)}" for _ in range(4))
    return (
        f"## {words.text(4)}\n\n{words.text(50)}\n\n{items}\n\n{words.text(40)}\n\n| a | b |\n| --- | --- |\n{rows}\n\n"
        f"```python\n{_CODE}```\n\n{words.text(30)}\n"
    )


def _graph(owner: User) -> Attachment:
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


def _turn(conversation: Conversation, question: Message, answer: Message, *, code_execution: bool) -> Turn:
    now = timezone.now()
    return Turn(
        conversation=conversation,
        user_message=question,
        message=answer,
        status=Turn.Status.DONE,
        provider="gemini",
        model="plotline-demo",
        code_execution=code_execution,
        code_reason="It asks for a graph." if code_execution else "",
        usage={"prompt": 300, "candidates": 400, "total": 700},
        started_at=now,
        first_part_at=now,
        ended_at=now,
    )
