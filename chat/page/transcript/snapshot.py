"""Reads a conversation's messages, or a range of them, at one revision.

All values agree with one revision, unless the revision changes during each of `READ_ATTEMPTS` reads. A live answer is
exactly what its log contained at `seq`. So a page that follows the turn's frames from there ends with the same HTML as
a reload.
"""

from __future__ import annotations

import uuid
from dataclasses import dataclass

from django.db.models import Exists, OuterRef, Q
from django.utils.safestring import SafeString

from chat.messages.records import message_chars, path_records
from chat.models import Conversation, Message, Turn
from chat.page.fragments import earlier_html, later_html
from chat.page.message_views import MessageView
from chat.page.readers import OWNER, Reader
from chat.page.render_queue import check_reader
from chat.page.transcript.versions import versions_in_view
from chat.page.transcript.views import message_view
from chat.page.transcript.window import ChooseWindow, Window, whole, within

READ_ATTEMPTS = 5


@dataclass(frozen=True, slots=True)
class LivePosition:
    """A live turn, its message, and the `seq` of the last log row that was read."""

    turn_id: uuid.UUID
    message_id: uuid.UUID
    seq: int


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A range of a conversation's shown messages at one revision."""

    revision: int
    window: Window
    messages: tuple[MessageView, ...]
    live: LivePosition | None
    """The live turn. `None`: no turn is live, or the range ends before its answer."""

    @property
    def earlier(self) -> SafeString:
        """The link to the messages before these: `#earlier`."""
        return earlier_html(self.window.first, self.messages[0].message_id if self.messages else None)

    @property
    def later(self) -> SafeString:
        """The links to the messages after these: `#later`."""
        return later_html(self.window.last, self.messages[-1].message_id if self.messages else None)


def snapshot(
    conversation_id: uuid.UUID,
    choose: ChooseWindow = whole,
    near: int | None = None,
    *,
    limit_chars: int | None = None,
    reader: Reader = OWNER,
) -> Snapshot:
    """Read a range of the transcript.

    `limit_chars`: maximum number of characters (see `window.within`). `near`: the index of a message that the shortened
    range must contain; `None`: the last one. Raises Conversation.DoesNotExist if the conversation was deleted.
    """
    for _ in range(READ_ATTEMPTS):
        revision = read_revision(conversation_id)
        window = choose(path_length(conversation_id))
        if limit_chars is not None:
            window = within(window, _sizes(conversation_id, window), limit_chars, near)
        page = _read(conversation_id, revision, window, _is_in(window), reader)
        # A turn that ended between the reads has incremented the revision: the records do not agree, so read again.
        if read_revision(conversation_id) == revision:
            break
    return page


def _sizes(conversation_id: uuid.UUID, window: Window) -> list[int]:
    """Return the number of characters of each message of a range, in order."""
    rows = Message.objects.filter(_is_in(window), conversation_id=conversation_id, is_shown=True)
    return list(message_chars(rows).values())


def _is_in(window: Window) -> Q:
    from_first = Q(index__gte=window.first)
    return from_first if window.last is None else from_first & Q(index__lt=window.last)


def live_snapshot(conversation_id: uuid.UUID) -> Snapshot:
    """Read only the live message, for a page that has all others. Raises Conversation.DoesNotExist after a deletion."""
    for _ in range(READ_ATTEMPTS):
        revision = read_revision(conversation_id)
        page = _read(conversation_id, revision, whole(0), Q(turn__status__in=Turn.LIVE), OWNER)
        if read_revision(conversation_id) == revision:
            break
    return page


def _read(conversation_id: uuid.UUID, revision: int, window: Window, condition: Q, reader: Reader) -> Snapshot:
    records = path_records(conversation_id, condition)
    versions = versions_in_view(conversation_id, [record.message for record in records])
    views = []
    for record in records:
        check_reader()
        views.append(message_view(record, reader, versions.get(record.message.pk)))
    live = next((record for record in records if record.is_live), None)
    position = LivePosition(live.turn.pk, live.message.pk, live.seq) if live and live.turn else None
    return Snapshot(revision, window, tuple(views), position)


def path_length(conversation_id: uuid.UUID) -> int:
    """Return how many messages a conversation shows. Reads one row of the database index of shown messages."""
    shown = Message.objects.filter(conversation_id=conversation_id, is_shown=True)
    last = shown.order_by("-index").values_list("index", flat=True).first()
    return 0 if last is None else last + 1


def shown_index(conversation_id: uuid.UUID, message_id: uuid.UUID) -> int | None:
    """Return the index of a shown message; `None` if the message is hidden, or not in this conversation."""
    rows = Message.objects.filter(conversation_id=conversation_id, pk=message_id, is_shown=True)
    return rows.values_list("index", flat=True).first()


def is_current(conversation_id: uuid.UUID, known_revision: int | None) -> bool:
    """Return whether a page of this revision shows everything: nothing has changed since, and no answer is live."""
    live = Turn.objects.filter(conversation=OuterRef("pk"), status__in=Turn.LIVE)
    rows = Conversation.objects.filter(pk=conversation_id).order_by().annotate(is_live=Exists(live))
    return list(rows.values_list("revision", "is_live")) == [(known_revision, False)]


def read_revision(conversation_id: uuid.UUID) -> int:
    """Return the revision of a conversation. Raises Conversation.DoesNotExist if it was deleted."""
    return Conversation.objects.values_list("revision", flat=True).get(pk=conversation_id)
