"""A database expression that searches the index of `chat.search.index` for a term."""

from __future__ import annotations

from typing import TypeAlias

from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models import BooleanField, F, Func
from django.db.models.sql.compiler import SQLCompiler

from chat.search.query import Term

SqlWithParams: TypeAlias = tuple[str, tuple[str | int, ...]]

_SQLITE = """
    %(expressions)s IN (
        SELECT entry.conversation_id
        FROM chat_searchwords CROSS JOIN chat_searchentry entry ON entry.id = chat_searchwords.rowid
        WHERE chat_searchwords MATCH %%s
    )
"""
# With EXISTS the planner can choose the join: through the index of words, or through one user's conversations.
_POSTGRESQL = """
    EXISTS (
        SELECT 1 FROM (
            SELECT conversation_id, words FROM chat_message WHERE is_shown
            UNION ALL SELECT id, words FROM chat_conversation
        ) entry
        WHERE entry.conversation_id = %(expressions)s AND entry.words @@ chat_query(%%s, %%s)
    )
"""


class ContainsTerm(Func):
    """Whether a conversation's title or one of its visible messages contains a term."""

    output_field = BooleanField()

    def __init__(self, term: Term) -> None:
        super().__init__(F("pk"))
        self.term = term

    def as_sqlite(self, compiler: SQLCompiler, connection: BaseDatabaseWrapper, **_: object) -> SqlWithParams:
        """Compile to a search of the FTS5 table."""
        sql, params = super().as_sql(compiler, connection, template=_SQLITE)
        return sql, (*params, build_fts5_query(self.term))

    def as_postgresql(self, compiler: SQLCompiler, connection: BaseDatabaseWrapper, **_: object) -> SqlWithParams:
        """Compile to a search of the `words` columns."""
        sql, params = super().as_sql(compiler, connection, template=_POSTGRESQL)
        return sql, (*params, self.term.source, self.term.is_prefix)


def build_fts5_query(term: Term) -> str:
    """Return a term in FTS5's query syntax. Its words hold only letters and digits, so they need no escaping."""
    return f'"{term.words}"{"*" if term.is_prefix else ""}'
