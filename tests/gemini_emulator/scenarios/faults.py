"""Scenarios of faults: HTTP errors, errors inside a stream, and connections that break or become silent."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count

from chat.emulator import wire
from chat.emulator.chunk_builder import ChunkBuilder
from chat.emulator.wire import Step, WireObject
from tests.gemini_emulator.scenarios.registry import ScenarioCall, scenario
from tests.gemini_emulator.scenarios.text import PLAIN
from tests.gemini_emulator.steps import ConnectionReset, JsonReply, RawBytes, Silence, StreamError, http_error

QUOTA_MESSAGE = "You exceeded your current quota, please check your plan."
OVERLOADED_MESSAGE = "This model is currently experiencing high demand. Please try again later."


def _rate_limit_error(retry_s: float) -> JsonReply:
    violation = {"quotaId": "GenerateRequestsPerMinutePerProjectPerModel-FreeTier"}
    details: list[WireObject] = [
        {"@type": "type.googleapis.com/google.rpc.QuotaFailure", "violations": [violation]},
        {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": f"{retry_s:g}s"},
    ]
    return http_error(429, QUOTA_MESSAGE, "RESOURCE_EXHAUSTED", details)


def overloaded_error() -> JsonReply:
    """Return the HTTP error 503."""
    return http_error(503, OVERLOADED_MESSAGE, "UNAVAILABLE")


@scenario("rate-limited")
def _rate_limited(builder: ChunkBuilder, call: ScenarioCall) -> Iterator[Step]:
    """429 with RetryInfo."""
    yield _rate_limit_error(34.4)


@scenario("rate-limited-once")
def _rate_limited_once(builder: ChunkBuilder, call: ScenarioCall) -> Iterator[Step]:
    """429 with a retryDelay of 0.2 s for the first request, text if it is repeated."""
    if call.is_first:
        yield _rate_limit_error(0.2)
        return
    yield from builder.text_chunks(PLAIN)
    yield builder.last_chunk()


@scenario("internal-error")
def _internal_error(builder: ChunkBuilder, call: ScenarioCall) -> Iterator[Step]:
    """HTTP error 500."""
    yield http_error(500, "An internal error has occurred. Please retry or report.", "INTERNAL")


@scenario("unavailable")
def _unavailable(builder: ChunkBuilder, call: ScenarioCall) -> Iterator[Step]:
    """HTTP error 503."""
    yield overloaded_error()


@scenario("bad-request")
def _bad_request(builder: ChunkBuilder, call: ScenarioCall) -> Iterator[Step]:
    """HTTP error 400 for an invalid request."""
    yield http_error(400, "Thinking level MINIMAL is not supported for this model.", "INVALID_ARGUMENT")


@scenario("bad-key")
def _bad_key(builder: ChunkBuilder, call: ScenarioCall) -> Iterator[Step]:
    """HTTP error 400 for an invalid key."""
    info = {
        "@type": "type.googleapis.com/google.rpc.ErrorInfo",
        "reason": "API_KEY_INVALID",
        "domain": "googleapis.com",
        "metadata": {"service": "generativelanguage.googleapis.com"},
    }
    message = "API key not valid. Please pass a valid API key."
    yield http_error(400, message, "INVALID_ARGUMENT", [info])


@scenario("forbidden")
def _forbidden(builder: ChunkBuilder, call: ScenarioCall) -> Iterator[Step]:
    """HTTP error 403."""
    yield http_error(403, "Your project has been denied access. Please contact support.", "PERMISSION_DENIED")


@scenario("not-found")
def _not_found(builder: ChunkBuilder, call: ScenarioCall) -> Iterator[Step]:
    """HTTP error 404 for a model that does not exist."""
    message = (
        f"models/{builder.request.model} is not found for API version v1beta, or is not supported for generateContent."
    )
    yield http_error(404, message, "NOT_FOUND")


@scenario("error-in-stream")
def _error_in_stream(builder: ChunkBuilder, call: ScenarioCall) -> Iterator[Step]:
    """Text, then 503 as a `data:` event inside the 200 stream."""
    yield from builder.text_chunks(PLAIN[:100])
    yield StreamError(wire.error_body(503, OVERLOADED_MESSAGE, "UNAVAILABLE"), as_event=True, after_s=0.2)


@scenario("error-in-stream-bare")
def _error_in_stream_bare(builder: ChunkBuilder, call: ScenarioCall) -> Iterator[Step]:
    """Text, then 499 as a bare JSON object over several lines inside the 200 stream."""
    yield from builder.text_chunks(PLAIN[:100])
    debug = {"@type": "type.googleapis.com/google.rpc.DebugInfo", "detail": "[ORIGINAL ERROR] generic::cancelled: "}
    body = wire.error_body(499, "The operation was cancelled.", "CANCELLED", [debug])
    yield StreamError(body, as_event=False, after_s=0.2)


@scenario("malformed-json")
def _malformed_json(builder: ChunkBuilder, call: ScenarioCall) -> Iterator[Step]:
    """Text, then an event that is not JSON."""
    yield from builder.text_chunks(PLAIN[:100])
    yield RawBytes(b'data: {"candidates": [{"content": oops\r\n\r\n', after_s=0.2)


@scenario("cut")
def _cut(builder: ChunkBuilder, call: ScenarioCall) -> Iterator[Step]:
    """Text, then half an event and a reset of the connection."""
    yield from builder.text_chunks(PLAIN[:100])
    half = wire.sse_event(builder.chunk(wire.text_part(PLAIN[100:])).response)
    yield RawBytes(half[: len(half) // 2], after_s=0.2)
    # A reset discards the bytes that the client has not read yet, so wait until it has read them.
    yield Silence(0.1)
    yield ConnectionReset()


@scenario("stall", amount=3600)
def _stall(builder: ChunkBuilder, call: ScenarioCall) -> Iterator[Step]:
    """Text, then silence for an hour (or the seconds given), then the rest."""
    yield from builder.text_chunks(PLAIN[:100])
    yield Silence(call.amount)
    yield from builder.text_chunks(PLAIN[100:])
    yield builder.last_chunk()


@scenario("stall-at-start", amount=3600)
def _stall_at_start(builder: ChunkBuilder, call: ScenarioCall) -> Iterator[Step]:
    """Silence, also without headers, for an hour (or the seconds given), then text."""
    yield Silence(call.amount)
    yield from builder.text_chunks(PLAIN)
    yield builder.last_chunk()


@scenario("endless", amount=10)
def _endless(builder: ChunkBuilder, call: ScenarioCall) -> Iterator[Step]:
    """Ten numbered words a second (or the number given) without end, at any pace."""
    for number in count(1):
        yield builder.chunk(wire.text_part(f"word {number} "), after_s=0.0)
        yield Silence(1 / max(call.amount, 1))
