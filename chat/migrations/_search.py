"""The full-text index of messages and titles, for a new database. `chat.models.full_text` describes it.

SQLite cannot rebuild the table of messages or conversations while it has these triggers. A later migration that does so
must call `drop_triggers` before it and `restore_triggers` after it; a test checks that the triggers exist after the
last migration.
"""

from django.apps.registry import Apps
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

# --- SQLite: a table of entries, a table of their words, and triggers that fill both -----------------------------------

SQLITE_CREATE = (
    # The table has an explicit id, because VACUUM may change implicit row ids. The source of a title is its conversation.
    """
    CREATE TABLE chat_searchentry (
        id integer PRIMARY KEY, conversation_id char(32) NOT NULL, source_id char(32) NOT NULL UNIQUE
    )
    """,
    "CREATE INDEX chat_searchentry_conversation ON chat_searchentry (conversation_id)",
    # The words hold only letters, digits and the mark of owners, so this tokenizer just splits them at spaces.
    """CREATE VIRTUAL TABLE chat_searchwords USING fts5(words, tokenize = "ascii tokenchars ':'")""",
)

ADD_MESSAGE = """
        INSERT INTO chat_searchentry (conversation_id, source_id)
            SELECT new.conversation_id, new.id WHERE new.is_shown AND new.text <> '';
        INSERT INTO chat_searchwords (rowid, words)
            SELECT entry.id, chat_entry_words(owner_id, new.text) FROM chat_searchentry entry
            JOIN chat_conversation ON chat_conversation.id = new.conversation_id WHERE source_id = new.id;
"""
ADD_TITLE = """
        INSERT INTO chat_searchentry (conversation_id, source_id) SELECT new.id, new.id WHERE new.title <> '';
        INSERT INTO chat_searchwords (rowid, words)
            SELECT id, chat_entry_words(new.owner_id, new.title) FROM chat_searchentry WHERE source_id = new.id;
"""
REMOVE = """
        DELETE FROM chat_searchwords WHERE rowid = (SELECT id FROM chat_searchentry WHERE source_id = old.id);
        DELETE FROM chat_searchentry WHERE source_id = old.id;
"""

SQLITE_TRIGGERS = (
    # The condition keeps the empty text of a new answer out of the index.
    f"""
    CREATE TRIGGER chat_message_search_insert AFTER INSERT ON chat_message WHEN new.is_shown AND new.text <> ''
    BEGIN {ADD_MESSAGE} END
    """,
    f"""
    CREATE TRIGGER chat_message_search_update AFTER UPDATE OF text, is_shown, conversation_id ON chat_message
    WHEN old.text IS NOT new.text OR old.is_shown IS NOT new.is_shown OR old.conversation_id IS NOT new.conversation_id
    BEGIN {REMOVE} {ADD_MESSAGE} END
    """,
    f"CREATE TRIGGER chat_message_search_delete AFTER DELETE ON chat_message BEGIN {REMOVE} END",
    f"""
    CREATE TRIGGER chat_conversation_search_insert AFTER INSERT ON chat_conversation WHEN new.title <> ''
    BEGIN {ADD_TITLE} END
    """,
    f"""
    CREATE TRIGGER chat_conversation_search_update AFTER UPDATE OF title ON chat_conversation
    WHEN old.title IS NOT new.title BEGIN {REMOVE} {ADD_TITLE} END
    """,
    """
    CREATE TRIGGER chat_conversation_search_owner AFTER UPDATE OF owner_id ON chat_conversation
    WHEN old.owner_id IS NOT new.owner_id BEGIN
        UPDATE chat_searchwords SET words = (
            SELECT chat_entry_words(new.owner_id, coalesce(message.text, new.title)) FROM chat_searchentry entry
            LEFT JOIN chat_message message ON message.id = entry.source_id WHERE entry.id = chat_searchwords.rowid
        ) WHERE rowid IN (
            SELECT entry.id FROM chat_searchentry entry
            WHERE source_id IN (SELECT id FROM chat_message WHERE conversation_id = new.id UNION ALL SELECT new.id)
        );
    END
    """,
    f"CREATE TRIGGER chat_conversation_search_delete AFTER DELETE ON chat_conversation BEGIN {REMOVE} END",
)

# --- PostgreSQL: a table of entries with GIN indexes, and triggers that fill it ---------------------------------

# Frozen copies of the constants of `chat.models.full_text.words`.
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
    # Words hold no quotes and no spaces, so a space and a quote begin a word of a vector's text form.
    # The cost keeps the planner from calling the function for the rows of everyone.
    """
    CREATE FUNCTION chat_owned_words(owner bigint, words tsvector) RETURNS tsvector
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 1000 AS $$
        SELECT replace(' ' || strip(words)::text, ' ''', ' ''' || owner || ':')::tsvector
    $$
    """,
    # An index has no positions, so a phrase is searched as the conjunction of its words.
    r"""
    CREATE FUNCTION chat_owned_query(owner bigint, query tsquery) RETURNS tsquery
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
        SELECT regexp_replace(
            regexp_replace(query::text, '<(-|\d+)>', '&', 'g'), '''([^'']+)''', '''' || owner || ':\1''', 'g'
        )::tsquery
    $$
    """,
    # PostgreSQL limits a vector to 1 MB. Texts of ten thousands of different words are cut, so that they fit.
    """
    CREATE FUNCTION chat_entry_words(owner bigint, input text) RETURNS tsvector
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
    DECLARE
        words tsvector;
    BEGIN
        words := to_tsvector('simple', chat_words(input));
        IF length(words) > 20000 THEN
            PERFORM chat_owned_words(owner, words);
        END IF;
        RETURN words;
    EXCEPTION WHEN program_limit_exceeded THEN
        RETURN to_tsvector('simple', chat_words(left(input, 40000)));
    END $$
    """,
    """
    CREATE TABLE chat_searchentry (
        source_id uuid PRIMARY KEY, conversation_id uuid NOT NULL, owner_id bigint NOT NULL, words tsvector NOT NULL
    )
    """,
    """
    CREATE FUNCTION chat_index_message() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
        IF TG_OP = 'DELETE' OR NOT new.is_shown OR new.text = '' THEN
            DELETE FROM chat_searchentry WHERE source_id = old.id;
        ELSE
            INSERT INTO chat_searchentry (source_id, conversation_id, owner_id, words)
            SELECT new.id, id, owner_id, chat_entry_words(owner_id, new.text)
            FROM chat_conversation WHERE id = new.conversation_id
            ON CONFLICT (source_id) DO UPDATE SET
                conversation_id = excluded.conversation_id, owner_id = excluded.owner_id, words = excluded.words;
        END IF;
        RETURN NULL;
    END $$
    """,
    """
    CREATE FUNCTION chat_index_title() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
        IF TG_OP = 'TRUNCATE' THEN
            TRUNCATE chat_searchentry;
        ELSIF TG_OP = 'DELETE' OR new.title = '' THEN
            DELETE FROM chat_searchentry WHERE source_id = old.id;
        ELSE
            INSERT INTO chat_searchentry (source_id, conversation_id, owner_id, words)
            VALUES (new.id, new.id, new.owner_id, chat_entry_words(new.owner_id, new.title))
            ON CONFLICT (source_id) DO UPDATE SET owner_id = excluded.owner_id, words = excluded.words;
        END IF;
        RETURN NULL;
    END $$
    """,
    """
    CREATE FUNCTION chat_index_owner() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
        UPDATE chat_searchentry SET owner_id = new.owner_id WHERE conversation_id = new.id;
        RETURN NULL;
    END $$
    """,
    # The condition keeps the empty text of a new answer out of the index.
    """
    CREATE TRIGGER chat_message_search_insert AFTER INSERT ON chat_message
    FOR EACH ROW WHEN (new.is_shown AND new.text <> '') EXECUTE FUNCTION chat_index_message()
    """,
    """
    CREATE TRIGGER chat_message_search_update AFTER UPDATE OF text, is_shown, conversation_id ON chat_message
    FOR EACH ROW WHEN (
        (old.text, old.is_shown, old.conversation_id) IS DISTINCT FROM (new.text, new.is_shown, new.conversation_id)
    ) EXECUTE FUNCTION chat_index_message()
    """,
    """
    CREATE TRIGGER chat_message_search_delete AFTER DELETE ON chat_message
    FOR EACH ROW EXECUTE FUNCTION chat_index_message()
    """,
    """
    CREATE TRIGGER chat_conversation_search_insert AFTER INSERT ON chat_conversation
    FOR EACH ROW WHEN (new.title <> '') EXECUTE FUNCTION chat_index_title()
    """,
    """
    CREATE TRIGGER chat_conversation_search_update AFTER UPDATE OF title ON chat_conversation
    FOR EACH ROW WHEN (old.title <> new.title) EXECUTE FUNCTION chat_index_title()
    """,
    """
    CREATE TRIGGER chat_conversation_search_owner AFTER UPDATE OF owner_id ON chat_conversation
    FOR EACH ROW WHEN (old.owner_id <> new.owner_id) EXECUTE FUNCTION chat_index_owner()
    """,
    """
    CREATE TRIGGER chat_conversation_search_delete AFTER DELETE ON chat_conversation
    FOR EACH ROW EXECUTE FUNCTION chat_index_title()
    """,
    # A foreign key forces that messages are emptied with their conversations.
    """
    CREATE TRIGGER chat_conversation_search_truncate AFTER TRUNCATE ON chat_conversation
    FOR EACH STATEMENT EXECUTE FUNCTION chat_index_title()
    """,
)

# A pending list would be read by every search.
POSTGRESQL_INDEXES = (
    "CREATE INDEX chat_searchentry_conversation ON chat_searchentry (conversation_id)",
    """
    CREATE INDEX chat_searchentry_words ON chat_searchentry USING gin (words) WITH (fastupdate = off)
    """,
    """
    CREATE INDEX chat_searchentry_owned ON chat_searchentry
    USING gin (chat_owned_words(owner_id, words)) WITH (fastupdate = off)
    """,
)

CREATE = {
    "sqlite": (*SQLITE_CREATE, *SQLITE_TRIGGERS),
    "postgresql": (*POSTGRESQL_CREATE, *POSTGRESQL_INDEXES),
}


def create(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """Create the tables, their triggers and indexes."""
    with schema_editor.connection.cursor() as cursor:
        for statement in CREATE[schema_editor.connection.vendor]:
            cursor.execute(statement)


def drop_triggers(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """Drop the triggers of SQLite, so that a migration can rebuild the table of messages or conversations."""
    if schema_editor.connection.vendor == "sqlite":
        with schema_editor.connection.cursor() as cursor:
            for statement in SQLITE_TRIGGERS:
                name = statement.split()[2]
                cursor.execute(f"DROP TRIGGER {name}")


def restore_triggers(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """Create the triggers that `drop_triggers` has dropped."""
    if schema_editor.connection.vendor == "sqlite":
        with schema_editor.connection.cursor() as cursor:
            for statement in SQLITE_TRIGGERS:
                cursor.execute(statement)
