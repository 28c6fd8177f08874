"""Sends requests to a server, and yields the bytes of its responses within limits of time and size.

aiohttp sends the requests. The package `openai` is not used. If a response of status 200 is HTML or an
error, it neither yields nor raises. For each chunk, it takes more time than all of Plotline's work.
"""

from __future__ import annotations

import asyncio
import io
from asyncio import AbstractEventLoop
from collections.abc import AsyncGenerator, Iterator
from contextlib import aclosing, asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import aiohttp
from django.conf import settings

from chat.providers.http_sessions import open_session, read_piece
from chat.providers.openai_compatible.dialects import key_headers
from chat.providers.openai_compatible.endpoint import Endpoint
from chat.providers.openai_compatible.errors import (
    ReportedError,
    provider_error,
    report_of_body,
    shown_content_type,
    without_key,
)
from chat.providers.provider_errors import MalformedResponse, NotConfigured, ProviderError, Stalled, Unreachable
from chat.providers.timeouts import read_within
from chat.providers.untrusted_json import read_json
from chat.vocabulary.parts import JSON

UNARY_LIMIT_S = 20.0
ERROR_LIMIT_BYTES = 64 * 1024
UNARY_LIMIT_BYTES = 8 * 1024 * 1024
STREAM, UNARY = "text/event-stream", "application/json"
LARGE_READ_BYTES, PAUSE_S = 4 * 1024, 0.001
"""After a read of LARGE_READ_BYTES, other tasks get PAUSE_S: a body may consist of chunks of one byte and never end."""
TEXT_LIMIT_CHARS = 500
"""Maximum length of the text of an error, because aiohttp quotes what it could not parse."""


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
    """Whether the body is a stream of events. Otherwise, it is one JSON value."""
    body: AsyncGenerator[bytes, None]


class Clients:
    """The HTTP sessions, one for each event loop, because a connection belongs to its loop."""

    def __init__(self) -> None:
        self._sessions: dict[
            AbstractEventLoop, tuple[aiohttp.ClientSession, AsyncGenerator[aiohttp.ClientSession, None]]
        ] = {}
        """Event loop -> its session, and the generator that closes the session."""

    @asynccontextmanager
    async def open(self, endpoint: Endpoint, path: str, body: bytes) -> AsyncGenerator[Response, None]:
        """Send a request for an answer, and provide the response. It is closed after the block.

        `path`: relative to the base URL. `body`: JSON. Raises Refused for an error status, and ProviderError if the
        server cannot be reached, is silent, or sends no answer.
        """
        async with self._send(endpoint, path, body, settings.PROVIDER_FIRST_BYTE_LIMIT_S) as response:
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
        """Return the JSON that answers a GET request, or a POST with this body. Raises ProviderError if it fails.

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
    ) -> AsyncGenerator[aiohttp.ClientResponse, None]:
        """Send a request, and provide the response with its body unread. It is closed after the block.

        Each ProviderError of the block gets the status of the response. Raises Refused for an error status.
        """
        url = path if path.startswith("http") else endpoint.base_url.rstrip("/") + path
        response: aiohttp.ClientResponse | None = None
        try:
            with _as_provider_errors():
                session = await self._session()
                request = session.request(
                    "GET" if body is None else "POST",
                    url,
                    data=None if body is None else io.BytesIO(body),
                    headers=_headers(endpoint),
                    proxy=_proxy_of(url),
                    allow_redirects=False,
                )
                response = await read_within(limit_s, request)
            if not 200 <= response.status < 300:
                raise await _refusal(response, endpoint)
            yield response
        except ProviderError as error:
            # The server may repeat the key anywhere in its response.
            detail = without_key(error.detail, endpoint.api_key)
            raise error.with_response(response.status if response else None, detail) from None
        finally:
            # Closing the connection makes the server stop generating.
            if response is not None:
                response.close()

    async def _session(self) -> aiohttp.ClientSession:
        """Return the session of this event loop. Other threads may open sessions of theirs at the same time."""
        for known in list(self._sessions):
            if known.is_closed():
                self._sessions.pop(known, None)
        loop = asyncio.get_running_loop()
        # No other task runs between this check and the next line, so none can open the same session.
        if loop not in self._sessions:
            opening = open_session(
                cookie_jar=aiohttp.DummyCookieJar(), auto_decompress=False, timeout=aiohttp.ClientTimeout(total=None)
            )
            self._sessions[loop] = await anext(opening), opening
        return self._sessions[loop][0]

    async def aclose(self) -> None:
        """Close the connections of the running event loop."""
        if opened := self._sessions.pop(asyncio.get_running_loop(), None):
            await opened[1].aclose()


def _headers(endpoint: Endpoint) -> dict[str, str]:
    """Return the headers of a request. They ask for an uncompressed body, because `_chunks` refuses others."""
    if not (endpoint.api_key.isascii() and endpoint.api_key.isprintable()):
        raise NotConfigured("The key of this endpoint has characters that no key has.")
    headers = {"Accept": UNARY, "Accept-Encoding": "identity", "Content-Type": UNARY, "User-Agent": "Plotline"}
    return headers | key_headers(endpoint)


def _proxy_of(url: str) -> str | None:
    """Return the proxy that the environment names for a URL. Raises NotConfigured if it is not an HTTP proxy."""
    address, proxies = urlsplit(url), getproxies()
    proxy = proxies.get(address.scheme) or proxies.get("all")
    if not proxy or proxy_bypass(address.netloc):
        return None
    proxy = proxy if "://" in proxy else f"http://{proxy}"
    if not proxy.startswith(("http://", "https://")):
        raise NotConfigured("The environment names a proxy that is neither http nor https.")
    return proxy


async def _refusal(response: aiohttp.ClientResponse, endpoint: Endpoint) -> Refused:
    """Return the error of a response with an error status. Only the beginning of its body is read."""
    body = bytearray()
    # Stop reading a body that is compressed, broken or slow. The status is enough.
    with suppress(ProviderError, TimeoutError):
        async with asyncio.timeout(UNARY_LIMIT_S), aclosing(_chunks(response)) as chunks:
            async for piece in chunks:
                body += piece
                if len(body) >= ERROR_LIMIT_BYTES:
                    break
    report = report_of_body(bytes(body[:ERROR_LIMIT_BYTES]), response.headers.get("content-type", ""))
    error = provider_error(report, status=response.status, headers=response.headers, api_key=endpoint.api_key)
    return Refused(response.status, report, error)


@contextmanager
def _as_provider_errors() -> Iterator[None]:
    """Raise ProviderError in place of an error of aiohttp, whose request holds the key."""
    try:
        yield
    except (aiohttp.ClientError, OSError, ValueError, RuntimeError) as error:
        # `str` of a ClientResponseError ends with the address, which may hold a proxy's password. `message` does not.
        text = error.message if isinstance(error, aiohttp.ClientResponseError) else str(error)
        raise Unreachable(f"{type(error).__name__}: {text[:TEXT_LIMIT_CHARS]}") from None


async def _chunks(response: aiohttp.ClientResponse) -> AsyncGenerator[bytes, None]:
    """Yield the body as it arrives. Raises Stalled, Unreachable, and MalformedResponse for a compressed body.

    A compressed body is not decoded, because a few bytes may expand to gigabytes without a pause for other tasks.
    """
    encoding = response.headers.get("content-encoding", "").strip().lower()
    if encoding not in ("", "identity"):
        raise MalformedResponse(f"The server compressed its response ({encoding[:50]}), although it was asked not to.")
    limit_s: float = settings.PROVIDER_FIRST_BYTE_LIMIT_S
    with _as_provider_errors():
        while piece := await read_piece(response.content, limit_s):
            yield piece
            limit_s = settings.PROVIDER_IDLE_LIMIT_S
            await asyncio.sleep(PAUSE_S if len(piece) >= LARGE_READ_BYTES else 0)


def _read_answer(body: bytes, path: str) -> JSON:
    try:
        value: JSON = read_json(body.decode("utf-8", "replace"))
    except ValueError:
        raise MalformedResponse(f"The answer of {path} is not JSON.") from None
    return value


async def read_all(body: AsyncGenerator[bytes, None], limit_bytes: int = UNARY_LIMIT_BYTES) -> bytes:
    """Return a whole body. Raises MalformedResponse if it is too long."""
    read = bytearray()
    async for piece in body:
        read += piece
        if len(read) > limit_bytes:
            raise MalformedResponse(f"The response is longer than {limit_bytes} bytes.")
    return bytes(read)
