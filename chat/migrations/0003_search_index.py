"""The full-text index of messages and titles. `chat.search` describes it.

SQLite drops the triggers of a table that a later migration rebuilds, and says nothing. Such a migration must execute SQLITE_TRIGGERS
again; a test checks that the triggers exist after the last migration.
"""

from django.db import migrations

# --- SQLite: a table of entries, a table of their words, and triggers that fill both -----------------------------------

SQLITE_TABLES = (
    # The table has an explicit id, because VACUUM may change implicit row ids. The source of a title is its conversation.
    """
    CREATE TABLE chat_searchentry (
        id integer PRIMARY KEY, conversation_id char(32) NOT NULL, source_id char(32) NOT NULL UNIQUE
    )
    """,
    # The words hold only letters and digits, so this tokenizer just splits them at spaces.
    "CREATE VIRTUAL TABLE chat_searchwords USING fts5(words, tokenize = 'ascii')",
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

SQLITE_TRIGGERS = (
    # The condition keeps the empty text of a new answer out of the index.
    """
    CREATE TRIGGER chat_message_search_insert AFTER INSERT ON chat_message WHEN new.is_shown AND new.text <> '' BEGIN
        INSERT INTO chat_searchentry (conversation_id, source_id) VALUES (new.conversation_id, new.id);
        INSERT INTO chat_searchwords (rowid, words)
            SELECT id, chat_words(new.text) FROM chat_searchentry WHERE source_id = new.id;
    END
    """,
    """
    CREATE TRIGGER chat_message_search_update AFTER UPDATE OF text, is_shown ON chat_message
    WHEN old.text IS NOT new.text OR old.is_shown IS NOT new.is_shown BEGIN
        DELETE FROM chat_searchwords WHERE rowid = (SELECT id FROM chat_searchentry WHERE source_id = old.id);
        DELETE FROM chat_searchentry WHERE source_id = old.id;
        INSERT INTO chat_searchentry (conversation_id, source_id)
            SELECT new.conversation_id, new.id WHERE new.is_shown AND new.text <> '';
        INSERT INTO chat_searchwords (rowid, words)
            SELECT id, chat_words(new.text) FROM chat_searchentry WHERE source_id = new.id;
    END
    """,
    """
    CREATE TRIGGER chat_message_search_delete AFTER DELETE ON chat_message BEGIN
        DELETE FROM chat_searchwords WHERE rowid = (SELECT id FROM chat_searchentry WHERE source_id = old.id);
        DELETE FROM chat_searchentry WHERE source_id = old.id;
    END
    """,
    """
    CREATE TRIGGER chat_conversation_search_insert AFTER INSERT ON chat_conversation WHEN new.title <> '' BEGIN
        INSERT INTO chat_searchentry (conversation_id, source_id) VALUES (new.id, new.id);
        INSERT INTO chat_searchwords (rowid, words)
            SELECT id, chat_words(new.title) FROM chat_searchentry WHERE source_id = new.id;
    END
    """,
    """
    CREATE TRIGGER chat_conversation_search_update AFTER UPDATE OF title ON chat_conversation
    WHEN old.title IS NOT new.title BEGIN
        DELETE FROM chat_searchwords WHERE rowid = (SELECT id FROM chat_searchentry WHERE source_id = old.id);
        DELETE FROM chat_searchentry WHERE source_id = old.id;
        INSERT INTO chat_searchentry (conversation_id, source_id) SELECT new.id, new.id WHERE new.title <> '';
        INSERT INTO chat_searchwords (rowid, words)
            SELECT id, chat_words(new.title) FROM chat_searchentry WHERE source_id = new.id;
    END
    """,
    """
    CREATE TRIGGER chat_conversation_search_delete AFTER DELETE ON chat_conversation BEGIN
        DELETE FROM chat_searchwords WHERE rowid = (SELECT id FROM chat_searchentry WHERE source_id = old.id);
        DELETE FROM chat_searchentry WHERE source_id = old.id;
    END
    """,
)

SQLITE_DROP = (
    "DROP TRIGGER chat_message_search_insert",
    "DROP TRIGGER chat_message_search_update",
    "DROP TRIGGER chat_message_search_delete",
    "DROP TRIGGER chat_conversation_search_insert",
    "DROP TRIGGER chat_conversation_search_update",
    "DROP TRIGGER chat_conversation_search_delete",
    "DROP TABLE chat_searchwords",
    "DROP TABLE chat_searchentry",
)

# --- PostgreSQL: generated columns with GIN indexes --------------------------------------------------------------------

# Frozen copies of the constants of `chat.search.words`.
UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\u2fdf\u3005-\u3007\u3040-\u30ff\u3100-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U000323af"
)
ACCENTS = "\u0300-\u036f"

POSTGRESQL_CREATE = (
    # `extract_words` in SQL, except for case, which to_tsvector removes. Texts of ASCII alone take a faster branch.
    # Punctuation is replaced by spaces, because PostgreSQL's parser takes `numpy.random` for a host and `a/b` for a path.
    rf"""
    CREATE FUNCTION chat_words(input text) RETURNS text LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
        SELECT CASE
            WHEN octet_length(bare) = length(bare)
            THEN regexp_replace(bare, '[\x01-\x1f!-/:-@\[-`{{-\x7f]+', ' ', 'g')
            ELSE regexp_replace(
                regexp_replace(
                    replace(replace(left(
                        normalize(regexp_replace(normalize(bare, NFKD), '[{ACCENTS}]+', '', 'g'), NFKC), 200000
                    ), 'ß', 'ss'), 'ẞ', 'ss'),
                    '[\x01-\x1f!-/:-@\[-`{{-\x7f]+', ' ', 'g'
                ),
                '([{UNSPACED}])', ' \1 ', 'g'
            )
        END
        FROM (SELECT left(regexp_replace(input, '\[(GRAPH|IMAGE):[0-9]+\]', ' ', 'g'), 200000) AS bare) AS beginning
    $$
    """,
    # The text form of a phrase ends with its last word, so appending `:*` makes that word a prefix.
    """
    CREATE FUNCTION chat_query(term text, is_prefix boolean) RETURNS tsquery LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
        SELECT CASE WHEN is_prefix AND phrase::text <> '' THEN (phrase::text || ':*')::tsquery ELSE phrase END
        FROM (SELECT phraseto_tsquery('simple', chat_words(term)) AS phrase) AS parsed
    $$
    """,
    """
    ALTER TABLE chat_message
    ADD COLUMN words tsvector GENERATED ALWAYS AS (to_tsvector('simple', chat_words(text))) STORED
    """,
    """
    ALTER TABLE chat_conversation
    ADD COLUMN words tsvector GENERATED ALWAYS AS (to_tsvector('simple', chat_words(title))) STORED
    """,
    "CREATE INDEX chat_message_words ON chat_message USING gin (words)",
    "CREATE INDEX chat_conversation_words ON chat_conversation USING gin (words)",
)

POSTGRESQL_DROP = (
    "ALTER TABLE chat_message DROP COLUMN words",
    "ALTER TABLE chat_conversation DROP COLUMN words",
    "DROP FUNCTION chat_query",
    "DROP FUNCTION chat_words",
)

CREATE = {"sqlite": (*SQLITE_TABLES, *SQLITE_FILL, *SQLITE_TRIGGERS), "postgresql": POSTGRESQL_CREATE}
DROP = {"sqlite": SQLITE_DROP, "postgresql": POSTGRESQL_DROP}


def create(apps, schema_editor):
    for statement in CREATE[schema_editor.connection.vendor]:
        schema_editor.connection.cursor().execute(statement)


def drop(apps, schema_editor):
    for statement in DROP[schema_editor.connection.vendor]:
        schema_editor.connection.cursor().execute(statement)


class Migration(migrations.Migration):

    dependencies = [
        ("chat", "0002_conversations"),
    ]

    operations = [
        migrations.RunPython(create, drop),
    ]
