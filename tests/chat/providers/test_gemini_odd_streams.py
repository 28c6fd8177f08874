"""Streams in the unusual forms that gateways send: our reader reads them, and all that the SDK reads."""

from __future__ import annotations

import json
import os
import random
import re
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest
from aiohttp import ClientSession
from google import genai
from google.genai.models import AsyncModels
from google.genai.types import HttpOptions
from pytest_django import Settings

from chat.providers.google.client import CONFIG
from chat.providers.google.codec import ChunkDecoder
from chat.providers.google.errors import FOREIGN_ERRORS
from chat.providers.google.provider import GeminiProvider
from chat.providers.provider_errors import ProviderError
from chat.vocabulary.parts import ExecutableCode, FunctionCall, JSONObject
from chat.vocabulary.stream_events import (
    Finish,
    Finished,
    PartReceived,
    ResponseIdentified,
    StreamEvent,
    Usage,
    UsageReported,
)
from tests.chat.providers.conftest import Serve, parts_of, read_all, texts_of
from tests.chat.providers.normal_form import part_as_the_sdk_reads
from tests.chat.providers.raw_server import Exchange, answer_with_body, answer_with_events
from tests.recordings import Recording, recordings

MUTATIONS = int(os.environ.get("PLOTLINE_TEST_MUTATIONS") or 3)
"""Number of changed streams of each recording. Only those that the SDK reads without an error count."""
SMALL_BYTES = 200_000
"""Maximum size of recordings that are changed. Longer ones hold images."""

ONE: JSONObject = {"candidates": [{"content": {"role": "model", "parts": [{"text": "one"}]}, "index": 0}]}
TWO: JSONObject = {
    "candidates": [{"content": {"role": "model", "parts": [{"text": " two"}]}, "finishReason": "STOP", "index": 0}],
    "usageMetadata": {"promptTokenCount": 10, "totalTokenCount": 12},
}
JSON_ONE, JSON_TWO = json.dumps(ONE).encode(), json.dumps(TWO).encode()


@pytest.mark.parametrize(
    "rest",
    [
        b"data: {\n\n",
        b"<html>502 Bad Gateway</html>\n",
        b'data: {"error": {"code": 499, "message": "cancelled", "status": "CANCELLED"}}\n\n',
        b'{\n  "error": {\n    "code": 503,\n    "message": "overloaded"\n  }\n}\n',
        b"data: 5\n\n",
    ],
)
async def test_invalid_data_after_a_complete_answer_raises_no_error(
    rest: bytes, provider: GeminiProvider, serve: Serve
) -> None:
    async with serve(answer_with_body(b"data: " + JSON_ONE + b"\n\ndata: " + JSON_TWO + b"\n\n" + rest)):
        received, error = await read_all(provider)
    assert error is None
    assert texts_of(received) == ["one", " two"]


@pytest.mark.parametrize("is_closed", [True, False], ids=["broken", "silent"])
async def test_connection_that_breaks_after_a_complete_answer_raises_no_error(
    is_closed: bool, provider: GeminiProvider, serve: Serve, settings: Settings
) -> None:
    settings.PROVIDER_IDLE_LIMIT_S = 0.5

    async def answer(exchange: Exchange) -> None:
        exchange.head()
        exchange.send(b"data: " + JSON_ONE + b"\n\ndata: " + JSON_TWO + b"\n\n")
        if is_closed:
            exchange.transport.close()
        await exchange.closed.wait()

    async with serve(answer):
        received, error = await read_all(provider)
    assert error is None
    assert texts_of(received) == ["one", " two"]


async def test_snake_case_names_and_numbers_as_strings_are_read(provider: GeminiProvider, serve: Serve) -> None:
    parts = [
        {"executable_code": {"code": "1", "language": "PYTHON"}},
        {"function_call": {"name": "f", "args": {"snake_case": {"a_b": 1}}}, "thought_signature": "c2ln"},
    ]
    chunk = {
        "candidates": [{"content": {"parts": parts}, "finish_reason": "MAX_TOKENS", "index": "0"}],
        "usage_metadata": {"prompt_token_count": "12", "total_token_count": 13.0},
        "model_version": "m",
    }
    async with serve(answer_with_events(chunk)):
        received, error = await read_all(provider)
    assert error is None
    assert parts_of(received) == [
        ExecutableCode("1", "PYTHON"),
        FunctionCall("f", {"snake_case": {"a_b": 1}}, provider_data={"thought_signature": "c2ln"}),
    ]
    assert Finished(Finish.LENGTH, "MAX_TOKENS", "") in received
    assert ResponseIdentified("", "m") in received
    assert [event.usage for event in received if isinstance(event, UsageReported)] == [Usage(prompt=12, total=13)]


async def test_only_the_candidate_with_index_0_is_read(provider: GeminiProvider, serve: Serve) -> None:
    def candidate(text: str, index: int) -> JSONObject:
        return {"content": {"role": "model", "parts": [{"text": text}]}, "index": index}

    chunks: list[JSONObject] = [
        {"candidates": [candidate("A", 0), candidate("B", 1)]},
        {"candidates": [candidate("b", 1)]},
        {"candidates": [candidate("b", 1), candidate("a", 0)]},
    ]
    async with serve(answer_with_events(*chunks)):
        received, _ = await read_all(provider)
    assert texts_of(received) == ["A", "a"]


# The SDK warns of values that its enumerations do not have, and keeps them.
@pytest.mark.filterwarnings("ignore:.* is not a valid :UserWarning")
@pytest.mark.parametrize(
    "recorded",
    [one for one in recordings() if one.http_status == 200 and one.events and len(one.body) < SMALL_BYTES],
    ids=lambda one: one.name,
)
async def test_plotlines_reader_reads_every_changed_stream_that_the_sdk_reads(
    recorded: Recording, provider: GeminiProvider, serve: Serve, settings: Settings
) -> None:
    rng = random.Random(recorded.name)
    compared = 0
    async with serve(answer_with_body(b"")) as server, open_sdk(server.url) as models:
        for number in range(3 * MUTATIONS):
            if compared == MUTATIONS:
                break
            chunks = _changed(recorded, rng)
            server.answer = answer_with_body(_stream_of(chunks, rng))
            try:
                by_sdk = await _read_with_sdk(models)
            except (*FOREIGN_ERRORS, ProviderError):
                continue
            by_us, error = await read_all(provider)
            assert error is None, number
            assert _in_common_form(by_us) == _in_common_form(by_sdk), number
            # The SDK drops some names in snake case.
            server.answer = answer_with_body(_stream_of(_in_snake_case(chunks), rng))
            renamed, error = await read_all(provider)
            assert error is None, number
            assert _in_common_form(renamed) == _in_common_form(by_us), number
            compared += 1
    assert compared == MUTATIONS


@asynccontextmanager
async def open_sdk(url: str) -> AsyncGenerator[AsyncModels, None]:
    """Provide the SDK as it is, with its own connection to a server."""
    async with ClientSession() as session:
        yield genai.Client(api_key="key", http_options=HttpOptions(base_url=url, aiohttp_client=session)).aio.models


async def _read_with_sdk(models: AsyncModels) -> list[StreamEvent]:
    """Return the events of the chunks that the SDK makes of a stream."""
    events: list[StreamEvent] = []
    decoder = ChunkDecoder()
    async for chunk in await models.generate_content_stream(model="gemini-test", contents="?", config=CONFIG):
        wire = chunk.model_dump(mode="json", by_alias=True, exclude_none=True, exclude={"sdk_http_response"})
        events += decoder.decode(wire)
    return events


def _in_common_form(events: list[StreamEvent]) -> list[object]:
    """Return parts, ends and token counts in the form in which both readers are compared."""
    read: list[object] = []
    for event in events:
        if isinstance(event, PartReceived):
            read.append(part_as_the_sdk_reads(event.part))
        elif isinstance(event, Finished):
            read.append((event.finish, event.reason))
        elif isinstance(event, UsageReported):
            read.append(event.usage)
    return read


def _changed(recorded: Recording, rng: random.Random) -> list[dict[str, Any]]:
    """Return the chunks of a recording with some changes."""
    chunks = [json.loads(json.dumps(event)) for event in recorded.events]
    for change in rng.sample(CHANGES, k=rng.randrange(len(CHANGES))):
        chunks = change(chunks, rng)
    return chunks


def _stream_of(chunks: list[dict[str, Any]], rng: random.Random) -> bytes:
    """Return a stream of these chunks in one of the forms that servers use."""
    line_end = rng.choice([b"\n", b"\r\n"])
    indent = rng.choice([None, None, 1])
    body = b""
    for chunk in chunks:
        text = json.dumps(chunk, indent=indent).encode()
        body += b"".join(b"data: " + line + line_end for line in text.split(b"\n")) + line_end
    return body[: -len(line_end)] if rng.random() < 0.3 else body


def _in_snake_case(value: Any) -> Any:  # noqa: ANN401 - JSON
    if isinstance(value, list):
        return [_in_snake_case(item) for item in value]
    if not isinstance(value, dict):
        return value
    return {
        re.sub(r"(?<=[a-z0-9])([A-Z])", lambda match: f"_{match[1].lower()}", name): (
            item if name in ("args", "response", "partMetadata") else _in_snake_case(item)
        )
        for name, item in value.items()
    }


def _drop(chunks: list[dict[str, Any]], rng: random.Random) -> list[dict[str, Any]]:
    return [chunk for chunk in chunks if rng.random() < 0.8]


def _repeat(chunks: list[dict[str, Any]], rng: random.Random) -> list[dict[str, Any]]:
    return [chunk for chunk in chunks for _ in range(rng.choice([1, 1, 2]))]


def _shuffle(chunks: list[dict[str, Any]], rng: random.Random) -> list[dict[str, Any]]:
    return rng.sample(chunks, len(chunks))


def _write_numbers_otherwise(chunks: list[dict[str, Any]], rng: random.Random) -> list[dict[str, Any]]:
    for chunk in chunks:
        usage = chunk.get("usageMetadata") or {}
        for name, value in usage.items():
            if isinstance(value, int):
                usage[name] = rng.choice([value, float(value), str(value)])
    return chunks


def _add_nulls(chunks: list[dict[str, Any]], rng: random.Random) -> list[dict[str, Any]]:
    for chunk in chunks:
        name = rng.choice(["responseId", "modelVersion", "usageMetadata", "promptFeedback"])
        chunk.setdefault(name, None)
    return chunks


CHANGES: list[Callable[[list[dict[str, Any]], random.Random], list[dict[str, Any]]]] = [
    _write_numbers_otherwise,
    _drop,
    _repeat,
    _shuffle,
    _add_nulls,
]
