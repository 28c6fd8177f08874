"""The HTTP server. It runs in a thread with an event loop of its own, so that tests may block."""

from __future__ import annotations

import asyncio
import json
import random
import threading
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

from tests.openai_server.models import PROPERTIES, RECORDING, ModelName, list_models, show_model
from tests.openai_server.refusals import Refusal, refuse, refuse_key, refuse_request
from tests.openai_server.response_events import ResponseStream
from tests.openai_server.response_rules import refuse as refuse_response
from tests.openai_server.response_shapes import RESPONSE_SHAPES
from tests.openai_server.shapes import SHAPES, RecordedBody
from tests.openai_server.violations import Violation
from tests.openai_server.writer import Completion, Piece
from tests.scenarios import SCENARIOS, find
from tests.scenarios.steps import Reset, Silence

START_LIMIT_S = 60.0
REQUEST_LIMIT_BYTES = 64 * 1024 * 1024
PIECE_LIMITS = (1, 1, 7, 64, 400, 1500)
"""Maximum sizes of the pieces of `in_pieces`, in bytes. One is chosen at random for each piece."""


@dataclass(eq=False, slots=True)
class JournalEntry:
    """One request for an answer."""

    profile: str
    data: bytes
    """The body of the request."""
    body: dict[str, Any]
    """The same as JSON."""
    path: str = ""
    """The path of the request, from which tests see the protocol."""
    status: int = 0
    """HTTP status of the response."""
    error: Any = None
    """The body of the response, if the request was refused."""
    closed: threading.Event = field(default_factory=threading.Event)
    """Set when the client has closed the connection before the end of the answer."""

    @property
    def messages(self) -> list[dict[str, Any]]:
        """The messages of the request."""
        messages: list[dict[str, Any]] = self.body["messages"]
        return messages

    @property
    def items(self) -> list[dict[str, Any]]:
        """The items of a request to the Responses API."""
        items: list[dict[str, Any]] = self.body["input"]
        return items


class StandInServer:
    """The server while it runs. Tests read its journal from another thread."""

    def __init__(
        self, recordings: Mapping[str, RecordedBody], responses_recordings: Mapping[str, RecordedBody]
    ) -> None:
        """Create a server. The arguments are the bodies that can be replayed in each protocol, by name."""
        self.journal: list[JournalEntry] = []
        """All requests for answers, oldest first."""
        self.root_url = ""
        """For example `http://127.0.0.1:40001`."""
        self._bodies = {name: shape.response for name, shape in SHAPES.items()}
        self._bodies.update({RECORDING + name: body for name, body in recordings.items()})
        """Scenario -> body that always answers its chat completions."""
        self._responses = {name: shape.response for name, shape in RESPONSE_SHAPES.items()}
        self._responses.update({RECORDING + name: body for name, body in responses_recordings.items()})

    def url(self, profile: str) -> str:
        """Return the base URL of a profile, with `/v1`."""
        return f"{self.root_url}/{profile}/v1"

    def application(self) -> web.Application:
        """Return the routes."""
        app = web.Application(client_max_size=REQUEST_LIMIT_BYTES)
        app.add_routes(
            [
                web.post("/{profile}/v1/chat/completions", self._complete),
                web.post("/{profile}/v1/responses", self._respond),
                web.get("/{profile}/v1/models", self._list_models),
                web.post("/ollama/api/show", self._show_model),
                web.get("/llamacpp/props", self._show_properties),
            ]
        )
        return app

    async def _complete(self, request: web.Request) -> web.StreamResponse:
        entry, model = await self._noted(request)
        refusal = refuse_key(entry.profile, _key_of(request)) or self._refuse_unknown(entry.profile, model)
        refusal = refusal or refuse_request(entry.profile, entry.body, model)
        completion = Completion(entry.profile, len(self.journal), entry.body, self._repetitions(entry))
        return await self._answer(request, entry, refusal, completion, self._bodies.get(model.scenario))

    async def _respond(self, request: web.Request) -> web.StreamResponse:
        entry, model = await self._noted(request)
        refusal = refuse_key(entry.profile, _key_of(request)) or refuse_response(entry.profile, entry.body, model)
        stream = ResponseStream(len(self.journal), entry.body, self._repetitions(entry))
        return await self._answer(request, entry, refusal, stream, self._responses.get(model.scenario))

    async def _noted(self, request: web.Request) -> tuple[JournalEntry, ModelName]:
        """Note a request in the journal."""
        data = await request.read()
        entry = JournalEntry(request.match_info["profile"], data, json.loads(data), request.path)
        self.journal.append(entry)
        return entry, ModelName(entry.body["model"])

    def _repetitions(self, entry: JournalEntry) -> int:
        """Return the number of earlier equal requests."""
        return sum((one.path, one.data) == (entry.path, entry.data) for one in self.journal) - 1

    async def _answer(
        self,
        request: web.Request,
        entry: JournalEntry,
        refusal: Refusal | None,
        writer: Completion | ResponseStream,
        replayed: RecordedBody | None,
    ) -> web.StreamResponse:
        """Refuse the request, or answer with a replayed body, or else with a written one."""
        if refusal is not None:
            entry.status, entry.error = refusal.status, refusal.body
            return _error_response(refusal)
        scenario = ModelName(entry.body["model"]).scenario
        pieces: Iterable[Piece]
        if replayed is None:
            pieces = writer.answer(scenario)
        elif writer.asked().results:
            # After a recorded function call, the stand-in itself answers the result.
            replayed, pieces = None, writer.answer_results()
        else:
            pieces = in_pieces(replayed.body, scenario)
        head = replayed or RecordedBody(b"")
        entry.status = head.status
        try:
            response = await _write(request, pieces, head)
            entry.status = response.status
            return response
        except (asyncio.CancelledError, ConnectionError):
            entry.closed.set()
            raise

    def _refuse_unknown(self, profile: str, model: ModelName) -> Refusal | None:
        """Return how a server refuses an unknown model; `None` if it answers with its loaded model."""
        is_known = model.scenario in self._bodies or find(SCENARIOS, model.scenario) is not None
        return None if is_known else refuse(profile, Violation("model"), model.full)

    async def _list_models(self, request: web.Request) -> web.Response:
        profile = request.match_info["profile"]
        refusal = refuse_key(profile, _key_of(request))
        return _error_response(refusal) if refusal else web.json_response(list_models(profile))

    async def _show_model(self, request: web.Request) -> web.Response:
        model = ModelName((await request.json())["model"])
        refusal = self._refuse_unknown("ollama", model)
        return _error_response(refusal) if refusal else web.json_response(show_model(model))

    async def _show_properties(self, request: web.Request) -> web.Response:
        return web.json_response(PROPERTIES)


def _key_of(request: web.Request) -> str:
    return request.headers.get("Authorization", "").removeprefix("Bearer ")


def _error_response(refusal: Refusal) -> web.Response:
    return web.json_response(refusal.body, status=refusal.status, headers=refusal.headers)


def in_pieces(body: bytes, seed: str) -> Iterator[bytes]:
    """Cut a body into pieces as a network might. Some pieces have one byte. Equal seeds give equal pieces."""
    chance = random.Random(seed)
    # The last limit keeps long bodies from having thousands of pieces.
    limits = (*PIECE_LIMITS, len(body) // 20 + 1)
    while body:
        size = chance.randint(1, chance.choice(limits))
        yield body[:size]
        body = body[size:]


async def _write(request: web.Request, pieces: Iterable[Piece], head: RecordedBody) -> web.StreamResponse:
    """Write an answer piece by piece. The status line is sent with the first bytes."""
    response = web.StreamResponse(status=head.status, headers={"Content-Type": head.content_type, **head.headers})
    for piece in pieces:
        match piece:
            case Silence(duration_s):
                # aiohttp cancels the handler when the client closes the connection.
                await asyncio.sleep(duration_s)
            case Reset():
                assert request.transport is not None
                request.transport.close()
                return response
            case Refusal():
                return _error_response(piece)
            case bytes():
                if not response.prepared:
                    await response.prepare(request)
                await response.write(piece)
                await asyncio.sleep(0)
    if not response.prepared:
        await response.prepare(request)
    await response.write_eof()
    return response


@contextmanager
def running_server(
    recordings: Mapping[str, RecordedBody] | None = None, responses: Mapping[str, RecordedBody] | None = None
) -> Iterator[StandInServer]:
    """Run the stand-in on a free loopback port during the block. It starts in some milliseconds."""
    server = StandInServer(recordings or {}, responses or {})
    runner = web.AppRunner(server.application(), handler_cancellation=True, access_log=None, shutdown_timeout=0.1)
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    try:
        asyncio.run_coroutine_threadsafe(_start(server, runner), loop).result(START_LIMIT_S)
        yield server
    finally:
        asyncio.run_coroutine_threadsafe(runner.cleanup(), loop).result(START_LIMIT_S)
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


async def _start(server: StandInServer, runner: web.AppRunner) -> None:
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    host, port = runner.addresses[0][:2]
    server.root_url = f"http://{host}:{port}"
