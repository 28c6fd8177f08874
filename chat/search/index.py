"""The index in the database's own terms: kept by the database in the transaction that writes, so it is never stale.

PostgreSQL: generated columns, `words`, of messages and titles. SQLite: a table of FTS5 beside them, filled by triggers
that call `words` of this package, which every connection of Django's knows. What is indexed there is what is in view;
PostgreSQL asks for that when it searches.

SQLite drops the triggers of a table that a migration remakes, and says nothing; a test sees that they stand after the
last migration. One that fails it calls `restore_triggers` at its end.
"""

from __future__ import annotations

from django.db.backends.base.base import BaseDatabaseWrapper

from chat.search.words import ACCENTS, SEARCHED_CHARS, UNSPACED, words

# --- SQLite --------------------------------------------------------------------------------------------------------

# Numbers of its own: SQLite changes implicit ones when it is vacuumed. A title's source is its conversation.
SQLITE_TABLES = (
    """
    CREATE TABLE chat_searchentry (
        id integer PRIMARY KEY, conversation_id char(32) NOT NULL, source_id char(32) NOT NULL UNIQUE
    )
    """,
    # The words hold nothing but letters and digits: what this tokenizer does to them is part them at blanks.
    "CREATE VIRTUAL TABLE chat_searchwords USING fts5(words, tokenize = 'ascii')",
)

_FORGET = """
    DELETE FROM chat_searchwords WHERE rowid = (SELECT id FROM chat_searchentry WHERE source_id = old.id);
    DELETE FROM chat_searchentry WHERE source_id = old.id;
"""
_LEARN = """
    INSERT INTO chat_searchentry (conversation_id, source_id) SELECT {conversation}, new.id WHERE {is_searched};
    INSERT INTO chat_searchwords (rowid, words)
        SELECT id, chat_words(new.{column}) FROM chat_searchentry WHERE source_id = new.id;
"""


def _triggers(table: str, column: str, conversation: str, is_searched: str, deciding: tuple[str, ...]) -> list[str]:
    """`is_searched`: a condition on `new`; `deciding`: the columns whose change is one of what is found."""
    learn = _LEARN.format(column=column, conversation=conversation, is_searched=is_searched)
    changed = " OR ".join(f"old.{name} IS NOT new.{name}" for name in deciding)
    bodies = {
        # What an answer begins as, an empty text, costs nothing.
        "insert": f"AFTER INSERT ON {table} WHEN {is_searched} BEGIN {learn} END",
        "update": f"AFTER UPDATE OF {', '.join(deciding)} ON {table} WHEN {changed} BEGIN {_FORGET} {learn} END",
        "delete": f"AFTER DELETE ON {table} BEGIN {_FORGET} END",
    }
    return [f"CREATE TRIGGER IF NOT EXISTS {table}_search_{event} {body}" for event, body in bodies.items()]


SQLITE_TRIGGERS = (
    *_triggers("chat_message", "text", "new.conversation_id", "new.is_shown AND new.text <> ''", ("text", "is_shown")),
    *_triggers("chat_conversation", "title", "new.id", "new.title <> ''", ("title",)),
)

SQLITE_FILL = (
    """
    INSERT INTO chat_searchentry (conversation_id, source_id)
    SELECT conversation_id, id FROM chat_message WHERE is_shown AND text <> ''
    UNION ALL SELECT id, id FROM chat_conversation WHERE title <> ''
    """,
    """
    INSERT INTO chat_searchwords (rowid, words)
    SELECT entry.id, chat_words(coalesce(message.text, conversation.title)) FROM chat_searchentry entry
    LEFT JOIN chat_message message ON message.id = entry.source_id
    LEFT JOIN chat_conversation conversation ON conversation.id = entry.source_id
    """,
)

SQLITE_DROP = (
    *(
        f"DROP TRIGGER {table}_search_{event}"
        for table in ("chat_message", "chat_conversation")
        for event in ("insert", "update", "delete")
    ),
    "DROP TABLE chat_searchwords",
    "DROP TABLE chat_searchentry",
)

# --- PostgreSQL ----------------------------------------------------------------------------------------------------

# Its parser would take `numpy.random` for a host and `a/b` for a path.
_BLANKED = r"regexp_replace({text}, '[\x01-\x1f!-/:-@\[-`{{-\x7f]+', ' ', 'g')"
_FOLDED = f"left(normalize(regexp_replace(normalize(bare, NFKD), '[{ACCENTS}]+', '', 'g'), NFKC), {SEARCHED_CHARS})"

POSTGRESQL_CREATE = (
    # `words` in SQL, but for case, which a tsvector has none of. Most texts have ASCII alone, and cost little.
    rf"""
    CREATE FUNCTION chat_words(said text) RETURNS text LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
        SELECT CASE WHEN octet_length(bare) = length(bare) THEN {_BLANKED.format(text="bare")}
        ELSE regexp_replace(
            {_BLANKED.format(text=f"replace(replace({_FOLDED}, 'ß', 'ss'), 'ẞ', 'ss')")}, '([{UNSPACED}])', ' \1 ', 'g'
        ) END
        FROM (SELECT left(regexp_replace(said, '\[(GRAPH|IMAGE):[0-9]+\]', ' ', 'g'), {SEARCHED_CHARS}) AS bare) cut
    $$
    """,
    # A phrase as text ends with its last word: what follows makes that one a prefix.
    """
    CREATE FUNCTION chat_query(term text, is_prefix boolean) RETURNS tsquery LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
        SELECT CASE WHEN is_prefix AND phrase::text <> '' THEN (phrase::text || ':*')::tsquery ELSE phrase END
        FROM (SELECT phraseto_tsquery('simple', chat_words(term)) AS phrase) AS asked
    $$
    """,
    *(
        statement
        for table, column in (("chat_message", "text"), ("chat_conversation", "title"))
        for statement in (
            f"ALTER TABLE {table} ADD COLUMN words tsvector"
            f" GENERATED ALWAYS AS (to_tsvector('simple', chat_words({column}))) STORED",
            f"CREATE INDEX {table}_words ON {table} USING gin (words)",
        )
    ),
)
POSTGRESQL_DROP = (
    "ALTER TABLE chat_message DROP COLUMN words",
    "ALTER TABLE chat_conversation DROP COLUMN words",
    "DROP FUNCTION chat_query",
    "DROP FUNCTION chat_words",
)

# --- both ----------------------------------------------------------------------------------------------------------

CREATE = {"sqlite": (*SQLITE_TABLES, *SQLITE_FILL, *SQLITE_TRIGGERS), "postgresql": POSTGRESQL_CREATE}
DROP = {"sqlite": SQLITE_DROP, "postgresql": POSTGRESQL_DROP}


def create(connection: BaseDatabaseWrapper) -> None:
    """Make the index and fill it with what is there."""
    _execute(connection, CREATE[connection.vendor])


def drop(connection: BaseDatabaseWrapper) -> None:
    """Take it away."""
    _execute(connection, DROP[connection.vendor])


def restore_triggers(connection: BaseDatabaseWrapper) -> None:
    """Put back the triggers of a table that SQLite has remade in this transaction."""
    if connection.vendor == "sqlite":
        _execute(connection, SQLITE_TRIGGERS)


def teach_words(*, connection: BaseDatabaseWrapper, **_: object) -> None:
    """Let a new connection to SQLite call `words`."""
    if connection.vendor == "sqlite":
        connection.connection.create_function("chat_words", 1, words, deterministic=True)


def _execute(connection: BaseDatabaseWrapper, statements: tuple[str, ...]) -> None:
    with connection.cursor() as cursor:
        for statement in statements:
            cursor.execute(statement)
