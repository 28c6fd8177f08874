"""The full-text index. The database updates it in the transaction that writes a text, so it is never stale.

Each shown message and each title has an entry. It holds the words and signed words of the text, for the search of staff
in all conversations. It also holds each of these words with the owner's id before it. A search of one person reads only
words that begin with that person's id, so its cost does not depend on the texts of others.

On PostgreSQL, triggers write the words into a table with GIN indexes, one of them for titles alone. On SQLite, triggers
write them into an FTS5 table and call the SQL functions `chat_entry_words` and `chat_title_words` of this module,
registered on every connection. There, titles also have words that begin with the owner's id and `TITLE_MARK`.

`chat/migrations/_search.py` and `_signed_search.py` hold the SQL of a new database.
"""

from __future__ import annotations

from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.backends.signals import connection_created
from django.dispatch import receiver

from chat.models.full_text.words import extract_index_words

OWNER_MARK, TITLE_MARK = ":", ";"
"""One of these characters follows the owner's id in an indexed word."""


def prefix_words(owner_id: int, words: str, mark: str = OWNER_MARK) -> str:
    """Return the words with the owner's id and the mark before each. `words`: separated by single spaces."""
    prefix = f"{owner_id}{mark}"
    return words and prefix + words.replace(" ", f" {prefix}")


def extract_entry_words(owner_id: int, text: str) -> str:
    """Return all words of a message's entry: those for the search of staff and those for the owner's search."""
    words = extract_index_words(text)
    return f"{words} {prefix_words(owner_id, words)}"


def extract_title_words(owner_id: int, title: str) -> str:
    """Return all words of a title's entry: the words that a message has, and those for the search in titles."""
    words = extract_index_words(title)
    return f"{words} {prefix_words(owner_id, words)} {prefix_words(owner_id, words, TITLE_MARK)}"


@receiver(connection_created, dispatch_uid="chat.models.full_text.index")
def register_words_functions(*, connection: BaseDatabaseWrapper, **_: object) -> None:
    """Register the SQL functions `chat_entry_words` and `chat_title_words` on a new SQLite connection."""
    if connection.vendor == "sqlite":
        for name, function in (("chat_entry_words", extract_entry_words), ("chat_title_words", extract_title_words)):
            connection.connection.create_function(name, 2, function, deterministic=True)
