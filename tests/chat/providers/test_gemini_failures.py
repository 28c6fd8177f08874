"""Failures of the network and of the API become our errors, after one attempt, and never show the key."""

from __future__ import annotations

import asyncio
import json
import socket
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from pytest_django import Settings

from chat.providers import http_sessions
from chat.providers.google.provider import GeminiProvider
from chat.providers.provider_errors import (
    ContextTooLong,
    CredentialsRefused,
    FileGone,
    FileRefused,
    InvalidRequest,
    MalformedResponse,
    ModelNotFound,
    NotConfigured,
    Overloaded,
    ProviderError,
    RateLimited,
    SignatureRefused,
    ToolsRefused,
    ToolsUnsupported,
    Unauthorised,
    Unreachable,
)
from tests.chat.providers.conftest import Serve, parts_of, read_all, text_chunk, texts_of
from tests.chat.providers.raw_server import Exchange, answer_with_body, answer_with_error

KEY = "AIzaSyTheKeyOfThisTestThatNobodyMaySee"


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        (400, InvalidRequest),
        (401, Unauthorised),
        (403, Unauthorised),
        (404, ModelNotFound),
        (408, Overloaded),
        (409, InvalidRequest),
        (429, RateLimited),
        (500, Overloaded),
        (503, Overloaded),
        (504, Overloaded),
        (302, MalformedResponse),
    ],
)
async def test_type_of_an_http_error_depends_on_its_status(
    status: int, expected: type[ProviderError], provider: GeminiProvider, serve: Serve
) -> None:
    body = json.dumps({"error": {"code": status, "message": "a message", "status": "NAME"}}).encode()
    bodies = [
        (body, "application/json"),
        (b'{"error":', "application/json"),
        (b"<h1>no</h1>", "text/html"),
        (b"", "text/plain"),
    ]
    async with serve(answer_with_error(status, body)) as server:
        for count, (data, content_type) in enumerate(bodies, start=1):
            server.answer = answer_with_error(status, data, content_type)
            received, error = await read_all(provider)
            assert (received, type(error)) == ([], expected)
            assert len(server.exchanges) == count, "the request was sent again"


TYPE_BY_MESSAGE = [
    (400, "Corrupted thought signature.", SignatureRefused),
    (400, "Tool call context circulation is not enabled for models/gemini-2.5-flash", ToolsRefused),
    (
        400,
        "Please enable tool_config.include_server_side_tool_invocations to use Built-in tools with Function calling.",
        ToolsRefused,
    ),
    (
        400,
        "Built-in tools ({google_search}) and Custom tools (Function Calling) cannot be combined in the same request.",
        ToolsRefused,
    ),
    (
        400,
        "The input token count (1196265) exceeds the maximum number of tokens allowed (1048575).",
        ContextTooLong,
    ),
    (
        400,
        "Unable to submit request because Thought signature is not valid.. Learn more: https://example.com",
        SignatureRefused,
    ),
    (
        400,
        "Function call is missing a thought_signature in functionCall parts. This is required for tools to work",
        SignatureRefused,
    ),
    (
        400,
        "Invalid value at 'contents[1].parts[0].thoughtSignature' (TYPE_BYTES), Base64 decoding failed",
        SignatureRefused,
    ),
    (400, "Code execution is not enabled for models/gemma-3-27b-it", ToolsUnsupported),
    (400, "Function calling is not enabled for models/gemma-3-27b-it", ToolsUnsupported),
    (400, "Tool use with function calling is unsupported by the model.", ToolsUnsupported),
    (400, "Unable to submit request because Code Execution tool is not supported.", ToolsUnsupported),
    (400, "This model only takes tools in the Interactions API; code execution is not supported here", InvalidRequest),
    (400, "Thinking is not enabled for this model", InvalidRequest),
    (500, "thought signature", Overloaded),
    (403, "You do not have permission to access the File abc-123 or it may not exist.", FileGone),
    (404, "File files/abc-123 may not exist.", FileGone),
    (404, "The file files/abc-123 was not found.", FileGone),
    (403, "You do not have permission to access the model profile.", Unauthorised),
    (404, "models/gemini-0 is not found for API version v1beta, or is not supported.", ModelNotFound),
    (400, "Unsupported file uri", InvalidRequest),
    (400, "Unable to process input image. Please retry or report in https://example.org", FileRefused),
    (400, "Provided image is not valid.", FileRefused),
    (400, "The document has no pages.", FileRefused),
    (400, "Unsupported MIME type: text/x-unknown", FileRefused),
    (400, "Request contains an invalid argument.", InvalidRequest),
]


@pytest.mark.parametrize(("status", "message", "expected"), TYPE_BY_MESSAGE)
async def test_type_of_an_error_depends_on_its_message_if_the_http_status_is_ambiguous(
    status: int, message: str, expected: type[ProviderError], provider: GeminiProvider, serve: Serve
) -> None:
    body = {"error": {"code": status, "message": message, "status": "NAME"}}
    async with serve(answer_with_error(status, json.dumps(body).encode())) as server:
        _, error = await read_all(provider)
        assert type(error) is expected
        assert message in error.detail
        server.answer = answer_with_body(f"data: {json.dumps(body)}\r\n\r\n".encode())
        _, error = await read_all(provider)
        assert type(error) is expected, "inside a stream of status 200"


async def test_invalid_key_is_recognised_by_its_reason_whatever_the_message_says(
    provider: GeminiProvider, serve: Serve
) -> None:
    details = [{"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "API_KEY_INVALID"}]
    body = {"error": {"code": 400, "message": "no thought signature for that key", "details": details}}
    async with serve(answer_with_error(400, json.dumps(body).encode())):
        _, error = await read_all(provider)
    assert type(error) is Unauthorised


async def test_rate_limit_has_the_delay_that_the_api_asks_for(provider: GeminiProvider, serve: Serve) -> None:
    async with serve(answer_with_error(429, b"{}")) as server:
        for delay, expected in [("34.4s", 34.4), ("7s", 7.0), ("soon", None), (None, None), ({"seconds": 3}, None)]:
            details = [None, {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": delay}]
            server.answer = answer_with_error(429, json.dumps({"error": {"code": 429, "details": details}}).encode())
            _, error = await read_all(provider)
            assert isinstance(error, RateLimited)
            assert error.retry_after_s == expected


async def test_refused_connection_is_not_tried_again(
    provider: GeminiProvider, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    attempts = 0
    connect = aiohttp.TCPConnector.connect

    async def count_and_connect(self: aiohttp.TCPConnector, *args: Any) -> aiohttp.connector.Connection:
        nonlocal attempts
        attempts += 1
        return await connect(self, *args)

    monkeypatch.setattr(aiohttp.TCPConnector, "connect", count_and_connect)
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        settings.GOOGLE_GEMINI_BASE_URL = f"http://127.0.0.1:{closed.getsockname()[1]}"
        received, error = await read_all(provider)
    assert (received, type(error)) == ([], Unreachable)
    assert attempts == 1


async def test_connecting_has_a_separate_time_limit(
    provider: GeminiProvider, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(http_sessions, "CONNECT_LIMIT_S", 0.2)
    # Without the limit for connecting, this one would end the attempt, with another error.
    settings.PROVIDER_IDLE_LIMIT_S = 5
    with ExitStack() as sockets:
        listener = sockets.enter_context(socket.socket())
        listener.bind(("127.0.0.1", 0))
        listener.listen(0)
        address = listener.getsockname()
        # Linux does not answer new connections while the queue of a listener is full.
        for _ in range(4):
            waiting = sockets.enter_context(socket.socket())
            waiting.setblocking(False)
            waiting.connect_ex(address)
        settings.GOOGLE_GEMINI_BASE_URL = f"http://127.0.0.1:{address[1]}"
        received, error = await read_all(provider)
    assert (received, type(error)) == ([], Unreachable)


@pytest.mark.parametrize("sent", [b"", b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\ndata"])
async def test_broken_connection_gives_the_error_unreachable(
    sent: bytes, provider: GeminiProvider, serve: Serve
) -> None:
    async def answer(exchange: Exchange) -> None:
        exchange.transport.write(sent)
        exchange.transport.close()

    async with serve(answer):
        _, error = await read_all(provider)
    assert type(error) is Unreachable


@pytest.mark.parametrize(
    "event",
    [
        b"data: 5\n\n",
        b"data: {\n\n",
        b"data: \xff\xfe\n\n",
        b'data: {"error": "text"}\n\n',
        b'data: {"error": {"code": ["x"]}}\n\n',
        b'data: {"error": {}}\n\n',
        b'data: {"candidates": 5}\n\n',
        b'data: {"candidates": [{"content": {"parts": [{"text": 5}]}}]}\n\n',
        b'data: {"candidates": [{"content": {"parts": [{"inlineData": {"data": "%%%"}}]}}]}\n\n',
        b'data: {"candidates": [{"finishReason": 5}]}\n\n',
        b"data: " + b"[" * 100_000 + b"\n\n",
    ],
)
async def test_unreadable_event_gives_an_error_after_the_events_before_it(
    event: bytes, provider: GeminiProvider, serve: Serve
) -> None:
    before = b"data: " + json.dumps(text_chunk("before")).encode() + b"\r\n\r\n"
    async with serve(answer_with_body(before + event)):
        received, error = await read_all(provider)
    assert texts_of(received) == ["before"]
    assert type(error) is MalformedResponse


async def test_response_that_is_not_http_gives_the_error_malformed_response(
    provider: GeminiProvider, serve: Serve
) -> None:
    async def answer(exchange: Exchange) -> None:
        exchange.transport.write(b"220 mail.test ESMTP\r\n\r\n")

    async with serve(answer):
        _, error = await read_all(provider)
    assert type(error) is MalformedResponse


async def test_no_error_shows_the_key(provider: GeminiProvider, serve: Serve, settings: Settings) -> None:
    settings.GEMINI_EMULATED = False
    settings.GEMINI_API_KEY = KEY
    others = "AIzaSyAnotherKeyThatSomeProxyAdded12345 and ya29.a0AfH6SMBx"
    message = f"API key {KEY} not valid, nor are {others}, see /v1?key=abcdef&alt=sse"
    error_body = json.dumps({"error": {"code": 403, "message": message}}).encode()
    async with serve(answer_with_error(403, error_body)) as server:
        answers = [
            answer_with_error(403, error_body),
            answer_with_error(500, message.encode(), "text/plain"),
            answer_with_body(message.encode()),
        ]
        for answer in answers:
            server.answer = answer
            _, error = await read_all(provider)
            assert error is not None
            # Data that are no event are not quoted.
            assert "[removed]" in error.detail or "characters that are no event" in error.detail
            for secret in (KEY, "AIza", "ya29", "abcdef"):
                assert secret not in error.detail + str(error) + repr(error)
            assert error.__suppress_context__, "a traceback would show the SDK's error"
        assert server.exchanges[0].headers["x-goog-api-key"] == KEY


async def test_error_says_that_gemini_is_not_configured_if_there_is_no_key_and_no_emulator(
    provider: GeminiProvider, settings: Settings
) -> None:
    settings.GEMINI_EMULATED = True
    settings.GOOGLE_GEMINI_BASE_URL = ""
    _, error = await read_all(provider)
    assert type(error) is NotConfigured
    assert "make run" in error.sentence


async def test_vertex_without_credentials_is_refused_before_any_request(
    provider: GeminiProvider, serve: Serve, settings: Settings, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(tmp_path / "absent.json"))
    settings.GEMINI_EMULATED = False
    settings.GOOGLE_GENAI_USE_VERTEXAI = True
    settings.GOOGLE_CLOUD_PROJECT = "a-project"
    async with serve(answer_with_body(b"")) as server:
        _, error = await read_all(provider)
        assert server.exchanges == []
    assert type(error) is CredentialsRefused


async def test_error_of_one_stream_does_not_affect_other_streams(provider: GeminiProvider, serve: Serve) -> None:
    all_are_running = asyncio.Barrier(3)

    async def answer(exchange: Exchange) -> None:
        exchange.head()
        exchange.event(text_chunk("a"))
        await all_are_running.wait()
        if "bad" in exchange.path:
            exchange.transport.abort()
            return
        exchange.event(text_chunk("b"))
        exchange.end()

    async with serve(answer):
        results = await asyncio.gather(*(read_all(provider, model=name) for name in ("good", "bad", "good-too")))
    assert [len(parts_of(received)) for received, _ in results] == [2, 1, 2]
    assert [type(error) for _, error in results] == [type(None), Unreachable, type(None)]
