"""A page of a person's list: pinned conversations first, then the others; archived ones have a list of their own."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from chat.models.conversation import Conversation, ConversationQuerySet, Place


class Group(StrEnum):
    """Where a page of the list goes on."""

    PINNED = "pinned"
    OTHERS = "others"
    ARCHIVED = "archived"


@dataclass(frozen=True, slots=True)
class Listed:
    """One page, each group newest first."""

    pinned: list[Conversation]
    others: list[Conversation]
    """Or the archived ones."""
    group: Group
    """In which the next page goes on."""
    end: Place | None
    """After which it goes on; None: there are no more."""


def listed(theirs: ConversationQuerySet, size: int, group: Group | None = None, after: Place | None = None) -> Listed:
    """At most two queries, each for at most `size` rows. `group`, `after`: where to go on; none: at the beginning."""
    if group is Group.ARCHIVED:
        page = theirs.archived().page(size, after)
        return Listed([], page.conversations, group, page.end)
    pinned: list[Conversation] = []
    if group in (Group.PINNED, None):
        page = theirs.in_use().filter(pinned_at__isnull=False).page(size, after)
        pinned, after = page.conversations, None
        if page.end:
            return Listed(pinned, [], Group.PINNED, page.end)
    page = theirs.in_use().filter(pinned_at__isnull=True).page(size, after)
    return Listed(pinned, page.conversations, Group.OTHERS, page.end)
