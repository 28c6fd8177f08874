"""Each recorded response, through whole turns: it is stored exactly, shown alike by a reload, and sent back."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, replace
from typing import Any

import pytest
from channels.db import database_sync_to_async
from pytest_django import Settings

from attachments.store import read_bytes
from chat.answering.turns.retry import RETRIED_FINISHES
from chat.messages.records import MessageRecord, path_records
from chat.models import Conversation, Turn
from chat.providers.google.wire_parts import FOREIGN_CALL_SIGNATURE
from chat.vocabulary.data_uris import ExtractedImage
from chat.vocabulary.parts import CodeExecutionResult, FunctionCall, FunctionResponse, InlineData, Part, Thought
from chat.vocabulary.sanitize import sanitize_event
from chat.vocabulary.stream_events import PartReceived, Usage
from tests.chat.providers.normal_form import part_as_sent_back, wire_in_normal_form
from tests.chat.turn_driver import Tab, ask_and_wait, calls_since, count_calls, fresh_page, new_conversation
from tests.printed_images import restore_images
from tests.recordings import Recording, raw_parts, recordings
from tests.sampling import sampled

each_recording = pytest.mark.parametrize("recorded", sampled(recordings(), 12, lambda one: one.name))


@each_recording
@pytest.mark.django_db(transaction=True)
async def test_recorded_response_is_stored_exactly_and_a_reloaded_page_equals_the_live_page(
    recorded: Recording, replaying: Settings
) -> None:
    conversation = await new_conversation(model=f"replay-{recorded.name}")
    tab = Tab(conversation.pk)

    turn = await ask_and_wait(conversation, "?", tab)

    stored = await database_sync_to_async(stored_parts)(conversation)
    assert_ids_are_unique(stored)
    assert as_sent(stored) == expected_parts(recorded)
    assert_end(turn, recorded)
    usage = expected_usage(turn, recorded)
    assert turn.usage == ({} if usage is None else asdict(usage))
    assert tab.page.transcript == await fresh_page(conversation)


@each_recording
@pytest.mark.django_db(transaction=True)
async def test_requests_after_a_recorded_response_are_accepted(recorded: Recording, replaying: Settings) -> None:
    url = replaying.GOOGLE_GEMINI_BASE_URL
    before = count_calls(url)
    model = f"replay-{recorded.name}"
    # With another engine, code that runs out of time would move to a session, which needs one more request.
    conversation = await new_conversation(model=model, engine="native")
    turns = [await ask_and_wait(conversation, text) for text in ("first", "second")]
    # Another model gets the same history, without parts that only the first model can read.
    await Conversation.objects.filter(pk=conversation.pk).aupdate(model="scenario-code")
    turns.append(await ask_and_wait(conversation, "third"))

    calls = calls_since(url, before)
    own = [call for call in calls if call["model"] == model]
    [foreign] = [call for call in calls if call["model"] == "scenario-code"]
    assert {call["state"] for call in own} == {"refused" if recorded.http_status != 200 else "done"}
    received = [part_as_sent_back(part) for event in recorded.events for part in raw_parts(event)]
    assert signed_parts(sent_parts(own[-1])) == signed_parts(filter(None, received))
    # An answer without content is asked for once more. Nothing else is sent twice.
    is_blank = not recorded.error and not any(part.is_answer for part in recorded.parts)
    assert len(own) == (4 if is_blank and turns[0].finish in RETRIED_FINISHES else 2)
    assert foreign["state"] == "done"
    assert {part.get("thoughtSignature") for part in sent_parts(foreign)} <= {None, FOREIGN_CALL_SIGNATURE}
    assert turns[2].status == Turn.Status.DONE


def sent_parts(call: dict[str, Any]) -> list[dict[str, Any]]:
    """Return all parts of a request."""
    return [part for content in call["request"]["contents"] for part in content["parts"]]


def signed_parts(parts: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the parts with a signature: each must come back whole, with its own."""
    return [wire_in_normal_form(part) for part in parts if "thoughtSignature" in part]


def stored_parts(conversation: Conversation) -> list[Part]:
    """Return the parts of the last message, with the bytes of their attachments."""
    record = path_records(conversation.pk)[-1]
    return [part_with_bytes(record, index) for index in range(len(record.parts))]


def part_with_bytes(record: MessageRecord, index: int) -> Part:
    """Return a part as it was received: with its images, also those in the output of code that printed them."""
    part = record.parts[index]
    if isinstance(part, InlineData):
        attachment = record.attachments_of_parts().get(index)
        return replace(part, data=read_bytes(attachment) if attachment else None)
    if isinstance(part, CodeExecutionResult) and part.images:
        attachments = record.attachments_by_index()
        images = [
            ExtractedImage(
                image.offset,
                image.header,
                attachments[image.attachment].mime_type,
                read_bytes(attachments[image.attachment]),
                image.line_chars,
            )
            for image in part.images
        ]
        return replace(part, output=restore_images(part.output or "", images), images=())
    return part


def expected_parts(recorded: Recording) -> list[Part]:
    """Return the parts that must be stored: text is joined, but never across `provider_data`."""
    expected: list[Part] = []
    for received in recorded.parts:
        event = sanitize_event(PartReceived(received))
        assert isinstance(event, PartReceived)
        part = event.part
        if part.is_open_text and not part.long_text:
            continue
        last = expected[-1] if expected else None
        if part.is_open_text and last is not None and last.is_open_text and last.kind is part.kind:
            expected[-1] = last.with_long_text(last.long_text + part.long_text)
        else:
            expected.append(part)
    return as_sent(expected)


def as_sent(parts: list[Part]) -> list[Part]:
    """Return the parts without what Plotline adds: ids of function calls, durations, and responses to calls."""
    return [
        replace(part, call_id="")
        if isinstance(part, FunctionCall)
        else replace(part, duration_ms=None)
        if isinstance(part, CodeExecutionResult | Thought)
        else part
        for part in parts
        if not isinstance(part, FunctionResponse)
    ]


def assert_ids_are_unique(parts: list[Part]) -> None:
    """Check that each function call of an answer has an id of its own, whatever the provider sent."""
    ids = [part.call_id for part in parts if isinstance(part, FunctionCall)]
    assert "" not in ids
    assert len(ids) == len(set(ids))


def assert_end(turn: Turn, recorded: Recording) -> None:
    """Check that the turn ends as the recording says: with its error, with its last finish reason, or cut off."""
    if recorded.error and not recorded.finish_reasons:
        assert turn.status == Turn.Status.FAILED
        assert turn.error_code not in ("", "internal", "provider_error")
    elif recorded.finish_reasons:
        assert (turn.status, turn.finish_reason) == (Turn.Status.DONE, recorded.finish_reasons[-1])
    else:
        assert (turn.status, turn.finish_reason) == (Turn.Status.INTERRUPTED, "")


def expected_usage(turn: Turn, recorded: Recording) -> Usage | None:
    """Return the token counts of the recording; twice if an answer without content was requested once more."""
    is_blank = not any(part.is_answer for part in recorded.parts)
    is_asked_again = is_blank and not recorded.error and turn.finish in RETRIED_FINISHES
    if recorded.usage is not None and is_asked_again:
        return recorded.usage + recorded.usage
    return recorded.usage
