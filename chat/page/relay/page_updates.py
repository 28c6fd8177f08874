"""Reads updates of open pages: a snapshot of the window of messages that a page holds, or more messages for it."""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from functools import partial as bind

from chat.models import Conversation
from chat.page.fragments import header_swaps, message_html, partial, socket_message, transcript_html
from chat.page.relay.stream_position import StreamPosition
from chat.page.transcript.snapshot import Snapshot, live_snapshot, read_revision, shown_index, snapshot
from chat.page.transcript.usage import conversation_usage
from chat.page.transcript.window import PAGE_CHARS, SNAPSHOT_CHARS, Window, fit, newest


@dataclass(frozen=True, slots=True)
class Update:
    """A socket message, and what the page shows once it is applied."""

    text: str
    """The HTML of the update. Empty: the page is up to date."""
    position: StreamPosition
    window: Window | None = None
    """The window of the page after the update. `None`: the window does not change."""


def read_update(
    conversation_id: uuid.UUID,
    known_revision: int | None,
    held: Window | None = None,
    reader_at: uuid.UUID | int | None = None,
) -> Update:
    """Return the message that brings a page up to date.

    It replaces the live answer alone if the page has the newest revision, else the page's whole window.

    `held`: the window of the page; `None`: the newest messages. `reader_at`: the id or index of a message that the
    reader sees; `None`: the last one. Raises Conversation.DoesNotExist if the conversation was deleted.
    """
    if known_revision is not None and read_revision(conversation_id) == known_revision:
        if held is not None and not held.is_at_end:
            return Update("", StreamPosition(known_revision))
        page = live_snapshot(conversation_id)
        if page.revision == known_revision:
            return _live_update(page)
    near = shown_index(conversation_id, reader_at) if isinstance(reader_at, uuid.UUID) else reader_at
    if held is None:
        page = snapshot(conversation_id, newest, limit_chars=PAGE_CHARS)
    else:
        page = snapshot(conversation_id, bind(fit, held, reader_at=near), near, limit_chars=SNAPSHOT_CHARS)
    content = partial("transcript", "innerMorph", transcript_html(page.messages))
    content += partial("earlier", "outerMorph", page.earlier) + partial("later", "outerMorph", page.later)
    conversation = Conversation.objects.get(pk=conversation_id)
    content += header_swaps(conversation, conversation_usage(conversation))
    position = _position(page)
    return Update(socket_message(content, turn=position.turn_id, seq=position.seq), position, page.window)


def read_earlier(conversation_id: uuid.UUID, position: StreamPosition, held: Window) -> Update | None:
    """Read the messages before those that the page holds.

    Return `None` if the page is outdated. Raises Conversation.DoesNotExist if the conversation was deleted.
    """
    page = snapshot(conversation_id, lambda _: held.earlier(), held.first - 1, limit_chars=PAGE_CHARS)
    if page.revision != position.revision:
        return None
    content = partial("transcript", "afterbegin", transcript_html(page.messages))
    content += partial("earlier", "outerMorph", page.earlier)
    text = socket_message(content, turn=position.turn_id, seq=position.seq)
    return Update(text, position, Window(page.window.first, held.last))


def read_later(conversation_id: uuid.UUID, position: StreamPosition, held: Window) -> Update | None:
    """Read the messages after those that the page holds.

    Return `None` if the page is outdated, or if these are the last messages: it then needs a snapshot, because an
    answer among them may be live. Raises Conversation.DoesNotExist if the conversation was deleted.
    """
    page = snapshot(conversation_id, held.later, held.last, limit_chars=PAGE_CHARS)
    if page.revision != position.revision or page.window.is_at_end:
        return None
    content = partial("transcript", "beforeend", transcript_html(page.messages))
    content += partial("later", "outerMorph", page.later)
    text = socket_message(content, turn=position.turn_id, seq=position.seq)
    return Update(text, position, Window(held.first, page.window.last))


def _live_update(page: Snapshot) -> Update:
    position = _position(page)
    if page.live is None:
        return Update("", position)
    content = partial(f"message-{page.live.message_id}", "outerMorph", message_html(page.messages[0]))
    return Update(socket_message(content, turn=position.turn_id, seq=position.seq), position)


def _position(page: Snapshot) -> StreamPosition:
    live = page.live
    return StreamPosition(page.revision, str(live.turn_id), live.seq) if live else StreamPosition(page.revision)
