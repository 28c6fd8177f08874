"""A server that means harm, or is badly broken, ends one answer with an error and nothing else."""

from __future__ import annotations

import asyncio
import gzip
import json
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from dataclasses import replace
from functools import partial
from typing import Any, ClassVar

import aiohttp
import pytest

from chat.providers.http_sessions import open_session, read_piece
from chat.providers.openai_compatible import transport
from chat.providers.openai_compatible.endpoint import Endpoint, ModelFacts
from chat.providers.openai_compatible.probe import probe
from chat.providers.openai_compatible.provider import OpenAICompatibleProvider
from chat.providers.openai_compatible.transport import ERROR_LIMIT_BYTES, UNARY_LIMIT_BYTES, Clients
from chat.providers.provider_errors import (
    InvalidRequest,
    MalformedResponse,
    NotConfigured,
    ProviderError,
    RateLimited,
    Unreachable,
)
from chat.vocabulary.dialect_names import RESPONSES_API
from chat.vocabulary.stream_events import Finished
from tests.chat.providers.openai_driver import make_request, read_answer
from tests.chat.providers.raw_server import Exchange, RawServer, run_server

KEY = "abc-secret"
PIECE = b"a" * 65_536


class OneEndpoint:
    """Replaces `StoredEndpoints` by one endpoint, whose model was probed."""

    endpoint: ClassVar[Endpoint]

    def find(self, name: str) -> Endpoint:
        """Return the endpoint, whatever its name."""
        return self.endpoint

    def facts(self, endpoint: Endpoint, model: str) -> ModelFacts:
        """Return facts that only say that the model was probed."""
        return ModelFacts(is_probed=True)

    def remember(self, endpoint: Endpoint, model: str, facts: ModelFacts) -> None:
        """Do nothing."""


@pytest.fixture
async def server() -> AsyncGenerator[RawServer, None]:
    async def nothing(exchange: Exchange) -> None:
        exchange.head()
        exchange.end()

    async with run_server(nothing) as running:
        yield running


@pytest.fixture
async def provider(
    server: RawServer, monkeypatch: pytest.MonkeyPatch
) -> AsyncGenerator[OpenAICompatibleProvider, None]:
    monkeypatch.setattr("chat.providers.openai_compatible.provider.StoredEndpoints", OneEndpoint)
    monkeypatch.setattr(OneEndpoint, "endpoint", Endpoint("e", f"{server.url}/v1", KEY), raising=False)
    made = OpenAICompatibleProvider("e")
    yield made
    await made.aclose()


async def fail(provider: OpenAICompatibleProvider) -> ProviderError:
    answer = await read_answer(provider, make_request("m"))
    assert answer.error
    return answer.error


async def test_headers_from_environment_variables_of_the_openai_sdk_are_not_sent(
    server: RawServer, provider: OpenAICompatibleProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("ORG_ID", "PROJECT_ID", "ADMIN_KEY"):
        monkeypatch.setenv(f"OPENAI_{name}", "leaked")
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", "X-Secret: leaked")
    await read_answer(provider, make_request("m"))
    [exchange] = server.exchanges
    headers = {name.lower(): value for name, value in exchange.headers.items()}
    assert headers["authorization"] == f"Bearer {KEY}"
    assert "leaked" not in str(headers)
    assert not any(name.startswith("x-") for name in headers)


@pytest.mark.parametrize(("protocol", "path"), [("", "chat/completions"), (RESPONSES_API, "responses")])
async def test_key_for_azure_is_sent_in_the_header_api_key(
    server: RawServer, provider: OpenAICompatibleProvider, monkeypatch: pytest.MonkeyPatch, protocol: str, path: str
) -> None:
    azure = "http://mine.openai.azure.com/openai/v1"
    monkeypatch.setattr(OneEndpoint, "endpoint", Endpoint("e", azure, KEY, protocol=protocol))
    # The server answers for Azure, because it is set as the proxy.
    monkeypatch.setenv("http_proxy", server.url)
    await read_answer(provider, make_request("deployment"))
    [exchange] = server.exchanges
    headers = {name.lower(): value for name, value in exchange.headers.items()}
    assert (exchange.path, headers["api-key"]) == (f"{azure}/{path}", KEY)
    assert "authorization" not in headers
    assert exchange.json["model"] == "deployment"


STREAM = b'data: {"choices": [{"delta": {"content": "a"}, "finish_reason": "stop"}]}\n\ndata: [DONE]\n\n'
LIST = json.dumps({"data": [{"id": "m", "context_length": 4096}]}).encode()
ERROR = b'{"error": {"message": "of the body"}}'


async def answer_compressed(exchange: Exchange, status: int = 200) -> None:
    """Answer with a body that is compressed twice."""
    is_list = exchange.path.endswith("/models")
    content_type = "text/event-stream" if status == 200 and not is_list else "application/json"
    exchange.head(status, content_type, {"Content-Encoding": "gzip, gzip"})
    exchange.send(gzip.compress(gzip.compress(ERROR if status != 200 else LIST if is_list else STREAM)))
    exchange.end()


async def test_requests_ask_for_responses_without_compression(
    server: RawServer, provider: OpenAICompatibleProvider
) -> None:
    await read_answer(provider, make_request("m"))
    with pytest.raises(ProviderError):
        await provider.list_models()
    assert [exchange.headers["accept-encoding"] for exchange in server.exchanges] == ["identity", "identity"]


async def test_compressed_answer_is_refused_without_reading_it(
    server: RawServer, provider: OpenAICompatibleProvider
) -> None:
    server.answer = answer_compressed
    answer = await read_answer(provider, make_request("m"))
    assert answer.events == []
    assert isinstance(answer.error, MalformedResponse)
    assert "compressed" in answer.error.detail


@pytest.mark.parametrize(("status", "error_type"), [(400, InvalidRequest), (429, RateLimited)])
async def test_compressed_error_is_classified_by_its_http_status(
    server: RawServer, provider: OpenAICompatibleProvider, status: int, error_type: type[ProviderError]
) -> None:
    server.answer = partial(answer_compressed, status=status)
    error = await fail(provider)
    assert type(error) is error_type
    assert "of the body" not in error.detail


async def answer_with_html(exchange: Exchange) -> None:
    """Answer with a page in place of a stream."""
    exchange.head(200, "text/html")
    exchange.send(b"<p>You wrote: my diary</p>")
    exchange.end()


async def answer_endlessly(exchange: Exchange, status: int = 200) -> None:
    """Answer with a JSON value that is longer than any answer."""
    exchange.head(status, "application/json")
    while not exchange.closed.is_set():
        exchange.send(PIECE)
        await exchange.writable.wait()
        await asyncio.sleep(0)


async def break_off(exchange: Exchange) -> None:
    """Close the connection in the middle of the answer."""
    exchange.head()
    exchange.event({"choices": [{"delta": {"content": "a"}}]})
    exchange.transport.close()


@pytest.mark.parametrize("answer", [answer_compressed, answer_with_html, answer_endlessly, break_off])
async def test_error_in_a_response_body_has_the_http_status_of_the_response(
    server: RawServer, provider: OpenAICompatibleProvider, answer: Callable[[Exchange], Awaitable[None]]
) -> None:
    server.answer = answer
    error = await fail(provider)
    assert error.status == 200
    assert "diary" not in error.detail


async def test_model_has_no_facts_if_the_server_compresses_its_description(server: RawServer) -> None:
    server.answer = answer_compressed
    clients, endpoint = Clients(), Endpoint("e", f"{server.url}/v1", KEY)
    assert await probe(clients, endpoint, "m", ModelFacts()) == ModelFacts(is_probed=True)
    await clients.aclose()


async def test_body_with_the_content_encoding_identity_is_read(
    server: RawServer, provider: OpenAICompatibleProvider
) -> None:
    async def answer(exchange: Exchange) -> None:
        exchange.head(headers={"Content-Encoding": "Identity"})
        exchange.send(STREAM)
        exchange.end()

    server.answer = answer
    read = await read_answer(provider, make_request("m"))
    assert (read.error, read.content().text) == (None, "a")


async def test_cookies_of_a_server_are_not_sent_back(
    server: RawServer, provider: OpenAICompatibleProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    sessions: list[aiohttp.ClientSession] = []

    async def recorded(**options: Any) -> AsyncGenerator[aiohttp.ClientSession, None]:
        async with aclosing(open_session(**options)) as opening:
            async for session in opening:
                sessions.append(session)
                yield session

    monkeypatch.setattr(transport, "open_session", recorded)
    for status in (200, 400, 200):

        async def answer(exchange: Exchange, status: int = status) -> None:
            exchange.head(status, headers={"Set-Cookie": f"a{status}=b; Max-Age=1000"})
            exchange.send(STREAM)
            exchange.end()

        server.answer = answer
        await read_answer(provider, make_request("m"))
    [session] = sessions
    assert list(session.cookie_jar) == []
    assert not any("cookie" in exchange.headers for exchange in server.exchanges)


async def test_other_tasks_run_while_a_body_of_many_tiny_pieces_is_read(
    server: RawServer, provider: OpenAICompatibleProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    read, most = 0, 0

    async def counted(body: aiohttp.StreamReader, limit_s: float) -> bytes:
        nonlocal read, most
        read += 1
        most = max(most, read)
        return await read_piece(body, limit_s)

    async def others() -> None:
        nonlocal read
        while True:
            read = 0
            await asyncio.sleep(0)

    async def answer(exchange: Exchange) -> None:
        exchange.head(400)
        exchange.transport.write(b"1\r\na\r\n" * 5_000)
        exchange.end()

    monkeypatch.setattr(transport, "read_piece", counted)
    server.answer = answer
    task = asyncio.ensure_future(others())
    await fail(provider)
    task.cancel()
    assert most <= 2


async def test_endless_error_is_read_only_up_to_a_limit(server: RawServer, provider: OpenAICompatibleProvider) -> None:
    server.answer = partial(answer_endlessly, status=400)
    error = await fail(provider)
    assert isinstance(error, InvalidRequest)
    await server.exchanges[0].wait_until_closed()
    assert len(error.detail) < ERROR_LIMIT_BYTES


async def test_endless_list_is_read_only_up_to_a_limit(server: RawServer, provider: OpenAICompatibleProvider) -> None:
    server.answer = answer_endlessly
    with pytest.raises(MalformedResponse) as caught:
        await provider.list_models()
    assert str(UNARY_LIMIT_BYTES) in caught.value.detail
    await server.exchanges[0].wait_until_closed()


@pytest.mark.parametrize(
    "content_type", ["text/html", "text/plain; charset=hex", "application/json", "text/event-stream"]
)
@pytest.mark.parametrize("status", [200, 400, 502])
async def test_error_detail_never_contains_a_key_that_the_server_repeats(
    server: RawServer, provider: OpenAICompatibleProvider, status: int, content_type: str
) -> None:
    async def answer(exchange: Exchange) -> None:
        exchange.head(status, content_type)
        exchange.send(f"data: auth {KEY} and more".encode())
        exchange.end()

    server.answer = answer
    assert KEY not in (await fail(provider)).detail


async def test_key_in_the_message_about_a_malformed_call_is_removed(
    server: RawServer, provider: OpenAICompatibleProvider
) -> None:
    async def answer(exchange: Exchange) -> None:
        exchange.head()
        exchange.event({"error": {"code": "tool_use_failed", "message": f"bad call; auth {KEY}"}})
        exchange.end()

    server.answer = answer
    read = await read_answer(provider, make_request("m"))
    [finished] = [event for event in read.events if isinstance(event, Finished)]
    assert finished.message == "bad call; auth [removed]"


async def test_error_has_no_characters_that_databases_cannot_store(
    server: RawServer, provider: OpenAICompatibleProvider
) -> None:
    async def answer(exchange: Exchange) -> None:
        exchange.head(400, "application/json")
        exchange.send(b'{"error": {"message": "a\\u0000b\\ud800c"}}')
        exchange.end()

    server.answer = answer
    detail = (await fail(provider)).detail
    assert "\0" not in detail
    assert detail.encode().endswith("a\ufffdb\ufffdc".encode())


@pytest.mark.parametrize("key", ["abc\ndef", "“abc”"])
async def test_key_with_characters_that_a_header_cannot_hold_raises_not_configured(
    server: RawServer, provider: OpenAICompatibleProvider, monkeypatch: pytest.MonkeyPatch, key: str
) -> None:
    monkeypatch.setattr(OneEndpoint, "endpoint", replace(OneEndpoint.endpoint, api_key=key))
    error = await fail(provider)
    assert isinstance(error, NotConfigured)
    assert "abc" not in error.detail


@pytest.mark.parametrize("base_url", ["http://[v1.x]/v1", "http://127.0.0.1:1/v1", "http://ex⒈com/v1"])
async def test_unusable_address_raises_a_provider_error(
    server: RawServer, provider: OpenAICompatibleProvider, monkeypatch: pytest.MonkeyPatch, base_url: str
) -> None:
    monkeypatch.setattr(OneEndpoint, "endpoint", replace(OneEndpoint.endpoint, base_url=base_url))
    assert (await fail(provider)).code == "unreachable"
    with pytest.raises(ProviderError):
        await provider.list_models()


async def answer_honestly(exchange: Exchange) -> None:
    """Answer with one letter."""
    exchange.head()
    exchange.send(STREAM)
    exchange.end()


@pytest.mark.parametrize(("before", "is_answered"), [(20, True), (100_000, False)])
async def test_too_many_informational_responses_end_the_answer_with_an_error(
    server: RawServer, provider: OpenAICompatibleProvider, before: int, is_answered: bool
) -> None:
    async def answer(exchange: Exchange) -> None:
        exchange.transport.write(b"HTTP/1.1 103 Early Hints\r\n\r\n" * before)
        await answer_honestly(exchange)

    server.answer = answer
    read = await read_answer(provider, make_request("m"))
    assert (read.error is None) == is_answered
    if read.error:
        assert "hardly anything but framing" in read.error.detail
        await server.exchanges[0].wait_until_closed()


@pytest.mark.parametrize("rest", [b"zz\r\n", b"0" * 400_000, b"0\r\n" + b"a: b\r\n" * 1000])
async def test_broken_chunked_encoding_ends_the_answer_with_an_error_at_once(
    server: RawServer, provider: OpenAICompatibleProvider, rest: bytes
) -> None:
    is_read = asyncio.Event()

    async def answer(exchange: Exchange) -> None:
        exchange.head()
        exchange.event({"choices": [{"delta": {"content": "a"}}]})
        await is_read.wait()
        exchange.transport.write(rest)

    server.answer = answer

    async def read() -> None:
        async for _ in provider.stream(make_request("m")):
            is_read.set()

    with pytest.raises(Unreachable):
        await read()
    assert is_read.is_set()
    await server.exchanges[0].wait_until_closed()


@pytest.mark.parametrize("number", [1, 400])
async def test_text_before_broken_chunked_encoding_is_read(
    server: RawServer, provider: OpenAICompatibleProvider, number: int
) -> None:
    async def answer(exchange: Exchange) -> None:
        # Send it in one write, so that one read gets the head and the fault.
        event = b'data: {"choices": [{"delta": {"content": "a"}}]}\n\n'
        head = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
        exchange.transport.write(head + b"%x\r\n%b\r\n" % (len(event), event) * number + b"zz\r\n")

    server.answer = answer
    read = await read_answer(provider, make_request("m"))
    assert isinstance(read.error, Unreachable)
    assert read.content().text == "a" * number


async def test_connection_is_closed_if_the_server_sends_responses_without_requests(
    server: RawServer, provider: OpenAICompatibleProvider
) -> None:
    async def answer(exchange: Exchange) -> None:
        await answer_honestly(exchange)
        exchange.transport.write(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n" * 100)

    server.answer = answer
    for number in (1, 2):
        assert (await read_answer(provider, make_request("m"))).error is None
        await server.exchanges[-1].wait_until_closed()
        assert server.connections == number


async def test_error_whose_body_does_not_arrive_is_classified_by_its_http_status(
    server: RawServer, provider: OpenAICompatibleProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def answer(exchange: Exchange) -> None:
        exchange.head(400, "application/json")
        exchange.send(b"{")

    monkeypatch.setattr(transport, "UNARY_LIMIT_S", 0.3)
    server.answer = answer
    assert type(await fail(provider)) is InvalidRequest


async def test_requests_use_the_proxy_of_the_environment(
    server: RawServer, provider: OpenAICompatibleProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.answer = answer_honestly
    monkeypatch.setattr(OneEndpoint, "endpoint", replace(OneEndpoint.endpoint, base_url="http://models.example:81/v1"))
    for proxy in (server.url, server.url.removeprefix("http://")):
        monkeypatch.setenv("http_proxy", proxy)
        assert (await read_answer(provider, make_request("m"))).error is None
        assert server.exchanges[-1].path == "http://models.example:81/v1/chat/completions"
    monkeypatch.setenv("no_proxy", "models.example:81")
    assert (await fail(provider)).code == "unreachable"
    monkeypatch.delenv("no_proxy")
    monkeypatch.setenv("http_proxy", "socks5://127.0.0.1:9")
    assert "neither http nor https" in (await fail(provider)).detail


async def test_errors_never_have_the_password_of_a_proxy(
    server: RawServer, provider: OpenAICompatibleProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def refuse(exchange: Exchange) -> None:
        exchange.head(407)
        exchange.end()

    server.answer = refuse
    monkeypatch.setattr(OneEndpoint, "endpoint", replace(OneEndpoint.endpoint, base_url="https://models.example/v1"))
    monkeypatch.setenv("https_proxy", server.url.replace("http://", "http://me:proxy-password@"))
    error = await fail(provider)
    assert "authorization" not in error.detail.lower()
    assert "proxy-password" not in error.detail
    assert server.exchanges[-1].headers["proxy-authorization"]


async def test_connection_is_used_again_for_the_next_answer(
    server: RawServer, provider: OpenAICompatibleProvider
) -> None:
    server.answer = answer_honestly
    for _ in range(3):
        assert (await read_answer(provider, make_request("m"))).error is None
    assert server.connections == 1
