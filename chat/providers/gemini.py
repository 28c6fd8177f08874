"""Gemini, by google-genai: the Developer API, Vertex AI, or an emulator, as the settings say.

SDK types and errors stop here. One `stream` is one upstream request: nothing is retried and nothing is sent
that was not asked for.
"""

from __future__ import annotations

import asyncio
import ssl
from asyncio import AbstractEventLoop, Queue, Semaphore
from collections.abc import AsyncGenerator, AsyncIterator
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from typing import TypeAlias

import aiohttp
import certifi
from django.conf import settings
from google import genai
from google.genai import types

from chat.parts import Content, GenerateRequest, Part, PartKind, ResponseDescribed, Role, StreamEvent
from chat.providers.base import Stalled, Unreachable
from chat.providers.gemini_failures import SDK_ERRORS, failure_of
from chat.providers.gemini_wire import config_of, contents_of, events_of

CONNECT_LIMIT_S = 10.0

#: How far reading may run ahead of the caller. Reading ahead is not for speed: aiohttp throws away what has
#: come but was not yet read when the connection breaks.
READ_AHEAD_CHUNKS = 100

#: What each chunk said; None at the end.
Chunks: TypeAlias = Queue[list[StreamEvent] | None]

#: The HTTP responses that the current task has opened.
_responses: ContextVar[list[aiohttp.ClientResponse]] = ContextVar("gemini_responses")


@dataclass(frozen=True, slots=True)
class Access:
    """How the API is reached."""

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
        """Read anew for each stream: the emulator's address is known only once it has started."""
        return cls(
            vertexai=settings.GOOGLE_GENAI_USE_VERTEXAI,
            api_key="emulated" if settings.GEMINI_EMULATED else settings.GEMINI_API_KEY,
            project=settings.GOOGLE_CLOUD_PROJECT,
            location=settings.GOOGLE_CLOUD_LOCATION,
            base_url=settings.GOOGLE_GEMINI_BASE_URL,
            api_version=settings.GEMINI_API_VERSION,
            emulated=settings.GEMINI_EMULATED,
        )

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


class GeminiProvider:
    """The provider `gemini`. Clients are made one for each event loop, as connections belong to their loop."""

    name = "gemini"

    def __init__(self) -> None:
        """Do the slow first things, 0.1-0.2 s: certificates and the SDK's validators."""
        self._tls = ssl.create_default_context()
        # Beside the system's, as images of containers often have none.
        self._tls.load_verify_locations(certifi.where())
        self._clients: dict[tuple[AbstractEventLoop, Access], genai.Client] = {}
        self._sessions: dict[tuple[AbstractEventLoop, Access], AsyncGenerator[aiohttp.ClientSession, None]] = {}
        _warm_up(self._tls)

    async def stream(self, request: GenerateRequest) -> AsyncGenerator[StreamEvent, None]:
        """See `Provider.stream`; reading happens in a task of its own, which ends with this generator."""
        chunks: Chunks = Queue()
        room = Semaphore(READ_AHEAD_CHUNKS)
        reader = asyncio.create_task(self._read(request, chunks, room), name="gemini reader")
        reader.add_done_callback(lambda _: chunks.put_nowait(None))
        described = ResponseDescribed("", "")
        try:
            while (chunk := await chunks.get()) is not None:
                room.release()
                for event in chunk:
                    if isinstance(event, ResponseDescribed):
                        if (news := _described(described, event)) == described:
                            continue
                        event = described = news
                    yield event
            reader.result()
        finally:
            reader.cancel()
            await asyncio.gather(reader, return_exceptions=True)

    async def _read(self, request: GenerateRequest, chunks: Chunks, room: Semaphore) -> None:
        """Put the upstream's chunks until it ends; whatever ends this task closes the upstream request.

        Neither `break` nor `aclose()` makes the SDK close its response: its generators hold one another.
        """
        access = Access.from_settings()
        idle_limit_s: float = settings.PROVIDER_IDLE_LIMIT_S
        responses: list[aiohttp.ClientResponse] = []
        _responses.set(responses)
        try:
            client = await self._client(access)
            stream = await client.aio.models.generate_content_stream(
                model=request.model, contents=contents_of(request), config=config_of(request)
            )
            while (chunk := await _next(stream, idle_limit_s)) is not None:
                await room.acquire()
                chunks.put_nowait(list(events_of(chunk)))
        except SDK_ERRORS as error:
            status = responses[-1].status if responses else None
            # The original may hold the key, in the request's headers or in what the server repeats of it.
            raise failure_of(error, http_status=status, api_key=access.api_key) from None
        finally:
            for response in responses:
                response.close()

    async def _client(self, access: Access) -> genai.Client:
        """This loop's client."""
        if access.emulated and not access.base_url:
            raise Unreachable("There is no key, and no emulator is running.")
        for loop, other in list(self._clients):
            if loop.is_closed():
                self._clients.pop((loop, other), None)
                self._sessions.pop((loop, other), None)
        key = (asyncio.get_running_loop(), access)
        # Nothing between this and the last line waits, so that no other stream comes in between.
        if key not in self._clients:
            self._sessions[key] = _open_session(trust_env=not access.emulated)
            self._clients[key] = access.client(await anext(self._sessions[key]), self._tls)
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
        connector=_Connector(limit=0), middlewares=(_note_response,), trust_env=trust_env
    ) as session:
        yield session


async def _note_response(request: aiohttp.ClientRequest, handler: aiohttp.ClientHandlerType) -> aiohttp.ClientResponse:
    response = await handler(request)
    _responses.get().append(response)
    return response


class _Connector(aiohttp.TCPConnector):
    """Has a time limit for connecting alone; the SDK lets one be set only for the whole of a stream."""

    async def connect(
        self, req: aiohttp.ClientRequest, traces: list[aiohttp.tracing.Trace], timeout: aiohttp.ClientTimeout
    ) -> aiohttp.connector.Connection:
        return await super().connect(req, traces, aiohttp.ClientTimeout(connect=CONNECT_LIMIT_S))


async def _next(
    stream: AsyncIterator[types.GenerateContentResponse], idle_limit_s: float
) -> types.GenerateContentResponse | None:
    """The next chunk, None at the end. Raises Stalled."""
    try:
        async with asyncio.timeout(idle_limit_s) as watchdog:
            return await anext(stream, None)
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
)


def _warm_up(tls: ssl.SSLContext) -> None:
    """Do what the SDK puts off until it is first used: build validators, import its transports."""
    for model in USED_TYPES:
        model.model_rebuild()
    wire = {"candidates": [{"content": {"parts": [{"text": "a"}]}, "finishReason": "STOP"}]}
    list(events_of(types.GenerateContentResponse.model_validate(wire)))
    user = Content(Role.USER, (Part(PartKind.TEXT, text="a"),))
    request = GenerateRequest("m", (user,), system_instruction="a", code_execution=True)
    contents_of(request)
    config_of(request)
    replace(Access.from_settings(), vertexai=False, api_key="none").client(None, tls)
