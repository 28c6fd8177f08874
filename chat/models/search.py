"""Asking the index of `chat.search.index`: which conversations hold a term."""

from __future__ import annotations

from typing import TypeAlias

from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models import BooleanField, F, Func
from django.db.models.sql.compiler import SQLCompiler

from chat.search.query import Term

Sql: TypeAlias = tuple[str, tuple[str | int, ...]]

_SQLITE = """
    %(expressions)s IN (
        SELECT entry.conversation_id
        FROM chat_searchwords CROSS JOIN chat_searchentry entry ON entry.id = chat_searchwords.rowid
        WHERE chat_searchwords MATCH %%s
    )
"""
# As EXISTS it is joined as the planner sees fit: by the index of words, or along one person's conversations.
_POSTGRESQL = """
    EXISTS (
        SELECT 1 FROM (
            SELECT conversation_id, words FROM chat_message WHERE is_shown
            UNION ALL SELECT id, words FROM chat_conversation
        ) said
        WHERE said.conversation_id = %(expressions)s AND said.words @@ chat_query(%%s, %%s)
    )
"""


class Holds(Func):
    """Whether a term stands in a conversation's title or in one of its messages that are in view."""

    output_field = BooleanField()

    def __init__(self, term: Term) -> None:
        super().__init__(F("pk"))
        self.term = term

    def as_sqlite(self, compiler: SQLCompiler, connection: BaseDatabaseWrapper, **_: object) -> Sql:
        """By the table of words."""
        sql, params = super().as_sql(compiler, connection, template=_SQLITE)
        return sql, (*params, fts5(self.term))

    def as_postgresql(self, compiler: SQLCompiler, connection: BaseDatabaseWrapper, **_: object) -> Sql:
        """By the columns of words."""
        sql, params = super().as_sql(compiler, connection, template=_POSTGRESQL)
        return sql, (*params, self.term.typed, self.term.is_prefix)


def fts5(term: Term) -> str:
    """A term in FTS5's language; its words hold no character that means something there."""
    return f'"{term.words}"{"*" if term.is_prefix else ""}'
