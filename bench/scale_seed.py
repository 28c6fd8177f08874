"""Fills a database with messages: `python -m bench.with_django bench.scale_seed CONVERSATIONS`.

Few owners have 3,000 conversations, the others 10. The conversations of all owners are mixed, and each has 10 messages,
but the oldest one of two owners has 1,000. The texts are the same in every run. Foreign keys are not checked, and rows
are copied into PostgreSQL, for speed.
"""

from __future__ import annotations

import json
import random
import uuid
from collections.abc import Sequence
from datetime import datetime
from typing import TypeAlias

from django.db import connection, transaction
from django.db.models import Model
from django.utils import timezone

from attachments.models import Attachment
from bench.generated_text import RARE_WORD, TextGenerator
from chat.models import Conversation, Message, MessageAttachment, Part, Round, Turn, User

MESSAGES = 10
"""Number of messages of a conversation."""
LONG = 1_000
"""Number of messages of a long conversation."""
LARGE_OWNERS, LARGE, SMALL = 5, 3_000, 10
"""Number of owners with many conversations; their number of conversations, and that of other owners."""
GRAPH_EVERY = 50
"""One of so many answers has a graph."""

_BATCH_CONVERSATIONS = 500

_POSTGRESQL_INDEX = """
    INSERT INTO chat_searchentry (source_id, conversation_id, owner_id, words)
    SELECT message.id, conversation_id, owner_id, chat_entry_words(owner_id, text)
    FROM chat_message message JOIN chat_conversation conversation ON conversation.id = conversation_id
    UNION ALL SELECT id, id, owner_id, chat_entry_words(owner_id, title) FROM chat_conversation
"""


Value: TypeAlias = str | int | datetime | None


class Table:
    """Collects rows of a model. Columns without a value get the default of their field."""

    def __init__(self, model: type[Model], /, **values: object) -> None:
        self._name = model._meta.db_table
        fields = [field for field in model._meta.concrete_fields if field.get_internal_type() != "BigAutoField"]
        self._positions = {field.column: position for position, field in enumerate(fields)}
        example = model(**values)
        self._defaults: list[Value] = [
            field.get_db_prep_save(field.pre_save(example, True), connection) for field in fields
        ]
        self._rows: list[list[Value]] = []

    def add(self, **values: Value) -> None:
        """Add a row. The values have the form that the database driver expects."""
        row = self._defaults.copy()
        for column, value in values.items():
            row[self._positions[column]] = value
        self._rows.append(row)

    def write(self) -> None:
        """Insert the rows and empty the list."""
        names = ", ".join(f'"{column}"' for column in self._positions)
        with connection.cursor() as cursor:
            if connection.vendor == "postgresql":
                with cursor.copy(f'COPY "{self._name}" ({names}) FROM STDIN') as copy:
                    for row in self._rows:
                        copy.write_row(row)
            elif self._rows:
                marks = ", ".join(["%s"] * len(self._positions))
                cursor.executemany(f'INSERT INTO "{self._name}" ({names}) VALUES ({marks})', self._rows)
        self._rows.clear()


class Seed:
    """Makes owners and their conversations."""

    def __init__(self) -> None:
        self._texts = TextGenerator()
        now = timezone.now()
        self._conversations = Table(Conversation)
        self._messages = Table(Message)
        self._parts = Table(Part, kind="text")
        self._turns = Table(
            Turn,
            status="done",
            provider="gemini",
            model="plotline-demo",
            code_execution=True,
            usage={"prompt": 300, "candidates": 400, "total": 700},
            started_at=now,
            first_part_at=now,
            ended_at=now,
        )
        self._rounds = Table(
            Round,
            index=0,
            usage={"prompt": 300, "candidates": 400, "total": 700},
            finish="stop",
            finish_reason="STOP",
        )
        self._attachments = Table(
            Attachment,
            name="graph.png",
            mime_type="image/png",
            size_bytes=40_000,
            sha256="0" * 64,
            width=640,
            height=480,
            is_graph=True,
            status="stored",
            storage_name="graph.png",
        )
        self._placed = Table(MessageAttachment, index=0, part_index=0)
        self._answers = 0

    def fill(self, conversations: int) -> dict[str, str]:
        """Create owners and conversations, and return the names that the measurement needs."""
        large = min(LARGE, conversations // (2 * LARGE_OWNERS))
        small_owners = (conversations - large * LARGE_OWNERS) // SMALL
        names = [f"large-{number}" for number in range(LARGE_OWNERS)]
        names += [f"small-{number}" for number in range(small_owners)]
        owners = [user.pk for user in User.objects.bulk_create(User(username=name) for name in names)]
        order = owners[:LARGE_OWNERS] * large + owners[LARGE_OWNERS:] * SMALL
        random.Random(20).shuffle(order)
        # One owner of each kind has a long conversation, the oldest, and the rare word in the middle one.
        positions = [_positions_of(owner, order) for owner in (owners[0], owners[-1])]
        rare, long = {own[len(own) // 2] for own in positions}, {own[0] for own in positions}
        for number, owner in enumerate(order):
            messages = LONG if number in long else MESSAGES
            self._add_conversation(owner, messages, f" {RARE_WORD}" if number in rare else "")
            if number % _BATCH_CONVERSATIONS == 0 or number == len(order) - 1:
                self._write()
        return {"large": names[0], "small": names[-1], "common": self._texts.most_common_word}

    def _add_conversation(self, owner: int, messages: int, ending: str) -> None:
        conversation, previous = uuid.uuid4().hex, None
        now = connection.ops.adapt_datetimefield_value(timezone.now())
        self._conversations.add(id=conversation, owner_id=owner, title=self._texts.generate(6)[:200], updated_at=now)
        for index in range(messages):
            text = self._texts.generate(self._texts.choose_message_length()) + ("" if index else ending)
            message, role = uuid.uuid4().hex, ("model" if index % 2 else "user")
            own: dict[str, Value] = {"id": message, "index": index, "role": role, "text": text, "created_at": now}
            self._messages.add(conversation_id=conversation, parent_id=previous, **own)
            self._parts.add(message_id=message, index=0, text=text)
            if index % 2:
                turn = uuid.uuid4().hex
                self._turns.add(
                    id=turn,
                    conversation_id=conversation,
                    user_message_id=previous,
                    message_id=message,
                    created_at=now,
                )
                self._rounds.add(turn_id=turn)
                self._answers += 1
                if self._answers % GRAPH_EVERY == 0:
                    graph = uuid.uuid4().hex
                    self._attachments.add(id=graph, owner_id=owner)
                    self._placed.add(message_id=message, attachment_id=graph)
            previous = message

    def _write(self) -> None:
        for table in (
            self._conversations,
            self._messages,
            self._parts,
            self._turns,
            self._rounds,
            self._attachments,
            self._placed,
        ):
            table.write()


def _positions_of(owner: int, order: Sequence[int]) -> list[int]:
    return [number for number, one in enumerate(order) if one == owner]


def main(conversations: str) -> None:
    """Fill the database and print the names that the measurement needs, as JSON."""
    with connection.cursor() as cursor:
        is_sqlite = connection.vendor == "sqlite"
        cursor.execute("PRAGMA foreign_keys = OFF" if is_sqlite else "SET session_replication_role = replica")
        with transaction.atomic():
            names = Seed().fill(int(conversations))
        if not is_sqlite:
            # The triggers that write the search index are off together with those of the foreign keys, so it is built
            # here.
            cursor.execute(_POSTGRESQL_INDEX)
            # PostgreSQL does this by itself after some time. For SQLite, no process does it.
            cursor.execute("VACUUM ANALYZE")
    print(json.dumps(names))
