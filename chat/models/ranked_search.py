"""Pages of search results, the best matches first."""

from __future__ import annotations

from collections.abc import Sequence

from chat.models.conversation import Conversation
from chat.models.conversation_queries import ConversationQuerySet, ListPosition, Page
from chat.models.full_text.query import Term, make_exact
from chat.models.search import ContainsTerm


def search_page(
    conversations: ConversationQuerySet,
    terms: Sequence[Term],
    owner_id: int,
    size: int,
    after: ListPosition | None = None,
) -> Page:
    """Return a page of one user's conversations that contain every term, by rank, and newest first within a rank.

    Ranks: all terms are in the title, as whole words (0), or some as prefixes (1); or they are in title and messages,
    as whole words (2), or some as prefixes (3).
    """
    exact = make_exact(terms)
    ranks = {0: (exact, True), 1: (terms, True), 2: (exact, False), 3: (terms, False)}
    found: list[tuple[int, Conversation]] = []
    for rank, (tried, in_title) in ranks.items():
        if not terms or len(found) > size or rank < (after.rank if after else 0) or (rank % 2 and exact == terms):
            continue
        rows = conversations.filter(*_contain(tried, owner_id, in_title=in_title))
        if rank % 2:
            rows = rows.exclude(*_contain(exact, owner_id, in_title=in_title))
        if not in_title:
            rows = rows.exclude(*_contain(terms, owner_id, in_title=True))
        begin = after if after and rank == after.rank else None
        found += ((rank, one) for one in rows.after(begin)[: size + 1 - len(found)])
    end = None
    if len(found) > size:
        rank, last = found[size - 1]
        end = ListPosition(last.updated_at, last.pk, rank)
    return Page([one for _, one in found[:size]], end, [rank for rank, _ in found[:size]])


def _contain(terms: Sequence[Term], owner_id: int, *, in_title: bool) -> list[ContainsTerm]:
    return [ContainsTerm(term, owner_id, in_title=in_title) for term in terms]
