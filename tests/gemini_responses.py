"""Response bodies of the Gemini API that the project wrote itself, as a recorder of real traffic would store them.

Most of them are rendered from the emulator's scenarios. The others have a form that no scenario has. A body is the
body of one HTTP response: server-sent events, or the JSON of an HTTP error.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping, Sequence

from chat.emulator import wire
from chat.emulator.generation_request import parse_generation_request
from chat.emulator.wire import Chunk, Step, WireObject
from tests.gemini_emulator.steps import Fault, RawBytes, error_body
from tests.gemini_emulator.writer import PREFIX, scenario_steps
from tests.scenarios.chart_image import draw_chart
from tests.scenarios.steps import HttpError

STREAM_SCENARIOS = (
    *("text", "markdown", "hostile", "unicode", "thoughts", "unknown-part", "tool-call", "undeclared-function-calls"),
    *("grounded", "url-context", "citations", "image-model", "image-only"),
    *("code", "code-without-ids", "code-two-rounds", "code-failed", "code-deadline", "code-unknown-outcome"),
    *("code-without-result", "code-only", "code-large-output", "two-finishes", "two-results", "result-without-output"),
    *("image", "image-shared-chunk", "image-twice", "image-two-sizes", "image-in-output", "image-invalid"),
    *("unknown-finish", "max-tokens", "max-tokens-without-text", "safety", "recitation", "continuation"),
    *("prompt-blocked", "model-armor", "malformed-function-call", "empty-answer", "last-chunk-without-parts"),
    *("without-finish", "error-in-stream", "error-in-stream-bare"),
)
UNARY_SCENARIOS = ("code-two-rounds", "image-two-sizes")
"""Scenarios that are also rendered as one event with all parts, in the form of a unary response."""
ERROR_SCENARIOS = ("bad-key", "bad-request", "forbidden", "not-found", "rate-limited")

SIGNATURE = base64.b64encode(bytes(range(40, 250)) * 2).decode()
"""A signature of usual length, with all characters that differ in the URL-safe alphabet of base64."""
URL_SAFE_SIGNATURE = SIGNATURE.translate(str.maketrans("+/", "-_")).rstrip("=")
USAGE: WireObject = {"promptTokenCount": 7, "candidatesTokenCount": 5, "totalTokenCount": 12}


def stream_bodies() -> dict[str, bytes]:
    """Return the bodies of streams by name."""
    bodies = {name: _stream_body(_steps(name)) for name in STREAM_SCENARIOS}
    bodies |= {f"{name}-unary": _unary_body(_steps(name)) for name in UNARY_SCENARIOS}
    bodies |= {name: _events(chunks) for name, chunks in CHUNKS.items()}
    bodies["error-after-finish"] = _events(CHUNKS["two-texts-that-finish"]) + wire.serialize_indented(CANCELLED)
    bodies["half-of-a-surrogate-pair"] = _events(CHUNKS["two-texts-that-finish"]).replace(b"Two.", rb"Two\ud83d.")
    bodies["line-feeds-only"] = _events(CHUNKS["signed-text"]).replace(b"\r\n", b"\n").rstrip()
    return bodies


def error_bodies() -> dict[str, bytes]:
    """Return the bodies of HTTP errors by name."""
    bodies: dict[str, bytes] = {}
    for name in ERROR_SCENARIOS:
        [reply] = _steps(name)
        assert isinstance(reply, Fault)
        assert isinstance(reply.fault, HttpError)
        bodies[name] = wire.serialize_indented(error_body(reply.fault))
    message = "Invalid value at 'contents[0].parts[0].text' (TYPE_STRING), 5"
    bodies["error-without-details"] = json.dumps({"error": {"code": 400, "message": message}}).encode()
    return bodies


def _steps(scenario: str) -> Sequence[Step]:
    body: WireObject = {"contents": [{"role": "user", "parts": [{"text": "Hello"}]}]}
    request = parse_generation_request(PREFIX + scenario, body, response_id=f"response-{scenario}")
    return list(scenario_steps(request, 0))


def _stream_body(steps: Sequence[Step]) -> bytes:
    body = b""
    for step in steps:
        match step:
            case Chunk():
                body += wire.sse_event(step.response)
            case Fault(HttpError() as error):
                body += wire.sse_event(error_body(error))
            case RawBytes(data):
                body += data
            case _:
                raise TypeError(f"a {type(step).__name__} cannot be written into a body")
    return body


def _unary_body(steps: Sequence[Step]) -> bytes:
    body: WireObject = {}
    for step in steps:
        assert isinstance(step, Chunk)
        wire.merge_chunk(body, step.response)
    return wire.sse_event(body)


def _events(chunks: Sequence[WireObject]) -> bytes:
    return b"".join(wire.sse_event(chunk) for chunk in chunks)


def _chunk(*parts: WireObject, finish: str = "", **candidate: object) -> WireObject:
    """Return a chunk in the form of Gemini 3; `candidate` are further fields of the candidate."""
    fields = {"content": {"parts": list(parts), "role": "model"}, "index": 0, **candidate}
    if finish:
        fields["finishReason"] = finish
    return {
        "candidates": [fields],
        "usageMetadata": USAGE,
        "modelVersion": "gemini-3-flash",
        "responseId": "written-by-hand",
    }


def _vertex_chunk(part: WireObject) -> WireObject:
    return {
        "candidates": [{"content": {"parts": [part], "role": "model"}}],
        "usageMetadata": {"trafficType": "ON_DEMAND"},
        "createTime": "2026-05-04T20:01:02.264968Z",
    }


VERTEX_PARTS: Sequence[WireObject] = (
    {"text": "I look at the screen."},
    {"functionCall": {"name": "read_screen", "willContinue": True}},
    *(
        {"functionCall": {"partialArgs": [{"jsonPath": "$.id", **value}], "willContinue": True}}
        for value in ({"stringValue": "A", "willContinue": True}, {"stringValue": ""})
    ),
    {"functionCall": {}},
)
RATINGS = [{"category": "HARM_CATEGORY_HARASSMENT", "probability": "NEGLIGIBLE"}]
CANCELLED = wire.error_body(
    499,
    "The operation was cancelled.",
    "CANCELLED",
    [{"@type": "type.googleapis.com/google.rpc.DebugInfo", "detail": "generic::cancelled"}],
)
CITATION = {"startIndex": 4, "endIndex": 60, "uri": "https://example.org/tides", "license": ""}
PICTURE = base64.urlsafe_b64encode(draw_chart(60, 40)).decode().rstrip("=")

CHUNKS: Mapping[str, Sequence[WireObject]] = {
    # Token counts decrease in the second chunk, and the signature precedes its text.
    "signed-text": [
        {**_chunk({"text": "The tide turns "}), "usageMetadata": {**USAGE, "thoughtsTokenCount": 90}},
        {**_chunk({"text": "twice a day."}), "usageMetadata": {"promptTokenCount": 7, "totalTokenCount": 7}},
        _chunk({"thoughtSignature": SIGNATURE, "text": ""}, finish="STOP"),
    ],
    "signature-in-the-middle": [
        _chunk({"text": "First, "}, {"text": "then ", "thoughtSignature": SIGNATURE}, {"text": "last."}, finish="STOP")
    ],
    "signature-without-content": [_chunk({"text": "Done."}), _chunk({"thoughtSignature": SIGNATURE}, finish="STOP")],
    "signature-url-safe": [
        _chunk({"text": "From a gateway."}),
        _chunk({"text": "", "thoughtSignature": URL_SAFE_SIGNATURE}, finish="STOP"),
    ],
    "two-texts-that-finish": [
        {
            **_chunk({"text": "One. "}, finish="STOP", safetyRatings=RATINGS),
            "promptFeedback": {"safetyRatings": RATINGS},
        },
        _chunk({"text": "Two."}, finish="STOP", safetyRatings=RATINGS),
    ],
    # The Developer API's name for what Vertex AI calls `citations`.
    "citation-sources": [
        _chunk({"text": "The "}, citationMetadata={"citationSources": [CITATION]}),
        _chunk({"text": "moon pulls the sea."}, finish="STOP", avgLogprobs=-0.25),
    ],
    "contents-without-parts": [
        _chunk({"text": "Before. "}),
        {**_chunk(), "candidates": [{"content": {"role": "model"}, "index": 0}]},
        {**_chunk(), "candidates": [{"index": 0}]},
        {"usageMetadata": USAGE, "responseId": "written-by-hand"},
        {},
        _chunk({"text": "After."}, finish="STOP"),
    ],
    "fields-beside-the-content": [
        _chunk({"text": "A sketch.", "partMetadata": {"origin": "canvas"}}),
        _chunk({"inlineData": {"displayName": "sketch.png", "mimeType": "image/png", "data": PICTURE}}),
        _chunk({"fileData": {"mimeType": "text/csv", "fileUri": "https://example.org/v1beta/files/a"}}, finish="STOP"),
    ],
    "image-in-thoughts": [
        _chunk({"inlineData": {"mimeType": "image/png", "data": PICTURE}, "thought": True}),
        _chunk({"text": "I drew a draft first."}, finish="STOP"),
    ],
    # The form of Vertex AI: no index, counts only in the last chunk, and arguments of a function in pieces.
    "vertex": [*map(_vertex_chunk, VERTEX_PARTS), _chunk({"text": ""}, finish="STOP")],
    "function-calls": [
        _chunk({"text": "I need the weather.", "thought": True}),
        _chunk(
            {
                "functionCall": {"name": "get_weather", "args": {"city_name": "Oslo"}, "id": "c4ll0001"},
                "thoughtSignature": SIGNATURE,
            },
            {"functionCall": {"name": "get_time", "args": {}, "id": "c4ll0002"}},
            {"functionCall": {"name": "get_date"}},
        ),
        _chunk({"text": ""}, finish="STOP"),
    ],
}
