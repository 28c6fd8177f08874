"""Fills the full-text index again, in many short transactions, for the migrations that change its rules.

On PostgreSQL, a table holds how far an interrupted migration came. On SQLite, a batch that is filled a second time
changes nothing.
"""

from __future__ import annotations

import uuid

from django.db import transaction
from django.db.backends.utils import CursorWrapper

SQLITE_BATCH_ENTRIES = 1_000
"""SQLite keeps what a statement changes in memory until its end."""

POSTGRESQL_BATCH_ENTRIES = 100
"""Others wait for the entries of a transaction. PostgreSQL filled 400 entries a second, beside tests on both cores."""

_PROGRESS = (
    "CREATE TABLE IF NOT EXISTS chat_searchfill (source_id uuid NOT NULL)",
    f"INSERT INTO chat_searchfill SELECT '{uuid.UUID(int=0)}'::uuid WHERE NOT EXISTS (SELECT FROM chat_searchfill)",
)
# Two statements, because each sees what was committed before it began: no text changes between a lock and the filling.
_LOCK = "SELECT source_id FROM chat_searchentry WHERE source_id > %s ORDER BY source_id LIMIT %s FOR UPDATE"
_FILL = """
    UPDATE chat_searchentry entry SET words = chat_entry_words(entry.owner_id, found.text)
    FROM (
        SELECT id, text FROM chat_message WHERE id = ANY(%s) UNION ALL
        SELECT id, title FROM chat_conversation WHERE id = ANY(%s)
    ) found
    WHERE entry.source_id = found.id AND found.text ~ %s
"""


def fill_sqlite(cursor: CursorWrapper, alias: str, statement: str) -> None:
    """Run a statement that fills the entries between two ids, which it takes twice, for all entries."""
    cursor.execute("SELECT coalesce(max(id), 0) FROM chat_searchentry")
    [end] = cursor.fetchone()
    for first in range(1, end + 1, SQLITE_BATCH_ENTRIES):
        batch = (first, first + SQLITE_BATCH_ENTRIES - 1)
        with transaction.atomic(alias):
            cursor.execute(statement, [*batch, *batch])


def fill_postgresql(cursor: CursorWrapper, alias: str, functions: tuple[str, ...], concerned: str = "") -> None:
    """Replace the functions, and fill the entries of the texts that a regular expression finds, by their ids."""
    with transaction.atomic(alias):
        for statement in (*functions, *_PROGRESS):
            cursor.execute(statement)
        cursor.execute("SELECT source_id FROM chat_searchfill")
        sources = [source for (source,) in cursor.fetchall()]
    while sources:
        with transaction.atomic(alias):
            cursor.execute(_LOCK, [sources[-1], POSTGRESQL_BATCH_ENTRIES])
            sources = [source for (source,) in cursor.fetchall()]
            cursor.execute(_FILL, [sources, sources, concerned])
            cursor.execute("UPDATE chat_searchfill SET source_id = %s", sources[-1:] or [uuid.UUID(int=2**128 - 1)])


def end_postgresql(cursor: CursorWrapper) -> None:
    """Forget how far the filling came, after everything else of the migration."""
    cursor.execute("DROP TABLE chat_searchfill")
