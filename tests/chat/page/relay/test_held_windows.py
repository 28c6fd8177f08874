"""What a socket sends to a page that holds a window of a long conversation, with real turns of the emulator."""

from __future__ import annotations

import asyncio
import re
import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from itertools import groupby
from typing import Any

import pytest
from channels.auth import AuthMiddlewareStack
from channels.db import database_sync_to_async
from channels.routing import URLRouter
from channels.testing import WebsocketCommunicator
from django.conf import settings
from django.db.models import F
from django.test import AsyncClient
from pytest_django import Settings

from chat.answering.turns.runner import Runner, start_turn, stop_turn, switch_version
from chat.answering.turns.start import Edit, Regenerate
from chat.models import Conversation, Message, Part
from chat.page.fragments import transcript_html
from chat.page.relay import follower, page_updates, socket_revalidation
from chat.page.transcript.snapshot import snapshot
from chat.page.transcript.window import Window
from chat.python.reruns.live import LiveRerun
from chat.python.reruns.verdicts import Comparison, Verdict
from chat.routing import websocket_urlpatterns
from chat.vocabulary.parts import ExecutableCode
from tests.chat.turn_driver import WAIT_LIMIT_S, make_question
from tests.dom import Page
from tests.factories import make_long_conversation
from tests.parsed_html import ParsedHtml

pytestmark = pytest.mark.django_db(transaction=True)


class HeldPage:
    """A page that holds a window; it applies what its socket sends."""

    def __init__(self, socket: WebsocketCommunicator, conversation_id: uuid.UUID, html: str) -> None:
        self.socket = socket
        self.conversation_id = conversation_id
        self.page = Page(f'<div id="transcript">{html}</div><div id="composer-error"></div>')

    async def send(self, **message: Any) -> None:
        await self.socket.send_json_to(message)

    async def receive(self) -> str:
        """Apply the next message and return it."""
        text: str = await self.socket.receive_from(timeout=WAIT_LIMIT_S)
        self.page.apply(text)
        return text

    async def receive_until(self, text: str) -> None:
        """Apply messages until the transcript contains the text."""
        async with asyncio.timeout(WAIT_LIMIT_S):
            while text not in self.page.transcript:
                await self.receive()

    async def receive_answer(self) -> None:
        """Apply messages until an answer was live and is not any more."""
        await self.receive_until('data-status="running"')
        async with asyncio.timeout(WAIT_LIMIT_S):
            while 'data-status="running"' in self.page.transcript:
                await self.receive()

    async def outdate(self) -> None:
        """Change the conversation without a frame, and apply the snapshot that follows."""
        await Conversation.objects.filter(pk=self.conversation_id).aupdate(revision=F("revision") + 1)
        await socket_revalidation.check()
        await self.receive()

    def numbers(self) -> list[int]:
        """Return the numbers of the messages, as `make_long_conversation` has written them."""
        return [int(number) for number in re.findall(r"<p>Message (\d+)\.</p>", self.page.transcript)]


@asynccontextmanager
async def opened(
    conversation: Conversation,
    query: str = "",
    *,
    is_silent: bool = False,
    **window: Any,
) -> AsyncIterator[HeldPage]:
    """Load a page over HTTP, open its socket, and send its window: `window`, or the one with which it was loaded.

    `is_silent`: send no window.
    """
    browser = AsyncClient()
    await browser.aforce_login(conversation.owner)
    html = (await browser.get(f"/c/{conversation.pk}/{query}")).content.decode()
    page = ParsedHtml(html)
    [url] = [one.attributes["hx-ws:connect"] for one in page.elements if "hx-ws:connect" in one.attributes]
    transcript = re.search(r'<div id="transcript" hx-ignore>(.*?)</div>\s*<nav id="later"', html, re.DOTALL)
    assert transcript
    first = page.only("nav", id="earlier").attributes["data-first"]
    last = page.only("nav", id="later").attributes.get("data-last")
    cookie = f"{settings.SESSION_COOKIE_NAME}={browser.cookies[settings.SESSION_COOKIE_NAME].value}".encode()
    application = AuthMiddlewareStack(URLRouter(websocket_urlpatterns))
    socket = WebsocketCommunicator(application, url, headers=[(b"cookie", cookie)])
    is_open, _ = await socket.connect(timeout=WAIT_LIMIT_S)
    assert is_open
    held = HeldPage(socket, conversation.pk, transcript[1])
    if not is_silent:
        await held.send(**{"action": "window", "first": first, "last": last} | window)
    yield held
    await socket.disconnect()
    await Runner.current().drain()


async def make(messages: int) -> Conversation:
    conversation: Conversation = await database_sync_to_async(make_long_conversation)(messages=messages)
    await Conversation.objects.filter(pk=conversation.pk).aupdate(model="scenario-text")
    return conversation


async def edit(conversation: Conversation, index: int) -> None:
    """Edit a shown question."""
    message = await conversation.messages.aget(index=index, is_shown=True)
    await start_turn(Edit(conversation.owner, conversation.pk, "changed", message_id=message.pk))


async def switch(conversation: Conversation, message: Message) -> None:
    await switch_version(lambda: conversation.pk, message.pk)


async def test_page_can_load_earlier_messages_until_the_first_one(emulated: Settings) -> None:
    conversation = await make(100)
    async with opened(conversation) as page:
        for first in (40, 10, 0):
            await page.send(action="earlier")
            text = await page.receive()
            assert f'data-first=\\"{first}\\"' in text
            assert page.numbers() == list(range(first, 100))
        await page.send(action="earlier")
        await page.send(action="later")
        assert await page.socket.receive_nothing()


async def test_verdict_of_an_earlier_answer_is_shown_while_another_answer_is_written(emulated: Settings) -> None:
    """The revision does not change meanwhile, so the page reads its whole window again."""
    conversation = await make(2)
    await Conversation.objects.filter(pk=conversation.pk).aupdate(model="scenario-endless")
    answer = await conversation.messages.aget(index=1)
    await Part.objects.filter(message=answer).adelete()
    code = ExecutableCode("print(1)", "PYTHON")
    await database_sync_to_async(Part.from_value(code, index=0, message=answer).save)()
    async with opened(conversation) as page:
        await start_turn(make_question(conversation))
        await page.receive_until("word 3 ")
        assert await LiveRerun(answer, 0, "en").end(Comparison(Verdict.REPRODUCED, "The same."), from_start=False)
        await page.receive_until('data-verdict="reproduced"')
        assert 'data-status="running"' in page.page.transcript
        await stop_turn(conversation.pk)


async def test_answer_is_streamed_while_earlier_messages_are_loaded(emulated: Settings) -> None:
    conversation = await make(100)
    await Conversation.objects.filter(pk=conversation.pk).aupdate(model="scenario-long-50")
    async with opened(conversation) as page:
        await start_turn(make_question(conversation))
        await page.receive_until('data-status="running"')
        for number in (40, 10):
            await page.send(action="earlier")
            await page.receive_until(f"<p>Message {number}.</p>")
            assert 'data-status="running"' in page.page.transcript
        await page.receive_answer()
        assert page.page.transcript == await reload(conversation, Window(10))


async def reload(conversation: Conversation, window: Window) -> str:
    """Return the inner HTML of the transcript as a new page with this window shows it."""
    page = await database_sync_to_async(snapshot)(conversation.pk, lambda _: window)
    return str(transcript_html(page.messages))


async def test_page_that_does_not_show_the_end_gets_changes_of_its_messages_but_no_new_answer(
    emulated: Settings,
) -> None:
    conversation = await make(200)
    old = await conversation.messages.aget(index=50)
    async with opened(conversation, f"?message={old.pk}") as page:
        assert page.numbers() == list(range(35, 65))
        await start_turn(make_question(conversation))
        await Runner.current().drain()
        await page.receive()
        assert page.numbers() == list(range(35, 65))
        assert "<nav" not in page.page.transcript
        await page.send(action="later")
        await page.receive_until("<p>Message 94.</p>")
        assert page.numbers() == list(range(35, 95))


async def test_page_that_reaches_the_end_follows_the_conversation_from_there(emulated: Settings) -> None:
    conversation = await make(100)
    old = await conversation.messages.aget(index=50)
    async with opened(conversation, f"?message={old.pk}") as page:
        await page.send(action="later")
        await page.receive_until("<p>Message 94.</p>")
        await page.send(action="later")
        await page.receive_until("<p>Message 99.</p>")
        assert page.numbers() == list(range(35, 100))
        await start_turn(make_question(conversation, "a new question"))
        await page.receive_until("a new question")
        await page.receive_answer()
        assert page.page.transcript == await reload(conversation, Window(35))


async def test_page_gets_the_new_version_if_a_message_before_its_window_is_edited(emulated: Settings) -> None:
    conversation = await make(100)
    async with opened(conversation) as page:
        await edit(conversation, 20)
        await page.receive_until("changed")
        assert page.numbers() == list(range(20))
        await page.receive_answer()
        assert page.page.transcript == await reload(conversation, Window(0))


async def test_switch_back_to_a_version_with_many_messages_loads_the_switched_message_and_few_others(
    emulated: Settings,
) -> None:
    conversation = await make(1000)
    first = await conversation.messages.aget(index=20)
    await edit(conversation, 20)
    await Runner.current().drain()
    async with opened(conversation) as page:
        assert page.numbers() == list(range(20))
        await page.send(action="switch", message_id=str(first.pk))
        await page.receive_until("<p>Message 20.</p>")
        assert page.numbers() == list(range(80))
        await page.send(action="later")
        await page.receive_until("<p>Message 100.</p>")
        assert page.numbers() == list(range(110))


async def test_page_with_long_messages_loads_few_at_a_time_and_the_linked_message_first(
    emulated: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each message has 100,000 characters, so that two fit on a page, and three into a snapshot."""
    monkeypatch.setattr(page_updates, "SNAPSHOT_CHARS", 350_000)
    conversation = await database_sync_to_async(make_long_conversation)(messages=7, lines=8_333)
    first = await conversation.messages.aget(index=0)
    async with opened(conversation, f"?message={first.pk}") as page:

        def held() -> list[int]:
            numbers = re.findall(r"Message (\d)\.", page.page.transcript)
            return [int(number) for number, _ in groupby(numbers)]

        for last in (2, 4, 6):
            assert held() == list(range(last))
            await page.send(action="later")
            await page.receive()
        # With the last message, the page begins to follow the conversation, and gets a snapshot for it.
        assert held() == [4, 5, 6]
        await page.send(action="earlier")
        await page.receive()
        assert held() == [2, 3, 4, 5, 6]


@pytest.mark.drill
async def test_reconnected_page_keeps_its_window_or_the_messages_around_its_reader(emulated: Settings) -> None:
    conversation = await make(1000)
    seen = await conversation.messages.aget(index=420)
    for first, message_id, expected in ((730, None, (730, 1000)), (400, None, (970, 1000)), (400, seen.pk, (400, 480))):
        async with opened(conversation, first=first, message_id=message_id and str(message_id)) as page:
            await page.outdate()
            assert page.numbers() == list(range(*expected))


async def test_regenerated_answer_at_the_end_of_a_window_replaces_the_answer_on_the_page(emulated: Settings) -> None:
    conversation = await make(100)
    old = await conversation.messages.aget(index=51)
    async with opened(conversation, f"?message={old.pk}") as page:
        await start_turn(Regenerate(conversation.owner, conversation.pk, old.pk))
        await page.receive_answer()
        assert page.page.transcript == await reload(conversation, Window(22))
        assert "2/2" in page.page.transcript
        assert page.numbers() == list(range(22, 51))


@pytest.mark.parametrize("window", [{"first": "x"}, {"first": -1}, {"first": 0, "last": "x"}, {"first": 2**40}])
async def test_malformed_window_is_answered_with_a_sentence(emulated: Settings, window: dict[str, Any]) -> None:
    async with opened(await make(4), **window) as page:
        await page.receive()
        assert page.page.ids["composer-error"].inner()


async def test_client_that_sends_no_window_gets_the_newest_messages(
    emulated: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(follower, "WINDOW_WAIT_S", 0.05)
    conversation = await make(100)
    async with opened(conversation, is_silent=True) as page:
        await start_turn(make_question(conversation))
        await page.receive_answer()
        assert page.page.transcript == await reload(conversation, Window(70))
        await page.outdate()
        assert page.page.transcript == await reload(conversation, Window(72))
        await page.send(action="earlier")
        await page.receive_until("<p>Message 42.</p>")


async def test_page_that_requests_its_window_late_gets_exactly_this_window(
    emulated: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(follower, "WINDOW_WAIT_S", 0.0)
    conversation = await make(100)
    async with opened(conversation, is_silent=True) as page:
        await page.send(action="ack", turn="", seq=0)
        await page.send(action="window", first=40)
        await page.receive_until("<p>Message 40.</p>")
        assert page.page.transcript == await reload(conversation, Window(40))
