"""Pages of a user's conversation list: pinned conversations, then the others. Archived ones have their own list."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from chat.models.conversation import Conversation
from chat.models.conversation_queries import ConversationQuerySet, ListPosition
from chat.models.list_states import with_live_status


class Group(StrEnum):
    """A group of conversations in the list."""

    PINNED = "pinned"
    OTHERS = "others"
    ARCHIVED = "archived"


@dataclass(frozen=True, slots=True)
class ListPage:
    """One page of the list; each group is ordered newest first."""

    pinned: list[Conversation]
    others: list[Conversation]
    """The conversations that are not pinned. In the list of archived conversations, those that are archived."""
    group: Group
    """The group in which the next page begins; see `list_page`."""
    end: ListPosition | None
    """The position after which the next page begins; `None` on the last page."""


def list_page(
    conversations: ConversationQuerySet, size: int, group: Group | None = None, after: ListPosition | None = None
) -> ListPage:
    """Return one page, with at most `size` conversations of each group. Runs at most two queries.

    `after`: the position in `group` after which the page begins. `None`: it begins with the first one of the group.
    """
    conversations = with_live_status(conversations)
    if group is Group.ARCHIVED:
        page = conversations.archived().page(size, after)
        return ListPage([], page.conversations, group, page.end)
    pinned: list[Conversation] = []
    if group in (Group.PINNED, None):
        page = conversations.in_use().filter(pinned_at__isnull=False).page(size, after)
        pinned, after = page.conversations, None
        if page.end:
            return ListPage(pinned, [], Group.PINNED, page.end)
    page = conversations.in_use().filter(pinned_at__isnull=True).page(size, after)
    return ListPage(pinned, page.conversations, Group.OTHERS, page.end)
