"""Small streams of the Interactions API, written by hand like recorded traffic and the types of google-genai.

Each is a list of events. `tests.interactions_recordings` says what a client must read from them.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from tests.attachments.conftest import png

Event: TypeAlias = dict[str, Any]

USAGE = {
    "total_tokens": 60,
    "total_input_tokens": 10,
    "total_output_tokens": 20,
    "total_thought_tokens": 25,
    "total_tool_use_tokens": 5,
    "total_cached_tokens": 4,
}
CREATED: Event = {
    "event_type": "interaction.created",
    "interaction": {"id": "", "status": "in_progress", "object": "interaction", "model": "gemini-test"},
}
RED, BLUE = (base64.b64encode(png(number)).decode() for number in (200, 7))
CITATION = {"type": "url_citation", "url": "https://example.org/", "title": "Example", "start_index": 0, "end_index": 3}
FILE_CITATION: Event = {"type": "file_citation", "file_name": "rivers.pdf", "start_index": 0, "end_index": 3}
SEARCH = {"type": "google_search_call", "id": "s1", "arguments": {"queries": ["rivers"]}, "signature": "c2VhcmNo"}
FOUND = {"type": "google_search_result", "call_id": "s1", "result": [{"search_suggestions": "<b>rivers</b>"}]}


def step(index: int, start: Event, *deltas: Event, is_ended: bool = True) -> list[Event]:
    """Return the events of a step."""
    events = [{"event_type": "step.start", "index": index, "step": start}]
    events += [{"event_type": "step.delta", "index": index, "delta": delta} for delta in deltas]
    return [*events, *([{"event_type": "step.stop", "index": index}] if is_ended else [])]


def thought(index: int, signature: str = "dGhpbms=", *texts: str) -> list[Event]:
    """Return a thought with summaries. The real signature comes last, after empty ones."""
    deltas = [{"type": "thought_summary", "content": {"type": "text", "text": text}} for text in texts]
    empty = [{"type": "thought_signature", "signature": ""}] if texts else []
    return step(index, {"type": "thought"}, *deltas, *empty, {"type": "thought_signature", "signature": signature})


def output(index: int, *contents: Event | str, is_ended: bool = True) -> list[Event]:
    """Return an output. A string is a delta with this text."""
    deltas = [{"type": "text", "text": one} if isinstance(one, str) else one for one in contents]
    return step(index, {"type": "model_output"}, *deltas, is_ended=is_ended)


def code(index: int, source: str, call_id: str = "c1") -> list[Event]:
    """Return code that the service runs."""
    delta = {
        "type": "code_execution_call",
        "arguments": {"code": source, "language": "python"},
        "signature": "Y29kZQ==",
    }
    return step(index, {"type": "code_execution_call", "id": call_id, "signature": ""}, delta)


def result(index: int, call_id: str = "c1", **delta: Any) -> list[Event]:
    """Return the result of code; without a delta if nothing is given."""
    deltas = [{"type": "code_execution_result", "signature": "cmVzdWx0", **delta}] if delta else []
    return step(index, {"type": "code_execution_result", "call_id": call_id, "signature": ""}, *deltas)


def call(index: int, *pieces: str, call_id: str = "f1", is_ended: bool = True, **fields: str) -> list[Event]:
    """Return a call of the function `echo`, whose arguments come in pieces."""
    start = {"type": "function_call", "id": call_id, "name": "echo", "arguments": {}, **fields}
    deltas = [{"type": "arguments_delta", "arguments": piece} for piece in pieces]
    return step(index, start, *deltas, is_ended=is_ended)


def image(data: str) -> Event:
    """Return an image as content or as delta."""
    return {"type": "image", "mime_type": "image/png", "data": data}


def completed(status: str = "completed", **fields: Any) -> Event:
    """Return the last event."""
    interaction = {"id": "", "status": status, "object": "interaction", "usage": USAGE, **fields}
    return {"event_type": "interaction.completed", "interaction": interaction}


def error(code: str) -> Event:
    """Return an error in a stream."""
    return {"event_type": "error", "error": {"message": "It went wrong.", "code": code}}


def whole(*steps: Event, **fields: Any) -> list[Event]:
    """Return an interaction in one piece, as a response without a stream is."""
    return [{"object": "interaction", "status": "completed", "model": "m", "usage": USAGE, "steps": [*steps], **fields}]


STREAMS: Mapping[str, Sequence[Event]] = {
    "text": [*thought(0), *output(1, "One ", "two."), completed()],
    "summaries": [*thought(0, "dGhpbms=", "I see.", " I say."), *output(1, "One."), completed()],
    "thought-without-signature": [*thought(0, "", "I see."), *output(1, "One."), completed()],
    "code": [*thought(0), *code(1, "print(42)"), *result(2, result="42\n"), *output(3, "It is 42."), completed()],
    "code-failed": [*code(0, "1/0"), *result(1, result="Traceback\n", is_error=True), *output(2, "No."), completed()],
    "result-without-output": [*code(0, "x = 1"), *result(1), *output(2, "Done."), completed()],
    "result-in-pieces": [
        *code(0, "print(42)"),
        *step(
            1,
            {"type": "code_execution_result", "call_id": "c1"},
            {"type": "code_execution_result", "result": "4"},
            {"type": "code_execution_result", "result": "2\n", "is_error": False, "signature": "cmVzdWx0"},
        ),
        completed(),
    ],
    "graph-in-output": [
        *(*code(0, "plot()"), *result(1, result="done\n")),
        *(*output(2, image(RED)), *output(3, "A red one."), completed()),
    ],
    "graph-between-texts": [
        *code(0, "plot()"),
        *result(1),
        *output(2, "Red: ", image(RED), " and ", image(BLUE)),
        completed(),
    ],
    "graph-in-result": [
        *code(0, "plot()"),
        *result(
            1, result=[{"type": "text", "text": "one\n"}, image(RED), {"type": "text", "text": "two\n"}, image(BLUE)]
        ),
        *(*output(2, "Two graphs."), completed()),
    ],
    "graph-alone-in-result": [*code(0, "plot()"), *result(1, result=[image(RED)]), *output(2, "Red."), completed()],
    "graph-by-address": [
        *output(0, {"type": "image", "mime_type": "image/png", "uri": "https://example.org/red.png"}),
        completed(),
    ],
    "outputs-that-follow-each-other": [
        *output(0, "One."),
        *output(1, "Two."),
        *thought(2, "", "Hm."),
        *output(3, "3."),
        completed(),
    ],
    "calls": [
        *(
            *thought(0),
            *call(1, '{"val', 'ue":1}', signature=""),
            *call(2, '{"value":2}', call_id="f2", signature="Zg=="),
        ),
        completed("requires_action"),
    ],
    "call-without-arguments": [*thought(0), *call(1), completed("requires_action")],
    "call-that-is-no-object": [*thought(0), *call(1, '"value"'), completed("requires_action")],
    "call-that-was-cut": [*thought(0), *call(1, '{"value":', is_ended=False)],
    "citations": [
        *thought(0),
        *output(1, "One.", {"type": "text_annotation_delta", "annotations": [CITATION, FILE_CITATION]}),
        *step(2, {**SEARCH, "arguments": {}, "signature": ""}, {**SEARCH}),
        *step(3, {"type": "google_search_result", "call_id": "s1", "signature": ""}, {**FOUND}),
        completed(),
    ],
    "pages": [
        *step(0, {"type": "url_context_call", "id": "u1", "arguments": {"urls": ["https://example.org/"]}}),
        *step(
            1,
            {"type": "url_context_result", "call_id": "u1"},
            {"type": "url_context_result", "result": [{"url": "https://example.org/", "status": "success"}]},
        ),
        *(*output(2, "One."), completed()),
    ],
    "unknown-step": [
        *step(0, {"type": "hologram", "depth": 3}, {"type": "hologram", "points": [1, 2]}),
        {"event_type": "weather.changed", "weather": "rain"},
        *(*output(1, "One."), completed()),
    ],
    "unknown-fields": [
        *step(0, {"type": "code_execution_call", "id": "c1", "mood": "good"}, code(0, "1")[1]["delta"] | {"speed": 2}),
        *(*result(1, result="1\n", place="here"), *output(2, "One."), completed(mood="good")),
    ],
    "start-that-was-lost": [
        *result(1, result="7\n")[1:],
        *(*output(2, "Seven."), completed()),
    ],
    "usage-in-metadata": [{**one, "metadata": {"total_usage": USAGE}} for one in output(0, "One.")],
    "idle": [*output(0, "One."), completed("idle")],
    "incomplete": [*thought(0), *output(1, "One and"), completed("incomplete")],
    "incomplete-without-steps": [completed("incomplete")],
    "continuation": [*output(0, "One and"), completed("requires_continuation", continuation_token="dG9rZW4=")],
    "new-status": [*output(0, "One."), completed("budget_exceeded")],
    "cancelled": [*output(0, "One and"), completed("cancelled")],
    "cut": [*thought(0), *output(1, "One and", is_ended=False)],
    "error": [*thought(0), *output(1, "One and", is_ended=False), error("gateway_timeout")],
    "error-by-address": [
        *output(0, "One and", is_ended=False),
        error("https://example.org/errors/rate_limit_exceeded"),
    ],
    "failed": [*output(0, "One and"), completed("failed", errors=[{"code": "not_found", "message": "No model."}])],
    "failed-without-reason": [*output(0, "One and"), completed("failed")],
    "failed-in-a-step": [
        *step(
            0,
            {"type": "model_output", "error": {"code": 14, "message": "No machine."}},
            {"type": "text", "text": "One"},
        ),
        completed("failed"),
    ],
    "withheld": [*output(0, "One and"), completed("failed", errors=[{"code": "safety", "message": "Not this."}])],
    "whole": whole(
        {"type": "user_input", "content": [{"type": "text", "text": "?"}]},
        {"type": "thought", "signature": "dGhpbms=", "summary": [{"type": "text", "text": "I see."}]},
        {
            "type": "code_execution_call",
            "id": "c1",
            "arguments": {"code": "1", "language": "python"},
            "signature": "Yw==",
        },
        {"type": "code_execution_result", "call_id": "c1", "result": "1\n", "is_error": False, "signature": "cg=="},
        {"type": "model_output", "content": [{"type": "text", "text": "One.", "annotations": [CITATION]}, image(RED)]},
        {"type": "model_output", "content": [{"type": "text", "text": "Two."}]},
        {"type": "function_call", "id": "f1", "name": "echo", "arguments": {"value": 1}, "signature": "Zg=="},
        status="requires_action",
    ),
}
"""Name -> events of the stream."""


def body_of(events: Sequence[Event]) -> bytes:
    """Return the body of a stream. A whole interaction is an event without a name."""
    blocks = [block(one) for one in events]
    if events and events[-1].get("event_type") == "interaction.completed":
        blocks.append("event: done\ndata: [DONE]\n\n")
    return "".join(blocks).encode()


def block(event: Event) -> str:
    """Return one event as it is sent."""
    name = f"event: {event['event_type']}\n" if "event_type" in event else ""
    return f"{name}data: {json.dumps(event, ensure_ascii=False)}\n\n"
