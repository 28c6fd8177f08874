"""Finds the messages of a conversation that match a search, for links to the next and the previous one."""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from urllib.parse import urlencode

from chat.library.forms import SEARCH_LIMIT
from chat.models import Conversation
from chat.models.full_text.query import parse
from chat.models.search_results import list_hits


@dataclass(frozen=True, slots=True)
class Hits:
    """The position of a message among the hits of a search. The link after the last hit leads to the first one."""

    number: int
    """Number of the message among the hits, counted from 1."""
    total: int
    query: str
    previous_url: str
    next_url: str


def find_hits(conversation: Conversation, query: str, message_id: uuid.UUID | None) -> Hits | None:
    """Return the position of a message among the hits; `None` if the search does not find it."""
    if not query or message_id is None:
        return None
    hits = list_hits(conversation, parse(query[:SEARCH_LIMIT]))
    if message_id not in hits:
        return None
    index, address = hits.index(message_id), conversation.get_absolute_url()

    def link(position: int, **fields: str) -> str:
        hit = hits[position % len(hits)]
        return f"{address}?{urlencode({'message': hit, 'q': query, **fields})}#message-{hit}"

    return Hits(index + 1, len(hits), query, link(index - 1, **{"from": "end"}), link(index + 1))
