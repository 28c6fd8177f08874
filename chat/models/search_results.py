"""Loads what search results show: for each conversation its title and an excerpt of the matching message."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import dataclass

from django.db import connection

from chat.models.conversation import Conversation
from chat.models.full_text.excerpt import Piece, build_excerpt, mark_matches
from chat.models.full_text.query import Term, join_terms, make_exact
from chat.models.full_text.words import INDEXED_CHARS
from chat.models.message import Message
from chat.models.search import build_fts5_query, build_tsquery

# Selects the newest match of each conversation: with max(), SQLite takes the other columns from the row of the maximum.
# The condition on rowid skips the matches that are older than the first message of these conversations.
_SQLITE = """
    SELECT message.id, message.conversation_id, substr(message.text, 1, %s) AS text
    FROM (
        SELECT entry.source_id, max(entry.id)
        FROM chat_searchwords CROSS JOIN chat_searchentry entry ON entry.id = chat_searchwords.rowid
        WHERE chat_searchwords MATCH %s
        AND entry.conversation_id IN ({ids}) AND entry.source_id <> entry.conversation_id
        AND chat_searchwords.rowid >= (
            SELECT min(first.id) FROM chat_searchentry first
            WHERE first.source_id IN (SELECT id FROM chat_message WHERE conversation_id IN ({ids}))
        )
        GROUP BY entry.conversation_id
    ) newest JOIN chat_message message ON message.id = newest.source_id
"""
# The rows are found by their conversations, and only their words are read.
_POSTGRESQL = """
    SELECT DISTINCT ON (entry.conversation_id) message.id, entry.conversation_id, substr(message.text, 1, %s) AS text
    FROM chat_searchentry entry JOIN chat_message message ON message.id = entry.source_id
    WHERE entry.conversation_id IN ({ids}) AND {matches}
    ORDER BY entry.conversation_id{order}, message.index DESC
"""
_POSTGRESQL_MATCHES = "ts_match_vq(entry.words, %s::tsquery)"

_SQLITE_HITS = """
    SELECT message.id, message.conversation_id FROM chat_message message
    JOIN chat_searchentry entry ON entry.source_id = message.id
    WHERE message.conversation_id = %s AND entry.id IN (
        SELECT rowid FROM chat_searchwords WHERE chat_searchwords MATCH %s AND rowid BETWEEN
        (SELECT min(id) FROM chat_searchentry WHERE conversation_id = %s)
        AND (SELECT max(id) FROM chat_searchentry WHERE conversation_id = %s)
    ) ORDER BY message."index" LIMIT %s
"""
_POSTGRESQL_HITS = f"""
    SELECT message.id, message.conversation_id
    FROM chat_searchentry entry JOIN chat_message message ON message.id = entry.source_id
    WHERE entry.conversation_id = %s AND {_POSTGRESQL_MATCHES} ORDER BY message.index LIMIT %s
"""

HITS_LIMIT = 1_000
"""Further messages of a conversation are not counted."""


@dataclass(frozen=True, slots=True)
class SearchResult:
    """A conversation that contains all terms."""

    conversation: Conversation
    title: tuple[Piece, ...]
    message_id: uuid.UUID | None
    """The newest visible message that matches best: with all terms next to each other, or with all of them as whole
    words, or with all, or with one. None if only the title matches.
    """
    excerpt: tuple[Piece, ...]
    """An excerpt of that message; empty if only the title matches."""


def load_search_results(conversations: Sequence[Conversation], terms: Sequence[Term]) -> list[SearchResult]:
    """Return the results of conversations of one owner, in their order. This takes at most five queries."""
    messages = _load_matching_messages(conversations, terms)
    results = []
    for conversation in conversations:
        message = messages.get(conversation.pk)
        results.append(
            SearchResult(
                conversation,
                mark_matches(str(conversation), terms),
                message.pk if message else None,
                build_excerpt(message.text, terms) if message else (),
            )
        )
    return results


def list_hits(conversation: Conversation, terms: Sequence[Term]) -> list[uuid.UUID]:
    """Return the first HITS_LIMIT visible messages of a conversation with all terms in their order.

    If no message has all terms, return those with one of them. This takes at most two queries.
    """
    hits: list[uuid.UUID] = []
    for groups in ([tuple(terms)], [(term,) for term in terms]) if terms else ():
        if connection.vendor == "postgresql":
            params = [conversation.pk, _any_tsquery(groups), HITS_LIMIT]
            hits = [message.pk for message in Message.objects.raw(_POSTGRESQL_HITS, params)]
        else:
            key = conversation.pk.hex
            params = [key, _any_fts5_query(groups, conversation.owner_id), key, key, HITS_LIMIT]
            hits = [message.pk for message in Message.objects.raw(_SQLITE_HITS, params)]
        if hits:
            break
    return hits


def _any_tsquery(groups: Sequence[Sequence[Term]]) -> str:
    return " | ".join(f"({' & '.join(map(build_tsquery, terms))})" for terms in groups)


def _any_fts5_query(groups: Sequence[Sequence[Term]], owner_id: int) -> str:
    return " OR ".join(f"({' AND '.join(build_fts5_query(term, owner_id) for term in terms)})" for terms in groups)


def _load_matching_messages(conversations: Sequence[Conversation], terms: Sequence[Term]) -> dict[uuid.UUID, Message]:
    """Return the message to show for each conversation, by the conversation's id."""
    if not conversations or not terms:
        return {}
    owner_id, ids = conversations[0].owner_id, [conversation.pk for conversation in conversations]
    # The best first: each is a list of queries of which a message must match one.
    wanted = _best_first(terms)
    messages: dict[uuid.UUID, Message] = {}
    if connection.vendor == "postgresql":
        queries = [_any_tsquery(groups) for groups in wanted]
        order = f", {_POSTGRESQL_MATCHES} DESC" * (len(queries) - 1)
        sql = _POSTGRESQL.format(ids=_placeholders(ids), matches=_POSTGRESQL_MATCHES, order=order)
        return _query_messages(sql, [INDEXED_CHARS, *ids, queries[-1], *queries[:-1]])
    for groups in wanted:
        if not (missing := [one.hex for one in ids if one not in messages]):
            break
        sql = _SQLITE.format(ids=_placeholders(missing))
        messages |= _query_messages(sql, [INDEXED_CHARS, _any_fts5_query(groups, owner_id), *missing, *missing])
    return messages


def _best_first(terms: Sequence[Term]) -> list[list[tuple[Term, ...]]]:
    """Return what a message must contain to match, the best first: one of the groups of terms."""
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
