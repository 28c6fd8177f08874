"""Queries for lists of conversations."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from django.db import models
from django.db.models import Q

from chat.models.full_text.query import Term
from chat.models.search import ContainsTerm
from chat.models.settings_choices import WebSearch

if TYPE_CHECKING:
    from chat.models.conversation import Conversation


@dataclass(frozen=True, slots=True)
class ListPosition:
    """A position in a list of conversations or projects, by their last change: after the row with this time and id."""

    updated_at: datetime
    conversation_id: uuid.UUID
    rank: int = 0
    """In the results of a search: the rank of this conversation, as in `chat.models.ranked_search`."""


@dataclass(frozen=True, slots=True)
class Page:
    """A page of conversations, newest first, or a page of search results, best matches first."""

    conversations: list[Conversation]
    end: ListPosition | None
    """The position after which the next page begins; `None` on the last page."""
    ranks: Sequence[int] = ()
    """The rank of each search result, as in `chat.models.ranked_search`. Empty for pages that are no search results."""


class ConversationQuerySet(models.QuerySet["Conversation"]):
    """Queries for conversations."""

    def owned_by(self, user_id: int) -> ConversationQuerySet:
        """Return the conversations of one user."""
        return self.filter(owner_id=user_id)

    def in_use(self) -> ConversationQuerySet:
        """Return the conversations that are not archived."""
        return self.filter(archived_at__isnull=True)

    def kept(self) -> ConversationQuerySet:
        """Return the conversations that are not temporary. Lists, searches, galleries, exports and reviews use them."""
        return self.filter(temporary_seen_at__isnull=True)

    def archived(self) -> ConversationQuerySet:
        """Return the archived conversations."""
        return self.filter(archived_at__isnull=False)

    def newest_first(self) -> ConversationQuerySet:
        """Order the conversations by their last change."""
        return self.order_by("-updated_at", "-pk")

    def page(self, size: int, after: ListPosition | None = None) -> Page:
        """Return the newest conversations, or the first ones after a position.

        A conversation that has changed since the previous pages were read is not repeated.
        """
        conversations = list(self.after(after)[: size + 1])
        last = conversations[size - 1] if len(conversations) > size else None
        return Page(conversations[:size], ListPosition(last.updated_at, last.pk) if last else None)

    def after(self, position: ListPosition | None) -> ConversationQuerySet:
        """Return the conversations after a position; all of them if it is `None`. Newest first."""
        rows = self.newest_first()
        if position is None:
            return rows
        # `updated_at__lte` lets the database use an index. Of rows with the same time, lower ids come later.
        is_later = Q(updated_at__lt=position.updated_at) | Q(pk__lt=position.conversation_id)
        return rows.filter(is_later, updated_at__lte=position.updated_at)

    def holding(self, terms: Sequence[Term], owner_id: int | None = None) -> ConversationQuerySet:
        """Return the conversations whose title and shown messages contain every term. Without terms, return none.

        `owner_id`: the user whose conversations are searched. `None` searches those of all users, whose texts are then
        read.
        """
        return self.filter(*(ContainsTerm(term, owner_id) for term in terms)) if terms else self.none()

    def untouched(self, settings: Mapping[str, str], project_id: uuid.UUID | None = None) -> ConversationQuerySet:
        """Return empty conversations of a project, or of none if `project_id` is `None`.

        They have no messages, these settings, and otherwise the default settings.
        """
        defaults: dict[str, str | None] = {
            "title": "",
            "system_instruction": "",
            "web_search": WebSearch.AUTO,
            "archived_at": None,
            "pinned_at": None,
            "temporary_seen_at": None,
        }
        untouched = self.exclude(private_data=True).filter(messages__isnull=True, project=project_id)
        return untouched.filter(**defaults, **settings)


ConversationManager = models.Manager.from_queryset(ConversationQuerySet)


class ExistingConversations(ConversationManager["Conversation"]):
    """The conversations that their owners have not deleted."""

    def get_queryset(self) -> ConversationQuerySet:
        """Return all conversations except deleted ones, whose rows remain until they are removed."""
        return ConversationQuerySet(self.model, using=self._db).filter(deleted_at__isnull=True)
