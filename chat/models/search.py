"""A database expression that searches the index of `chat.models.full_text.index` for a term."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models import BooleanField, F, Func
from django.db.models.sql.compiler import SQLCompiler

from chat.models.full_text.index import OWNER_MARK, TITLE_MARK, prefix_words
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
        SELECT entry.conversation_id FROM chat_searchentry entry WHERE entry.words @@ %%s::tsquery
    )
"""
# The first condition lets PostgreSQL use the partial index, which holds only the words of titles.
_POSTGRESQL_TITLE = """
    %(expressions)s IN (
        SELECT entry.conversation_id FROM chat_searchentry entry WHERE entry.source_id = entry.conversation_id
        AND chat_owned_words(entry.owner_id, entry.words) @@ %%s::tsquery AND ts_match_vq(entry.words, %%s::tsquery)
    )
"""

RARE_ENTRIES = 500
"""Maximum number of matching entries of a person for which a search reads all of them.

If a term has more entries, the search looks into the person's conversations, the newest first, until a page is full.
Both ways read a few hundred rows, unless each of several terms is frequent but they rarely occur together.
"""

_SQLITE_IS_RARE = """
    (SELECT count(*) FROM (SELECT 1 FROM chat_searchwords WHERE chat_searchwords MATCH %%s LIMIT %%s)) <= %%s
"""
# Of the conditions for several terms, SQLite checks those last that read the entries of each conversation. So it looks
# up rare terms first, and reads no conversation if one of them occurs nowhere.
_SQLITE_OWNED = f"""
    (NOT {_SQLITE_IS_RARE} OR {_SQLITE}) AND ({_SQLITE_IS_RARE} OR EXISTS (
        SELECT 1 FROM chat_searchentry entry JOIN chat_searchwords ON chat_searchwords.rowid = entry.id
        WHERE entry.conversation_id = %(expressions)s AND {{contains}}
    ))
"""
_SQLITE_CONTAINS = "instr(' ' || chat_searchwords.words || ' ', %s)"
# The index finds the entries that have all words of a phrase. Their order is then checked by the function behind the
# operator @@: with the operator itself, PostgreSQL might use the index for everyone's words. The second LIMIT removes
# no row. It makes the planner expect few rows; otherwise it starts parallel workers, which takes a hundred
# milliseconds.
_POSTGRESQL_OWNED = """
    CASE WHEN (
        SELECT count(*) FROM (
            SELECT 1 FROM chat_searchentry entry
            WHERE chat_owned_words(entry.owner_id, entry.words) @@ %%s::tsquery LIMIT %%s
        ) counted
    ) <= %%s
    THEN %(expressions)s IN (
        SELECT entry.conversation_id FROM chat_searchentry entry
        WHERE chat_owned_words(entry.owner_id, entry.words) @@ %%s::tsquery
        AND ts_match_vq(entry.words, %%s::tsquery) LIMIT %%s
    )
    ELSE EXISTS (
        SELECT 1 FROM chat_searchentry entry
        WHERE entry.conversation_id = %(expressions)s AND ts_match_vq(entry.words, %%s::tsquery)
    ) END
"""


class ContainsTerm(Func):
    """A condition that is true if a conversation's title or one of its shown messages contains a term.

    With `owner_id`, only conversations of this user are searched, and the texts of others are not read. With `in_title`
    as well, only titles are searched.
    """

    output_field = BooleanField()

    def __init__(self, term: Term, owner_id: int | None = None, *, in_title: bool = False) -> None:
        super().__init__(F("pk"))
        self.term = term
        self.owner_id = owner_id
        self.in_title = in_title

    def as_sqlite(self, compiler: SQLCompiler, connection: BaseDatabaseWrapper, **_: object) -> SqlWithParams:
        """Compile to a search of the FTS5 table."""
        query = build_fts5_query(self.term, self.owner_id, TITLE_MARK if self.in_title else OWNER_MARK)
        if self.owner_id is None or self.in_title:
            sql, params = super().as_sql(compiler, connection, template=_SQLITE)
            return sql, (*params, query)
        contains, patterns = build_sqlite_condition([self.term], self.owner_id)
        template = _SQLITE_OWNED.format(contains=contains.replace("%", "%%"))
        sql, _no_params = super().as_sql(compiler, connection, template=template)
        is_rare = (query, RARE_ENTRIES + 1, RARE_ENTRIES)
        return sql, (*is_rare, query, *is_rare, *patterns)

    def as_postgresql(self, compiler: SQLCompiler, connection: BaseDatabaseWrapper, **_: object) -> SqlWithParams:
        """Compile to a search of the entries' words."""
        query = build_tsquery(self.term)
        if self.owner_id is None:
            sql, params = super().as_sql(compiler, connection, template=_POSTGRESQL)
            return sql, (*params, query)
        owned = build_tsquery(self.term, self.owner_id)
        if self.in_title:
            sql, params = super().as_sql(compiler, connection, template=_POSTGRESQL_TITLE)
            return sql, (*params, owned, query)
        sql, _no_params = super().as_sql(compiler, connection, template=_POSTGRESQL_OWNED)
        return sql, (owned, RARE_ENTRIES + 1, RARE_ENTRIES, owned, query, RARE_ENTRIES, query)


def build_sqlite_condition(terms: Sequence[Term], owner_id: int) -> SqlWithParams:
    """Return the condition that a row of `chat_searchwords` contains all terms. It reads the row and not the index."""
    # Stored words are separated by single spaces.
    patterns = tuple(
        f" {prefix_words(owner_id, words)}{'' if words in term.prefixes else ' '}"
        for term in terms
        for choice in _list_choices(term)
        for words in choice
    )
    conditions = (
        " OR ".join(" AND ".join([_SQLITE_CONTAINS] * len(choice)) for choice in _list_choices(term)) for term in terms
    )
    return " AND ".join(f"({condition})" for condition in conditions), patterns


def build_fts5_query(term: Term, owner_id: int | None = None, mark: str = OWNER_MARK) -> str:
    """Return a term in FTS5's query syntax.

    Indexed words contain only letters, digits, signs and the mark after an owner's id. In quotes, they need no
    escaping.
    """
    choices = (
        " AND ".join(_fts5_phrase(words, term, owner_id, mark) for words in choice) for choice in _list_choices(term)
    )
    return "({})".format(" OR ".join(f"({choice})" for choice in choices))


def _list_choices(term: Term) -> tuple[tuple[str, ...], ...]:
    """Return lists of words. A text contains the term if it has all words of one of these lists."""
    return ((term.words, *term.signed_words), *((other,) for other in term.others))


def _fts5_phrase(words: str, term: Term, owner_id: int | None, mark: str) -> str:
    # In the search of staff, a number must be a whole word, because as a prefix it would also match ids of owners.
    is_prefix = words in term.prefixes and not (owner_id is None and words.rpartition(" ")[2].isdecimal())
    phrase = words if owner_id is None else prefix_words(owner_id, words, mark)
    return f'"{phrase}"{"*" if is_prefix else ""}'


def build_tsquery(term: Term, owner_id: int | None = None) -> str:
    """Return a term in the syntax of PostgreSQL's `tsquery`.

    With `owner_id`, the words are joined by AND and not as a phrase, because the index of owners' words has no
    positions.
    """
    choices = (
        " & ".join(f"({_tsquery_phrase(words, term, owner_id)})" for words in choice) for choice in _list_choices(term)
    )
    return "({})".format(" | ".join(f"({choice})" for choice in choices))


def _tsquery_phrase(words: str, term: Term, owner_id: int | None) -> str:
    own = words if owner_id is None else prefix_words(owner_id, words)
    # Words contain no quotes.
    quoted = ["'{}'".format(word.replace("\\", "\\\\")) for word in own.split()]
    return (" <-> " if owner_id is None else " & ").join(quoted) + (":*" if words in term.prefixes else "")
