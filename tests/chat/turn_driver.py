"""Runs turns in this process, with the emulator over a real socket, and a page that follows them."""

from __future__ import annotations

import asyncio
import json
import urllib.request
import uuid
from collections.abc import Awaitable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from channels.auth import AuthMiddlewareStack
from channels.db import database_sync_to_async
from channels.routing import URLRouter
from channels.testing import WebsocketCommunicator
from django.conf import settings
from django.test import AsyncClient

from chat.answering.turns.runner import Runner, start_turn
from chat.answering.turns.start import Ask, Start, create_turns
from chat.answering.turns.start_plan import PlannedTurn
from chat.models import Conversation, Turn
from chat.models import Part as PartRow
from chat.page.fragments import transcript_html
from chat.page.relay import broadcast
from chat.page.relay.frames import Announcement, ExpectedPosition, Frame, NewRevision, OrderedFrame, UnorderedUpdate
from chat.page.transcript.snapshot import snapshot
from chat.routing import websocket_urlpatterns
from chat.vocabulary.parts import Part
from tests.dom import Page
from tests.factories import make_conversation

WAIT_LIMIT_S = 60.0


@dataclass(eq=False)
class Tab:
    """Follows a conversation from its beginning, and keeps the page that its frames make."""

    conversation_id: uuid.UUID
    frames: list[OrderedFrame] = field(default_factory=list)
    """The frames of turns that it has received."""
    all_frames: list[OrderedFrame | UnorderedUpdate] = field(default_factory=list)
    page: Page = field(default_factory=Page)
    _has_new_frame: asyncio.Event = field(default_factory=asyncio.Event)

    @contextmanager
    def following(self) -> Iterator[None]:
        """Follow for the length of the block."""
        broadcast.subscribe(self.conversation_id, self)
        try:
            yield
        finally:
            broadcast.unsubscribe(self.conversation_id, self)

    def deliver(self, frame: Frame) -> None:
        """Apply a frame, which must follow the last one."""
        assert not isinstance(frame, Announcement | ExpectedPosition)
        self.all_frames.append(frame)
        self._has_new_frame.set()
        self.page.apply(frame.text)
        if isinstance(frame, UnorderedUpdate):
            return
        last = next((earlier for earlier in reversed(self.frames) if earlier.turn_id == frame.turn_id), None)
        if isinstance(frame, NewRevision):
            assert last is None
        else:
            assert last is not None
            assert frame.after == last.seq
        self.frames.append(frame)

    async def receive(self, number: int) -> None:
        """Wait until it has received at least this number of frames of turns."""
        async with asyncio.timeout(WAIT_LIMIT_S):
            while len(self.frames) < number:
                self._has_new_frame.clear()
                await self._has_new_frame.wait()

    async def receive_text(self, text: str) -> None:
        """Wait until the transcript contains this text."""
        async with asyncio.timeout(WAIT_LIMIT_S):
            while text not in self.page.transcript:
                self._has_new_frame.clear()
                await self._has_new_frame.wait()


async def new_conversation(**settings: str | bool) -> Conversation:
    """Create an empty conversation."""
    conversation: Conversation = await database_sync_to_async(make_conversation)(**settings)
    return conversation


def make_question(conversation: Conversation, text: str = "go", **chosen: Any) -> Ask:
    """Return a question of the conversation's owner."""
    return Ask(conversation.owner, conversation.pk, text, **chosen)


def create_turn(start: Start, *, lease_owner: str = "test") -> PlannedTurn:
    """Store one turn, which no task runs. Raises the errors of `Start.plan`."""
    [outcome] = create_turns([start], lease_owner=lease_owner)
    if isinstance(outcome, Exception):
        raise outcome
    return outcome


async def ask_and_wait(conversation: Conversation, text: str, tab: Tab | None = None) -> Turn:
    """Ask, wait for the end, and return the turn as stored."""
    if tab is None:
        return await start_and_wait(start_turn(make_question(conversation, text)))
    with tab.following():
        return await start_and_wait(start_turn(make_question(conversation, text)))


async def start_and_wait(start: Awaitable[PlannedTurn]) -> Turn:
    """Start a turn, wait for the end, and return the turn as stored."""
    started = await start
    await Runner.current().drain()
    return await Turn.objects.select_related("message").aget(pk=started.turn.pk)


def _journal(url: str, path: str = "") -> Any:  # noqa: ANN401 - JSON
    with urllib.request.urlopen(f"{url}/emulator/calls{path}", timeout=60) as answer:
        return json.load(answer)


def count_calls(url: str) -> int:
    """Return the number of calls that the emulator has received."""
    return max((call["number"] for call in _journal(url)), default=0)


def calls_since(url: str, number: int) -> list[dict[str, Any]]:
    """Return the emulator's calls after its first `number` calls, oldest first, each with its `request`."""
    newer = sorted(call["number"] for call in _journal(url) if call["number"] > number)
    return [_journal(url, f"/{later}") for later in newer]


async def fresh_page(conversation: Conversation) -> str:
    """Return the inner HTML of the transcript as a reload shows it."""
    html: str = await database_sync_to_async(lambda: str(transcript_html(snapshot(conversation.pk).messages)))()
    return html


async def parts_of(turn: Turn) -> list[Part]:
    """Return the stored parts of a turn's answer."""
    return [row.value async for row in PartRow.objects.filter(message_id=turn.message_id).order_by("index")]


async def open_socket(conversation: Conversation) -> WebsocketCommunicator:
    """Open a socket of the conversation's owner."""
    browser = AsyncClient()
    await browser.aforce_login(conversation.owner)
    cookie = f"{settings.SESSION_COOKIE_NAME}={browser.cookies[settings.SESSION_COOKIE_NAME].value}".encode()
    application = AuthMiddlewareStack(URLRouter(websocket_urlpatterns))
    path = f"/ws/conversations/{conversation.pk}/"
    socket = WebsocketCommunicator(application, path, headers=[(b"cookie", cookie)])
    is_open, _ = await socket.connect(timeout=WAIT_LIMIT_S)
    assert is_open
    return socket


async def read_until(socket: WebsocketCommunicator, text: str) -> None:
    """Read messages until one contains the text."""
    async with asyncio.timeout(WAIT_LIMIT_S):
        while text not in await socket.receive_from(timeout=WAIT_LIMIT_S):
            pass
