"""An export holds a few messages and one attachment, however long the conversation is."""

from __future__ import annotations

import random
import tracemalloc
from itertools import islice

import pytest

from attachments.models import Attachment
from chat.models import Conversation, Message, Part, Turn
from chat.parts import PartKind
from tests.chat.exports.building import exported
from tests.factories import make_attachment, make_conversation

GRAPHS = 30
GRAPH_BYTES = 500_000
TEXT_CHARS = 2_000
HELD_LIMIT_BYTES = 5_000_000


def long_conversation() -> Conversation:
    """15 MB of graphs, and some text."""
    conversation = make_conversation(title="Long")
    chance = random.Random(20261121)
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
            conversation.owner, data=b"\x89PNG\r\n\x1a\n" + chance.randbytes(GRAPH_BYTES), is_graph=True
        )
        parent.message_attachments.create(attachment=graph, index=0, part_index=0)
    return conversation


@pytest.mark.django_db
def test_long_export_holds_little_at_once() -> None:
    conversation = long_conversation()
    assert Attachment.objects.count() == GRAPHS
    for format_name in ("json", "md", "html", "ipynb", "zip"):
        # What is loaded once, such as templates, counts for nothing.
        assert any(islice(exported(conversation, format_name).chunks, 20, 21))
        tracemalloc.start()
        size_bytes = sum(len(chunk) for chunk in exported(conversation, format_name).chunks)
        _, held_bytes = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert size_bytes > GRAPHS * GRAPH_BYTES
        assert held_bytes < HELD_LIMIT_BYTES, (format_name, held_bytes)
