"""The events of each recorded response equal those in its raw JSON, and its parts are sent back unchanged.

`tests.recordings` lists the responses, and reads what is expected from their JSON, without the provider.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from itertools import accumulate

import pytest

from chat.providers.google.codec import request_body
from chat.providers.google.provider import GeminiProvider
from chat.providers.provider_errors import (
    InvalidRequest,
    ModelNotFound,
    Overloaded,
    ProviderError,
    RateLimited,
    Unauthorised,
)
from chat.providers.requests import Content, GenerateRequest
from chat.vocabulary.parts import Role
from chat.vocabulary.stream_events import Finish, Finished, MetadataReported, ResponseIdentified, UsageReported
from tests.chat.providers.conftest import REQUEST, Serve, parts_of, read_all, texts_of
from tests.chat.providers.damage import damage_body
from tests.chat.providers.normal_form import part_as_sent_back, wire_in_normal_form
from tests.chat.providers.raw_server import Answer, Exchange, answer_with_body, answer_with_error
from tests.recordings import Recording, events_in, part_from, raw_parts, recording, recordings

ANSWERS = [one for one in recordings() if one.http_status == 200]
ERRORS = [one for one in recordings() if one.http_status != 200]
SMALL_BYTES = 20_000
"""Maximum size of responses that are cut and changed in many places."""

each_answer = pytest.mark.parametrize("recorded", ANSWERS, ids=lambda one: one.name)
each_small_answer = pytest.mark.parametrize(
    "recorded", [one for one in ANSWERS if len(one.body) < SMALL_BYTES], ids=lambda one: one.name
)
each_error = pytest.mark.parametrize("recorded", ERRORS, ids=lambda one: one.name)

ERROR_TYPES = {400: InvalidRequest, 401: Unauthorised, 403: Unauthorised, 404: ModelNotFound, 429: RateLimited}
METADATA = ("safetyRatings", "citationMetadata", "groundingMetadata", "urlContextMetadata", "continuationToken")


@each_answer
async def test_parts_token_counts_and_finish_reason_of_an_answer_equal_its_raw_json(
    recorded: Recording, provider: GeminiProvider, serve: Serve
) -> None:
    async with serve(answer_with_body(recorded.body)):
        received, error = await read_all(provider)
    assert parts_of(received) == recorded.parts
    reports = [event.usage for event in received if isinstance(event, UsageReported)]
    assert (reports[-1] if reports else None) == recorded.usage
    assert [event.reason for event in received if isinstance(event, Finished)] == recorded.finish_reasons
    # Errors after the finish reason do not make an answer fail.
    assert (error is not None) == (recorded.error is not None and not recorded.finish_reasons)


@each_answer
async def test_metadata_response_id_and_model_version_of_an_answer_are_reported(
    recorded: Recording, provider: GeminiProvider, serve: Serve
) -> None:
    async with serve(answer_with_body(recorded.body)):
        received, _ = await read_all(provider)
    metadata = [event for event in received if isinstance(event, MetadataReported)]
    assert metadata == list(metadata_in(recorded))
    identities = [event for event in received if isinstance(event, ResponseIdentified)]
    assert identities == list(identities_in(recorded))


@each_answer
def test_parts_of_an_answer_are_sent_back_unchanged(recorded: Recording) -> None:
    history = (*REQUEST.contents, Content(Role.MODEL, tuple(recorded.parts)), *REQUEST.contents)
    body = json.loads(request_body(GenerateRequest("gemini-test", history)))
    sent = [part for content in body["contents"] if content["role"] == "model" for part in content["parts"]]
    received = [part_as_sent_back(wire) for event in recorded.events for wire in raw_parts(event)]
    expected = [wire for wire in received if wire is not None]
    assert [wire_in_normal_form(wire) for wire in sent] == [wire_in_normal_form(wire) for wire in expected]


@each_error
async def test_http_error_has_the_type_message_and_delay_of_its_body(
    recorded: Recording, provider: GeminiProvider, serve: Serve
) -> None:
    assert recorded.error is not None
    # Some of Google's servers wrap the object into a list.
    for body in (recorded.body, b"[" + recorded.body + b"]"):
        async with serve(answer_with_error(recorded.http_status, body)):
            received, error = await read_all(provider)
        assert error is not None
        assert (received, type(error)) == ([], error_type_of(recorded))
        assert recorded.error["message"] in error.detail
        assert error.retry_after_s == delay_s_in(recorded)


@pytest.mark.parametrize("name", ["error-in-stream", "error-in-stream-bare"])
async def test_error_inside_a_stream_is_raised_after_the_parts_before_it(
    name: str, provider: GeminiProvider, serve: Serve
) -> None:
    recorded = recording(name)
    assert recorded.error is not None
    async with serve(answer_with_body(recorded.body)):
        received, error = await read_all(provider)
    assert texts_of(received) == [part.long_text for part in recorded.parts]
    assert isinstance(error, Overloaded)
    assert recorded.error["message"] in error.detail


async def test_blocked_prompt_ends_with_a_finish_reason_and_not_with_an_error(
    provider: GeminiProvider, serve: Serve
) -> None:
    async with serve(answer_with_body(recording("prompt-blocked").body)):
        received, error = await read_all(provider)
    assert error is None
    [finished] = [event for event in received if isinstance(event, Finished)]
    assert (finished.finish, finished.reason) == (Finish.PROHIBITED_CONTENT, "PROHIBITED_CONTENT")


@each_small_answer
async def test_stream_that_is_cut_keeps_every_event_before_the_cut(
    recorded: Recording, provider: GeminiProvider, serve: Serve
) -> None:
    ends = list(accumulate(len(block) for block in events_in(recorded.body)[: len(recorded.events)]))
    offsets = random.Random(recorded.name).sample(range(len(recorded.body)), 10)
    async with serve(answer_with_body(b"")) as server:
        for count, offset in enumerate(offsets):
            server.answer = answer_with_piece(recorded.body[:offset], is_ended=bool(count % 2))
            received, _ = await read_all(provider)
            complete = sum(end <= offset for end in ends)
            least = [part_from(wire) for event in recorded.events[:complete] for wire in raw_parts(event)]
            read = parts_of(received)
            assert read[: len(least)] == least, offset
            assert read == recorded.parts[: len(read)], offset


@each_small_answer
async def test_damaged_stream_ends_or_raises_a_provider_error(
    recorded: Recording, provider: GeminiProvider, serve: Serve
) -> None:
    chance = random.Random(recorded.name)
    async with serve(answer_with_body(b"")) as server:
        for _ in range(5):
            server.answer = answer_with_body(damage_body(recorded.body, chance))
            # `read_all` raises every other error.
            await read_all(provider)


def metadata_in(recorded: Recording) -> Iterator[MetadataReported]:
    """Yield the metadata of a recording under their names in its JSON."""
    for event in recorded.events:
        if "promptFeedback" in event:
            yield MetadataReported("promptFeedback", event["promptFeedback"])
        for candidate in event.get("candidates", []):
            for name in METADATA:
                if name in candidate:
                    yield MetadataReported(name, candidate[name])


def identities_in(recorded: Recording) -> Iterator[ResponseIdentified]:
    """Yield the identity of the response whenever it changes."""
    last = ResponseIdentified("", "")
    for event in recorded.events:
        identity = ResponseIdentified(
            event.get("responseId", last.response_id), event.get("modelVersion", last.model_version)
        )
        if identity != last:
            yield identity
        last = identity


def error_type_of(recorded: Recording) -> type[ProviderError]:
    """Return the expected type of an HTTP error."""
    reasons = [detail.get("reason") for detail in details_in(recorded)]
    return Unauthorised if "API_KEY_INVALID" in reasons else ERROR_TYPES[recorded.http_status]


def delay_s_in(recorded: Recording) -> float | None:
    """Return the delay that an error asks for, such as `"retryDelay": "34.4s"`."""
    delays = [detail["retryDelay"] for detail in details_in(recorded) if "retryDelay" in detail]
    return float(delays[0].removesuffix("s")) if delays else None


def details_in(recorded: Recording) -> list[dict[str, str]]:
    """Return the `details` of an error."""
    details: list[dict[str, str]] = (recorded.error or {}).get("details", [])
    return details


def answer_with_piece(body: bytes, *, is_ended: bool) -> Answer:
    """Answer with a piece of a body. `is_ended`: whether the HTTP body ends properly; if not, the connection breaks."""

    async def answer(exchange: Exchange) -> None:
        exchange.head()
        exchange.send(body)
        if is_ended:
            exchange.end()
        else:
            exchange.transport.close()

    return answer
