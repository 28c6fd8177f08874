"""The full-text index. The database updates it in the transaction that writes a text, so it is never stale.

Each shown message and each title has an entry. It holds its words, for the search of staff in all conversations, and
the same words after the id of their owner. A search of one person reads only words that begin with that person's id, so
its cost does not depend on the texts of others.

On PostgreSQL, triggers write the words into a table with GIN indexes. On SQLite, triggers write them into an FTS5 table
and call the SQL function `chat_entry_words` of this module, registered on every connection.

`chat/migrations/_search.py` holds the SQL of a new database.
"""

from __future__ import annotations

from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.backends.signals import connection_created
from django.dispatch import receiver

from chat.models.full_text.words import extract_words

OWNER_MARK = ":"
"""Follows the owner's id. No word contains it."""


def prefix_words(owner_id: int, words: str) -> str:
    """Return words, the result of `extract_words`, each after the id of their owner."""
    return " ".join(f"{owner_id}{OWNER_MARK}{word}" for word in words.split())


def extract_entry_words(owner_id: int, text: str) -> str:
    """Return all words of an entry: those of everyone's search and those of the owner's."""
    words = extract_words(text)
    return f"{words} {prefix_words(owner_id, words)}"


@receiver(connection_created, dispatch_uid="chat.models.full_text.index")
def register_words_function(*, connection: BaseDatabaseWrapper, **_: object) -> None:
    """Register `extract_entry_words` as the SQL function `chat_entry_words` on a new SQLite connection."""
    if connection.vendor == "sqlite":
        connection.connection.create_function("chat_entry_words", 2, extract_entry_words, deterministic=True)
