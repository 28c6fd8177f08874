"""A conversation's page at one revision.

Everything is read so that it agrees with one revision. A live answer is exactly what its log held at `seq`; a page that
then follows the turn's frames from there ends with the same HTML as a reload.
"""

from __future__ import annotations

import uuid
from dataclasses import dataclass

from django.db.models import Exists, OuterRef, Q

from chat.fragments import MessageView
from chat.models import Conversation, Turn
from chat.transcript.records import path_records
from chat.transcript.versions import versions_in_view
from chat.transcript.views import message_view

READ_ATTEMPTS = 5


@dataclass(frozen=True, slots=True)
class LivePosition:
    """A live turn, its message, and the `seq` of the last log row that was read."""

    turn_id: uuid.UUID
    message_id: uuid.UUID
    seq: int


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A conversation's page at one revision."""

    revision: int
    messages: tuple[MessageView, ...]
    live: LivePosition | None


def snapshot(conversation_id: uuid.UUID, *, known_revision: int | None = None) -> Snapshot:
    """Read the whole transcript, or the live message alone if the reader has the transcript of this revision.

    Raises Conversation.DoesNotExist.
    """
    for _ in range(READ_ATTEMPTS):
        revision = _revision(conversation_id)
        condition = Q(turn__status__in=Turn.LIVE) if revision == known_revision else None
        records = path_records(conversation_id, condition)
        versions = versions_in_view(conversation_id, [record.message for record in records])
        views = tuple(message_view(record, versions.get(record.message.pk)) for record in records)
        # A turn that ended between the reads has incremented the revision: the records do not agree, so read again.
        if _revision(conversation_id) == revision:
            break
    live = next((record for record in records if record.is_live), None)
    position = LivePosition(live.turn.pk, live.message.pk, live.seq) if live and live.turn else None
    return Snapshot(revision, views, position)


def is_current(conversation_id: uuid.UUID, known_revision: int | None) -> bool:
    """Return whether a page of this revision shows everything: nothing has changed since, and no answer is live."""
    live = Turn.objects.filter(conversation=OuterRef("pk"), status__in=Turn.LIVE)
    rows = Conversation.objects.filter(pk=conversation_id).order_by().annotate(is_live=Exists(live))
    return list(rows.values_list("revision", "is_live")) == [(known_revision, False)]


def _revision(conversation_id: uuid.UUID) -> int:
    revision = Conversation.objects.filter(pk=conversation_id).values_list("revision", flat=True).first()
    if revision is None:
        raise Conversation.DoesNotExist
    return revision
