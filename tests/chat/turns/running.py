"""Turns run in this process, against the emulator over a real socket, and a tab that follows them."""

from __future__ import annotations

import uuid
from dataclasses import dataclass, field

from channels.db import database_sync_to_async

from chat.fragments import transcript_html
from chat.models import Conversation, Turn
from chat.turns import broadcast
from chat.turns.broadcast import Frame
from chat.turns.runner import Runner, start_turn
from chat.turns.starting import Asked
from chat.turns.transcript import snapshot
from tests.dom import Page
from tests.factories import make_conversation


@dataclass(eq=False)
class Tab:
    """Follows a conversation from its beginning and keeps the page that its frames make."""

    conversation_id: uuid.UUID
    frames: list[Frame] = field(default_factory=list)
    page: Page = field(default_factory=Page)

    def deliver(self, frame: Frame) -> None:
        """Apply a frame; each must follow the last one."""
        last = next((seen for seen in reversed(self.frames) if seen.turn_id == frame.turn_id), None)
        assert frame.after == (last.seq if last else -1)
        self.frames.append(frame)
        self.page.apply(frame.text)


async def new_conversation(**settings: str) -> Conversation:
    """An empty conversation."""
    conversation: Conversation = await database_sync_to_async(make_conversation)(**settings)
    return conversation


async def answered(conversation: Conversation, text: str, tab: Tab | None = None) -> Turn:
    """Ask, wait for the end; the turn as stored."""
    if tab:
        broadcast.subscribe(conversation.pk, tab)
    started = await start_turn(lambda: (conversation.pk, Asked(text)))
    await Runner.current().drain()
    if tab:
        broadcast.unsubscribe(conversation.pk, tab)
    return await Turn.objects.select_related("message").aget(pk=started.turn.pk)


async def fresh_page(conversation: Conversation) -> str:
    """Inner HTML of the transcript as a reload shows it."""
    html: str = await database_sync_to_async(lambda: str(transcript_html(snapshot(conversation.pk).messages)))()
    return html
