"""Temporary conversations: they are deleted some minutes after their last page was closed.

Open pages renew `temporary_seen_at` about once a minute, so the rows alone show which conversations are abandoned, even
after a crash. A conversation is deleted if it has had no open page and no change for `TEMPORARY_LIMIT_MIN` and one
renewal interval, and no answer is being written.
"""

from __future__ import annotations

import uuid
from collections.abc import Collection
from datetime import datetime, timedelta

from django.conf import settings
from django.db.models import Exists, OuterRef
from django.utils import timezone

from chat.models.conversation import Conversation
from chat.models.conversation_queries import ConversationQuerySet
from chat.models.deletion import BEING_DELETED, delete_conversation
from chat.models.turn import Turn

RENEWAL_INTERVAL = timedelta(minutes=1)
DELETED_AT_ONCE = 5
"""Maximum number of conversations that one sweep deletes."""


def renew(conversation_ids: Collection[uuid.UUID]) -> None:
    """Record that pages of temporary conversations are open. Ids of other conversations are ignored."""
    _temporary().filter(pk__in=conversation_ids).update(temporary_seen_at=timezone.now())


def is_due(seen_at: datetime | None) -> bool:
    """Return whether an open page should renew `seen_at`, which is `None` if the conversation is not temporary."""
    return seen_at is not None and seen_at < timezone.now() - RENEWAL_INTERVAL


def keep(conversation: Conversation) -> bool:
    """Make a temporary conversation permanent. Returns False if it is deleted, or its deletion has begun."""
    is_kept = bool(_temporary().filter(pk=conversation.pk).update(temporary_seen_at=None))
    return is_kept or Conversation.objects.kept().filter(pk=conversation.pk).exists()


def delete_abandoned() -> int:
    """Delete up to DELETED_AT_ONCE abandoned conversations in which no answer is being written. Return their number."""
    number = 0
    for conversation in list(_abandoned()[:DELETED_AT_ONCE]):
        # Since the query, its page may have been opened, or another process may have begun to delete it.
        if _abandoned().filter(pk=conversation.pk).update(temporary_seen_at=BEING_DELETED):
            delete_conversation(conversation)
            number += 1
    return number


def _temporary() -> ConversationQuerySet:
    """Return the temporary conversations whose deletion has not begun."""
    return Conversation.objects.filter(temporary_seen_at__gt=BEING_DELETED).order_by()


def _abandoned() -> ConversationQuerySet:
    """Return the abandoned conversations in which no answer is being written, also if a deletion was interrupted."""
    limit = timezone.now() - timedelta(minutes=settings.TEMPORARY_LIMIT_MIN) - RENEWAL_INTERVAL
    running = Turn.objects.filter(conversation=OuterRef("pk"), status__in=(Turn.Status.QUEUED, Turn.Status.RUNNING))
    # `updated_at` is checked too, because a question sent by the API changes the row without an open page.
    rows = Conversation.objects.filter(temporary_seen_at__lt=limit, updated_at__lt=limit)
    return rows.filter(~Exists(running)).order_by("temporary_seen_at")
