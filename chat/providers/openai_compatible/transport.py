"""Requests to a server through the `openai` package, which addresses and authenticates them.

The package's own reader of streams is not used: it yields nothing and raises nothing for HTML or an error with status
200, and it costs more for each chunk than all of Plotline's work. The bytes of a response are read here.
"""

from __future__ import annotations

import asyncio
from asyncio import AbstractEventLoop
from collections.abc import AsyncGenerator, Awaitable, Iterator
from contextlib import aclosing, asynccontextmanager, contextmanager
from dataclasses import dataclass
from typing import TypeVar

import httpx2
import openai
from django.conf import settings

from chat.parts import JSON, JSONObject
from chat.providers.base import MalformedResponse, ProviderError, Stalled, Unreachable
from chat.providers.openai_compatible.endpoint import Endpoint
from chat.providers.openai_compatible.errors import ReportedError, provider_error, report_of_body

T = TypeVar("T")

CONNECT_LIMIT_S = 10.0
UNARY_LIMIT_S = 20.0
UNARY_LIMIT_BYTES = 64 * 1024 * 1024
NO_KEY = "none"
"""Sent to servers that need no key, because the package refuses an empty one."""


class Refused(Exception):
    """The server answered with an error status."""

    def __init__(self, status: int, report: ReportedError, error: ProviderError) -> None:
        super().__init__(status)
        self.status = status
        self.report = report
        self.error = error


@dataclass(frozen=True, slots=True)
class Response:
    """A response whose body has not been read yet."""

    is_stream: bool
    """Whether it is a stream of events. Otherwise, the body is one JSON value."""
    body: AsyncGenerator[bytes, None]


class Clients:
    """The package's clients, one for each event loop and endpoint, because a connection belongs to its loop."""

    def __init__(self) -> None:
        self._clients: dict[tuple[AbstractEventLoop, Endpoint], openai.AsyncOpenAI] = {}

    @asynccontextmanager
    async def open(self, endpoint: Endpoint, body: JSONObject) -> AsyncGenerator[Response, None]:
        """Send a request for an answer, and provide the response. It is closed after the block.

        Raises Refused, and ProviderError if the server cannot be reached or is silent.
        """
        with _as_provider_errors(endpoint):
            stream = await _within(
                settings.PROVIDER_FIRST_BYTE_LIMIT_S,
                self._client(endpoint).post(
                    "/chat/completions",
                    body=body,
                    cast_to=object,
                    stream=True,
                    stream_cls=openai.AsyncStream[object],
                ),
            )
        try:
            async with aclosing(_chunks(stream.response, endpoint)) as received:
                kind = stream.response.headers.get("content-type", "").partition(";")[0].strip().lower()
                if kind not in ("text/event-stream", "application/json", ""):
                    text = (await read_all(received)).decode("utf-8", "replace")
                    raise MalformedResponse(f"The server sent {kind}, not an answer: {report_of_body(text).message}")
                yield Response(kind != "application/json", received)
        finally:
            # A server stops to generate when the connection is closed. A stopped turn must not cut this short.
            await asyncio.shield(asyncio.ensure_future(stream.close()))

    async def get(self, endpoint: Endpoint, path: str) -> JSON:
        """Return the JSON of a GET request. `path`: relative to the base URL, or a whole URL. Raises ProviderError."""
        return await self._unary(endpoint, self._client(endpoint).get(path, cast_to=httpx2.Response))

    async def post(self, endpoint: Endpoint, path: str, body: JSONObject) -> JSON:
        """Return the JSON that answers a POST request. Raises ProviderError."""
        return await self._unary(endpoint, self._client(endpoint).post(path, body=body, cast_to=httpx2.Response))

    async def _unary(self, endpoint: Endpoint, request: Awaitable[httpx2.Response]) -> JSON:
        try:
            with _as_provider_errors(endpoint):
                response = await _within(UNARY_LIMIT_S, request)
                value: JSON = response.json()
        except Refused as refusal:
            raise refusal.error from None
        except (ValueError, RecursionError):
            raise MalformedResponse(f"{response.url.path} is not JSON") from None
        return value

    def _client(self, endpoint: Endpoint) -> openai.AsyncOpenAI:
        for key in [key for key in self._clients if key[0].is_closed()]:
            del self._clients[key]
        key = (asyncio.get_running_loop(), endpoint)
        if key not in self._clients:
            client = openai.AsyncOpenAI(
                api_key=endpoint.api_key or NO_KEY,
                base_url=endpoint.base_url,
                max_retries=0,
                timeout=httpx2.Timeout(None, connect=CONNECT_LIMIT_S),
                http_client=httpx2.AsyncClient(follow_redirects=False, limits=httpx2.Limits(max_connections=None)),
            )
            # The package has read these from the environment, and would send them to any server.
            client.organization = client.project = client.admin_api_key = None
            self._clients[key] = client
        return self._clients[key]

    async def aclose(self) -> None:
        """Close the connections of the running event loop."""
        loop = asyncio.get_running_loop()
        for key in [key for key in self._clients if key[0] is loop]:
            await self._clients.pop(key).close()


@contextmanager
def _as_provider_errors(endpoint: Endpoint) -> Iterator[None]:
    """Raise ProviderError or Refused in place of the errors of the packages, whose requests hold the key."""
    try:
        yield
    except openai.APIStatusError as error:
        report = report_of_body(error.response.text)
        headers = error.response.headers
        raise Refused(
            error.status_code,
            report,
            provider_error(report, status=error.status_code, headers=headers, api_key=endpoint.api_key),
        ) from None
    except (openai.APIError, httpx2.HTTPError, httpx2.InvalidURL, OSError) as error:
        cause = error.__cause__ or error
        raise Unreachable(f"{type(cause).__name__}: {cause}".replace(endpoint.api_key or NO_KEY, "[key]")) from None


async def _chunks(response: httpx2.Response, endpoint: Endpoint) -> AsyncGenerator[bytes, None]:
    """Yield the body as it arrives. Raises Stalled and Unreachable."""
    limit_s: float = settings.PROVIDER_FIRST_BYTE_LIMIT_S
    # Closed here, because an iterator that is left to the garbage collector may be closed in another thread.
    async with aclosing(response.aiter_bytes()) as chunks:
        with _as_provider_errors(endpoint):
            while (chunk := await _within(limit_s, anext(chunks, None))) is not None:
                yield chunk
                limit_s = settings.PROVIDER_IDLE_LIMIT_S


async def read_all(body: AsyncGenerator[bytes, None]) -> bytes:
    """Return a whole body. Raises MalformedResponse if it is too long."""
    pieces: list[bytes] = []
    async for piece in body:
        pieces.append(piece)
        if sum(map(len, pieces)) > UNARY_LIMIT_BYTES:
            raise MalformedResponse(f"The response is longer than {UNARY_LIMIT_BYTES} bytes.")
    return b"".join(pieces)


async def _within(limit_s: float, read: Awaitable[T]) -> T:
    """Return the result of a read. Raises Stalled if it takes longer."""
    try:
        async with asyncio.timeout(limit_s) as timeout:
            return await read
    except TimeoutError:
        if timeout.expired():
            raise Stalled(f"Nothing arrived for {limit_s} s.") from None
        raise
