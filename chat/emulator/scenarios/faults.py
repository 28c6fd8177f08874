"""Scenarios of failure: HTTP errors, errors inside a stream, and connections that break or fall silent."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count

from chat.emulator import wire
from chat.emulator.scenarios.registry import scenario
from chat.emulator.scenarios.texts import PLAIN
from chat.emulator.voice import Voice
from chat.emulator.wire import Raw, Reply, Reset, Silence, Step, StreamError, WireObject

QUOTA = "You exceeded your current quota, please check your plan."
OVERLOADED = "This model is currently experiencing high demand. Please try again later."


def _rate_limit(retry_s: float) -> Reply:
    violation = {"quotaId": "GenerateRequestsPerMinutePerProjectPerModel-FreeTier"}
    details: list[WireObject] = [
        {"@type": "type.googleapis.com/google.rpc.QuotaFailure", "violations": [violation]},
        {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": f"{retry_s:g}s"},
    ]
    return wire.refusal(429, QUOTA, "RESOURCE_EXHAUSTED", details)


def overloaded() -> Reply:
    """503."""
    return wire.refusal(503, OVERLOADED, "UNAVAILABLE")


@scenario("rate-limited")
def _rate_limited(voice: Voice, amount: int) -> Iterator[Step]:
    """429 with RetryInfo, always."""
    yield _rate_limit(34.4)


@scenario("rate-limited-once")
def _rate_limited_once(voice: Voice, amount: int) -> Iterator[Step]:
    """429 with a retryDelay of 0.2 s to the first equal call, text to every later one."""
    if voice.call.number == 0:
        yield _rate_limit(0.2)
        return
    yield from voice.say(PLAIN)
    yield voice.end()


@scenario("internal-error")
def _internal_error(voice: Voice, amount: int) -> Iterator[Step]:
    """500."""
    yield wire.refusal(500, "An internal error has occurred. Please retry or report.", "INTERNAL")


@scenario("unavailable")
def _unavailable(voice: Voice, amount: int) -> Iterator[Step]:
    """503."""
    yield overloaded()


@scenario("bad-request")
def _bad_request(voice: Voice, amount: int) -> Iterator[Step]:
    """400 for the request itself."""
    yield wire.refusal(400, "Thinking level MINIMAL is not supported for this model.", "INVALID_ARGUMENT")


@scenario("bad-key")
def _bad_key(voice: Voice, amount: int) -> Iterator[Step]:
    """400 for a key that is not valid."""
    info = {
        "@type": "type.googleapis.com/google.rpc.ErrorInfo",
        "reason": "API_KEY_INVALID",
        "domain": "googleapis.com",
        "metadata": {"service": "generativelanguage.googleapis.com"},
    }
    message = "API key not valid. Please pass a valid API key."
    yield wire.refusal(400, message, "INVALID_ARGUMENT", [info])


@scenario("forbidden")
def _forbidden(voice: Voice, amount: int) -> Iterator[Step]:
    """403."""
    yield wire.refusal(403, "Your project has been denied access. Please contact support.", "PERMISSION_DENIED")


@scenario("not-found")
def _not_found(voice: Voice, amount: int) -> Iterator[Step]:
    """404 for a model that is gone."""
    message = f"models/{voice.call.model} is not found for API version v1beta, or is not supported for generateContent."
    yield wire.refusal(404, message, "NOT_FOUND")


@scenario("error-in-stream")
def _error_in_stream(voice: Voice, amount: int) -> Iterator[Step]:
    """Text, then 503 as a `data:` event inside the 200 stream."""
    yield from voice.say(PLAIN[:100])
    yield StreamError(wire.error(503, OVERLOADED, "UNAVAILABLE"), as_event=True, after_s=0.2)


@scenario("error-in-stream-bare")
def _error_in_stream_bare(voice: Voice, amount: int) -> Iterator[Step]:
    """Text, then 499 as a bare JSON object over several lines inside the 200 stream."""
    yield from voice.say(PLAIN[:100])
    debug = {"@type": "type.googleapis.com/google.rpc.DebugInfo", "detail": "[ORIGINAL ERROR] generic::cancelled: "}
    body = wire.error(499, "The operation was cancelled.", "CANCELLED", [debug])
    yield StreamError(body, as_event=False, after_s=0.2)


@scenario("malformed-json")
def _malformed_json(voice: Voice, amount: int) -> Iterator[Step]:
    """Text, then an event that is no JSON."""
    yield from voice.say(PLAIN[:100])
    yield Raw(b'data: {"candidates": [{"content": oops\r\n\r\n', after_s=0.2)


@scenario("cut")
def _cut(voice: Voice, amount: int) -> Iterator[Step]:
    """Text, then half an event and a reset of the connection."""
    yield from voice.say(PLAIN[:100])
    half = wire.event(voice.chunk(wire.text(PLAIN[100:])).response)
    yield Raw(half[: len(half) // 2], after_s=0.2)
    # A reset discards what the peer's kernel has not handed over yet: give it the moment it needs.
    yield Silence(0.1)
    yield Reset()


@scenario("stall", amount=3600)
def _stall(voice: Voice, amount: int) -> Iterator[Step]:
    """Text, then no byte for an hour (or the seconds given), then the rest."""
    yield from voice.say(PLAIN[:100])
    yield Silence(amount)
    yield from voice.say(PLAIN[100:])
    yield voice.end()


@scenario("stall-at-start", amount=3600)
def _stall_at_start(voice: Voice, amount: int) -> Iterator[Step]:
    """No byte, not even headers, for an hour (or the seconds given), then text."""
    yield Silence(amount)
    yield from voice.say(PLAIN)
    yield voice.end()


@scenario("endless", amount=10)
def _endless(voice: Voice, amount: int) -> Iterator[Step]:
    """Ten numbered words a second (or the number given) for ever, at any pace."""
    for number in count(1):
        yield voice.chunk(wire.text(f"word {number} "), after_s=0.0)
        yield Silence(1 / max(amount, 1))
