"""Loads what search results show: for each conversation its title, and an excerpt of the matching message with its day
and role.
"""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import chain

from django.db import connection

from chat.models.conversation import Conversation
from chat.models.full_text.excerpt import Piece, build_excerpt, mark_matches
from chat.models.full_text.query import Term, join_terms, make_exact
from chat.models.full_text.words import INDEXED_CHARS
from chat.models.message import Message
from chat.models.search import SqlWithParams, build_sqlite_condition, build_tsquery
from chat.vocabulary.parts import Role

# Both queries read the stored words of the messages of these conversations, because the index would return messages of
# all conversations. They select the best match of each conversation, and of equal ones the newest: with max(), SQLite
# takes the other columns from the row of the maximum.
_SQLITE = """
    SELECT message.id, message.conversation_id, message.role, message.created_at, substr(message.text, 1, %s) AS text
    FROM (
        SELECT entry.source_id, max((CASE {ranks} ELSE 0 END << 48) + entry.id) AS best
        FROM chat_searchentry entry CROSS JOIN chat_searchwords ON chat_searchwords.rowid = entry.id
        WHERE entry.conversation_id IN ({ids}) AND entry.source_id <> entry.conversation_id
        GROUP BY entry.conversation_id HAVING best >= 1 << 48
    ) found JOIN chat_message message ON message.id = found.source_id
"""
_POSTGRESQL = """
    SELECT DISTINCT ON (entry.conversation_id)
        message.id, entry.conversation_id, message.role, message.created_at, substr(message.text, 1, %s) AS text
    FROM chat_searchentry entry JOIN chat_message message ON message.id = entry.source_id
    WHERE entry.conversation_id IN ({ids}) AND {matches}
    ORDER BY entry.conversation_id{order}, message.index DESC
"""
_POSTGRESQL_MATCHES = "ts_match_vq(entry.words, %s::tsquery)"

_SQLITE_HITS = """
    SELECT message.id, message.conversation_id
    FROM chat_searchentry entry CROSS JOIN chat_searchwords ON chat_searchwords.rowid = entry.id
    CROSS JOIN chat_message message ON message.id = entry.source_id
    WHERE entry.conversation_id = %s AND ({matches}) ORDER BY message."index" LIMIT %s
"""
_POSTGRESQL_HITS = f"""
    SELECT message.id, message.conversation_id
    FROM chat_searchentry entry JOIN chat_message message ON message.id = entry.source_id
    WHERE entry.conversation_id = %s AND {_POSTGRESQL_MATCHES} ORDER BY message.index LIMIT %s
"""

HITS_LIMIT = 1_000
"""Maximum number of messages that `list_hits` returns."""


@dataclass(frozen=True, slots=True)
class SearchResult:
    """A conversation that contains all terms."""

    conversation: Conversation
    title: tuple[Piece, ...]
    message_id: uuid.UUID | None
    """The newest shown message of the best kind of match: with all terms next to each other, with all terms as whole
    words, with all terms, or with one term. `None` if only the title matches.
    """
    excerpt: tuple[Piece, ...]
    """An excerpt of that message; empty if only the title matches."""
    role: str
    """The role of that message; empty if only the title matches."""
    at: datetime
    """The time of that message. If only the title matches, the time of the conversation's last change."""


def load_search_results(conversations: Sequence[Conversation], terms: Sequence[Term]) -> list[SearchResult]:
    """Return the results for conversations of one owner, in the same order. Runs at most one query."""
    messages = _load_matching_messages(conversations, terms)
    results = []
    for conversation in conversations:
        message = messages.get(conversation.pk)
        results.append(
            SearchResult(
                conversation,
                mark_matches(str(conversation), terms),
                message.pk if message else None,
                build_excerpt(message.text, terms, has_tags=message.role != Role.USER) if message else (),
                message.role if message else "",
                message.created_at if message else conversation.updated_at,
            )
        )
    return results


def list_hits(conversation: Conversation, terms: Sequence[Term]) -> list[uuid.UUID]:
    """Return the ids of the first HITS_LIMIT shown messages of a conversation that contain all terms, in order.

    If no message contains all terms, return those that contain one of them. Runs at most two queries.
    """
    hits: list[uuid.UUID] = []
    for groups in ([tuple(terms)], [(term,) for term in terms]) if terms else ():
        if connection.vendor == "postgresql":
            params = [conversation.pk, _any_tsquery(groups), HITS_LIMIT]
            hits = [message.pk for message in Message.objects.raw(_POSTGRESQL_HITS, params)]
        else:
            matches, patterns = _any_sqlite_condition(groups, conversation.owner_id)
            params = [conversation.pk.hex, *patterns, HITS_LIMIT]
            hits = [message.pk for message in Message.objects.raw(_SQLITE_HITS.format(matches=matches), params)]
        if hits:
            break
    return hits


def _any_tsquery(groups: Sequence[Sequence[Term]]) -> str:
    return " | ".join(f"({' & '.join(map(build_tsquery, terms))})" for terms in groups)


def _any_sqlite_condition(groups: Sequence[Sequence[Term]], owner_id: int) -> SqlWithParams:
    conditions = [build_sqlite_condition(terms, owner_id) for terms in groups]
    return " OR ".join(f"({sql})" for sql, _ in conditions), tuple(
        chain.from_iterable(params for _, params in conditions)
    )


def _load_matching_messages(conversations: Sequence[Conversation], terms: Sequence[Term]) -> dict[uuid.UUID, Message]:
    """Return the message to show for each conversation, by the conversation's id."""
    if not conversations or not terms:
        return {}
    owner_id, ids = conversations[0].owner_id, [conversation.pk for conversation in conversations]
    # Best kind of match first. Each item is a list of alternatives, of which a message must contain one.
    wanted = _best_first(terms)
    if connection.vendor == "postgresql":
        queries = [_any_tsquery(groups) for groups in wanted]
        order = f", {_POSTGRESQL_MATCHES} DESC" * (len(queries) - 1)
        sql = _POSTGRESQL.format(ids=_placeholders(ids), matches=_POSTGRESQL_MATCHES, order=order)
        return _query_messages(sql, [INDEXED_CHARS, *ids, queries[-1], *queries[:-1]])
    conditions = [_any_sqlite_condition(groups, owner_id) for groups in wanted]
    ranks = " ".join(
        f"WHEN {sql} THEN {rank}" for rank, (sql, _) in zip(range(len(wanted), 0, -1), conditions, strict=True)
    )
    patterns = chain.from_iterable(params for _, params in conditions)
    sql = _SQLITE.format(ids=_placeholders(ids), ranks=ranks)
    return _query_messages(sql, [INDEXED_CHARS, *patterns, *(one.hex for one in ids)])


def _best_first(terms: Sequence[Term]) -> list[list[tuple[Term, ...]]]:
    """Return what a message must contain, the best kind of match first. Each item is a list of alternative groups of
    terms.
    """
    exact = make_exact(terms)
    wanted: list[list[tuple[Term, ...]]] = [
        [(join_terms(terms),)],
        [exact],
        [tuple(terms)],
        [(term,) for term in terms],
    ]
    return [groups for number, groups in enumerate(wanted) if groups not in wanted[:number]]


def _placeholders(values: Sequence[object]) -> str:
    return ", ".join(["%s"] * len(values))


def _query_messages(sql: str, params: Sequence[object]) -> dict[uuid.UUID, Message]:
    return {message.conversation_id: message for message in Message.objects.raw(sql, params)}
