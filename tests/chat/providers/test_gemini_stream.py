"""Events of a stream, also those that the SDK drops."""

from __future__ import annotations

import asyncio
import json

import pytest
from pytest_django import Settings

from chat.providers.google.provider import GeminiProvider
from chat.vocabulary.parts import JSON, CodeExecutionResult, ExecutableCode, FunctionCall, Text
from chat.vocabulary.stream_events import Finish, Finished, MetadataReported, ResponseIdentified
from tests.chat.providers.conftest import REQUEST, Serve, parts_of, read_all, text_chunk, texts_of
from tests.chat.providers.raw_server import WAIT_LIMIT_S, Exchange, answer_with_body, answer_with_events


@pytest.mark.parametrize("vertexai", [True, False], ids=["vertex", "developer"])
async def test_unknown_enum_values_are_kept_as_they_were_sent(
    vertexai: bool, provider: GeminiProvider, serve: Serve, settings: Settings
) -> None:
    settings.GOOGLE_GENAI_USE_VERTEXAI = vertexai
    parts = [
        {"codeExecutionResult": {"outcome": "OUTCOME_LOST", "output": "a"}},
        {"executableCode": {"language": "COBOL", "code": "b"}},
    ]
    ratings: list[JSON] = [{"category": "HARM_CATEGORY_NOISE", "probability": "LOUD"}]
    candidate = {
        "content": {"parts": parts},
        "safetyRatings": ratings,
        "finishReason": "NEWLY_INVENTED",
        "finishMessage": "a message",
    }
    async with serve(answer_with_events({"candidates": [candidate]})):
        received, error = await read_all(provider)
    assert error is None
    assert parts_of(received) == [CodeExecutionResult("a", "OUTCOME_LOST"), ExecutableCode("b", "COBOL")]
    assert received[2:] == [
        MetadataReported("safetyRatings", ratings),
        Finished(Finish.UNKNOWN, "NEWLY_INVENTED", "a message"),
    ]


async def test_response_id_and_model_version_are_reported_only_when_they_change(
    provider: GeminiProvider, serve: Serve
) -> None:
    chunks = [
        {"responseId": "a"},
        {"responseId": "a", "modelVersion": "m-1"},
        {"modelVersion": "m-1"},
        {},
        {"responseId": "b", "modelVersion": "m-1"},
    ]
    async with serve(answer_with_events(*chunks)):
        received, _ = await read_all(provider)
    assert received == [
        ResponseIdentified("a", ""),
        ResponseIdentified("a", "m-1"),
        ResponseIdentified("b", "m-1"),
    ]


async def test_stream_goes_on_after_half_of_a_surrogate_pair(provider: GeminiProvider, serve: Serve) -> None:
    half = json.loads(r'"a\ud83d"')
    call = {"functionCall": {"name": "f", "args": {"b": [half]}}}
    # JSON writes it as an escape sequence, because half a surrogate pair cannot be encoded in UTF-8.
    body = json.dumps({"candidates": [{"content": {"parts": [{"text": half}, call]}}]}, ensure_ascii=True)
    async with serve(answer_with_body(f"data: {body}\r\n\r\n".encode())):
        received, error = await read_all(provider)
    assert error is None
    assert parts_of(received) == [Text(half), FunctionCall("f", {"b": [half]})]


async def test_events_of_one_network_read_are_yielded_as_one_list(provider: GeminiProvider, serve: Serve) -> None:
    is_read = asyncio.Event()

    async def answer(exchange: Exchange) -> None:
        exchange.head()
        exchange.send(b"".join(b"data: " + json.dumps(text_chunk(text)).encode() + b"\n\n" for text in "abc"))
        await is_read.wait()
        exchange.event(text_chunk("d"))
        exchange.end()

    lists = []
    async with serve(answer), asyncio.timeout(WAIT_LIMIT_S):
        async for received in provider.stream(REQUEST):
            lists.append(texts_of(received))
            is_read.set()
    assert lists == [["a", "b", "c"], ["d"]]
