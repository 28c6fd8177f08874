"""The full-text index with signed words and the words of titles, for 0005. `chat.models.full_text` describes it.

SQLite cannot rebuild the table of messages or conversations while it has the index's triggers. A later migration that
does so must call `drop_triggers` before it and `restore_triggers` after it; a test checks that the triggers exist after
the last migration.
"""

from django.apps.registry import Apps
from django.db import transaction
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.backends.utils import CursorWrapper

from chat.migrations import _search, _search_fill

def _name(statement: str) -> str:
    return statement.split()[2]


# --- SQLite: titles have words of their own, and the words hold signs ---------------------------------------------------

TITLE_TRIGGERS = tuple(
    statement.replace("chat_entry_words(new.owner_id, new.title)", "chat_title_words(new.owner_id, new.title)").replace(
        "chat_entry_words(new.owner_id, coalesce(message.text, new.title))",
        "CASE WHEN message.id IS NULL THEN chat_title_words(new.owner_id, new.title)"
        " ELSE chat_entry_words(new.owner_id, message.text) END",
    )
    for statement in _search.SQLITE_TRIGGERS
    if "chat_entry_words" in statement and " ON chat_conversation" in statement
)
SQLITE_TRIGGERS = (
    *(statement for statement in _search.SQLITE_TRIGGERS if _name(statement) not in map(_name, TITLE_TRIGGERS)),
    *TITLE_TRIGGERS,
)

SQLITE_TABLE = (
    "DROP TABLE IF EXISTS chat_searchwords",
    # Signs of words, and the marks of owners.
    r"""CREATE VIRTUAL TABLE chat_searchwords USING fts5(words, tokenize = "ascii tokenchars '!#$%&*+-./:;<=>?@\^_|~'")""",
)
SQLITE_FILL = """
    INSERT INTO chat_searchwords (rowid, words)
    SELECT entry.id, CASE WHEN message.id IS NULL THEN chat_title_words(owner_id, title)
        ELSE chat_entry_words(owner_id, message.text) END
    FROM chat_searchentry entry JOIN chat_conversation ON chat_conversation.id = entry.conversation_id
    LEFT JOIN chat_message message ON message.id = entry.source_id
    WHERE entry.id BETWEEN %s AND %s AND entry.id NOT IN (SELECT rowid FROM chat_searchwords WHERE rowid BETWEEN %s AND %s)
    ORDER BY entry.id
"""

# --- PostgreSQL: functions with the rules of `chat.models.full_text.words` ----------------------------------------------

# Frozen copies of its constants.
UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\u2fdf\u3005-\u3007\u3040-\u30ff\u3100-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U000323af"
)
EMOJI = "\u2300-\u23ff\u2600-\u27bf\u2b00-\u2bff\U0001f000-\U0001faff"
SIGNS = r"!#$%&*+\-./:<=>?@\\^_|~\u00a2-\u00a5\u00a7\u00b0\u20a0-\u20c0"
IGNORED = (
    "\u00ad\u0300-\u036f\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u061c\u0640\u064b-\u065f\u0670"
    "\u06d6-\u06dc\u06df-\u06e4\u06e7\u06e8\u06ea-\u06ed\u0730-\u074a\u08ca-\u08ff\u1ab0-\u1aff\u1dc0-\u1dff\u200c-\u200f"
    "\u202a-\u202e\u2060-\u206f\u20d0-\u20ff\ufe00-\ufe0f\ufe20-\ufe2f\ufeff\U0001f3fb-\U0001f3ff\U000e0001-\U000e01ef"
)
SEPARATORS = (
    r"\x00-\x1f \"'(),;\[\]`{}\x7f"
    "\u0080-\u00a1\u00a6\u00a9-\u00ae\u00b1-\u00bf\u00d7\u00f7\u02c2-\u02c5\u02d2-\u02eb\u02ed\u02ef-\u02ff\u0375"
    "\u03f6\u0482\u055a-\u055f\u0589-\u05c6\u05f3-\u061f\u066a-\u066d\u06d4\u06dd-\u06de\u06e9\u06fd-\u06fe"
    "\u0700-\u070f\u07f6-\u07f9\u07fe-\u07ff\u0830-\u083e\u085e\u0888\u0890-\u0891\u0964-\u0965\u0970"
    "\u09f2-\u09f3\u09fa-\u09fb\u09fd\u0a76\u0af0-\u0af1\u0b70\u0bf3-\u0bfa\u0c77\u0c7f\u0c84\u0d4f\u0d79\u0df4"
    "\u0f01-\u0f17\u0f1a-\u0f1f\u0f34\u0f36\u0f38\u0f3a-\u0f3d\u0f85\u0fbe-\u0fc5\u0fc7-\u0fda\u10fb\u1360-\u1368"
    "\u1390-\u1399\u1400\u166d-\u166e\u1680\u169b-\u169c\u16eb-\u16ed\u1735-\u1736\u1800-\u180a\u180e"
    "\u1940-\u1945\u19de-\u19ff\u1a1e-\u1a1f\u1aa0-\u1aa6\u1aa8-\u1aad\u1b5a-\u1b6a\u1b74-\u1b7e\u1bfc-\u1bff"
    "\u1c3b-\u1c3f\u1c7e-\u1c7f\u1cc0-\u1cc7\u1cd3\u200b-\u205e\u2104-\u212e\u213a-\u214d\u214f\u218a-\u22ff"
    "\u2400-\u244a\u2500-\u25ff\u27c0-\u2aff\u2ce5-\u2cea\u2cf9-\u2cfc\u2cfe-\u2cff\u2d70\u2e00-\u2e2e"
    "\u2e30-\u2e5d\u2ff0-\u3004\u3008-\u3020\u3030\u3037\u303d-\u303f\u327f\u4dc0-\u4dff\ua490-\ua4c6"
    "\ua4fe-\ua4ff\ua60d-\ua60f\ua673\ua67e\ua6f2-\ua716\ua720-\ua721\ua789-\ua78a\ua828-\ua82b\ua836-\ua839"
    "\ua874-\ua877\ua8ce-\ua8cf\ua8f8-\ua8fa\ua8fc\ua92e-\ua92f\ua95f\ua9c1-\ua9cd\ua9de-\ua9df\uaa5c-\uaa5f"
    "\uaa77-\uaa79\uaade-\uaadf\uaaf0-\uaaf1\uab5b\uab6a-\uab6b\uabeb\ufbb2-\ufe46\ufff9-\ufffd"
    "\U0001cf50-\U0001d15d\U0001d16a-\U0001d16c\U0001d173-\U0001d17a\U0001d183-\U0001d184\U0001d18c-\U0001d1a9"
    "\U0001d1ae-\U0001d241\U0001d245\U0001d300-\U0001d356\U0001fb00-\U0001fbca"
    "\ufe10-\ufe1f\ufe30-\ufe6f"
)
SINGLE = {
    "đð": "d",
    "ħ": "h",
    "ı": "i",
    "ł": "l",
    "ø": "o",
    "ŧ": "t",
    "ς": "σ",
    "ٱ": "ا",
    "ىیې": "ي",
    "کڪ": "ك",
    "ةہھە": "ه",
    "‐‑‒–−": "-",
    "ʼ": " ",
}
DIGITS = "٠١٢٣٤٥٦٧٨٩۰۱۲۳۴۵۶۷۸۹"
VARIANTS = "".join(SINGLE) + DIGITS
PLAIN = "".join(plain * len(variants) for variants, plain in SINGLE.items()) + 2 * "0123456789"
WORD = f"[{UNSPACED}{EMOJI}]|[^ {SIGNS}{UNSPACED}{EMOJI}]+"
# PostgreSQL's texts hold no null characters, and its strings write a quote as two.
SQL_SEPARATORS = SEPARATORS.replace(r"\x00", r"\x01").replace("'", "''")

POSTGRESQL_FUNCTIONS = (
    # `fold` in SQL. Texts of ASCII alone take a faster branch.
    rf"""
    CREATE OR REPLACE FUNCTION chat_folded(input text) RETURNS text LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
        SELECT CASE
            WHEN octet_length(bare) = length(bare)
            THEN regexp_replace(lower(bare), '[\x01-\x1f \"''(),;\[\]`{{}}\x7f]', ' ', 'g')
            ELSE left(regexp_replace(
                replace(replace(replace(replace(translate(
                    lower(normalize(regexp_replace(normalize(bare, NFKD), '[{IGNORED}]+', '', 'g'), NFKC)),
                    '{VARIANTS}', '{PLAIN}'
                ), 'ß', 'ss'), 'æ', 'ae'), 'œ', 'oe'), 'þ', 'th'),
                '[{SQL_SEPARATORS}]', ' ', 'g'
            ), 200000)
        END
        FROM (SELECT left(regexp_replace(input, '\[(GRAPH|IMAGE):[0-9]+\]', ' ', 'g'), 200000) AS bare) AS beginning
    $$
    """,
    # `extract_index_words` in SQL. A phrase may end with a prefix of a signed word, and all words of a
    # phrase need positions. That of signed words is the last possible one.
    rf"""
    CREATE OR REPLACE FUNCTION chat_vector(input text) RETURNS tsvector LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
        WITH folded AS MATERIALIZED (
            SELECT chat_folded(input) AS text
        ), ended AS MATERIALIZED (
            SELECT regexp_replace(text, '[.:!?]+( |$)', ' ', 'g') AS text FROM folded
        ), words AS (
            SELECT word, ':' || least(number, 16383) AS position
            FROM folded, regexp_split_to_table(
                regexp_replace(regexp_replace(text, '[{SIGNS}]+', ' ', 'g'), '([{UNSPACED}{EMOJI}])', ' \1 ', 'g'), ' +'
            ) WITH ORDINALITY AS split (word, number)
            WHERE word <> '' AND length(word) <= 500
        UNION ALL
            SELECT found[1] || left(found[2], length), ':16383'
            FROM ended, regexp_matches(text, '({WORD})([{SIGNS}]+)', 'g') AS found, generate_series(1, 3) AS length
            WHERE length <= length(found[2]) AND length(found[1]) <= 500
        UNION ALL
            SELECT right(found[1], length) || found[2], ':16383'
            FROM ended, regexp_matches(text, '([{SIGNS}]+)({WORD})', 'g') AS found, generate_series(1, 3) AS length
            WHERE length <= length(found[1]) AND length(found[2]) <= 500
        )
        SELECT coalesce(string_agg('''' || replace(word, '\', '\\') || '''' || position, ' '), '')::tsvector FROM words
    $$
    """,
    # PostgreSQL limits a vector to 1 MB. Texts of ten thousands of different words are cut, so that they fit.
    """
    CREATE OR REPLACE FUNCTION chat_entry_words(owner bigint, input text) RETURNS tsvector
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
    DECLARE
        words tsvector;
    BEGIN
        words := chat_vector(input);
        IF length(words) > 20000 THEN
            PERFORM chat_owned_words(owner, words);
        END IF;
        RETURN words;
    EXCEPTION WHEN program_limit_exceeded THEN
        RETURN chat_vector(left(input, 40000));
    END $$
    """,
)
"""From the moment on at which they are committed, the triggers write new entries by the new rules."""

# An interrupted CREATE INDEX leaves an index that is not valid.
POSTGRESQL_INDEX = (
    "DROP INDEX CONCURRENTLY IF EXISTS chat_searchentry_titles",
    """
    CREATE INDEX CONCURRENTLY chat_searchentry_titles ON chat_searchentry
    USING gin (chat_owned_words(owner_id, words)) WITH (fastupdate = off) WHERE source_id = conversation_id
    """,
)


def fill(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """Build the index again, in short transactions. After an interruption, it goes on where it was.

    On PostgreSQL, the functions of the earlier version's search stay, because its servers may run meanwhile.
    """
    fill_entries = _fill_sqlite if schema_editor.connection.vendor == "sqlite" else _fill_postgresql
    with schema_editor.connection.cursor() as cursor:
        fill_entries(cursor, schema_editor.connection.alias)


def _fill_sqlite(cursor: CursorWrapper, alias: str) -> None:
    """Replace the table and the triggers, unless that is done, and then add what the new table lacks."""
    with transaction.atomic(alias):
        cursor.execute(
            "SELECT count(*) FROM sqlite_master WHERE type = 'trigger' AND sql LIKE '%%chat_title_words%%'", []
        )
        if cursor.fetchone() == (0,):
            for trigger in map(_name, _search.SQLITE_TRIGGERS):
                cursor.execute(f"DROP TRIGGER IF EXISTS {trigger}")
            for statement in (*SQLITE_TABLE, *SQLITE_TRIGGERS):
                cursor.execute(statement)
    _search_fill.fill_sqlite(cursor, alias, SQLITE_FILL)


def _fill_postgresql(cursor: CursorWrapper, alias: str) -> None:
    """Replace the functions, and then fill the entries again, in the order of their ids."""
    _search_fill.fill_postgresql(cursor, alias, POSTGRESQL_FUNCTIONS)
    for statement in POSTGRESQL_INDEX:
        cursor.execute(statement)
    _search_fill.end_postgresql(cursor)


def drop_triggers(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """Drop the triggers of SQLite, so that a migration can rebuild the table of messages or conversations."""
    _search.drop_triggers(apps, schema_editor)


def restore_triggers(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """Create the triggers that `drop_triggers` has dropped."""
    if schema_editor.connection.vendor == "sqlite":
        with schema_editor.connection.cursor() as cursor:
            for statement in SQLITE_TRIGGERS:
                cursor.execute(statement)
