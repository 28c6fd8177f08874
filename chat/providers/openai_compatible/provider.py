"""The provider `openai_compatible`. Read this module first.

load    endpoint and facts       the catalogue, on a thread, unless the request brings them
body    request -> JSON          `body`, `messages`, or `responses.body`, on a thread
open    JSON -> response         `transport`; after a refusal that teaches something, the request is repeated
read    bytes -> events          `reader`, with `sse`, `chunks` or `responses.events`, and `accumulator`
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from dataclasses import dataclass
from functools import partial
from typing import Self

from channels.db import database_sync_to_async
from django.conf import settings

from attachments.images import is_image_type
from chat.providers.base import Capabilities, ListedModel, UploadedFile
from chat.providers.catalogue.endpoints import StoredEndpoints
from chat.providers.openai_compatible.accumulator import Accumulator
from chat.providers.openai_compatible.body import request_body
from chat.providers.openai_compatible.chunks import ChunkDecoder
from chat.providers.openai_compatible.dialects import dialect_of
from chat.providers.openai_compatible.endpoint import Endpoint, Known, ModelFacts
from chat.providers.openai_compatible.listing import listed_models
from chat.providers.openai_compatible.probe import probe
from chat.providers.openai_compatible.reader import MALFORMED_CALL, Decoder, ResponseReader, malformed_call
from chat.providers.openai_compatible.refusal_facts import (
    REASONING,
    RESPONSES,
    STORE,
    facts_after_image_refusal,
    facts_after_refusal,
)
from chat.providers.openai_compatible.responses.body import request_body as responses_body
from chat.providers.openai_compatible.responses.events import ResponseEvents
from chat.providers.openai_compatible.transport import Clients, Refused
from chat.providers.provider_errors import InvalidRequest, NotConfigured
from chat.providers.requests import GenerateRequest
from chat.vocabulary.dialect_names import RESPONSES_API
from chat.vocabulary.parts import JSONObject
from chat.vocabulary.stream_events import StreamEvent
from chat.vocabulary.text_types import is_text

logger = logging.getLogger(__name__)

REFUSALS_LIMIT = 6
"""Maximum number of tries of one request. It is repeated when a refusal has taught something new."""

STORE_REFUSED = (
    "endpoint “%s” refused `store: false` for %s, so Google may store requests and answers, as its project is set."
    " Turn storage off in Google AI Studio, in the settings of the project's logs."
)

IMAGES = frozenset({"image/png", "image/jpeg", "image/webp"})
"""The image types that every server accepts if it reads images."""


@dataclass(frozen=True, slots=True)
class Body:
    """The body of a request, in one of the two protocols."""

    path: str
    value: JSONObject
    data: bytes
    """The value as JSON."""
    decoder: Callable[[], Decoder]

    @classmethod
    def write(cls, request: GenerateRequest, endpoint: Endpoint, facts: ModelFacts) -> Self:
        """Return the body of a request to this endpoint. It may take long, because files are encoded."""
        dialect = dialect_of(endpoint)
        if endpoint.protocol == RESPONSES_API or (not endpoint.protocol and RESPONSES in facts.demands):
            value = responses_body(request, dialect, facts)
            return cls("/responses", value, json.dumps(value).encode(), ResponseEvents)
        value = request_body(request, dialect, facts, may_store=settings.GEMINI_STORE)
        return cls("/chat/completions", value, json.dumps(value).encode(), ChunkDecoder)


class OpenAICompatibleProvider:
    """The provider `openai_compatible`, for one endpoint."""

    name = "openai_compatible"
    is_demo = False

    def __init__(self, endpoint: str = "") -> None:
        """`endpoint`: name of the endpoint, which may be changed, turned off and deleted later. Runs no query."""
        self._store = StoredEndpoints()
        self._endpoint_name = endpoint
        self._clients = Clients()

    def capabilities(self, model: str) -> Capabilities:
        """Return what the server and the model support. Two or three queries."""
        known = self._load(model)
        facts, dialect = known.facts, dialect_of(known.endpoint)
        reads_images = facts.images is not False
        return Capabilities(
            account=known.endpoint.account,
            functions=facts.functions is not False,
            functions_beside_built_in=False,
            stores_files=False,
            accepted_type=partial(_accepted_type, images=reads_images, pdf=dialect.takes_pdf),
            reads_thoughts=bool(dialect.reasoning_field) or REASONING in facts.demands,
            reads_tool_images=reads_images,
            context_tokens=facts.context_tokens,
            known=known,
        )

    async def stream(self, request: GenerateRequest) -> AsyncGenerator[list[StreamEvent], None]:
        """Yield the events of one answer. A model that is used for the first time is probed before the request."""
        known = request.known
        if not (isinstance(known, Known) and known.facts.is_probed):
            # Load again, because another answer may have probed the model meanwhile.
            known = await self._load_on_thread(request.model)
        if not known.facts.is_probed:
            facts = await probe(self._clients, known.endpoint, request.model, known.facts)
            await self._remember(known.endpoint, request.model, facts)
            known = await self._load_on_thread(request.model)
        endpoint, facts = known.endpoint, known.facts
        body = await asyncio.to_thread(Body.write, request, endpoint, facts)
        for _ in range(REFUSALS_LIMIT):
            try:
                async with aclosing(self._answer(endpoint, body)) as answer:
                    async for events in answer:
                        yield events
                return
            except Refused as refusal:
                if refusal.report.code == MALFORMED_CALL:
                    yield [malformed_call(refusal.report, endpoint.api_key)]
                    return
                updated = await self._update_facts(refusal, endpoint, body.value, facts)
                if updated is None:
                    raise refusal.error from None
                facts = updated
                body = await asyncio.to_thread(Body.write, request, endpoint, facts)
        raise InvalidRequest("The server refused one optional parameter after another.")

    async def _update_facts(
        self, refusal: Refused, endpoint: Endpoint, body: JSONObject, facts: ModelFacts
    ) -> ModelFacts | None:
        """Store what a refusal says about the model. Return updated facts, or `None` if a repeat would fail too."""
        model, report = str(body["model"]), refusal.report
        if without_images := facts_after_image_refusal(refusal.status, report.message, facts):
            await self._remember(endpoint, model, without_images)
            return None
        updated = facts_after_refusal(
            refusal.status, report.parameter, report.message, body, facts, may_switch=not endpoint.protocol
        )
        if updated:
            logger.info("endpoint %s refused a request to %s: %s", endpoint.name, model, refusal.error)
            if STORE in updated.refuses - facts.refuses:
                logger.warning(STORE_REFUSED, endpoint.name, model)
            await self._remember(endpoint, model, updated)
        return updated

    async def _answer(self, endpoint: Endpoint, body: Body) -> AsyncGenerator[list[StreamEvent], None]:
        """Send a request, and yield the events of each network read. Raises Refused or ProviderError if it fails."""
        accumulator = Accumulator(has_functions="tools" in body.value)
        reader = ResponseReader(accumulator, body.decoder(), api_key=endpoint.api_key)
        opening = self._clients.open(endpoint, body.path, body.data)
        async with opening as response, aclosing(reader.read(response)) as batches:
            async for events in batches:
                if events:
                    yield events
                if reader.error:
                    raise reader.error

    async def upload_file(self, data: bytes, *, mime_type: str, name: str) -> UploadedFile:
        """Raise InvalidRequest: servers of this protocol store no files."""
        raise InvalidRequest("Servers of this protocol store no files.")

    async def list_models(self) -> list[ListedModel]:
        """Return the models that the server lists under `/models`. Raises ProviderError if that fails."""
        known = await self._load_on_thread("")
        return listed_models(await self._clients.ask(known.endpoint, "/models"))

    async def aclose(self) -> None:
        """Close the connections of the running event loop."""
        await self._clients.aclose()

    def _load(self, model: str) -> Known:
        endpoint = self._store.find(self._endpoint_name)
        return Known(endpoint, self._store.facts(endpoint, model))

    async def _load_on_thread(self, model: str) -> Known:
        """Return what is known of a model. Raises NotConfigured if the endpoint does not exist, or is turned off."""
        try:
            known: Known = await database_sync_to_async(self._load, thread_sensitive=False)(model)
        except LookupError as error:
            raise NotConfigured(str(error)) from None
        return known

    async def _remember(self, endpoint: Endpoint, model: str, facts: ModelFacts) -> None:
        await database_sync_to_async(self._store.remember, thread_sensitive=False)(endpoint, model, facts)


def _accepted_type(mime_type: str, *, images: bool, pdf: bool) -> str:
    """Return the MIME type under which a file is sent; empty if it cannot be sent."""
    if is_image_type(mime_type):
        return mime_type if images and mime_type in IMAGES else ""
    if is_text(mime_type):
        return "text/plain"
    return mime_type if pdf and mime_type == "application/pdf" else ""
