"""Faults of the database and of single turns: each one affects as little as possible, and nothing is lost."""

from __future__ import annotations

import asyncio
import threading
import uuid
from collections.abc import AsyncIterator, Iterable, Sequence
from typing import Any

import psycopg
import pytest
from channels.db import database_sync_to_async
from django.db import IntegrityError, OperationalError, connection
from django.utils.safestring import SafeString
from pytest_django import Settings

from chat import consumers
from chat.answering.prompt.rows import PromptRows, read_rows
from chat.answering.turns import recovery, runner, store
from chat.answering.turns.database_retries import LockConflict
from chat.answering.turns.finish import increment_revision
from chat.answering.turns.log_writer import Commits
from chat.answering.turns.runner import Runner, start_turn, stop_turn
from chat.answering.turns.start import Start, create_turns
from chat.answering.turns.start_plan import PlannedTurn
from chat.answering.turns.store import StoreResult, TurnWrite
from chat.answering.turns.turn_threads import turn_store
from chat.messages.changes import AnswerAttachment, AttachmentAdded, Change, PartStarted, TextAppended
from chat.models import Turn, TurnEvent
from chat.page.relay import broadcast, follower
from chat.page.relay.batching import BatchedCalls
from chat.page.relay.live_message import LiveMessage
from chat.page.relay.page_updates import Update, read_update
from chat.page.transcript.window import Window
from chat.vocabulary.parts import Text
from tests.attachments.conftest import png
from tests.chat.turn_driver import (
    WAIT_LIMIT_S,
    Tab,
    ask_and_wait,
    create_turn,
    fresh_page,
    make_question,
    new_conversation,
    open_socket,
    read_until,
)
from tests.factories import make_attachment
from tests.polling import wait_until_async

pytestmark = pytest.mark.django_db(transaction=True)


async def test_answer_that_cannot_be_rendered_does_not_stop_other_answers(
    emulated: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    update = LiveMessage.update
    healthy, broken = await new_conversation(model="scenario-long-5"), await new_conversation(model="scenario-text")

    def fail_for_one(self: LiveMessage, changes: Iterable[Change]) -> SafeString:
        changes = list(changes)
        has_text = any(isinstance(change, PartStarted | TextAppended) for change in changes)
        if has_text and self._turn.conversation_id == broken.pk:
            raise RecursionError("a defect of the renderer")
        return update(self, changes)

    monkeypatch.setattr(LiveMessage, "update", fail_for_one)
    await start_turn(make_question(broken))
    turn = await ask_and_wait(healthy, "go")
    assert turn.status == "done"
    assert (await Turn.objects.aget(conversation=broken)).status == "done"
    assert 'data-status="done"' in await fresh_page(broken)


async def test_page_recovers_after_the_database_was_unavailable(
    emulated: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    failures = iter([OperationalError("the server closed the connection")] * 2)

    def fail_twice(
        conversation_id: uuid.UUID, known_revision: int | None, held: Window | None, reader_at: uuid.UUID | None
    ) -> Update:
        for failure in failures:
            raise failure
        return read_update(conversation_id, known_revision, held, reader_at)

    monkeypatch.setattr(follower, "read_update", fail_twice)
    monkeypatch.setattr(follower, "RETRY_PAUSE_S", 0.05)
    conversation = await new_conversation(model="scenario-text")
    socket = await open_socket(conversation)
    await start_turn(make_question(conversation))
    await read_until(socket, 'data-role=\\"model\\" data-status=\\"done\\"')
    await socket.disconnect()
    await Runner.current().drain()


async def test_page_gets_an_error_message_and_can_disconnect_if_the_database_fails_at_a_start(
    emulated: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fail(_: object) -> None:
        raise OperationalError("database is locked")

    monkeypatch.setattr(consumers, "start_turn", fail)
    conversation = await new_conversation()
    socket = await open_socket(conversation)
    await socket.send_json_to({"action": "send", "text": "x"})
    await read_until(socket, "database does not answer")
    assert str(conversation.pk) in broadcast.followed_conversations()
    await socket.disconnect()
    assert str(conversation.pk) not in broadcast.followed_conversations()


async def test_turn_runs_even_if_the_caller_is_cancelled_while_it_is_created(
    emulated: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    is_created, may_return = threading.Event(), threading.Event()

    def create_and_wait(starts: Sequence[Start], *, lease_owner: str) -> list[PlannedTurn | Exception]:
        outcomes = create_turns(starts, lease_owner=lease_owner)
        is_created.set()
        may_return.wait(WAIT_LIMIT_S)
        return outcomes

    monkeypatch.setattr(runner, "create_turns", create_and_wait)
    conversation = await new_conversation(model="scenario-text")
    caller = asyncio.create_task(start_turn(make_question(conversation)))
    await asyncio.to_thread(is_created.wait, WAIT_LIMIT_S)
    caller.cancel()
    await asyncio.gather(caller, return_exceptions=True)
    tab = Tab(conversation.pk)
    with tab.following():
        may_return.set()
        await tab.receive(1)
        await Runner.current().drain()
    assert (await Turn.objects.aget(conversation=conversation)).status == "done"


async def test_lock_on_one_conversation_does_not_prevent_starts_in_others(
    emulated: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    locked, *others = [await new_conversation(model="scenario-text") for _ in range(3)]

    def create_unless_locked(starts: Sequence[Start], *, lease_owner: str) -> list[PlannedTurn | Exception]:
        if any(start.conversation_id == locked.pk for start in starts):
            raise OperationalError("lock timeout") from psycopg.errors.LockNotAvailable()
        return create_turns(starts, lease_owner=lease_owner)

    monkeypatch.setattr(runner, "create_turns", create_unless_locked)
    starts = [start_turn(make_question(one)) for one in (locked, *others)]
    outcomes = await asyncio.gather(*starts, return_exceptions=True)
    assert isinstance(outcomes[0], LockConflict)
    await Runner.current().drain()
    assert [turn.status async for turn in Turn.objects.filter(conversation__in=others)] == ["done", "done"]


@pytest.fixture
async def outage(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[asyncio.Event]:
    """A database that stores no changes of turns until the event is set."""
    write, is_over = store.write, asyncio.Event()

    async def fail_until_over(changes: Sequence[TurnWrite]) -> list[StoreResult | Exception]:
        if not is_over.is_set():
            raise OperationalError("down")
        return await write(changes)

    monkeypatch.setattr(store, "write", fail_until_over)
    yield is_over
    is_over.set()


async def test_turn_survives_an_outage_of_the_database_longer_than_its_lease(
    emulated: Settings, outage: asyncio.Event
) -> None:
    conversation = await new_conversation(model="scenario-endless-50")
    tab = Tab(conversation.pk)
    with tab.following():
        started = await start_turn(make_question(conversation))
        # The worst moment for a sweep of this very process: the lease has expired, but the turn is alive.
        await Turn.objects.filter(pk=started.turn.pk).aupdate(lease_expires_at=started.turn.created_at)
        assert await database_sync_to_async(recovery.sweep)() == 0
        outage.set()
        await tab.receive(4)
        await stop_turn(conversation.pk)
        await Runner.current().drain()
    turn = await Turn.objects.select_related("message").aget(conversation=conversation)
    assert turn.status == "stopped"
    assert turn.message.text.startswith("word 1 word 2 ")
    assert tab.page.transcript == await fresh_page(conversation)


async def test_turn_waits_until_the_database_is_back_to_read_its_prompt(
    emulated: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    failures = iter([OperationalError("the server closed the connection")] * 2)

    def fail_twice(turns: Sequence[Turn], **known: Any) -> list[PromptRows]:
        for failure in failures:
            raise failure
        return read_rows(turns, **known)

    monkeypatch.setattr(runner, "read_rows", fail_twice)
    turn = await ask_and_wait(await new_conversation(model="scenario-text"), "go")
    assert (turn.status, next(failures, None)) == ("done", None)


async def test_changes_whose_confirmation_was_lost_are_not_stored_twice(
    emulated: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    conversation = await new_conversation(model="scenario-code")
    write, unconfirmed = store._write, {"a change", "the end"}

    def write_and_fail(changes: Sequence[TurnWrite]) -> list[StoreResult | Exception]:
        results = write(changes)
        kind = "the end" if changes[0].ending else "a change"
        if kind in unconfirmed:
            unconfirmed.remove(kind)
            if kind == "the end":
                # Another process that starts a question meanwhile would increment the revision, too.
                increment_revision(conversation.pk)
            raise OperationalError("the connection broke after the commit")
        return results

    monkeypatch.setattr(store, "_write", write_and_fail)
    tab = Tab(conversation.pk)
    turn = await ask_and_wait(conversation, "go", tab)
    assert not unconfirmed
    assert turn.status == "done"
    assert tab.page.transcript == await fresh_page(conversation)
    # The page must not assume that it already has the other change, too.
    await conversation.arefresh_from_db()
    assert tab.frames[-1].revision == conversation.revision - 1


async def test_graph_that_cannot_be_stored_fails_only_its_own_turn(emulated: Settings) -> None:
    conversations = [await new_conversation() for _ in range(2)]
    broken, valid = [
        (await turn_store.run(create_turn, make_question(one), lease_owner=broadcast.PROCESS)).turn
        for one in conversations
    ]
    stored = await database_sync_to_async(make_attachment)(conversations[0].owner)
    data = png(1)
    graph = AnswerAttachment(0, 0, str(stored.pk), "a.png", "image/png", len(data), "", 8, 6, True, data)
    text = PartStarted(0, Text("a"))
    writes = [
        TurnWrite(turn=broken, first_seq=1, changes=[text, AttachmentAdded(graph)]),
        TurnWrite(turn=valid, first_seq=1, changes=[text]),
    ]
    commits: Commits = BatchedCalls(store.write)
    results = await asyncio.gather(*map(commits.submit, writes), return_exceptions=True)
    assert isinstance(results[0], IntegrityError)
    assert results[1] == StoreResult()
    assert [row.turn_id async for row in TurnEvent.objects.all()] == [valid.pk]


@pytest.mark.skipif(connection.vendor != "sqlite", reason="only SQLite can be told that its disk is full")
async def test_full_disk_delays_a_turn_and_loses_nothing(emulated: Settings, caplog: pytest.LogCaptureFixture) -> None:
    def limit_pages(pages: int) -> None:
        with connection.cursor() as cursor:
            cursor.execute("VACUUM")
            cursor.execute(f"PRAGMA max_page_count = {pages}")

    conversation = await new_conversation(model="scenario-endless-500")
    tab = Tab(conversation.pk)
    with tab.following():
        await start_turn(make_question(conversation))
        try:
            await turn_store.run(limit_pages, 1)
            # After two failed attempts, everything that was being stored when the limit was set is stored.
            await wait_until_async(lambda: caplog.text.count("trying again: database or disk is full") >= 2)
            frames = len(tab.frames)
            await wait_until_async(lambda: caplog.text.count("trying again: database or disk is full") >= 4)
            assert len(tab.frames) == frames
        finally:
            await turn_store.run(limit_pages, 2**30)
        await tab.receive(frames + 3)
        await stop_turn(conversation.pk)
        await Runner.current().drain()
    turn = await Turn.objects.select_related("message").aget(conversation=conversation)
    assert turn.status == "stopped"
    words = turn.message.text.split("word ")[1:]
    assert [int(word) for word in words] == list(range(1, len(words) + 1))
    assert tab.page.transcript == await fresh_page(conversation)
