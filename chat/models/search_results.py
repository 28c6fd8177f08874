"""Loads what search results show: for each conversation its title and an excerpt of the matching message."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import dataclass

from django.db import connection

from chat.models.conversation import Conversation
from chat.models.full_text.excerpt import Piece, build_excerpt, mark_matches
from chat.models.full_text.query import Term
from chat.models.full_text.words import INDEXED_CHARS
from chat.models.message import Message
from chat.models.search import build_fts5_query

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
_POSTGRESQL = """
    SELECT DISTINCT ON (entry.conversation_id) message.id, entry.conversation_id, substr(message.text, 1, %s) AS text
    FROM chat_searchentry entry JOIN chat_message message ON message.id = entry.source_id
    WHERE entry.conversation_id IN ({ids}) AND ({any})
    ORDER BY entry.conversation_id, ({all}) DESC, message.index DESC
"""


@dataclass(frozen=True, slots=True)
class SearchResult:
    """A conversation that contains all terms."""

    conversation: Conversation
    title: tuple[Piece, ...]
    message_id: uuid.UUID | None
    """The newest visible message with all terms, else the newest with one of them; None if only the title matches."""
    excerpt: tuple[Piece, ...]
    """An excerpt of that message; empty if only the title matches."""


def load_search_results(conversations: Sequence[Conversation], terms: Sequence[Term]) -> list[SearchResult]:
    """Return the results of conversations of one owner, in their order. This takes at most two queries."""
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


def _load_matching_messages(conversations: Sequence[Conversation], terms: Sequence[Term]) -> dict[uuid.UUID, Message]:
    """Return the message to show for each conversation, by the conversation's id."""
    if not conversations or not terms:
        return {}
    placeholders, owner_id = ", ".join(["%s"] * len(conversations)), conversations[0].owner_id
    ids = [conversation.pk for conversation in conversations]
    if connection.vendor == "postgresql":
        # The rows are found by their conversations, and only their words are read.
        term_params = [value for term in terms for value in (term.source, term.is_prefix)]
        queries = {
            name: operator.join(["chat_query(%s, %s)"] * len(terms))
            for name, operator in (("any", " || "), ("all", " && "))
        }
        matches = {name: f"ts_match_vq(entry.words, {query})" for name, query in queries.items()}
        sql = _POSTGRESQL.format(ids=placeholders, **matches)
        return _query_messages(sql, [INDEXED_CHARS, *ids, *term_params, *term_params])
    sql, hex_ids = _SQLITE.format(ids=placeholders), [conversation_id.hex for conversation_id in ids]
    messages: dict[uuid.UUID, Message] = {}
    # A message with all terms replaces one with any of them.
    for operator in (" OR ", " AND ") if len(terms) > 1 else (" OR ",):
        fts5_query = operator.join(build_fts5_query(term, owner_id) for term in terms)
        messages |= _query_messages(sql, [INDEXED_CHARS, fts5_query, *hex_ids, *hex_ids])
    return messages


def _query_messages(sql: str, params: Sequence[object]) -> dict[uuid.UUID, Message]:
    return {message.conversation_id: message for message in Message.objects.raw(sql, params)}
