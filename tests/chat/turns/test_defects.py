"""Faults inside the machinery end what they touch and nothing else: one turn, one read, one start."""

from __future__ import annotations

import asyncio
import time
import uuid
from collections.abc import AsyncIterator, Iterable, Sequence
from datetime import timedelta

import pytest
from channels.db import database_sync_to_async
from channels.routing import URLRouter
from channels.testing import WebsocketCommunicator
from django.conf import settings
from django.db import OperationalError
from django.test import AsyncClient
from django.utils import timezone
from django.utils.safestring import SafeString
from pytest_django import Settings

from chat import consumers
from chat.models import Conversation, Message, Turn, TurnEvent
from chat.parts import Part, PartKind, PartReceived
from chat.routing import websocket_urlpatterns
from chat.turns import broadcast, recovery, runner, store
from chat.turns.answer import Change, PartStarted, TextAppended
from chat.turns.group_commit import GroupCommit
from chat.turns.live_message import LiveMessage
from chat.turns.live_turn import LiveTurn
from chat.turns.runner import Runner, start_turn, stop_turn
from chat.turns.starting import Start, StartedTurn, create_turn, create_turns
from chat.turns.transcript import snapshot
from tests.chat.turns.running import Tab, answered, asking, fresh_page, new_conversation
from tests.factories import make_conversation, make_model_message

pytestmark = pytest.mark.django_db(transaction=True)


async def ask(conversation: Conversation, text: str = "go") -> StartedTurn:
    return await start_turn(asking(conversation, text))


def begun(conversation: Conversation) -> LiveTurn:
    """A turn that nobody runs."""
    return LiveTurn(create_turn(asking(conversation, "go"), lease_owner=broadcast.PROCESS))


async def opened(conversation: Conversation) -> WebsocketCommunicator:
    """A socket of the owner's."""
    browser = AsyncClient()
    await browser.aforce_login(conversation.owner)
    cookie = f"{settings.SESSION_COOKIE_NAME}={browser.cookies[settings.SESSION_COOKIE_NAME].value}".encode()
    path = f"/ws/conversations/{conversation.pk}/"
    socket = WebsocketCommunicator(URLRouter(websocket_urlpatterns), path, headers=[(b"cookie", cookie)])
    is_open, _ = await socket.connect(timeout=5)
    assert is_open
    return socket


async def read_until(socket: WebsocketCommunicator, text: str) -> None:
    async with asyncio.timeout(20):
        while text not in await socket.receive_from(timeout=15):
            pass


async def test_answer_that_cannot_be_rendered_stops_no_other(
    emulated: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    update = LiveMessage.update

    def fragile(self: LiveMessage, changes: Iterable[Change]) -> SafeString:
        changes = list(changes)
        if any(isinstance(change, PartStarted | TextAppended) for change in changes) and self is broken:
            raise RecursionError("a defect of the renderer")
        return update(self, changes)

    monkeypatch.setattr(LiveMessage, "update", fragile)
    healthy, ill = await new_conversation(model="scenario-long-5"), await new_conversation(model="scenario-text")
    started = await ask(ill)
    broken = Runner.current()._turns[started.turn.pk]._page
    turn = await answered(healthy, "go")
    assert turn.status == "done"
    await Runner.current().drain()
    assert (await Turn.objects.aget(conversation=ill)).status == "done"
    assert 'data-status="done"' in await fresh_page(ill)


async def test_turn_that_comes_as_the_last_one_ends_is_kept(emulated: Settings) -> None:
    first, second = [await new_conversation(model="scenario-text") for _ in range(2)]
    commits = GroupCommit(broadcast.PROCESS)
    ends, comes = [await database_sync_to_async(begun)(each) for each in (first, second)]

    async def follow() -> None:
        # Woken before the loop's own end is told of.
        await ends.settled.wait()
        commits.enter(comes)

    following = asyncio.create_task(follow())
    await asyncio.sleep(0)
    commits.enter(ends)
    ends.end(Turn.Status.DONE)
    commits.touch(ends)
    await following
    for _ in range(5):
        await asyncio.sleep(0)
    assert not comes.settled.is_set()
    comes.end(Turn.Status.DONE)
    commits.touch(comes)
    async with asyncio.timeout(10):
        await comes.settled.wait()
    assert [turn.status async for turn in Turn.objects.order_by("created_at")] == ["done", "done"]


async def test_reading_rests_until_what_came_is_shown_and_more_may_be(emulated: Settings) -> None:
    conversation = await new_conversation(model="scenario-text")
    turn = await database_sync_to_async(begun)(conversation)
    commits, loop = GroupCommit(broadcast.PROCESS), asyncio.get_running_loop()
    commits.enter(turn)
    await turn.rest()
    turn.add(PartReceived(Part(PartKind.TEXT, text="one")))
    commits.touch(turn)
    # A provider that has said one thing alone is read on at once: the next thing may be long in coming.
    await turn.rest()
    assert turn.has_news
    turn.add(PartReceived(Part(PartKind.TEXT, text=" two")))
    async with asyncio.timeout(10):
        while turn.has_news or not turn.due_at:
            await asyncio.sleep(0.001)
        assert turn.is_fast
        first_due_at = turn.due_at
        while loop.time() < first_due_at:
            await asyncio.sleep(0.001)
        turn.add(PartReceived(Part(PartKind.TEXT, text=" three")))
        commits.touch(turn)
        await turn.rest()
    assert not turn.has_news
    # The event loop's timers count whole milliseconds.
    assert loop.time() >= turn.due_at - 0.002 >= first_due_at
    assert await TurnEvent.objects.filter(turn=turn.turn, name="part").aexists()
    turn.end(Turn.Status.DONE)
    commits.touch(turn)
    await turn.settled.wait()


async def test_reading_goes_on_while_nothing_can_be_stored(emulated: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    conversation = await new_conversation(model="scenario-text")
    turn = await database_sync_to_async(begun)(conversation)
    commits = GroupCommit(broadcast.PROCESS)
    commits.enter(turn)
    write_round = store.write_round

    def refuse(*_: object, **__: object) -> store.Round:
        raise OperationalError("database or disk is full")

    monkeypatch.setattr(store, "write_round", refuse)
    for word in ("one ", "and "):
        turn.add(PartReceived(Part(PartKind.TEXT, text=word)))
    commits.touch(turn)
    async with asyncio.timeout(10):
        while not turn.is_fast:
            await asyncio.sleep(0.001)
        turn.add(PartReceived(Part(PartKind.TEXT, text="two")))
        await turn.rest()
    commits.touch(turn)
    monkeypatch.setattr(store, "write_round", write_round)
    turn.end(Turn.Status.DONE)
    commits.touch(turn)
    async with asyncio.timeout(10):
        await turn.settled.wait()
    assert (await Message.objects.aget(turn=turn.turn)).text == "one and two"


async def test_log_that_cannot_be_read_closes_no_conversation_and_stops_no_recovery() -> None:
    def left_behind(log: dict[str, object]) -> uuid.UUID:
        message = make_model_message(make_conversation(), parts=(), status=Turn.Status.RUNNING)
        TurnEvent.objects.filter(turn=message.turn).update(name="part", data=log)
        gone = timezone.now() - timedelta(seconds=9)
        Turn.objects.filter(pk=message.turn.pk).update(lease_owner="gone", lease_expires_at=gone)
        return message.turn.pk

    def tried() -> tuple[str, str]:
        unreadable = left_behind({"index": 0, "part": {"kind": "newer_kind"}, "attachment": None})
        readable = left_behind({"index": 0, "part": {"kind": "text", "text": "kept"}, "attachment": None})
        assert recovery.sweep() == 2
        first, second = Turn.objects.get(pk=unreadable), Turn.objects.get(pk=readable)
        assert second.message.text == "kept"
        assert first.error_code == "storage"
        return first.status, second.status

    assert await database_sync_to_async(tried)() == ("failed", "interrupted")


async def test_page_comes_back_after_the_database_was_away(emulated: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    read, failures = snapshot, iter([OperationalError("the server closed the connection")] * 2)

    def away(conversation_id: uuid.UUID, *, known_revision: int | None = None) -> object:
        for failure in failures:
            raise failure
        return read(conversation_id, known_revision=known_revision)

    monkeypatch.setattr(consumers, "snapshot", away)
    monkeypatch.setattr(consumers, "RETRY_PAUSE_S", 0.05)
    conversation = await new_conversation(model="scenario-text")
    socket = await opened(conversation)
    await ask(conversation)
    await read_until(socket, 'data-role=\\"model\\" data-status=\\"done\\"')
    await socket.disconnect()
    await Runner.current().drain()


async def test_action_that_fails_gets_a_sentence_and_leaves_nothing_behind(
    emulated: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def locked(_: object) -> None:
        raise OperationalError("database is locked")

    monkeypatch.setattr(consumers, "start_turn", locked)
    conversation = await new_conversation()
    socket = await opened(conversation)
    await socket.send_json_to({"action": "send", "text": "x"})
    await read_until(socket, "database does not answer")
    assert str(conversation.pk) in broadcast.followed()
    await socket.disconnect()
    assert str(conversation.pk) not in broadcast.followed()


async def test_start_whose_caller_is_gone_runs_all_the_same(
    emulated: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    def slow(starts: Sequence[Start], *, lease_owner: str) -> list[StartedTurn | Exception]:
        outcomes = create_turns(starts, lease_owner=lease_owner)
        time.sleep(0.3)
        return outcomes

    monkeypatch.setattr(runner, "create_turns", slow)
    conversation = await new_conversation(model="scenario-text")
    caller = asyncio.create_task(ask(conversation))
    await asyncio.sleep(0.1)
    caller.cancel()
    await asyncio.gather(caller, return_exceptions=True)
    async with asyncio.timeout(20):
        while not await Turn.objects.filter(conversation=conversation, status="done").aexists():
            await asyncio.sleep(0.05)


@pytest.fixture
async def outage(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[asyncio.Event]:
    """A database that takes no rounds until the event is set."""
    write, is_back = store.write_round, asyncio.Event()

    def down(batches: list[store.Batch], *, lease_owner: str) -> store.Round:
        if not is_back.is_set():
            raise OperationalError("down")
        return write(batches, lease_owner=lease_owner)

    monkeypatch.setattr(store, "write_round", down)
    yield is_back
    is_back.set()


async def test_turn_outlives_an_outage_that_is_longer_than_its_lease(emulated: Settings, outage: asyncio.Event) -> None:
    emulated.TURN_LEASE_S = 2
    conversation = await new_conversation(model="scenario-endless-50")
    tab = Tab(conversation.pk)
    broadcast.subscribe(conversation.pk, tab)
    await ask(conversation)
    await asyncio.sleep(2.5)
    # The sweep of this very process, at the worst moment: the lease is over, the turn is not.
    assert await database_sync_to_async(recovery.sweep)() == 0
    outage.set()
    async with asyncio.timeout(20):
        while len(tab.frames) < 4:
            await asyncio.sleep(0.02)
    await stop_turn(conversation.pk)
    await Runner.current().drain()
    broadcast.unsubscribe(conversation.pk, tab)
    turn = await Turn.objects.select_related("message").aget(conversation=conversation)
    assert turn.status == "stopped"
    assert turn.message.text.startswith("word 1 word 2 ")
    assert tab.page.transcript == await fresh_page(conversation)


async def test_round_whose_confirmation_was_lost_is_not_stored_twice(
    emulated: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    write, unheard = store.write_round, {True, False}

    def unconfirmed(batches: list[store.Batch], *, lease_owner: str) -> store.Round:
        done = write(batches, lease_owner=lease_owner)
        # Once in the middle of the turn, and once at its end.
        is_end = batches[0].ending is not None
        if is_end in unheard:
            unheard.remove(is_end)
            raise OperationalError("the connection broke after the commit")
        return done

    monkeypatch.setattr(store, "write_round", unconfirmed)
    conversation = await new_conversation(model="scenario-code")
    tab = Tab(conversation.pk)
    turn = await answered(conversation, "go", tab)
    assert turn.status == "done"
    assert tab.page.transcript == await fresh_page(conversation)


async def test_old_logs_are_forgotten_and_pages_stay(emulated: Settings) -> None:
    conversation = await new_conversation(model="scenario-code")
    turn = await answered(conversation, "go")
    page = await fresh_page(conversation)
    forget = database_sync_to_async(store.forget_old_logs)
    assert await forget(older_than=timedelta(days=1)) == 0
    assert await forget(older_than=timedelta(0)) > 0
    assert not await TurnEvent.objects.filter(turn=turn).aexists()
    assert await fresh_page(conversation) == page
