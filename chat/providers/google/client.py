"""Sends requests to the Gemini API. google-genai addresses and authenticates them; our own aiohttp session sends them.

The SDK accepts the session as a documented option (`HttpOptions.aiohttp_client`). A middleware of the session puts our
body into the request, and takes the response before the SDK reads it. The SDK drops fields of a response that it does
not know, and takes four times as long to read one (`docs/decisions/0010`).
"""

from __future__ import annotations

import asyncio
import re
from asyncio import AbstractEventLoop
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from http import HTTPStatus

import aiohttp
from google import genai
from google.genai import types
from yarl import URL

from chat.providers.google.access import Access
from chat.providers.google.errors import FOREIGN_ERRORS, provider_error
from chat.providers.http_sessions import open_session, tls_context
from chat.providers.provider_errors import NotConfigured, ProviderError

PLACEHOLDER = types.Content(role="user")
"""The contents that the SDK gets. The middleware replaces the body that the SDK makes of them."""

MODEL_PATH = re.compile(r"(?:/publishers/[^/]+)?/models/[^/]+$")
"""Matches the end of the path of a request to `streamGenerateContent`, which names the model."""

CONFIG = types.GenerateContentConfig(
    automatic_function_calling=types.AutomaticFunctionCallingConfig(disable=True),
    # To continue an answer, the SDK would hide finish reasons, send further requests, and add up their usage.
    automatic_continuation=False,
)


class ResponseTaken(Exception):
    """The middleware took a streamed response from the SDK. `Exchange.responses` has the response."""


@dataclass(slots=True)
class Exchange:
    """One use of a client: the access and body of its requests, and the responses that it received."""

    access: Access
    body: bytes | None = None
    """The body of a streamed request; `None`: the SDK's own."""
    is_interaction: bool = False
    """Whether the request is for the Interactions API, whose URL differs from `generateContent` only at its end."""
    responses: list[aiohttp.ClientResponse] = field(default_factory=list)

    def error(self, error: Exception) -> ProviderError:
        """Return the ProviderError to raise instead of an error of a request or a response."""
        status = self.responses[-1].status if self.responses else None
        if isinstance(error, ProviderError):
            return error.with_response(status)
        return provider_error(error, http_status=status, access=self.access)

    def close(self) -> None:
        """Close the responses. Neither `break` nor `aclose()` makes the SDK close one that it streams."""
        for response in self.responses:
            response.close()


_exchange: ContextVar[Exchange] = ContextVar("gemini_exchange")


class Clients:
    """The SDK's clients, one for each event loop and account, because a connection belongs to its loop."""

    def __init__(self) -> None:
        self.tls = tls_context()
        self._clients: dict[tuple[AbstractEventLoop, Access], genai.Client] = {}
        self._sessions: dict[tuple[AbstractEventLoop, Access], AsyncGenerator[aiohttp.ClientSession, None]] = {}

    @asynccontextmanager
    async def use(self) -> AsyncGenerator[genai.Client, None]:
        """Provide a client for unary requests. Errors of the block are raised as ProviderError."""
        exchange = Exchange(Access.from_settings())
        token = _exchange.set(exchange)
        try:
            yield await self._client(exchange.access)
        except FOREIGN_ERRORS as error:
            # Do not chain the original error: its request headers or text may hold the key.
            raise exchange.error(error) from None
        finally:
            exchange.close()
            _exchange.reset(token)

    async def open_response(self, exchange: Exchange, model: str) -> aiohttp.ClientResponse:
        """Send a streamed request with the body of the exchange; return the response with its body unread."""
        client = await self._client(exchange.access)
        token = _exchange.set(exchange)
        try:
            chunks = await client.aio.models.generate_content_stream(model=model, contents=PLACEHOLDER, config=CONFIG)
            # Ask for the first chunk, because only then the SDK sends the request. The middleware takes the response.
            await anext(chunks, None)
        except ResponseTaken:
            return exchange.responses[-1]
        finally:
            _exchange.reset(token)
        raise TypeError("the SDK read a response that did not come through its session")

    async def _client(self, access: Access) -> genai.Client:
        if access.is_emulated and not access.base_url:
            raise NotConfigured
        for loop, other in list(self._clients):
            if loop.is_closed():
                self._clients.pop((loop, other), None)
                self._sessions.pop((loop, other), None)
        key = (asyncio.get_running_loop(), access)
        # No other task runs between this check and the last line, so none can make the same client.
        if key not in self._clients:
            # With `trust_env`, aiohttp reads the environment and ~/.netrc again for each request, in two threads, which
            # takes longer than all other work to send it (1.2 ms of 2). So it is set only if there may be a proxy.
            self._sessions[key] = open_session(
                middlewares=(_exchange_middleware,), trust_env=access.may_be_proxied and not access.is_emulated
            )
            self._clients[key] = access.client(await anext(self._sessions[key]), self.tls)
        return self._clients[key]

    async def aclose(self) -> None:
        """Close the connections of the running event loop."""
        loop = asyncio.get_running_loop()
        for key in [key for key in self._clients if key[0] is loop]:
            self._clients.pop(key)
            await self._sessions.pop(key).aclose()


def interactions_url(url: URL) -> URL:
    """Return the URL of the Interactions API that belongs to a model's URL, of the Developer API or of Vertex AI."""
    return url.with_path(f"{MODEL_PATH.sub('', url.raw_path)}/interactions", encoded=True)


async def _exchange_middleware(
    request: aiohttp.ClientRequest, handler: aiohttp.ClientHandlerType
) -> aiohttp.ClientResponse:
    """Send the request with the body of the exchange, and add the response to the exchange.

    Raises ResponseTaken for a response that the SDK must not read.
    """
    exchange = _exchange.get()
    if exchange.body is not None:
        await request.update_body(exchange.body)
    if exchange.is_interaction:
        request.url = interactions_url(request.url)
    response = await handler(request)
    exchange.responses.append(response)
    if exchange.body is not None and response.status == HTTPStatus.OK:
        raise ResponseTaken
    return response
