"""A large account: 10,000 conversations with 100,000 messages, one of them with 1,000 messages and 200 graphs.

Each of the others but an empty one has one graph, and is in one of 500 projects, of which one has half of them. Only
the long conversation has parts, because no page of another one is measured. The texts are generated, and they are the
same in every run.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass

from django.db import transaction

from attachments.models import Attachment
from bench.generated_text import TextGenerator
from bench.long_conversation import make_graph, make_long_conversation, make_turn
from chat.models import Conversation, Message, MessageAttachment, Project, Turn, User
from chat.models.projects import PROJECTS_LIMIT
from chat.vocabulary.parts import Role

CONVERSATIONS = 10_000
MESSAGES = 100_000
LONG_MESSAGES = 1_000
LONG_GRAPHS = 200

#: A search term that occurs in one message.
RARE_WORD = "zugzwang"

#: One conversation of as many is in Chinese.
_CHINESE_EVERY = 10

_BATCH_ROWS = 2_000


@dataclass(frozen=True, slots=True)
class PageDataset:
    """The owner of the account, and what the requests need."""

    owner: User
    empty: Conversation
    long: Conversation
    project: Project
    """The project with half of the conversations."""
    most_common_word: str


def make_dataset() -> PageDataset:
    """Fill an empty database, which takes half a minute."""
    owner, texts = User.objects.create(username="reader"), TextGenerator()
    with transaction.atomic():
        long = make_long_conversation(owner, texts, LONG_MESSAGES, graphs=LONG_GRAPHS)
        projects = [Project(owner=owner, name=texts.generate(3)[:200]) for _ in range(PROJECTS_LIMIT)]
        Project.objects.bulk_create(projects)
        others = [
            Conversation(
                owner=owner,
                title=texts.generate(6, is_chinese=not number % _CHINESE_EVERY)[:200],
                project=projects[0 if number % 2 else number // 2 % PROJECTS_LIMIT],
            )
            for number in range(CONVERSATIONS - 2)
        ]
        Conversation.objects.bulk_create(others, batch_size=_BATCH_ROWS)
        messages = _generate_short_messages(others, texts)
        while batch := list(itertools.islice(messages, _BATCH_ROWS)):
            Message.objects.bulk_create(batch)
        Message.objects.filter(conversation=others[len(others) // 2], index=0).update(text=f"What is {RARE_WORD}?")
        _add_graphs(long)
        empty = Conversation.objects.create(owner=owner)
    return PageDataset(owner, empty, long, projects[0], texts.most_common_word)


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


def _add_graphs(long: Conversation) -> None:
    """Add a turn with a graph to the first answer of each conversation but the long one."""
    answers = Message.objects.filter(index=1).exclude(conversation=long).select_related("conversation", "parent")
    turns, graphs, links = [], [], []
    for answer in answers:
        if answer.parent is not None:
            turns.append(make_turn(answer.conversation, answer.parent, answer, has_code_execution=True))
            graphs.append(make_graph(long.owner))
            links.append(MessageAttachment(message=answer, attachment=graphs[-1], index=0))
    Turn.objects.bulk_create(turns, batch_size=_BATCH_ROWS)
    Attachment.objects.bulk_create(graphs, batch_size=_BATCH_ROWS)
    MessageAttachment.objects.bulk_create(links, batch_size=_BATCH_ROWS)
