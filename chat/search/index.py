"""The full-text index. The database updates it in the transaction that writes a text, so it is never stale.

On PostgreSQL the index consists of generated `words` columns of messages and conversations, with GIN indexes; a query
filters the shown messages. On SQLite it is an FTS5 table that holds only the shown messages. Triggers fill it, and call
the SQL function `chat_words`, which is `extract_words` of this package, registered on every connection.

The migration `0003_search_index` holds the SQL.
"""

from __future__ import annotations

from django.db.backends.base.base import BaseDatabaseWrapper

from chat.search.words import extract_words


def register_words_function(*, connection: BaseDatabaseWrapper, **_: object) -> None:
    """Register `extract_words` as the SQL function `chat_words` on a new SQLite connection.

    This is a receiver of Django's `connection_created` signal.
    """
    if connection.vendor == "sqlite":
        connection.connection.create_function("chat_words", 1, extract_words, deterministic=True)
