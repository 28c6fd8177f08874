"""An export holds a few messages and one attachment in memory, however long the conversation is."""

from __future__ import annotations

import random
import tracemalloc
import uuid
from collections.abc import Iterator
from itertools import islice

import pytest

from attachments.models import Attachment
from chat.library.exports import source
from chat.library.exports.registry import FORMATS
from chat.messages.records import MessageRecord, records_in_order
from chat.models import Conversation, Message, Part, Turn
from chat.vocabulary.parts import CodeExecutionResult, Display, PartKind
from tests.chat.library.exports.samples import add_parts, exported, exported_bytes
from tests.factories import make_attachment, make_conversation, make_model_message

GRAPHS = 30
GRAPH_BYTES = 500_000
TEXT_CHARS = 2_000
MEMORY_LIMIT_BYTES = 5_000_000


def long_conversation() -> Conversation:
    """Return a conversation with 15 MB of graphs and some text."""
    conversation = make_conversation(title="Long")
    random_source = random.Random(20261121)
    parent = None
    for number in range(GRAPHS):
        question = Message.objects.create(
            conversation=conversation, parent=parent, index=2 * number, role="user", text="word " * (TEXT_CHARS // 5)
        )
        parent = Message.objects.create(
            conversation=conversation, parent=question, index=2 * number + 1, role="model", text="word " * 1000
        )
        Part.objects.create(message=parent, index=0, kind=PartKind.TEXT, text="word " * (TEXT_CHARS // 5))
        Turn.objects.create(
            conversation=conversation,
            user_message=question,
            message=parent,
            status="done",
            provider="gemini",
            model="m",
        )
        graph = make_attachment(
            conversation.owner, data=b"\x89PNG\r\n\x1a\n" + random_source.randbytes(GRAPH_BYTES), is_graph=True
        )
        parent.message_attachments.create(attachment=graph, index=0, part_index=0)
    return conversation


@pytest.mark.django_db
def test_outputs_and_displays_count_towards_the_size_of_a_batch_of_messages(monkeypatch: pytest.MonkeyPatch) -> None:
    conversation = make_conversation()
    answers = [make_model_message(conversation) for _ in range(2)]
    add_parts(answers[0], CodeExecutionResult("x" * source.BATCH_CHARS))
    add_parts(answers[1], Display({"text/html": "x" * source.BATCH_CHARS}))
    read: list[int] = []

    def count(ids: list[uuid.UUID]) -> Iterator[MessageRecord]:
        read.append(len(ids))
        return records_in_order(ids)

    monkeypatch.setattr(source, "records_in_order", count)
    assert exported_bytes(conversation, "md")
    assert read == [2, 2]


@pytest.mark.drill
@pytest.mark.django_db
def test_long_export_needs_little_memory() -> None:
    conversation = long_conversation()
    assert Attachment.objects.count() == GRAPHS
    # A PDF and a document of Word are made as a whole, and have limits.
    for format_name in FORMATS.keys() - {"pdf", "docx"}:
        # The first chunks load templates and modules, which stay in memory and do not count.
        assert any(islice(exported(conversation, format_name).chunks, 20, 21))
        tracemalloc.start()
        size_bytes = sum(len(chunk) for chunk in exported(conversation, format_name).chunks)
        _, peak_bytes = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert size_bytes > GRAPHS * GRAPH_BYTES
        assert peak_bytes < MEMORY_LIMIT_BYTES, (format_name, peak_bytes)
