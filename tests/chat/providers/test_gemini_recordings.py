"""Every recording, through the real SDK over a real socket, says what its raw JSON says."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from itertools import accumulate
from typing import Any

import pytest
from pytest_django import Settings

from chat.parts import (
    JSON,
    Content,
    FinishReported,
    GenerateRequest,
    MetadataReported,
    PartKind,
    PromptBlocked,
    ResponseDescribed,
    Role,
    UsageReported,
)
from chat.providers.base import InvalidRequest, ModelNotFound, Overloaded, ProviderError, RateLimited, Unauthorised
from chat.providers.gemini import GeminiProvider
from tests.chat.providers.camel import in_camel_case
from tests.chat.providers.conftest import REQUEST, Serve, all_of, parts_of
from tests.chat.providers.raw_server import Answer, Exchange, events, failing, whole
from tests.chat.providers.recordings import WHY_NOT, Recording, events_in, part_from, raw_parts, recording, recordings

every_answer = pytest.mark.parametrize(
    "recorded",
    [pytest.param(one, id=one.name) for one in recordings() if one.http_status == 200]
    or [pytest.param(None, marks=pytest.mark.skip(reason=WHY_NOT))],
)
needs_recordings = pytest.mark.skipif(not recordings(), reason=WHY_NOT)


@needs_recordings
def test_all_recordings_are_found() -> None:
    assert len(recordings()) >= 69


@every_answer
async def test_recorded_answer_arrives_as_it_was_sent(
    recorded: Recording, provider: GeminiProvider, serve: Serve
) -> None:
    async with serve(whole(recorded.body)):
        received, error = await all_of(provider)
    assert parts_of(received) == recorded.parts
    usages = [event.usage for event in received if isinstance(event, UsageReported)]
    assert (usages[-1] if usages else None) == recorded.usage
    assert [event.reason for event in received if isinstance(event, FinishReported)] == recorded.finish_reasons
    assert (error is not None) == (recorded.error is not None)


@every_answer
async def test_recorded_metadata_arrives_under_its_wire_names(
    recorded: Recording, provider: GeminiProvider, serve: Serve
) -> None:
    said = [named for event in recorded.events for named in _metadata(event)]
    async with serve(whole(recorded.body)):
        received, _ = await all_of(provider)
    assert [(event.name, event.value) for event in received if isinstance(event, MetadataReported)] == said
    described = {
        (event.get("responseId", ""), event.get("modelVersion", ""))
        for event in recorded.events
        if "responseId" in event or "modelVersion" in event
    }
    assert [
        (event.response_id, event.model_version) for event in received if isinstance(event, ResponseDescribed)
    ] == list(described)


@every_answer
# Of aiohttp's, about a megabyte that is sent in one piece.
@pytest.mark.filterwarnings("ignore:Sending a large body directly with raw bytes:ResourceWarning")
async def test_recorded_parts_go_back_as_they_came(
    recorded: Recording, provider: GeminiProvider, serve: Serve, settings: Settings
) -> None:
    # Each API refuses, in the SDK already, parts that only the other one makes.
    settings.GOOGLE_GENAI_USE_VERTEXAI = "vertex" in recorded.name
    async with serve(whole(recorded.body)) as server:
        received, _ = await all_of(provider)
        server.answer = events({})
        history = (*REQUEST.contents, Content(Role.MODEL, tuple(parts_of(received))), *REQUEST.contents)
        _, error = await all_of(provider, GenerateRequest("gemini-test", history))
    assert error is None
    sent = server.exchanges[1].json["contents"]
    expected = [part for part in recorded.parts if part.kind is not PartKind.THOUGHT]
    model = [content["parts"] for content in sent if content["role"] == "model"]
    assert [part_from(in_camel_case(part)) for part in (model[0] if model else [])] == expected


@needs_recordings
@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("error-400-auth-rejection", Unauthorised),
        ("error-400-bad-api-key", Unauthorised),
        ("error-400-minimal", InvalidRequest),
        ("error-404-streaming", ModelNotFound),
        ("error-404-unknown-model", ModelNotFound),
        ("error-429-retry-info", RateLimited),
    ],
)
async def test_recorded_http_error_is_one_of_ours(
    name: str, kind: type[ProviderError], provider: GeminiProvider, serve: Serve
) -> None:
    recorded = recording(name)
    assert recorded.error is not None
    for body in (recorded.body, b"[" + recorded.body + b"]"):
        async with serve(failing(recorded.http_status, body)):
            received, error = await all_of(provider)
        assert error is not None
        assert (received, type(error)) == ([], kind)
        assert recorded.error["message"] in error.detail
        assert error.retry_after_s == (34.4 if kind is RateLimited else None)


@needs_recordings
async def test_error_in_the_middle_of_a_stream_comes_after_the_parts(provider: GeminiProvider, serve: Serve) -> None:
    async with serve(whole(recording("MOCK-error-mid-stream").body)):
        received, error = await all_of(provider)
    assert [part.text for part in parts_of(received)] == ["First ", "Second "]
    assert isinstance(error, Overloaded)
    assert "The operation was cancelled." in error.detail


@needs_recordings
async def test_blocked_prompt_is_told(provider: GeminiProvider, serve: Serve) -> None:
    async with serve(whole(recording("promptblock-stream-safety").body)):
        received, error = await all_of(provider)
    assert error is None
    assert [event.reason for event in received if isinstance(event, PromptBlocked)] == ["SAFETY"]


@needs_recordings
@pytest.mark.parametrize("name", ["codeexec-stream-gemini3flash-real-signatures", "thoughts-stream-25pro"])
async def test_stream_cut_anywhere_keeps_every_event_before_the_cut(
    name: str, provider: GeminiProvider, serve: Serve
) -> None:
    recorded = recording(name)
    blocks = events_in(recorded.body)
    ends = list(accumulate(len(block) for block in blocks[: len(recorded.events)]))
    async with serve(whole(b"")) as server:
        for count, offset in enumerate(random.Random(name).sample(range(len(recorded.body) + 1), 40)):
            server.answer = _cut(recorded.body[:offset], ends_well=bool(count % 2))
            received, _ = await all_of(provider)
            got = parts_of(received)
            complete = sum(end <= offset for end in ends)
            least = [part_from(json) for event in recorded.events[:complete] for json in raw_parts(event)]
            assert got[: len(least)] == least, offset
            assert got == recorded.parts[: len(got)], offset


@needs_recordings
@pytest.mark.filterwarnings("ignore:.* is not a valid :UserWarning")
async def test_mutated_stream_ends_or_fails_as_ours(provider: GeminiProvider, serve: Serve) -> None:
    chance = random.Random("mutations")
    streams = [one for one in recordings() if one.body.startswith(b"data: ") and len(one.body) < 20_000]
    failures = 0
    async with serve(whole(b"")) as server:
        for _ in range(100):
            server.answer = whole(_mutated(chance.choice(streams).body, chance))
            _, error = await all_of(provider)
            failures += error is not None
    assert failures > 20


METADATA = ("safetyRatings", "citationMetadata", "groundingMetadata", "urlContextMetadata")


def _metadata(event: dict[str, Any]) -> Iterator[tuple[str, JSON]]:
    if "promptFeedback" in event:
        yield "promptFeedback", event["promptFeedback"]
    for candidate in event.get("candidates", []):
        for name in METADATA:
            if name in candidate:
                value = candidate[name]
                # The SDK gives citations the name they have on Vertex AI.
                yield name, {"citations": value["citationSources"]} if "citationSources" in value else value


def _cut(body: bytes, *, ends_well: bool) -> Answer:
    async def answer(exchange: Exchange) -> None:
        exchange.head()
        exchange.send(body)
        if ends_well:
            exchange.end()
        else:
            exchange.transport.close()

    return answer


JSON_VALUES = (b"null", b"1", b"-1e999", b"[]", b"{}", b'"x"', b"true", b"[[]]", b'{"a":{}}', b"[null]", b"[1]")


def _mutated(body: bytes, chance: random.Random) -> bytes:
    """The stream with one thing wrong: a byte, a piece, or a JSON value of another type."""
    place = chance.randrange(len(body))
    length = chance.randrange(1, 30)
    match chance.randrange(5):
        case 0:
            return body[:place] + bytes([chance.randrange(256)]) + body[place + 1 :]
        case 1:
            return body[:place] + body[place + length :]
        case 2:
            return body[:place] + body[place : place + length] * 2 + body[place + length :]
        case _:
            blocks = [block for block in events_in(body) if block.strip()]
            index = chance.randrange(len(blocks))
            try:
                value = json.loads(blocks[index].removeprefix(b"data: "))
            except ValueError:
                return body[:place]
            text = json.dumps(_with_other_type(value, chance)).encode().replace(b'"@"', chance.choice(JSON_VALUES))
            blocks[index] = b"data: " + text + b"\r\n\r\n"
            return b"".join(blocks)


def _with_other_type(value: JSON, chance: random.Random) -> JSON:
    """The value with one of its nodes, chosen by chance, replaced by `"@"`."""
    if not isinstance(value, dict | list) or not value or chance.random() < 0.2:
        return "@"
    if isinstance(value, list):
        index = chance.randrange(len(value))
        return [*value[:index], _with_other_type(value[index], chance), *value[index + 1 :]]
    key = chance.choice(list(value))
    return {**value, key: _with_other_type(value[key], chance)}
