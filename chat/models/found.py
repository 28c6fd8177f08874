"""What is shown of conversations that were found: of each the message that holds what was looked for."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import dataclass

from django.db import connection

from chat.models.conversation import Conversation, Message
from chat.models.search import fts5
from chat.search.excerpt import Piece, excerpt, marked
from chat.search.query import Term
from chat.search.words import SEARCHED_CHARS

# The newest match of each: with max() SQLite takes the other columns from that row. Matches come in the order of their
# numbers, so all before the first that could count are passed over.
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
    SELECT DISTINCT ON (conversation_id) id, conversation_id, substr(text, 1, %s) AS text
    FROM chat_message
    WHERE conversation_id IN ({ids}) AND is_shown AND words @@ ({any})
    ORDER BY conversation_id, words @@ ({all}) DESC, index DESC
"""


@dataclass(frozen=True, slots=True)
class Found:
    """A conversation that holds all terms."""

    conversation: Conversation
    title: tuple[Piece, ...]
    message_id: uuid.UUID | None
    """The newest message in view with all terms, else with one of them; None: they stand in the title alone."""
    excerpt: tuple[Piece, ...]
    """Of that message."""


def found(conversations: Sequence[Conversation], terms: Sequence[Term]) -> list[Found]:
    """What to show of these, in their order; takes at most two queries."""
    messages = _messages([conversation.pk for conversation in conversations], terms)
    shown = []
    for conversation in conversations:
        message = messages.get(conversation.pk)
        shown.append(
            Found(
                conversation,
                marked(str(conversation), terms),
                message.pk if message else None,
                excerpt(message.text, terms) if message else (),
            )
        )
    return shown


def _messages(ids: list[uuid.UUID], terms: Sequence[Term]) -> dict[uuid.UUID, Message]:
    """Conversation -> the message to show."""
    if not ids or not terms:
        return {}
    placeholders = ", ".join(["%s"] * len(ids))
    if connection.vendor == "postgresql":
        query = "chat_query(%s, %s)"
        sql = _POSTGRESQL.format(
            ids=placeholders, any=" || ".join([query] * len(terms)), all=" && ".join([query] * len(terms))
        )
        asked = [value for term in terms for value in (term.typed, term.is_prefix)]
        return _by_conversation(sql, [SEARCHED_CHARS, *ids, *asked, *asked])
    sql, hexes = _SQLITE.format(ids=placeholders), [conversation_id.hex for conversation_id in ids]
    messages: dict[uuid.UUID, Message] = {}
    for word in (" OR ", " AND ") if len(terms) > 1 else (" OR ",):
        messages |= _by_conversation(sql, [SEARCHED_CHARS, word.join(map(fts5, terms)), *hexes, *hexes])
    return messages


def _by_conversation(sql: str, params: Sequence[object]) -> dict[uuid.UUID, Message]:
    return {message.conversation_id: message for message in Message.objects.raw(sql, params)}
