"""A database expression that searches the index of `chat.models.full_text.index` for a term."""

from __future__ import annotations

from typing import TypeAlias

from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models import BooleanField, F, Func
from django.db.models.sql.compiler import SQLCompiler

from chat.models.full_text.index import prefix_words
from chat.models.full_text.query import Term

SqlWithParams: TypeAlias = tuple[str, tuple[str | int, ...]]

_SQLITE = """
    %(expressions)s IN (
        SELECT entry.conversation_id
        FROM chat_searchwords CROSS JOIN chat_searchentry entry ON entry.id = chat_searchwords.rowid
        WHERE chat_searchwords MATCH %%s
    )
"""
_POSTGRESQL = """
    %(expressions)s IN (
        SELECT entry.conversation_id FROM chat_searchentry entry WHERE entry.words @@ chat_query(%%s, %%s)
    )
"""

RARE_ENTRIES = 500
"""Up to this number of a person's entries, a search reads all entries with a term.

With more entries, it looks into the person's conversations, from the newest on, until a page is full. Both ways read
some hundred rows, unless each of several terms is frequent and they seldom meet.
"""

_SQLITE_OWNED = f"""
    CASE WHEN (
        SELECT count(*) FROM (SELECT 1 FROM chat_searchwords WHERE chat_searchwords MATCH %%s LIMIT %%s)
    ) <= %%s
    THEN {_SQLITE}
    ELSE EXISTS (
        SELECT 1 FROM chat_searchentry entry JOIN chat_searchwords ON chat_searchwords.rowid = entry.id
        WHERE entry.conversation_id = %(expressions)s AND instr(' ' || chat_searchwords.words || ' ', %%s)
    ) END
"""
# The index finds all words of a phrase in one entry. Their order is checked in the rows found, by the function of the
# operator @@: with the operator, PostgreSQL could use the index of everyone's words. The second LIMIT removes no row.
# It tells the planner that there are few, which otherwise starts parallel workers for a hundred milliseconds.
_POSTGRESQL_OWNED = """
    CASE WHEN (
        SELECT count(*) FROM (
            SELECT 1 FROM chat_searchentry entry
            WHERE chat_owned_words(entry.owner_id, entry.words) @@ chat_owned_query(%%s, chat_query(%%s, %%s)) LIMIT %%s
        ) counted
    ) <= %%s
    THEN %(expressions)s IN (
        SELECT entry.conversation_id FROM chat_searchentry entry
        WHERE chat_owned_words(entry.owner_id, entry.words) @@ chat_owned_query(%%s, chat_query(%%s, %%s))
        AND ts_match_vq(entry.words, chat_query(%%s, %%s)) LIMIT %%s
    )
    ELSE EXISTS (
        SELECT 1 FROM chat_searchentry entry
        WHERE entry.conversation_id = %(expressions)s AND ts_match_vq(entry.words, chat_query(%%s, %%s))
    ) END
"""


class ContainsTerm(Func):
    """Whether a conversation's title or one of its visible messages contains a term.

    With `owner_id`, only conversations of this user are found, and the texts of others are not read.
    """

    output_field = BooleanField()

    def __init__(self, term: Term, owner_id: int | None = None) -> None:
        super().__init__(F("pk"))
        self.term = term
        self.owner_id = owner_id

    def as_sqlite(self, compiler: SQLCompiler, connection: BaseDatabaseWrapper, **_: object) -> SqlWithParams:
        """Compile to a search of the FTS5 table."""
        query = build_fts5_query(self.term, self.owner_id)
        if self.owner_id is None:
            sql, params = super().as_sql(compiler, connection, template=_SQLITE)
            return sql, (*params, query)
        sql, _no_params = super().as_sql(compiler, connection, template=_SQLITE_OWNED)
        # In stored words, single spaces separate words.
        pattern = f" {prefix_words(self.owner_id, self.term.words)}{'' if self.term.is_prefix else ' '}"
        return sql, (query, RARE_ENTRIES + 1, RARE_ENTRIES, query, pattern)

    def as_postgresql(self, compiler: SQLCompiler, connection: BaseDatabaseWrapper, **_: object) -> SqlWithParams:
        """Compile to a search of the entries' words."""
        term = (self.term.source, self.term.is_prefix)
        if self.owner_id is None:
            sql, params = super().as_sql(compiler, connection, template=_POSTGRESQL)
            return sql, (*params, *term)
        sql, _no_params = super().as_sql(compiler, connection, template=_POSTGRESQL_OWNED)
        owned = (self.owner_id, *term)
        return sql, (*owned, RARE_ENTRIES + 1, RARE_ENTRIES, *owned, *term, RARE_ENTRIES, *term)


def build_fts5_query(term: Term, owner_id: int | None = None) -> str:
    """Return a term in FTS5's query syntax.

    Its words hold only letters, digits and the mark after an owner's id. In quotes, they need no escaping.
    """
    words = term.words if owner_id is None else prefix_words(owner_id, term.words)
    # In everyone's search, a number must be a whole word: otherwise it is the beginning of an owner's id, too.
    is_prefix = term.is_prefix and not (owner_id is None and words.rpartition(" ")[2].isdecimal())
    return f'"{words}"{"*" if is_prefix else ""}'
