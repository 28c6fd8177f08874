"""Turns from their start to their end against the emulator: how they end, and what they store."""

from __future__ import annotations

import asyncio
import logging
import uuid
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import pytest
from channels.db import database_sync_to_async
from django.db import connection
from pytest_django import Settings

from attachments.models import Attachment
from chat.answering.turns import store
from chat.answering.turns.runner import Runner, start_turn, stop_turn
from chat.answering.turns.start import Regenerate
from chat.answering.turns.start_rules import StartRefused
from chat.models import Message, MessageAttachment, Round, Turn, TurnEvent
from chat.models import Part as PartRow
from chat.page.relay.frames import Frame, Step
from tests.chat.turn_driver import Tab, ask_and_wait, fresh_page, make_question, new_conversation, start_and_wait

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
async def test_received_images_become_attachments_and_each_is_shown_once(
    emulated: Settings, scenario: str, shown: int, linked: int
) -> None:
    # An image model does not run code, so its images are not graphs.
    code_execution = "off" if scenario == "image-model" else "auto"
    conversation = await new_conversation(model=f"scenario-{scenario}", code_execution=code_execution)
    tab = Tab(conversation.pk)
    turn = await ask_and_wait(conversation, "?", tab)
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


async def test_changes_are_stored_before_they_are_shown(emulated: Settings) -> None:
    conversation = await new_conversation(model="scenario-images")

    def is_stored(frame: Step) -> bool:
        # A connection of its own sees only what is committed.
        try:
            return TurnEvent.objects.filter(turn_id=frame.turn_id, seq=frame.seq).exists()
        finally:
            connection.close()

    class Checker(Tab):
        def deliver(self, frame: Frame) -> None:
            super().deliver(frame)
            if isinstance(frame, Step):
                checks.append(executor.submit(is_stored, frame).result())

    checks: list[bool] = []
    with ThreadPoolExecutor(max_workers=1) as executor:
        await ask_and_wait(conversation, "?", Checker(conversation.pk))
    assert checks
    assert all(checks)


async def test_stopped_turn_keeps_the_text_received_so_far(emulated: Settings) -> None:
    conversation = await new_conversation(model="scenario-endless-50")
    tab = Tab(conversation.pk)
    with tab.following():
        started = await start_turn(make_question(conversation, "go"))
        await tab.receive(5)
        assert not await stop_turn(conversation.pk, uuid.uuid4())
        assert not await stop_turn(conversation.pk, message_id=started.turn.user_message_id)
        assert await stop_turn(conversation.pk, message_id=started.turn.message_id)
        await Runner.current().drain()
    turn = await Turn.objects.select_related("message").aget(pk=started.turn.pk)
    assert turn.status == "stopped"
    assert turn.message.text.startswith("word 1 word 2 ")
    assert tab.page.transcript == await fresh_page(conversation)
    assert not await stop_turn(conversation.pk)


async def test_turn_can_be_stopped_from_another_process(emulated: Settings) -> None:
    emulated.TURN_LEASE_S = 2
    conversation = await new_conversation(model="scenario-endless-20")
    await start_turn(make_question(conversation, "go"))
    # Another process stops a turn in this way: it stores the request, and does not call the runner.
    await database_sync_to_async(store.request_stop)(conversation.pk)
    async with asyncio.timeout(60):
        await Runner.current().drain()
    assert (await Turn.objects.aget(conversation=conversation)).status == "stopped"


async def test_only_one_of_many_simultaneous_questions_starts(emulated: Settings) -> None:
    conversation = await new_conversation(model="scenario-endless")

    async def ask(number: int) -> str:
        try:
            await start_turn(make_question(conversation, f"question {number}"))
        except StartRefused:
            return "refused"
        return "started"

    outcomes = await asyncio.gather(*(ask(number) for number in range(20)))
    assert outcomes.count("started") == 1
    assert await Message.objects.filter(conversation=conversation).acount() == 2
    await stop_turn(conversation.pk)
    await Runner.current().drain()


async def test_answer_that_failed_without_content_can_be_regenerated(emulated: Settings) -> None:
    emulated.PROVIDER_ATTEMPTS = 1
    conversation = await new_conversation(model="scenario-rate-limited-once")
    tab = Tab(conversation.pk)
    with tab.following():
        first = await ask_and_wait(conversation, "?")
        second = await start_and_wait(start_turn(Regenerate(conversation.owner, conversation.pk)))
    assert first.status == "failed"
    assert second.status == "done"
    assert second.user_message_id == first.user_message_id
    assert tab.page.transcript == await fresh_page(conversation)


async def test_turn_that_exceeds_its_time_limit_is_ended(emulated: Settings) -> None:
    emulated.TURN_LIMIT_S = 1
    conversation = await new_conversation(model="scenario-endless")
    turn = await ask_and_wait(conversation, "go")
    assert (turn.status, turn.error_code) == ("failed", "limit")
    assert turn.message.text


async def test_changes_of_simultaneous_turns_are_stored_in_common_transactions(
    emulated: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    conversations = [await new_conversation(model="scenario-long-5") for _ in range(12)]
    transactions = 0
    write = store.write

    async def count_and_write(changes: Sequence[store.TurnWrite]) -> list[store.StoreResult | Exception]:
        nonlocal transactions
        transactions += 1
        return await write(changes)

    monkeypatch.setattr(store, "write", count_and_write)
    await asyncio.gather(*(start_turn(make_question(one)) for one in conversations))
    await Runner.current().drain()
    assert {turn.status async for turn in Turn.objects.all()} == {"done"}
    assert transactions < await TurnEvent.objects.acount()


async def test_bytes_of_a_graph_are_kept_in_the_database_until_it_is_uploaded(emulated: Settings) -> None:
    conversation = await new_conversation(model="scenario-image")
    turn = await ask_and_wait(conversation, "?")
    attachment = await Attachment.objects.select_related("pending_upload").aget(
        message_attachments__message=turn.message
    )
    assert attachment.status == "pending"
    assert len(attachment.pending_upload.data) == attachment.size_bytes


async def test_round_stores_finish_ids_and_token_counts_of_the_provider(emulated: Settings) -> None:
    conversation = await new_conversation(model="scenario-code")
    turn = await ask_and_wait(conversation, "?")
    [stored] = [one async for one in Round.objects.filter(turn=turn)]
    assert (stored.index, stored.finish, stored.finish_reason) == (0, "stop", "STOP")
    assert stored.response_id == turn.response_id != ""
    assert stored.model_version == turn.model_version != ""
    assert stored.usage == turn.usage
    assert stored.provider_usage["totalTokenCount"] == turn.usage["total"]
    assert turn.round_count == 1


@pytest.mark.parametrize(
    ("scenario", "code", "text"),
    [
        ("bad-request", "invalid_request, status 400", "Thinking level"),
        ("malformed-json", "malformed_response", "oops"),
    ],
)
async def test_log_of_a_failed_turn_has_the_error_code_but_not_the_providers_text(
    emulated: Settings, caplog: pytest.LogCaptureFixture, scenario: str, code: str, text: str
) -> None:
    caplog.set_level(logging.INFO)
    turn = await ask_and_wait(await new_conversation(model=f"scenario-{scenario}"), "?")
    assert turn.status == "failed"
    assert f"turn {turn.pk}: {code}" in caplog.text
    assert text not in caplog.text
