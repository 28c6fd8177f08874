"""Each event type of OpenAI's own package is read, or named as left out; and a broken stream ends with an error."""

from __future__ import annotations

import json
import os
import random
from collections.abc import Iterator
from contextlib import suppress
from typing import Any, get_args

import pytest
from openai.types.responses import ResponseOutputItem, ResponseStreamEvent

from chat.providers.openai_compatible.accumulator import Accumulator
from chat.providers.openai_compatible.chunks import ErrorInStream, PartDelta
from chat.providers.openai_compatible.responses.events import (
    BEGINNINGS,
    CALLS_LIMIT,
    ENDS,
    ITEM_EVENTS,
    ITEMS_LIMIT,
    ResponseEvents,
)
from chat.providers.openai_compatible.responses.output_items import parts_of
from chat.providers.sse import EventParser
from chat.vocabulary.parts import JSON, FunctionCall, JSONObject, Unsupported
from chat.vocabulary.stream_events import PartReceived, StreamEvent
from tests.openai_server.response_shapes import RESPONSE_SHAPES
from tests.openai_server.shapes import EVENT_STREAM
from tests.responses_recordings import response_recordings

MUTATIONS = int(os.environ.get("PLOTLINE_TEST_MUTATIONS", "5000"))
VALUES: list[JSON] = [None, True, -1, 10**30, 0.5, "", "x" * 50, "\ud800", [], {}, [[]], [None], {"type": "message"}]

#: Types of events that are known and left out.
LEFT_OUT = frozenset(
    {
        # These are left out, because `response.output_item.done` has the same content.
        *("response.content_part.added", "response.content_part.done"),
        *("response.output_text.done", "response.refusal.done"),
        *("response.reasoning_summary_part.added", "response.reasoning_summary_part.done"),
        *("response.reasoning_summary_text.done", "response.reasoning_text.done"),
        *("response.reasoning_part.added", "response.reasoning_part.done"),
        *("response.function_call_arguments.delta", "response.function_call_arguments.done"),
        *("response.custom_tool_call_input.delta", "response.custom_tool_call_input.done"),
        *("response.code_interpreter_call_code.delta", "response.code_interpreter_call_code.done"),
        *("response.mcp_call_arguments.delta", "response.mcp_call_arguments.done"),
        *("response.shell_call_command.added", "response.shell_call_command.delta"),
        *("response.shell_call_command.done", "response.shell_call_output_content.delta"),
        "response.shell_call_output_content.done",
        # Progress of tools that the server runs. No request asks for one.
        *(f"response.code_interpreter_call.{state}" for state in ("in_progress", "interpreting", "completed")),
        *(f"response.file_search_call.{state}" for state in ("in_progress", "searching", "completed")),
        *(f"response.web_search_call.{state}" for state in ("in_progress", "searching", "completed")),
        *(f"response.image_generation_call.{state}" for state in ("in_progress", "generating", "completed")),
        *(f"response.mcp_call.{state}" for state in ("in_progress", "completed", "failed")),
        *(f"response.mcp_list_tools.{state}" for state in ("in_progress", "completed", "failed")),
        # A draft of a picture, compaction of a context that this client manages itself, and a heartbeat.
        *("response.image_generation_call.partial_image", "response.compaction.compacting", "keepalive"),
        # No request asks for sound.
        *("response.audio.delta", "response.audio.done"),
        *("response.audio.transcript.delta", "response.audio.transcript.done"),
    }
)


def types_of(union: object) -> list[str]:
    """Return the types that the members of an annotated union name."""
    members = get_args(get_args(union)[0])
    return [get_args(member.model_fields["type"].annotation)[0] for member in members]


def test_every_event_type_of_the_openai_package_is_listed_as_read_or_left_out() -> None:
    read_types = {"error", *BEGINNINGS, *ENDS, *ITEM_EVENTS}
    assert not read_types & LEFT_OUT
    assert [name for name in types_of(ResponseStreamEvent) if name not in read_types | LEFT_OUT] == []


def test_every_output_item_type_of_the_openai_package_becomes_a_part() -> None:
    for name in types_of(ResponseOutputItem):
        if name not in ("message", "reasoning", "image_generation_call"):
            assert list(parts_of({"type": name, "id": "x", "name": "f", "call_id": "c"}, 0)), name
    dream: JSONObject = {"type": "dream", "id": "x", "status": "done"}
    assert list(parts_of(dream, 3)) == [PartDelta(Unsupported(provider_data={"item": dream, "index": 3}))]


def read(events: list[Any]) -> list[StreamEvent]:
    """Return the stream events of a response. Raises ValueError, which the reader of responses maps."""
    decoder, accumulator = ResponseEvents(), Accumulator(has_functions=True)
    found: list[StreamEvent] = []
    for event in events:
        for delta in decoder.deltas_of(event):
            if isinstance(delta, ErrorInStream):
                return found
            found += accumulator.add(delta)
    for delta in decoder.rest():
        if not isinstance(delta, ErrorInStream):
            found += accumulator.add(delta)
    return [*found, *accumulator.close(is_done=False)]


def call_event(number: int) -> dict[str, Any]:
    call = {"type": "function_call", "call_id": f"c{number}", "name": "f", "arguments": "{}"}
    return {"type": "response.output_item.done", "output_index": number, "item": call}


def test_stream_with_too_many_calls_or_items_is_refused() -> None:
    calls = [
        event.part
        for event in read([call_event(number) for number in range(CALLS_LIMIT)])
        if isinstance(event, PartReceived)
    ]
    assert [type(part) for part in calls] == [FunctionCall] * CALLS_LIMIT
    with pytest.raises(ValueError, match="function calls"):
        read([call_event(number) for number in range(CALLS_LIMIT + 1)])
    with pytest.raises(ValueError, match="items"):
        read([{"type": "response.output_item.added", "output_index": one} for one in range(ITEMS_LIMIT + 1)])


def streams() -> Iterator[list[Any]]:
    """Yield the events of all streams that are known."""
    bodies = [shape.response for shape in RESPONSE_SHAPES.values()] + [one.response for one in response_recordings()]
    for body in bodies:
        if body.content_type == EVENT_STREAM and len(body.body) < 200_000:
            parser = EventParser()
            yield [event.data for event in [*parser.feed(body.body), *parser.close()] if not event.is_done]


def mutated(value: JSON, chance: random.Random) -> JSON:
    """Return a JSON value with one change at a random place."""
    if isinstance(value, dict) and value and chance.random() < 0.85:
        key = chance.choice(sorted(value))
        if chance.random() < 0.15:
            return {name: one for name, one in value.items() if name != key}
        return {**value, key: mutated(value[key], chance)}
    if isinstance(value, list) and value and chance.random() < 0.85:
        index = chance.randrange(len(value))
        return [*value[:index], mutated(value[index], chance), *value[index + 1 :]]
    return chance.choice(VALUES)


def mutated_stream(events: list[Any], chance: random.Random) -> list[Any]:
    """Return a stream with some events changed, repeated, moved or lost."""
    events = list(events)
    for _ in range(chance.randint(1, 4)):
        index = chance.randrange(len(events))
        match chance.randrange(5):
            case 0 if len(events) > 1:
                del events[index]
            case 1:
                events.insert(chance.randrange(len(events)), events[index])
            case 2:
                events = events[: index + 1]
            case _:
                events[index] = mutated(events[index], chance)
    return [event for event in events if isinstance(event, dict)]


def check_mutations(number: int) -> None:
    chance = random.Random(7)
    known = list(streams())
    for _ in range(number):
        # The reader of responses maps this error, which an answer with too many items raises.
        with suppress(ValueError):
            read(json.loads(json.dumps(mutated_stream(chance.choice(known), chance))))


def test_randomly_changed_streams_raise_only_provider_errors() -> None:
    check_mutations(300)


@pytest.mark.drill
def test_thousands_of_randomly_changed_streams_raise_only_provider_errors() -> None:
    check_mutations(MUTATIONS)
