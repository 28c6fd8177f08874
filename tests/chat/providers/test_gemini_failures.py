"""Whatever goes wrong on the way is one of our errors, at once, and never tells the key."""

from __future__ import annotations

import asyncio
import json
import socket
import time
from pathlib import Path

import pytest
from pytest_django import Settings

from chat.providers import gemini_access
from chat.providers.base import (
    ContextTooLong,
    FileGone,
    InvalidRequest,
    MalformedResponse,
    ModelNotFound,
    Overloaded,
    ProviderError,
    RateLimited,
    SignatureRefused,
    Unauthorised,
    Unreachable,
)
from chat.providers.gemini import GeminiProvider
from tests.chat.providers.conftest import Serve, all_of, parts_of, text_event
from tests.chat.providers.raw_server import Exchange, failing, whole

KEY = "AIzaSyTheKeyOfThisTestThatNobodyMaySee"


@pytest.mark.parametrize(
    ("status", "kind"),
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
async def test_http_error_is_told_by_its_status(
    status: int, kind: type[ProviderError], provider: GeminiProvider, serve: Serve
) -> None:
    good = json.dumps({"error": {"code": status, "message": "said", "status": "WHY"}}).encode()
    bodies = [(good, "application/json"), (b'{"error":', "application/json"), (b"<h1>no</h1>", "text/html"), (b"", "")]
    async with serve(failing(status, good)) as server:
        for count, (body, content_type) in enumerate(bodies, start=1):
            server.answer = failing(status, body, content_type or "text/plain")
            received, error = await all_of(provider)
            assert (received, type(error)) == ([], kind)
            assert len(server.exchanges) == count, "it was tried again"


TOLD_BY_ITS_MESSAGE = [
    (400, "Corrupted thought signature.", SignatureRefused),
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
    (400, "Thinking is not enabled for this model", InvalidRequest),
    (500, "thought signature", Overloaded),
    (403, "You do not have permission to access the File abc-123 or it may not exist.", FileGone),
    (404, "File files/abc-123 may not exist.", FileGone),
    (404, "The file files/abc-123 was not found.", FileGone),
    (403, "You do not have permission to access the model profile.", Unauthorised),
    (404, "models/gemini-0 is not found for API version v1beta, or is not supported.", ModelNotFound),
    (400, "Unsupported file uri", InvalidRequest),
]


@pytest.mark.parametrize(("status", "message", "kind"), TOLD_BY_ITS_MESSAGE)
async def test_refusal_is_told_by_its_message_where_the_status_says_too_little(
    status: int, message: str, kind: type[ProviderError], provider: GeminiProvider, serve: Serve
) -> None:
    said = {"error": {"code": status, "message": message, "status": "WHY"}}
    async with serve(failing(status, json.dumps(said).encode())) as server:
        _, error = await all_of(provider)
        assert type(error) is kind
        assert message in error.detail
        server.answer = whole(f"data: {json.dumps(said)}\r\n\r\n".encode())
        _, error = await all_of(provider)
        assert type(error) is kind, "inside a stream of status 200"


async def test_bad_key_is_a_bad_key_whatever_else_is_said(provider: GeminiProvider, serve: Serve) -> None:
    details = [{"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "API_KEY_INVALID"}]
    said = {"error": {"code": 400, "message": "no thought signature for that key", "details": details}}
    async with serve(failing(400, json.dumps(said).encode())):
        _, error = await all_of(provider)
    assert type(error) is Unauthorised


async def test_delay_of_a_rate_limit_is_told(provider: GeminiProvider, serve: Serve) -> None:
    async with serve(failing(429, b"{}")) as server:
        for delay, expected in [("34.4s", 34.4), ("7s", 7.0), ("soon", None), (None, None), ({"seconds": 3}, None)]:
            details = [None, {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": delay}]
            server.answer = failing(429, json.dumps({"error": {"code": 429, "details": details}}).encode())
            _, error = await all_of(provider)
            assert isinstance(error, RateLimited)
            assert error.retry_after_s == expected


async def test_refused_connection_fails_fast(provider: GeminiProvider, settings: Settings) -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        settings.GOOGLE_GEMINI_BASE_URL = f"http://127.0.0.1:{closed.getsockname()[1]}"
        began_at = time.monotonic()
        received, error = await all_of(provider)
    assert (received, type(error)) == ([], Unreachable)
    assert time.monotonic() - began_at < 1


async def test_connecting_has_a_limit_of_its_own(
    provider: GeminiProvider, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gemini_access, "CONNECT_LIMIT_S", 0.2)
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(0)
        address = listener.getsockname()
        # Once its queue is full, Linux answers nothing to whoever comes next.
        waiting = [socket.socket() for _ in range(4)]
        for one in waiting:
            one.setblocking(False)
            one.connect_ex(address)
        settings.GOOGLE_GEMINI_BASE_URL = f"http://127.0.0.1:{address[1]}"
        began_at = time.monotonic()
        received, error = await all_of(provider)
        for one in waiting:
            one.close()
    assert (received, type(error)) == ([], Unreachable)
    assert time.monotonic() - began_at < 2


async def test_unknown_host_is_unreachable(provider: GeminiProvider, settings: Settings) -> None:
    settings.GOOGLE_GEMINI_BASE_URL = "http://no-such-host.invalid"
    _, error = await all_of(provider)
    assert type(error) is Unreachable


@pytest.mark.parametrize("sent", [b"", b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\ndata"])
async def test_connection_that_breaks_is_unreachable(sent: bytes, provider: GeminiProvider, serve: Serve) -> None:
    async def answer(exchange: Exchange) -> None:
        exchange.transport.write(sent)
        exchange.transport.close()

    async with serve(answer):
        _, error = await all_of(provider)
    assert type(error) is Unreachable


@pytest.mark.parametrize(
    "event",
    [
        b"data: 5\n\n",
        b"data: {\n\n",
        b"data: \xff\xfe\n\n",
        b": comment\n\n",
        b'data: {"error": "text"}\n\n',
        b'data: {"error": {"code": "x"}}\n\n',
        b'data: {"error": {}}\n\n',
        b'data: {"candidates": 5}\n\n',
        b'data: {"candidates": [{"content": {"parts": [{"text": 5}]}}]}\n\n',
        b'data: {"candidates": [{"content": {"parts": [{"inlineData": {"data": "%%%"}}]}}]}\n\n',
        b'data: {"candidates": [{"finishReason": 5}]}\n\n',
        b"data: " + b"[" * 100_000 + b"\n\n",
    ],
)
async def test_nonsense_is_malformed_and_what_came_before_is_kept(
    event: bytes, provider: GeminiProvider, serve: Serve
) -> None:
    before = b"data: " + json.dumps(text_event("kept")).encode() + b"\r\n\r\n"
    async with serve(whole(before + event)):
        received, error = await all_of(provider)
    assert [part.text for part in parts_of(received)] == ["kept"]
    assert type(error) is MalformedResponse


async def test_answer_that_is_not_http_is_malformed(provider: GeminiProvider, serve: Serve) -> None:
    async def answer(exchange: Exchange) -> None:
        exchange.transport.write(b"220 mail.test ESMTP\r\n\r\n")

    async with serve(answer):
        _, error = await all_of(provider)
    assert type(error) is MalformedResponse


async def test_key_is_never_told(provider: GeminiProvider, serve: Serve, settings: Settings) -> None:
    settings.GEMINI_EMULATED = False
    settings.GEMINI_API_KEY = KEY
    message = f"API key {KEY} not valid, nor is AIzaSyAnotherKeyThatSomeProxyAdded12345, see /v1?key=abcdef&alt=sse"
    error_body = json.dumps({"error": {"code": 403, "message": message}}).encode()
    async with serve(failing(403, error_body)) as server:
        answers = [failing(403, error_body), failing(500, message.encode(), "text/plain"), whole(message.encode())]
        for answer in answers:
            server.answer = answer
            _, error = await all_of(provider)
            assert error is not None
            assert "[key]" in error.detail
            for secret in (KEY, "AIza", "abcdef"):
                assert secret not in error.detail + str(error) + repr(error)
            assert error.__suppress_context__, "a traceback would show the SDK's error"
        assert server.exchanges[0].headers["x-goog-api-key"] == KEY


async def test_no_key_and_no_emulator_sends_nothing(provider: GeminiProvider, settings: Settings) -> None:
    settings.GEMINI_EMULATED = True
    settings.GOOGLE_GEMINI_BASE_URL = ""
    _, error = await all_of(provider)
    assert type(error) is Unreachable


async def test_vertex_without_credentials_is_unauthorised(
    provider: GeminiProvider, serve: Serve, settings: Settings, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(tmp_path / "absent.json"))
    settings.GEMINI_EMULATED = False
    settings.GOOGLE_GENAI_USE_VERTEXAI = True
    settings.GOOGLE_CLOUD_PROJECT = "a-project"
    async with serve(whole(b"")) as server:
        _, error = await all_of(provider)
        assert server.exchanges == []
    assert type(error) is Unauthorised


async def test_errors_do_not_disturb_other_streams(provider: GeminiProvider, serve: Serve) -> None:
    async def answer(exchange: Exchange) -> None:
        exchange.head()
        exchange.event(text_event("a"))
        await asyncio.sleep(0.1)
        if "bad" in exchange.path:
            exchange.transport.abort()
            return
        exchange.event(text_event("b"))
        exchange.end()

    async with serve(answer):
        results = await asyncio.gather(*(all_of(provider, model=name) for name in ("good", "bad", "good-too")))
    assert [len(parts_of(received)) for received, _ in results] == [2, 1, 2]
    assert [type(error) for _, error in results] == [type(None), Unreachable, type(None)]
