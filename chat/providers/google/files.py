"""The Files API and the list of models, through google-genai."""

from __future__ import annotations

import asyncio
import io
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from google.genai import types

from chat.providers.base import ListedModel, UploadedFile
from chat.providers.google.access import Access
from chat.providers.google.client import Clients
from chat.providers.provider_errors import FileRefused, InvalidRequest, MalformedResponse, ModelNotFound, Stalled

UPLOAD_LIMIT_S = 60.0
"""Longest wait until an uploaded file can be used."""
LIST_LIMIT_S = 30.0
POLL_INTERVAL_S = 0.5

MODEL_PREFIXES = ("publishers/google/models/", "models/")
"""Prefixes of model names in the lists of Vertex AI and of the Developer API."""


async def upload_file(clients: Clients, data: bytes, *, mime_type: str, name: str) -> UploadedFile:
    """Store a file at Google for 48 hours, and wait until it can be used. Raises ProviderError if that fails."""
    # Without this address, the SDK would send the bytes to the address in the response, past a gateway.
    options = types.HttpOptions(base_url=Access.from_settings().base_url or None)
    config = types.UploadFileConfig(mime_type=mime_type, display_name=name, http_options=options)
    try:
        async with _time_limit(UPLOAD_LIMIT_S), clients.use() as client:
            file = await client.aio.files.upload(file=io.BytesIO(data), config=config)
            while file.state is types.FileState.PROCESSING and file.name:
                await asyncio.sleep(POLL_INTERVAL_S)
                file = await client.aio.files.get(name=file.name)
    except ModelNotFound as error:
        # The address is that of a gateway that has models but no Files API.
        raise InvalidRequest(error.detail, status=error.status) from None
    if file.state is types.FileState.FAILED:
        raise FileRefused(f"The file could not be processed: {file.error and file.error.message}")
    if not file.uri or file.expiration_time is None:
        raise MalformedResponse(f"A file in state {file.state} has no address or no expiry.")
    return UploadedFile(file.uri, mime_type, file.expiration_time)


async def list_models(clients: Clients) -> list[ListedModel]:
    """Return every model that can generate content. Raises ProviderError if that fails.

    Vertex AI does not say what a model can do, so all its models are returned.
    """
    async with _time_limit(LIST_LIMIT_S), clients.use() as client:
        pager = await client.aio.models.list()
        models = list(pager.page)
        # `async for` over the pager fails at an empty page.
        while pager.config.get("page_token"):
            models += await pager.next_page()
    return [_listed_model(model) for model in models if _can_generate(model)]


def _can_generate(model: types.Model) -> bool:
    return bool(model.name) and (model.supported_actions is None or "generateContent" in model.supported_actions)


def _listed_model(model: types.Model) -> ListedModel:
    name = model.name or ""
    for prefix in MODEL_PREFIXES:
        name = name.removeprefix(prefix)
    return ListedModel(
        name=name,
        label=model.display_name or name,
        description=model.description or "",
        context_tokens=model.input_token_limit,
        max_output_tokens=model.output_token_limit,
    )


@asynccontextmanager
async def _time_limit(limit_s: float) -> AsyncGenerator[None, None]:
    """Raise Stalled if the block takes longer."""
    try:
        async with asyncio.timeout(limit_s):
            yield
    except TimeoutError:
        raise Stalled(f"It took longer than {limit_s} s.") from None
