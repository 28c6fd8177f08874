"""The full-text index by the rules of 0009: digits and variants of more scripts, whole emoji, and joined words.

`chat.models.full_text` describes them. The entries of other texts stay.
"""

from __future__ import annotations

from functools import reduce

from django.apps.registry import Apps
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

from chat.migrations import _search_fill
from chat.migrations._signed_search import EMOJI, SIGNS, SINGLE, UNSPACED

# Frozen copies of the constants of `chat.models.full_text.words`.
IGNORED = (
    "\u00ad\u0300-\u036f\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u061c\u0640\u064b-\u065f\u0670"
    "\u06d6-\u06dc\u06df-\u06e4\u06e7\u06e8\u06ea-\u06ed\u0730-\u074a\u08ca-\u08ff\u093c\u0a3c\u0abc\u0cbc"
    "\u1ab0-\u1aff\u1dc0-\u1dff\u200e\u200f"
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
    "\u1c3b-\u1c3f\u1c7e-\u1c7f\u1cc0-\u1cc7\u1cd3\u200b\u200e-\u205e\u2104-\u212e\u213a-\u214d\u214f\u218a-\u22ff"
    "\u2400-\u244a\u2500-\u25ff\u27c0-\u2aff\u2ce5-\u2cea\u2cf9-\u2cfc\u2cfe-\u2cff\u2d70\u2e00-\u2e2e"
    "\u2e30-\u2e5d\u2ff0-\u3004\u3008-\u3020\u3030\u3037\u303d-\u303f\u327f\u4dc0-\u4dff\ua490-\ua4c6"
    "\ua4fe-\ua4ff\ua60d-\ua60f\ua673\ua67e\ua6f2-\ua716\ua720-\ua721\ua789-\ua78a\ua828-\ua82b\ua836-\ua839"
    "\ua874-\ua877\ua8ce-\ua8cf\ua8f8-\ua8fa\ua8fc\ua92e-\ua92f\ua95f\ua9c1-\ua9cd\ua9de-\ua9df\uaa5c-\uaa5f"
    "\uaa77-\uaa79\uaade-\uaadf\uaaf0-\uaaf1\uab5b\uab6a-\uab6b\uabeb\ufbb2-\ufe46\ufff9-\ufffd"
    "\U0001cf50-\U0001d15d\U0001d16a-\U0001d16c\U0001d173-\U0001d17a\U0001d183-\U0001d184\U0001d18c-\U0001d1a9"
    "\U0001d1ae-\U0001d241\U0001d245\U0001d300-\U0001d356\U0001fb00-\U0001fbca"
    "\ufe10-\ufe1f\ufe30-\ufe6f"
)
ZEROS = (
    "\u0660\u06f0\u07c0\u0966\u09e6\u0a66\u0ae6\u0b66\u0be6\u0c66\u0ce6\u0d66\u0de6\u0e50\u0ed0\u0f20\u1040\u1090\u17e0\u1810"
    "\u1946\u19d0\u1a80\u1a90\u1b50\u1bb0\u1c40\u1c50\ua620\ua8d0\ua900\ua9d0\ua9f0\uaa50\uabf0\U000104a0\U00011066\U0001e950"
)
ARABIC = "\u0620-\u06ff"
NON_JOINER = "\u200c"
VARIANTS = SINGLE | {"ँ": "ं", "ൌ": "ൗ"}
PAIRS = {
    "ß": "ss", "æ": "ae", "œ": "oe", "þ": "th", "װ": "וו", "ױ": "וי", "ײ": "יי", "ৎ": "ত্", "ൔ": "മ്", "ൕ": "യ്", "ൖ": "ഴ്",
    "ൺ": "ണ്", "ൻ": "ന്", "ർ": "ര്", "ൽ": "ല്", "ൾ": "ള്", "ൿ": "ക്",
}  # fmt: skip
DIGITS = "".join(chr(ord(zero) + digit) for zero in ZEROS for digit in range(10))
FROM = "".join(VARIANTS) + DIGITS
TO = "".join(plain * len(variants) for variants, plain in VARIANTS.items()) + len(ZEROS) * "0123456789"
EMOJI_PART = f"(?:[\U0001f1e6-\U0001f1ff]{{2}}|[{EMOJI}])"
EMOJI_WORD = f"{EMOJI_PART}(?:\u200d{EMOJI_PART})*"
LETTER = f"[^ {SIGNS}{UNSPACED}{EMOJI}\u200c\u200d]"
WORD = f"{EMOJI_WORD}|[{UNSPACED}]|{LETTER}+"
STRAY = f"(?<![{ARABIC}])\u200c|\u200c(?![{ARABIC}])|(?<![{EMOJI}])\u200d|\u200d(?![{EMOJI}])"
TONES = "\u0e48-\u0e4b\u0ec8-\u0ecb"
ORDER = f"([{TONES}])([\u0e4d\u0ecd])|([\u0e32\u0eb2])([{TONES}])|(\u0d4d)\u0d4d+"
# PostgreSQL's texts hold no null characters, and its strings write a quote as two.
SQL_SEPARATORS = SEPARATORS.replace(r"\x00", r"\x01").replace("'", "''")

_MAPPED = reduce(
    lambda sql, pair: f"replace({sql}, '{pair[0]}', '{pair[1]}')",
    PAIRS.items(),
    f"""translate(lower(normalize(regexp_replace(
        regexp_replace(normalize(bare, NFKD), '[{IGNORED}]+', '', 'g'), '{STRAY}', '', 'g'
    ), NFKC)), '{FROM}', '{TO}')""",
)

FUNCTIONS = (
    # `fold` in SQL. Texts of ASCII alone take a faster branch.
    rf"""
    CREATE OR REPLACE FUNCTION chat_folded(input text) RETURNS text LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
        SELECT CASE
            WHEN octet_length(bare) = length(bare)
            THEN regexp_replace(lower(bare), '[\x01-\x1f \"''(),;\[\]`{{}}\x7f]', ' ', 'g')
            ELSE left(regexp_replace(
                regexp_replace({_MAPPED}, '{ORDER}', '\2\1\4\3\5', 'g'), '[{SQL_SEPARATORS}]', ' ', 'g'
            ), 200000)
        END
        FROM (
            SELECT replace(replace(
                left(regexp_replace(input, '\[(GRAPH|IMAGE):[0-9]+\]', ' ', 'g'), 200000), '${{', ' $'
            ), '$(', ' $') AS bare
        ) AS beginning
    $$
    """,
    # `extract_index_words` in SQL. A phrase may end with a prefix of a signed word, and all words of a
    # phrase need positions. That of signed and joined words is the last possible one.
    rf"""
    CREATE OR REPLACE FUNCTION chat_vector(input text) RETURNS tsvector LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
        WITH folded AS MATERIALIZED (
            SELECT chat_folded(input) AS text
        ), ended AS MATERIALIZED (
            SELECT regexp_replace(text, '[.:!?]+( |$)', ' ', 'g') AS text FROM folded
        ), words AS (
            SELECT word, ':' || least(number, 16383) AS position
            FROM folded, regexp_split_to_table(
                regexp_replace(
                    regexp_replace(text, '[{SIGNS}{NON_JOINER}]+', ' ', 'g'), '({EMOJI_WORD}|[{UNSPACED}])', ' \1 ', 'g'
                ), ' +'
            ) WITH ORDINALITY AS split (word, number)
            WHERE word <> '' AND length(word) <= 500
        UNION ALL
            SELECT joined, ':16383'
            FROM folded, regexp_matches(text, '{LETTER}+(?:{NON_JOINER}{LETTER}+)+', 'g') AS found,
                replace(found[1], '{NON_JOINER}', '') AS joined
            WHERE length(joined) <= 500
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
)

# Characters that are folded otherwise than before. Precomposed letters of their scripts count, too.
CONCERNED = (
    "[$][{(]|["
    "\u05f0-\u05f2\ufb1f\u07c0-\u07c9\u0901\u0929\u0931\u0934\u093c\u0958-\u095f\u0966-\u096f\u09ce\u09e6-\u09ef\u0a33\u0a36"
    "\u0a3c\u0a59-\u0a5b\u0a5e\u0a66-\u0a6f\u0abc\u0ae6-\u0aef\u0b66-\u0b6f\u0be6-\u0bef\u0c66-\u0c6f\u0cbc\u0ce6-\u0cef\u0d00-\u0d7f"
    "\u0de6-\u0def\u0e33\u0e48-\u0e5b\u0eb3\u0ec8-\u0ed9\u0f20-\u0f29\u1040-\u1049\u1090-\u1099\u17e0-\u17e9\u1810-\u1819"
    "\u1946-\u194f\u19d0-\u19d9\u1a80-\u1a99\u1b50-\u1b59\u1bb0-\u1bb9\u1c40-\u1c59\u200c\u200d\ua620-\ua629\ua8d0-\ua909"
    "\ua9d0-\ua9f9\uaa50-\uaa59\uabf0-\uabf9\U000104a0-\U000104a9\U00011066-\U0001106f\U0001e950-\U0001e959\U0001f1e6-\U0001f1ff]"
)

# `found` would otherwise be read twice for each entry.
SQLITE_FILL = f"""
    WITH found AS MATERIALIZED (
        SELECT entry.id, CASE WHEN message.id IS NULL THEN chat_title_words(owner_id, title)
            ELSE chat_entry_words(owner_id, message.text) END AS words
        FROM chat_searchentry entry JOIN chat_conversation ON chat_conversation.id = entry.conversation_id
        LEFT JOIN chat_message message ON message.id = entry.source_id
        WHERE entry.id BETWEEN %s AND %s AND coalesce(message.text, title) REGEXP '{CONCERNED}'
    )
    UPDATE chat_searchwords SET words = found.words FROM found
    WHERE chat_searchwords.rowid = found.id AND chat_searchwords.rowid BETWEEN %s AND %s
        AND chat_searchwords.words <> found.words
"""


def fill(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """Replace the rules, and fill the entries that they concern."""
    connection = schema_editor.connection
    with connection.cursor() as cursor:
        if connection.vendor == "sqlite":
            _search_fill.fill_sqlite(cursor, connection.alias, SQLITE_FILL)
        else:
            _search_fill.fill_postgresql(cursor, connection.alias, FUNCTIONS, CONCERNED)
            _search_fill.end_postgresql(cursor)
