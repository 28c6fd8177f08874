"""Requests to a server through the `openai` package, which addresses and authenticates them.

The package's own reader of streams is not used: it yields nothing and raises nothing for HTML or an error with status
200, and it costs more for each chunk than all of Plotline's work. The bytes of a response are read here, within limits
of time and size.
"""

from __future__ import annotations

import asyncio
from asyncio import AbstractEventLoop
from collections.abc import AsyncGenerator, Callable, Coroutine, Iterator
from contextlib import aclosing, asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass
from http.cookiejar import CookieJar

import httpx2
import openai
from django.conf import settings

from chat.parts import JSON
from chat.providers.base import MalformedResponse, NotConfigured, ProviderError, Stalled, Unreachable
from chat.providers.openai_compatible.endpoint import Endpoint
from chat.providers.openai_compatible.errors import (
    ReportedError,
    provider_error,
    report_of_body,
    shown_content_type,
)
from chat.providers.openai_compatible.network import rest_between_reads
from chat.providers.timeouts import read_within
from chat.providers.untrusted_json import read_json

CONNECT_LIMIT_S = 10.0
UNARY_LIMIT_S = 20.0
ERROR_LIMIT_BYTES = 64 * 1024
UNARY_LIMIT_BYTES = 8 * 1024 * 1024
NO_KEY = "none"
"""Sent to servers that need no key, because the package refuses an empty one."""
SENT_HEADERS = frozenset(
    {"accept", "accept-encoding", "authorization", "connection", "content-length", "content-type", "host", "user-agent"}
)
"""The package adds others: about this machine, and whatever `OPENAI_` variables of the environment name."""
STREAM, UNARY = "text/event-stream", "application/json"
PIECES_BETWEEN_PAUSES, PAUSE_S = 32, 0.002
"""How many pieces of a body are read before a pause, and its length. A network read may hold 700 pieces of one byte."""


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
    async def open(self, endpoint: Endpoint, body: bytes) -> AsyncGenerator[Response, None]:
        """Send a request for an answer, and provide the response. It is closed after the block.

        `body`: JSON. Raises Refused, and ProviderError if the server cannot be reached, is silent, or sends no answer.
        """
        async with self._send(endpoint, "/chat/completions", body, settings.PROVIDER_FIRST_BYTE_LIMIT_S) as response:
            content_type = response.headers.get("content-type", "")
            kind = content_type.partition(";")[0].strip().lower()
            async with aclosing(_chunks(response)) as chunks:
                if kind not in (STREAM, UNARY, ""):
                    report = report_of_body(await read_all(chunks), content_type)
                    raise MalformedResponse(
                        f"The server sent {shown_content_type(content_type)}, not an answer:"
                        f" {report.summary or report.message}"
                    )
                yield Response(kind != UNARY, chunks)

    async def ask(self, endpoint: Endpoint, path: str, body: bytes | None = None) -> JSON:
        """Return the JSON that answers a GET request, or a POST request with a JSON body. Raises ProviderError.

        `path`: relative to the base URL, or a whole URL.
        """
        try:
            async with (
                asyncio.timeout(UNARY_LIMIT_S),
                self._send(endpoint, path, body, UNARY_LIMIT_S) as response,
                aclosing(_chunks(response)) as chunks,
            ):
                return _read_answer(await read_all(chunks), path)
        except Refused as refusal:
            raise refusal.error from None
        except TimeoutError:
            raise Stalled(f"{path} was not answered within {UNARY_LIMIT_S} s.") from None

    @asynccontextmanager
    async def _send(
        self, endpoint: Endpoint, path: str, body: bytes | None, limit_s: float
    ) -> AsyncGenerator[httpx2.Response, None]:
        """Send a request, and provide the response with its body unread. It is closed after the block.

        Each ProviderError of the block has the status of the response.
        """
        with _as_provider_errors():
            client = self._client(endpoint)
            if body is None:
                request = client.get(path, cast_to=object, stream=True, stream_cls=openai.AsyncStream[object])
            else:
                request = client.post(
                    path,
                    content=body,
                    options={"headers": {"Content-Type": UNARY}},
                    cast_to=object,
                    stream=True,
                    stream_cls=openai.AsyncStream[object],
                )
            stream = await read_within(limit_s, request)
        try:
            yield stream.response
        except ProviderError as error:
            raise error.with_response(stream.response.status_code) from None
        finally:
            # A server stops to generate when the connection is closed. A stopped turn must not cut this short.
            await asyncio.shield(asyncio.ensure_future(stream.close()))

    def _client(self, endpoint: Endpoint) -> openai.AsyncOpenAI:
        """Return the client of this event loop. Other threads may make clients of theirs at the same time."""
        for known in list(self._clients):
            if known[0].is_closed():
                self._clients.pop(known, None)
        if not (endpoint.api_key.isascii() and endpoint.api_key.isprintable()):
            raise NotConfigured("The key of this endpoint has characters that no key has.")
        key = (asyncio.get_running_loop(), endpoint)
        if key not in self._clients:
            http_client = httpx2.AsyncClient(
                cookies=_NoCookies(),
                follow_redirects=False,
                limits=httpx2.Limits(max_connections=None),
                event_hooks={"request": [_limit_headers], "response": [_refusal_check(endpoint)]},
            )
            rest_between_reads(http_client)
            self._clients[key] = openai.AsyncOpenAI(
                api_key=endpoint.api_key or NO_KEY,
                base_url=endpoint.base_url,
                max_retries=0,
                timeout=httpx2.Timeout(None, connect=CONNECT_LIMIT_S),
                http_client=http_client,
            )
        return self._clients[key]

    async def aclose(self) -> None:
        """Close the connections of the running event loop."""
        loop = asyncio.get_running_loop()
        for key in [key for key in list(self._clients) if key[0] is loop]:
            await self._clients.pop(key).close()


class _NoCookies(CookieJar):
    """A cookie jar that stays empty: cookies of a server would be kept until the process ends."""

    def extract_cookies(self, response: object, request: object) -> None:
        """Ignore the cookies of a response."""


async def _limit_headers(request: httpx2.Request) -> None:
    """Remove the headers that are not needed, and ask for a body that is not compressed (see `_chunks`)."""
    for name in request.headers.keys() - SENT_HEADERS:
        del request.headers[name]
    request.headers["Accept-Encoding"] = "identity"


def _refusal_check(endpoint: Endpoint) -> Callable[[httpx2.Response], Coroutine[None, None, None]]:
    """Return a function that raises Refused for an error status. The package would read the whole body first."""

    async def check(response: httpx2.Response) -> None:
        if response.is_success:
            return
        body = bytearray()
        # A compressed body is not read. The status says enough.
        with suppress(MalformedResponse):
            async with aclosing(_chunks(response)) as chunks:
                async for piece in chunks:
                    body += piece
                    if len(body) >= ERROR_LIMIT_BYTES:
                        break
        report = report_of_body(bytes(body[:ERROR_LIMIT_BYTES]), response.headers.get("content-type", ""))
        error = provider_error(report, status=response.status_code, headers=response.headers, api_key=endpoint.api_key)
        raise Refused(response.status_code, report, error)

    return check


@contextmanager
def _as_provider_errors() -> Iterator[None]:
    """Raise ProviderError or Refused in place of the errors of the packages, whose requests hold the key."""
    try:
        yield
    except (ProviderError, Refused):
        raise
    except (openai.OpenAIError, httpx2.HTTPError, httpx2.InvalidURL, httpx2.StreamError, OSError, ValueError) as error:
        cause = error.__cause__ or error
        if isinstance(cause, ProviderError | Refused):
            raise cause from None
        raise Unreachable(f"{type(cause).__name__}: {cause}") from None


async def _chunks(response: httpx2.Response) -> AsyncGenerator[bytes, None]:
    """Yield the body as it arrives. Raises Stalled, Unreachable, and MalformedResponse for a compressed body.

    A compressed body is not decoded, because a few bytes may expand to gigabytes without a pause for other tasks.
    """
    encoding = response.headers.get("content-encoding", "").strip().lower()
    if encoding not in ("", "identity"):
        raise MalformedResponse(f"The server compressed its response ({encoding[:50]}), although it was asked not to.")
    limit_s: float = settings.PROVIDER_FIRST_BYTE_LIMIT_S
    pieces = 0
    # Closed here, because an iterator that is left to the garbage collector may be closed in another thread.
    async with aclosing(response.aiter_raw()) as chunks:
        with _as_provider_errors():
            while (chunk := await read_within(limit_s, anext(chunks, None))) is not None:
                yield chunk
                limit_s = settings.PROVIDER_IDLE_LIMIT_S
                pieces += 1
                if pieces % PIECES_BETWEEN_PAUSES == 0:
                    await asyncio.sleep(PAUSE_S)


def _read_answer(body: bytes, path: str) -> JSON:
    try:
        value: JSON = read_json(body.decode("utf-8", "replace"))
    except ValueError:
        raise MalformedResponse(f"The answer of {path} is not JSON.") from None
    return value


async def read_all(body: AsyncGenerator[bytes, None]) -> bytes:
    """Return a whole body. Raises MalformedResponse if it is too long."""
    read = bytearray()
    async for piece in body:
        read += piece
        if len(read) > UNARY_LIMIT_BYTES:
            raise MalformedResponse(f"The response is longer than {UNARY_LIMIT_BYTES} bytes.")
    return bytes(read)
