"""Turns from start to end against the emulator: how they end, and what they leave."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Sequence
from datetime import timedelta

import pytest
from channels.db import database_sync_to_async
from django.db import connection
from django.utils import timezone
from pytest_django import Settings

from attachments.models import Attachment
from chat.models import Message, MessageAttachment, Turn, TurnEvent
from chat.models import Part as PartRow
from chat.turns import broadcast, recovery, store
from chat.turns.deciding import StartRefused
from chat.turns.runner import Runner, start_turn, stop_turn
from chat.turns.starting import Version
from tests.chat.turns.running import Tab, answered, asking, fresh_page, new_conversation

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.mark.parametrize(
    ("scenario", "shown", "linked"),
    [
        ("image", 1, 1),
        ("image-shared-chunk", 1, 1),
        ("image-twice", 1, 1),
        ("image-two-sizes", 2, 2),
        ("images", 3, 3),
        ("image-jpeg", 1, 1),
        ("image-in-output", 1, 1),
        ("image-invalid", 0, 1),
        ("image-model", 1, 1),
    ],
)
async def test_images_become_attachments_shown_once_where_they_came(
    emulated: Settings, scenario: str, shown: int, linked: int
) -> None:
    # An image model is offered no code execution; what it sends is no graph.
    tool = "off" if scenario == "image-model" else "auto"
    conversation = await new_conversation(model=f"scenario-{scenario}", code_execution=tool)
    tab = Tab(conversation.pk)
    turn = await answered(conversation, "?", tab)
    page = await fresh_page(conversation)
    assert tab.page.transcript == page
    links = [link async for link in MessageAttachment.objects.filter(message=turn.message).select_related("attachment")]
    assert len(links) == linked
    assert page.count("<img ") == shown
    for link in links:
        attachment = link.attachment
        marker = f"\n[{'GRAPH' if attachment.is_graph else 'IMAGE'}:{link.index}]\n"
        assert (marker in turn.message.text) == bool(attachment.width)
        assert attachment.is_graph == (bool(attachment.width) and scenario != "image-model")
    assert "base64" not in turn.message.text
    assert not await PartRow.objects.filter(message=turn.message, text__contains="base64,").aexists()


async def test_what_is_shown_is_stored_before(emulated: Settings) -> None:
    conversation = await new_conversation(model="scenario-images")

    class Checker(Tab):
        def deliver(self, frame: broadcast.Frame) -> None:
            super().deliver(frame)
            if frame.seq > 0:
                # On this connection, apart from the store's: it sees what is committed and nothing else.
                checks.append((frame.turn_id, frame.seq))

    checks: list[tuple[str, int]] = []
    seen: list[bool] = []

    def committed() -> None:
        for turn_id, seq in checks:
            seen.append(TurnEvent.objects.filter(turn_id=turn_id, seq=seq).exists())

    await answered(conversation, "?", Checker(conversation.pk))
    await database_sync_to_async(committed)()
    assert seen
    assert all(seen)


async def test_typed_marker_stays_text(emulated: Settings) -> None:
    conversation = await new_conversation(model="scenario-text")
    tab = Tab(conversation.pk)
    turn = await answered(conversation, "what is [GRAPH:0]?\n[GRAPH:0]\n", tab)
    page = await fresh_page(conversation)
    assert "[GRAPH:0]" in page
    assert "<figure" not in page
    assert not await MessageAttachment.objects.filter(message=turn.user_message_id).aexists()


async def test_stopped_turn_keeps_what_came(emulated: Settings) -> None:
    conversation = await new_conversation(model="scenario-endless-50")
    tab = Tab(conversation.pk)
    broadcast.subscribe(conversation.pk, tab)
    started = await start_turn(asking(conversation, "go"))
    while len(tab.frames) < 5:
        await asyncio.sleep(0.01)
    assert not await stop_turn(conversation.pk, uuid.uuid4())
    assert await stop_turn(conversation.pk)
    await Runner.current().drain()
    turn = await Turn.objects.select_related("message").aget(pk=started.turn.pk)
    assert turn.status == "stopped"
    assert turn.message.text.startswith("word 1 word 2 ")
    assert tab.page.transcript == await fresh_page(conversation)
    assert not await stop_turn(conversation.pk)
    broadcast.unsubscribe(conversation.pk, tab)


async def test_turn_stopped_by_another_process_ends_soon(emulated: Settings) -> None:
    emulated.TURN_LEASE_S = 2
    conversation = await new_conversation(model="scenario-endless-20")
    await start_turn(asking(conversation, "go"))
    await database_sync_to_async(store.request_stop)(conversation.pk)
    async with asyncio.timeout(3):
        await Runner.current().drain()
    assert (await Turn.objects.aget(conversation=conversation)).status == "stopped"


async def test_only_one_of_many_simultaneous_questions_starts(emulated: Settings) -> None:
    conversation = await new_conversation(model="scenario-endless")

    async def ask(number: int) -> str:
        try:
            await start_turn(asking(conversation, f"question {number}"))
        except StartRefused:
            return "refused"
        return "started"

    outcomes = await asyncio.gather(*(ask(number) for number in range(20)))
    assert outcomes.count("started") == 1
    assert await Message.objects.filter(conversation=conversation).acount() == 2
    await stop_turn(conversation.pk)
    await Runner.current().drain()


async def test_turn_that_lost_its_lease_stores_nothing_more(emulated: Settings) -> None:
    conversation = await new_conversation(model="scenario-endless-50")
    started = await start_turn(asking(conversation, "go"))
    while not await TurnEvent.objects.filter(turn=started.turn).aexists():
        await asyncio.sleep(0.01)
    # As after a long pause of this process: the lease was over, and another process ends the turn.
    gone = timezone.now() - timedelta(seconds=1)
    await Turn.objects.filter(pk=started.turn.pk).aupdate(lease_owner="another", lease_expires_at=gone)
    assert await database_sync_to_async(store.interrupt_expired)() == [conversation.pk]
    events = await TurnEvent.objects.filter(turn=started.turn).acount()
    await Runner.current().drain()
    turn = await Turn.objects.select_related("message").aget(pk=started.turn.pk)
    assert turn.status == "interrupted"
    assert await TurnEvent.objects.filter(turn=turn).acount() == events
    assert turn.message.text
    assert "was interrupted" in await fresh_page(conversation)


async def test_sweep_leaves_living_turns_alone(emulated: Settings) -> None:
    conversation = await new_conversation(model="scenario-endless")
    await start_turn(asking(conversation, "go"))
    assert await database_sync_to_async(recovery.sweep)() == 0
    await stop_turn(conversation.pk)
    await Runner.current().drain()


@pytest.mark.skipif(connection.vendor != "sqlite", reason="SQLite alone can be told that its disk is full")
async def test_full_disk_holds_a_turn_up_and_loses_nothing(
    emulated: Settings, caplog: pytest.LogCaptureFixture
) -> None:
    def limit(pages: int) -> None:
        with connection.cursor() as cursor:
            cursor.execute("VACUUM")
            cursor.execute(f"PRAGMA max_page_count = {pages}")

    conversation = await new_conversation(model="scenario-endless-500")
    tab = Tab(conversation.pk)
    broadcast.subscribe(conversation.pk, tab)
    await start_turn(asking(conversation, "go"))
    try:
        # SQLite says "database or disk is full" for both.
        await store.run(limit, 1)
        async with asyncio.timeout(20):
            while "trying again: database or disk is full" not in caplog.text:
                await asyncio.sleep(0.01)
        held = len(tab.frames)
        await asyncio.sleep(0.5)
        assert len(tab.frames) == held
    finally:
        await store.run(limit, 2**30)
    async with asyncio.timeout(20):
        while len(tab.frames) < held + 3:
            await asyncio.sleep(0.01)
    await stop_turn(conversation.pk)
    await Runner.current().drain()
    broadcast.unsubscribe(conversation.pk, tab)
    turn = await Turn.objects.select_related("message").aget(conversation=conversation)
    assert turn.status == "stopped"
    words = turn.message.text.split("word ")[1:]
    assert [int(word) for word in words] == list(range(1, len(words) + 1))
    assert tab.page.transcript == await fresh_page(conversation)


async def test_failed_answer_that_left_nothing_can_be_tried_again(emulated: Settings) -> None:
    emulated.PROVIDER_ATTEMPTS = 1
    conversation = await new_conversation(model="scenario-rate-limited-once")
    tab = Tab(conversation.pk)
    first = await answered(conversation, "?", tab)
    assert first.status == "failed"
    broadcast.subscribe(conversation.pk, tab)
    await start_turn(Version(conversation.owner, conversation.pk))
    await Runner.current().drain()
    broadcast.unsubscribe(conversation.pk, tab)
    second = await Turn.objects.exclude(pk=first.pk).aget(conversation=conversation)
    assert second.status == "done"
    assert second.user_message_id == first.user_message_id
    assert tab.page.transcript == await fresh_page(conversation)


async def test_answer_that_takes_too_long_is_ended(emulated: Settings) -> None:
    emulated.TURN_LIMIT_S = 1
    conversation = await new_conversation(model="scenario-endless")
    turn = await answered(conversation, "go")
    assert (turn.status, turn.error_code) == ("failed", "limit")
    assert turn.message.text


async def test_many_turns_share_their_commits(emulated: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    conversations = [await new_conversation(model="scenario-long-5") for _ in range(12)]
    rounds = 0
    write = store.write_round

    def counted(batches: Sequence[store.Batch], *, lease_owner: str) -> store.Round:
        nonlocal rounds
        rounds += 1
        return write(batches, lease_owner=lease_owner)

    monkeypatch.setattr(store, "write_round", counted)
    await asyncio.gather(*(start_turn(asking(one)) for one in conversations))
    await Runner.current().drain()
    turns = [turn async for turn in Turn.objects.all()]
    assert {turn.status for turn in turns} == {"done"}
    assert rounds < await TurnEvent.objects.acount()


async def test_attachment_of_a_graph_waits_for_storage_with_its_bytes(emulated: Settings) -> None:
    conversation = await new_conversation(model="scenario-image")
    turn = await answered(conversation, "?")
    attachment = await Attachment.objects.select_related("pending_upload").aget(
        message_attachments__message=turn.message
    )
    assert attachment.status == "pending"
    assert len(attachment.pending_upload.data) == attachment.size_bytes
    assert isinstance(attachment.pk, uuid.UUID)
