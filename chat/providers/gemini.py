"""Gemini, by google-genai: the Developer API, Vertex AI, or an emulator, as the settings say.

SDK types and errors stop here. One `generate` is one upstream request: nothing is retried and nothing is sent
that was not asked for.
"""

from __future__ import annotations

import asyncio
import io
import ssl
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

from django.conf import settings
from google import genai
from google.genai import types

from chat.parts import Content, GenerateRequest, Part, PartKind, ResponseDescribed, Role, StreamEvent
from chat.providers.base import (
    InvalidRequest,
    KeptFile,
    ListedModel,
    MalformedResponse,
    ModelNotFound,
    Rest,
    Stalled,
    Take,
)
from chat.providers.gemini_access import Access, Clients, taken_response
from chat.providers.gemini_body import body_of
from chat.providers.gemini_failures import SDK_ERRORS
from chat.providers.gemini_json import events_of_json
from chat.providers.gemini_sse import StreamParser
from chat.providers.gemini_types import accepted_type
from chat.providers.gemini_wire import STAND_IN_SIGNATURE, config_of, contents_of, events_of

#: Longest wait for a file to be taken and ready, and for the list of models.
KEEP_LIMIT_S = 60.0
LIST_LIMIT_S = 30.0

#: What the SDK is given to ask, where the body is made by ourselves.
PLACEHOLDER = types.Content(role="user")

#: Pause between two questions whether a file is ready.
POLL_S = 0.5

#: Before the name of a model in lists of the Developer API and of Vertex AI.
MODEL_PREFIXES = ("publishers/google/models/", "models/")


class GeminiProvider:
    """The provider `gemini`."""

    name = "gemini"
    stand_in_signature = STAND_IN_SIGNATURE

    def __init__(self) -> None:
        """Do the slow first things, 0.1-0.2 s: certificates and the SDK's validators."""
        self._clients = Clients()
        _warm_up(self._clients.tls)

    @property
    def account(self) -> str:
        """See `Provider.account`."""
        return Access.from_settings().account

    @property
    def keeps_files(self) -> bool:
        """See `Provider.keeps_files`."""
        return not Access.from_settings().vertexai

    def accepted_type(self, mime_type: str) -> str:
        """See `Provider.accepted_type`."""
        return accepted_type(mime_type, vertexai=Access.from_settings().vertexai)

    async def keep_file(self, data: bytes, *, mime_type: str, name: str) -> KeptFile:
        """See `Provider.keep_file`; the file is kept for 48 hours."""
        # Else the bytes would go to whatever address the answer names, past a gateway.
        there = types.HttpOptions(base_url=Access.from_settings().base_url or None)
        config = types.UploadFileConfig(mime_type=mime_type, display_name=name, http_options=there)
        try:
            async with _within(KEEP_LIMIT_S), self._clients.use() as client:
                file = await client.aio.files.upload(file=io.BytesIO(data), config=config)
                while file.state is types.FileState.PROCESSING and file.name:
                    await asyncio.sleep(POLL_S)
                    file = await client.aio.files.get(name=file.name)
        except ModelNotFound as error:
            # A gateway that has models, but no files.
            raise InvalidRequest(error.detail) from None
        if file.state is types.FileState.FAILED:
            raise InvalidRequest(f"The file could not be processed: {file.error and file.error.message}")
        if not file.uri or file.expiration_time is None:
            raise MalformedResponse(f"A file in state {file.state} has no address or no end.")
        return KeptFile(file.uri, mime_type, file.expiration_time)

    async def list_models(self) -> list[ListedModel]:
        """See `Provider.list_models`; Vertex AI does not say what a model can do, so there it lists all."""
        async with _within(LIST_LIMIT_S), self._clients.use() as client:
            pager = await client.aio.models.list()
            models = list(pager.page)
            # Going through the pager item by item fails at an empty page.
            while pager.config.get("page_token"):
                models += await pager.next_page()
        return [_listed(model) for model in models if _generates(model)]

    async def generate(self, request: GenerateRequest, take: Take, rest: Rest | None = None) -> None:
        """See `Provider.generate`."""
        idle_limit_s: float = settings.PROVIDER_IDLE_LIMIT_S
        described = ResponseDescribed("", "")
        try:
            async with self._clients.use() as client, _watched(idle_limit_s) as heard:
                async for said in _said(client, request, rest):
                    described = _hand_over(said, described, take)
                    heard()
        except _NotTaken as error:
            raise error.reason from None

    async def aclose(self) -> None:
        """Let go of this loop's connections."""
        await self._clients.aclose()


class _NotTaken(Exception):
    """Carries what `take` raised past those who look for the SDK's errors."""

    def __init__(self, reason: Exception) -> None:
        super().__init__()
        self.reason = reason


def _hand_over(said: list[StreamEvent], described: ResponseDescribed, take: Take) -> ResponseDescribed:
    """Hand events over, but for what is known of the response (`described`) already; what is known of it then."""
    news: list[StreamEvent] = []
    for event in said:
        if isinstance(event, ResponseDescribed):
            if (known := _described(described, event)) == described:
                continue
            event = described = known
        news.append(event)
    if news:
        try:
            take(news)
        except Exception as error:  # noqa: BLE001 - raised anew by `generate`
            raise _NotTaken(error) from None
    return described


@asynccontextmanager
async def _within(limit_s: float) -> AsyncGenerator[None, None]:
    """End what takes longer. Raises Stalled."""
    try:
        async with asyncio.timeout(limit_s):
            yield
    except TimeoutError:
        raise Stalled(f"It took longer than {limit_s} s.") from None


def _generates(model: types.Model) -> bool:
    return bool(model.name) and (model.supported_actions is None or "generateContent" in model.supported_actions)


def _listed(model: types.Model) -> ListedModel:
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


async def _said(client: genai.Client, request: GenerateRequest, rest: Rest | None) -> AsyncIterator[list[StreamEvent]]:
    """What a streamed request is answered, bit by bit, by the reader that the settings name."""
    ask = client.aio.models.generate_content_stream
    if settings.GEMINI_STREAM_READER == "sdk":
        # Never rests: it gives one chunk at a time, however many there are.
        async for response in await ask(model=request.model, contents=contents_of(request), config=config_of(request)):
            yield list(events_of(response))
        return
    body, parser = body_of(request), StreamParser()
    taken = await taken_response(ask(model=request.model, contents=PLACEHOLDER), body)
    async for data in taken.content.iter_any():
        said, failure = _read_all(parser.feed(data))
        yield said
        if failure:
            raise failure
        # An answer that has come to its end need not be waited for.
        if rest and said and not taken.content.at_eof():
            await rest()
    said, failure = _read_all(parser.close())
    yield said
    if failure:
        raise failure


def _read_all(chunks: Iterator[dict[str, Any]]) -> tuple[list[StreamEvent], Exception | None]:
    """What chunks that came together say, and what ended them: what came before it counts."""
    said: list[StreamEvent] = []
    try:
        for chunk in chunks:
            said += events_of_json(chunk)
    except SDK_ERRORS as error:
        return said, error
    return said, None


@asynccontextmanager
async def _watched(idle_limit_s: float) -> AsyncGenerator[Callable[[], None], None]:
    """End what falls silent: the function that is given says that something has come. Raises Stalled."""
    loop = asyncio.get_running_loop()
    watchdog = asyncio.timeout(idle_limit_s)
    move_at = 0.0

    def heard() -> None:
        # Said anew once a tenth has passed, not at each chunk, of which thousands may come.
        nonlocal move_at
        now = loop.time()
        if now >= move_at:
            watchdog.reschedule(now + idle_limit_s)
            move_at = now + idle_limit_s / 10

    try:
        async with watchdog:
            yield heard
    except TimeoutError:
        if watchdog.expired():
            raise Stalled(f"Nothing came for {idle_limit_s} s.") from None
        raise


def _described(known: ResponseDescribed, event: ResponseDescribed) -> ResponseDescribed:
    """What is known now; a chunk need not repeat it."""
    return ResponseDescribed(event.response_id or known.response_id, event.model_version or known.model_version)


#: What a stream with code and a graph is made of, and what is sent for it.
USED_TYPES = (
    types.GenerateContentResponse,
    types.GenerateContentResponseUsageMetadata,
    types.Candidate,
    types.Content,
    types.Part,
    types.ExecutableCode,
    types.CodeExecutionResult,
    types.Blob,
    types.HttpResponse,
    types.GenerateContentConfig,
    types.Tool,
    types.ThinkingConfig,
)


def _warm_up(tls: ssl.SSLContext) -> None:
    """Do what the SDK puts off until it is first used: build validators, import its transports."""
    for model in USED_TYPES:
        model.model_rebuild()
    wire = {"candidates": [{"content": {"parts": [{"text": "a"}]}, "finishReason": "STOP"}]}
    list(events_of(types.GenerateContentResponse.model_validate(wire)))
    events_of_json(wire)
    user = Content(Role.USER, (Part(PartKind.TEXT, text="a"),))
    request = GenerateRequest("m", (user,), system_instruction="a", code_execution=True)
    contents_of(request)
    config_of(request)
    body_of(request)
    replace(Access.from_settings(), vertexai=False, api_key="none").client(None, tls)
