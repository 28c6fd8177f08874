"""How the Gemini API is reached: whose key, which address, over which connections.

What goes wrong on the way leaves this module as a `ProviderError`.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import ssl
from asyncio import AbstractEventLoop
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable
from contextlib import asynccontextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from http import HTTPStatus
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import aiohttp
import certifi
from django.conf import settings
from google import genai
from google.genai import types

from chat.providers.base import Unreachable
from chat.providers.gemini_failures import SDK_ERRORS, failure_of

CONNECT_LIMIT_S = 10.0
KEPT_ALIVE_S = 60.0
"""An idle connection: the next question need not wait for another one."""

#: The HTTP responses that the current use of a client has opened.
_responses: ContextVar[list[aiohttp.ClientResponse]] = ContextVar("gemini_responses")
#: What to send in place of the SDK's body, where its response is taken from it before it reads that.
_body: ContextVar[bytes | None] = ContextVar("gemini_body", default=None)


class _Taken(Exception):
    """Carries a response past the SDK."""

    def __init__(self, response: aiohttp.ClientResponse) -> None:
        super().__init__()
        self.response = response


async def taken_response(
    asked: Awaitable[AsyncIterator[types.GenerateContentResponse]], body: bytes
) -> aiohttp.ClientResponse:
    """The response to a streamed request that the SDK has made, sent with this body, and its own body unread.

    The SDK addresses and authenticates the request, and raises for a failure, as ever; but its models cost 3 ms for a
    body, and four times the parsing of a stream. The session is ours (`HttpOptions.aiohttp_client`): its middleware
    puts the body in, and hands over what came.
    """
    token = _body.set(body)
    try:
        # The request goes out with the first item that is asked for.
        await anext(await asked)
    except _Taken as taken:
        return taken.response
    finally:
        _body.reset(token)
    raise TypeError("the SDK has read a response past its session")


@dataclass(frozen=True, slots=True)
class Access:
    """Address and credentials."""

    vertexai: bool
    api_key: str = field(repr=False)
    project: str
    location: str
    base_url: str
    """Empty: Google's own."""
    api_version: str
    emulated: bool

    @classmethod
    def from_settings(cls) -> Access:
        """Read anew for each use: the emulator's address is known only once it has started."""
        return cls(
            vertexai=settings.GOOGLE_GENAI_USE_VERTEXAI,
            api_key="emulated" if settings.GEMINI_EMULATED else settings.GEMINI_API_KEY,
            project=settings.GOOGLE_CLOUD_PROJECT,
            location=settings.GOOGLE_CLOUD_LOCATION,
            base_url=settings.GOOGLE_GEMINI_BASE_URL,
            api_version=settings.GEMINI_API_VERSION,
            emulated=settings.GEMINI_EMULATED,
        )

    @property
    def account(self) -> str:
        """SHA-256 in hex of all that decides whose files these are."""
        parts = ["gemini", self.base_url, self.vertexai, self.project, self.location, self.api_key]
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()

    @property
    def may_be_proxied(self) -> bool:
        """Whether the environment names a proxy that could stand before this address."""
        proxies = getproxies()
        if not self.base_url:
            # The SDK chooses the address.
            return "http" in proxies or "https" in proxies
        address = urlsplit(self.base_url)
        return address.scheme in proxies and not proxy_bypass(address.hostname or "")

    def client(self, session: aiohttp.ClientSession | None, tls: ssl.SSLContext) -> genai.Client:
        """A client that sends through this session, once and without a time limit of the SDK's."""
        options = types.HttpOptions(
            base_url=self.base_url or None,
            api_version=self.api_version,
            # The SDK would choose a transport by what is installed; its own aiohttp session also fails under
            # `-W error`.
            aiohttp_client=session,
            # Else each client reads the certificates four times, 0.1 s in all.
            client_args={"verify": tls},
            async_client_args={"ssl": tls, "verify": tls},
            # Without options a failed connect sleeps 1-10 s at random and is tried once more.
            retry_options=types.HttpRetryOptions(attempts=1),
        )
        if self.vertexai and self.project:
            return genai.Client(vertexai=True, project=self.project, location=self.location, http_options=options)
        return genai.Client(vertexai=self.vertexai, api_key=self.api_key, http_options=options)


class Clients:
    """The SDK's clients, made one for each event loop, as connections belong to their loop."""

    def __init__(self) -> None:
        """Read the certificates, 0.1 s."""
        self.tls = ssl.create_default_context()
        # Beside the system's, as images of containers often have none.
        self.tls.load_verify_locations(certifi.where())
        self._clients: dict[tuple[AbstractEventLoop, Access], genai.Client] = {}
        self._sessions: dict[tuple[AbstractEventLoop, Access], AsyncGenerator[aiohttp.ClientSession, None]] = {}

    @asynccontextmanager
    async def use(self) -> AsyncGenerator[genai.Client, None]:
        """This loop's client; what it raises within is a ProviderError, and what it opened is closed after.

        Neither `break` nor `aclose()` makes the SDK close a streamed response: its generators hold one another.
        """
        access = Access.from_settings()
        responses: list[aiohttp.ClientResponse] = []
        token = _responses.set(responses)
        try:
            yield await self._client(access)
        except SDK_ERRORS as error:
            status = responses[-1].status if responses else None
            # The original may hold the key, in the request's headers or in what the server repeats of it.
            raise failure_of(error, http_status=status, api_key=access.api_key) from None
        finally:
            for response in responses:
                response.close()
            _responses.reset(token)

    async def _client(self, access: Access) -> genai.Client:
        if access.emulated and not access.base_url:
            raise Unreachable("There is no key, and no emulator is running.")
        for loop, other in list(self._clients):
            if loop.is_closed():
                self._clients.pop((loop, other), None)
                self._sessions.pop((loop, other), None)
        key = (asyncio.get_running_loop(), access)
        # Nothing between this and the last line waits, so that no other use comes in between.
        if key not in self._clients:
            # Where there is a proxy, aiohttp asks the environment and ~/.netrc again for each request, in two threads,
            # which takes longer than all else that is done to send it.
            self._sessions[key] = _open_session(trust_env=access.may_be_proxied and not access.emulated)
            self._clients[key] = access.client(await anext(self._sessions[key]), self.tls)
        return self._clients[key]

    async def aclose(self) -> None:
        """Let go of this loop's connections."""
        here = asyncio.get_running_loop()
        for key in [key for key in self._clients if key[0] is here]:
            self._clients.pop(key)
            await self._sessions.pop(key).aclose()


async def _open_session(*, trust_env: bool) -> AsyncGenerator[aiohttp.ClientSession, None]:
    """Yield a session, once; it is closed with this generator, which asyncio does by itself before a loop ends."""
    async with aiohttp.ClientSession(
        connector=_Connector(limit=0, keepalive_timeout=KEPT_ALIVE_S),
        middlewares=(_note_response,),
        trust_env=trust_env,
    ) as session:
        yield session


async def _note_response(request: aiohttp.ClientRequest, handler: aiohttp.ClientHandlerType) -> aiohttp.ClientResponse:
    body = _body.get()
    if body is not None:
        await request.update_body(body)
    response = await handler(request)
    _responses.get().append(response)
    if body is not None and response.status == HTTPStatus.OK:
        raise _Taken(response)
    return response


class _Connector(aiohttp.TCPConnector):
    """Has a time limit for connecting alone; the SDK lets one be set only for the whole of a stream."""

    async def connect(
        self, req: aiohttp.ClientRequest, traces: list[aiohttp.tracing.Trace], timeout: aiohttp.ClientTimeout
    ) -> aiohttp.connector.Connection:
        return await super().connect(req, traces, aiohttp.ClientTimeout(connect=CONNECT_LIMIT_S))
