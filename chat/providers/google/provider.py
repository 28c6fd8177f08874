"""The provider `gemini`: the Developer API, Vertex AI, or the emulator, depending on the settings.

Types and errors of google-genai stay inside this package. Each call of `stream` sends one upstream request.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator, Iterator
from contextlib import aclosing
from functools import partial
from itertools import chain
from typing import TypeAlias

from django.conf import settings

from chat.providers.base import Capabilities, ListedModel, UploadedFile
from chat.providers.google import files
from chat.providers.google.access import Access
from chat.providers.google.client import CONFIG, Clients, Exchange
from chat.providers.google.codec import STANDARD_TIER, ChunkDecoder, request_body
from chat.providers.google.errors import FOREIGN_ERRORS
from chat.providers.google.file_types import accepted_type
from chat.providers.google.interactions.body import request_body as interaction_body
from chat.providers.google.interactions.events import InteractionDecoder
from chat.providers.google.stream_parser import StreamParser
from chat.providers.http_sessions import read_piece
from chat.providers.provider_errors import ProtocolUnavailable, Stalled
from chat.providers.requests import Content, GenerateRequest
from chat.providers.timeouts import read_within
from chat.vocabulary.dialect_names import INTERACTIONS_API
from chat.vocabulary.parts import Role, Text
from chat.vocabulary.stream_events import Finished, StreamEvent

logger = logging.getLogger(__name__)

Decoded: TypeAlias = tuple[list[StreamEvent], Exception | None]
"""Events, and the error that follows them."""


class GeminiProvider:
    """The provider `gemini`."""

    name = "gemini"

    def __init__(self, endpoint: str = "") -> None:
        """Read the certificates and build the SDK's validators, which takes 0.1-0.2 s.

        Raises LookupError unless the name is empty, which means the endpoint of the settings.
        """
        if endpoint:
            raise LookupError(f"Gemini has only the endpoint that the settings describe, not {endpoint!r}.")
        self._clients = Clients()
        _warm_up(self._clients)

    @property
    def is_demo(self) -> bool:
        """Whether the emulator's demo model answers in place of Google's models."""
        return settings.GEMINI_EMULATED

    def capabilities(self, model: str) -> Capabilities:
        """Return what the Developer API, or Vertex AI, supports. It is the same for all models."""
        access = Access.from_settings()
        return Capabilities(
            account=access.account,
            functions=True,
            functions_beside_built_in=not access.vertexai,
            stores_files=not access.vertexai,
            accepted_type=partial(accepted_type, vertexai=access.vertexai),
        )

    async def stream(self, request: GenerateRequest) -> AsyncGenerator[list[StreamEvent], None]:
        """Yield the events of one answer."""
        access, is_interaction = Access.from_settings(), request.protocol == INTERACTIONS_API
        exchange = Exchange(access, is_interaction=is_interaction)
        is_finished = False
        try:
            if is_interaction and access.vertexai and not access.uses_credentials:
                raise ProtocolUnavailable("Vertex AI has no Interactions API for requests with a key.")
            refuses_storage = not (access.vertexai or settings.GEMINI_STORE)
            tier = STANDARD_TIER if access.vertexai else settings.GEMINI_SERVICE_TIER
            exchange.body = (
                interaction_body(request, service_tier=tier)
                if is_interaction
                else request_body(request, refuses_storage=refuses_storage, service_tier=tier)
            )
            async with aclosing(self._read(exchange, request.model)) as network_reads:
                async for events, error in network_reads:
                    is_finished = is_finished or any(isinstance(event, Finished) for event in events)
                    if events:
                        yield events
                    if error:
                        raise error
        except (*FOREIGN_ERRORS, Stalled, ProtocolUnavailable) as error:
            # Do not chain the original error: its request headers or text may hold the key.
            reported = exchange.error(error)
            if not is_finished:
                raise reported from None
            # The answer was already complete, so this error is only logged.
            logger.info("a response of %s failed after its end: %s", request.model, reported)
        finally:
            exchange.close()

    async def _read(self, exchange: Exchange, model: str) -> AsyncGenerator[Decoded, None]:
        """Yield the events of each network read, and the error that follows them."""
        limit_s: float = settings.PROVIDER_IDLE_LIMIT_S
        parser = StreamParser()
        key = exchange.access.api_key
        decoder = InteractionDecoder(key) if exchange.is_interaction else ChunkDecoder(key)
        # The SDK makes the URL from this name. The URL of an interaction does not contain the model.
        name = INTERACTIONS_API if exchange.is_interaction else model
        response = await read_within(limit_s, self._clients.open_response(exchange, name))
        while data := await read_piece(response.content, limit_s):
            yield _decode(chain.from_iterable(map(decoder.decode, parser.feed(data))))
        yield _decode(chain(chain.from_iterable(map(decoder.decode, parser.close())), decoder.end()))

    async def upload_file(self, data: bytes, *, mime_type: str, name: str) -> UploadedFile:
        """Store a file at Google, and wait until it can be used. Raises ProviderError if that fails."""
        return await files.upload_file(self._clients, data, mime_type=mime_type, name=name)

    async def list_models(self) -> list[ListedModel]:
        """Return every model that can generate content. Raises ProviderError if that fails."""
        return await files.list_models(self._clients)

    async def aclose(self) -> None:
        """Close the connections of the running event loop."""
        await self._clients.aclose()


def _decode(decoded: Iterator[StreamEvent]) -> Decoded:
    """Return the events of some chunks, and the error that ended the chunks. The events before it are valid."""
    events: list[StreamEvent] = []
    try:
        # If `decoded` raises an error, `extend` has added the events before it.
        events.extend(decoded)
    except FOREIGN_ERRORS as error:
        return events, error
    return events, None


def _warm_up(clients: Clients) -> None:
    """Make the SDK build its validators and import its transports, which it would do at the first request."""
    CONFIG.model_copy(deep=True)
    list(ChunkDecoder().decode({"candidates": [{"content": {"parts": [{"text": "a"}]}, "finishReason": "STOP"}]}))
    request_body(GenerateRequest("m", (Content(Role.USER, (Text("a"),)),), system_instruction="a"))
    Access(False, "none", "", "", "", "v1beta", is_emulated=True).client(None, clients.tls)
