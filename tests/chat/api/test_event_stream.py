"""Event streams without a server: their limits, turns that wait, and turns whose log is deleted."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.db import OperationalError
from django.http import StreamingHttpResponse
from django.test import AsyncClient
from django.utils import timezone
from pytest_django import Settings

from attachments.models import Attachment
from chat.api import event_stream
from chat.api.event_stream import open_stream_count, stream_events
from chat.api.stored_events import BEFORE_FIRST, LogEvents, open_events
from chat.api.turn_events import FIRST_SEQ_FROM_PARTS
from chat.messages.changes import CallDecided
from chat.models import Turn, TurnEvent, User
from chat.page.relay import broadcast
from chat.page.relay.frames import Announcement
from chat.vocabulary.parts import (
    OUTCOME_OK,
    CodeExecutionResult,
    ExecutableCode,
    FunctionCall,
    InlineData,
    Text,
    Thought,
)
from tests.attachments.conftest import png
from tests.chat.api.api_client import Event, parse_events
from tests.chat.api.logs import LiveTurn


def finished_turn() -> Turn:
    """Return a turn that has ended, with its log."""
    live = LiveTurn.create()
    live.receive(Text(text="An answer."))
    return live.end()


@pytest.mark.django_db(transaction=True)
async def test_stream_above_the_limit_of_open_streams_gets_an_error_event(settings: Settings) -> None:
    settings.SOCKETS_LIMIT = 1
    turn = await sync_to_async(finished_turn)()
    user_id = turn.conversation.owner_id

    async def read_stream() -> bytes:
        reader = await sync_to_async(open_events)(turn, BEFORE_FIRST)
        assert reader is not None
        return b"".join([block async for block in stream_events(turn, reader, user_id, lambda: True)])

    reader = await sync_to_async(open_events)(turn, BEFORE_FIRST)
    assert reader is not None
    first = stream_events(turn, reader, user_id, lambda: True)
    assert b"An answer." in await anext(first)
    assert b'"code":"too_many"' in await read_stream()
    await first.aclose()
    assert open_stream_count(user_id) == 0
    assert b"An answer." in await read_stream()


@pytest.mark.django_db
def test_events_read_before_a_database_error_are_sent_and_reading_continues_after_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    live = LiveTurn.create()
    for number in range(4):
        live.receive(Text(text=f"word {number} "))
    turn = live.end()
    reader = open_events(turn, BEFORE_FIRST)
    assert isinstance(reader, LogEvents)
    read, failures = LogEvents._next_rows, iter([False, True, True, False])

    def fail_sometimes(reader: LogEvents) -> list[tuple[int, str, dict[str, Any]]]:
        if next(failures, False):
            raise OperationalError("the server restarts")
        return read(reader)

    monkeypatch.setattr(LogEvents, "_next_rows", fail_sometimes)
    events = reader.next_page().events
    with pytest.raises(OperationalError):
        reader.next_page()
    page = reader.next_page()
    assert page.is_last
    monkeypatch.undo()
    whole = open_events(turn, BEFORE_FIRST)
    assert whole is not None
    assert [event.encode() for event in [*events, *page.events]] == [
        event.encode() for event in whole.next_page().events
    ]


def waiting_turn() -> LiveTurn:
    """Return a turn that waits for a decision about its function call."""
    live = LiveTurn.create()
    live.receive(Text(text="Shall I?"), FunctionCall(name="run_python", call_id="c1"))
    live.write_row(("waiting", {}))
    Turn.objects.filter(pk=live.turn.pk).update(status=Turn.Status.WAITING)
    return live


def decide_and_end(live: LiveTurn) -> Turn:
    """Let a waiting turn run again, and end it."""
    Turn.objects.filter(pk=live.turn.pk).update(status=Turn.Status.RUNNING)
    live.write([CallDecided("c1", "a1", is_approved=False)])
    live.receive(Text(text=" No."))
    return live.end()


@pytest.mark.django_db(transaction=True)
async def test_stream_of_a_waiting_turn_stays_open_and_continues_as_soon_as_a_decision_is_published(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # With this interval, the stream does not poll the database during the test.
    monkeypatch.setattr(event_stream, "WAITING_POLL_INTERVAL_S", 1000.0)
    live = await sync_to_async(waiting_turn)()
    reader = await sync_to_async(open_events)(live.turn, BEFORE_FIRST)
    assert reader is not None
    stream = stream_events(live.turn, reader, live.turn.conversation.owner_id, lambda: True)
    first = await anext(stream)
    assert [event.data for event in parse_events(iter(first.split(b"\n")))] == [
        {"status": "running"},
        {"delta": "Shall I?"},
        {"status": "waiting"},
    ]
    # The next block is requested before it exists.
    next_block = asyncio.ensure_future(anext(stream))
    turn = await sync_to_async(decide_and_end)(live)
    broadcast.publish(Announcement(str(turn.conversation_id), None))
    rest = await next_block + b"".join([block async for block in stream])
    events = [(event.name, event.data) for event in parse_events(iter(rest.split(b"\n")))]
    assert events[0] == ("status", {"status": "running"})
    assert ("text", {"delta": " No."}) in events
    assert events[-1] == ("done", {"finish_reason": "STOP", "message_id": str(turn.message_id)})


def turn_without_log() -> Turn:
    """Return a turn whose log is being deleted. Some of its rows are left."""
    live = LiveTurn.create()
    live.receive(
        Thought(text="Hm."),
        ExecutableCode(code="print(1)", language="PYTHON"),
        CodeExecutionResult(output="1\n", outcome=OUTCOME_OK),
        InlineData(mime_type="image/png", data=png()),
        Text(text="One."),
    )
    turn = live.end()
    Turn.objects.filter(pk=turn.pk).update(log_kept_until=timezone.now() - timedelta(seconds=1))
    TurnEvent.objects.filter(turn=turn, seq__gt=2).delete()
    return turn


async def read_events(client: AsyncClient, path: str, last_event_id: str = "") -> list[Event]:
    """Return the events of a stream."""
    response = await client.get(path, headers={"Last-Event-ID": last_event_id} if last_event_id else {})
    assert response.headers["Content-Type"] == "text/event-stream"
    assert isinstance(response, StreamingHttpResponse)
    body = b"".join([block async for block in response])
    return list(parse_events(iter(body.split(b"\n"))))


@pytest.mark.django_db(transaction=True)
async def test_turn_whose_log_is_deleted_is_streamed_from_its_stored_parts() -> None:
    turn = await sync_to_async(turn_without_log)()
    attachment = await Attachment.objects.aget()
    client, path = AsyncClient(), f"/api/v1/turns/{turn.pk}/events/"
    await client.aforce_login(await User.objects.aget())
    events = await read_events(client, path)
    image = {"mime_type": "image/png", "width": 8, "height": 6}
    assert [(event.name, event.data) for event in events] == [
        ("status", {"status": "running"}),
        ("thought", {"delta": "Hm."}),
        ("code_executable", {"executable_code": "print(1)", "code_language": "PYTHON"}),
        ("code_execution_result", {"code_execution_output": "1\n", "code_execution_outcome": "success"}),
        ("graph", {"index": 0, "attachment_id": str(attachment.pk), **image}),
        ("text", {"delta": "One."}),
        ("status", {"status": "done"}),
        (
            "usage",
            {
                "prompt": 3,
                "tool_use": None,
                "thoughts": None,
                "candidates": 4,
                "cached": None,
                "total": 7,
                "estimated": None,
            },
        ),
        ("done", {"finish_reason": "STOP", "message_id": str(turn.message_id)}),
    ]
    assert [event.seq for event in events] == list(range(FIRST_SEQ_FROM_PARTS, FIRST_SEQ_FROM_PARTS + len(events)))
    for position, event in enumerate(events[:-1]):
        assert await read_events(client, path, str(event.seq)) == events[position + 1 :]
    assert (await client.get(path, headers={"Last-Event-ID": str(events[-1].seq)})).status_code == 204
    assert (await client.head(path)).status_code == 200


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(("last_event_id", "status"), [("3", 410), ("three", 400), ("-1", 400), ("9" * 10, 400)])
async def test_stream_is_refused_if_it_cannot_be_resumed_after_the_last_event_id(
    last_event_id: str, status: int
) -> None:
    turn = await sync_to_async(turn_without_log)()
    client, path = AsyncClient(), f"/api/v1/turns/{turn.pk}/events/"
    await client.aforce_login(await User.objects.aget())
    response = await client.get(path, headers={"Last-Event-ID": last_event_id})
    assert (response.status_code, response.headers["Content-Type"]) == (status, "application/problem+json")
