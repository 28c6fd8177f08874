"""The HTTP server. It runs in a thread with an event loop of its own, so that tests may block."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from aiohttp import web

from tests.openai_server import listings
from tests.openai_server.answers import Answer, Pause, in_pieces
from tests.openai_server.chunks import ChunkWriter
from tests.openai_server.journal import Journal, JournalEntry
from tests.openai_server.model_names import RECORDING, ModelName, parse_model_name
from tests.openai_server.profiles import PROFILES, Profile
from tests.openai_server.refusals import Refusal
from tests.openai_server.scenarios import SCENARIOS, ScenarioRequest, answer_results
from tests.openai_server.shape import JSON_TYPE, RecordedBody, Shape
from tests.openai_server.shapes import SHAPES
from tests.openai_server.violations import count_tokens

START_LIMIT_S = 60.0
REQUEST_LIMIT_BYTES = 64 * 1024 * 1024


class StandInServer:
    """The server while it runs, and its journal."""

    def __init__(self, recordings: Mapping[str, RecordedBody]) -> None:
        """`recordings` are the bodies that can be replayed, by name."""
        self.journal = Journal()
        self.root_url = ""
        """For example `http://127.0.0.1:40001`."""
        self._recordings = recordings

    def url(self, profile: str) -> str:
        """Return the base URL of a profile, with `/v1`."""
        return f"{self.root_url}/{profile}/v1"

    def application(self) -> web.Application:
        """Return the routes."""
        app = web.Application(client_max_size=REQUEST_LIMIT_BYTES)
        app.add_routes(
            [
                web.post("/{profile}/v1/chat/completions", self._complete),
                web.get("/{profile}/v1/models", self._list_models),
                web.post("/ollama/api/show", self._show_model),
                web.get("/llamacpp/props", self._server_properties),
            ]
        )
        return app

    async def _complete(self, request: web.Request) -> web.StreamResponse:
        profile = PROFILES[request.match_info["profile"]]
        body: dict[str, Any] = await request.json()
        entry = self.journal.begin(profile.name, body)
        model = parse_model_name(body["model"])
        refusal = self._refusal(request, profile, model, body)
        if refusal is not None:
            entry.status, entry.error = refusal.status, refusal.body
            return _error_response(refusal)
        try:
            return await _write(request, entry, self._answer(profile, model, entry))
        except (asyncio.CancelledError, ConnectionError):
            entry.closed.set()
            raise

    def _refusal(
        self, request: web.Request, profile: Profile, model: ModelName, body: Mapping[str, Any]
    ) -> Refusal | None:
        return (
            profile.key_refusal(_key_of(request))
            or (None if self._knows(model) else profile.model_refusal(model))
            or profile.refusal(body, model)
        )

    def _replayed(self, model: ModelName) -> RecordedBody | Shape | None:
        """Return the body that the name of a model names; `None` for a scenario and for an unknown model."""
        name = model.scenario
        if name.startswith(RECORDING):
            return self._recordings.get(name.removeprefix(RECORDING))
        return SHAPES.get(name)

    def _knows(self, model: ModelName) -> bool:
        return self._replayed(model) is not None or model.scenario in SCENARIOS

    def _answer(self, profile: Profile, model: ModelName, entry: JournalEntry) -> Answer:
        asks_for_usage = bool((entry.body.get("stream_options") or {}).get("include_usage"))
        tokens = count_tokens(entry.body)
        usage = {"prompt_tokens": tokens, "completion_tokens": 7, "total_tokens": tokens + 7}
        writer = ChunkWriter(profile, model.full, entry.number, asks_for_usage, usage)
        scenario_request = ScenarioRequest(entry.body, writer)
        replayed = self._replayed(model)
        if replayed is None:
            return Answer(SCENARIOS.get(model.scenario, SCENARIOS["text"])(scenario_request))
        if scenario_request.results():
            # The result of a function that a recorded answer called is answered by the stand-in itself.
            return Answer(answer_results(scenario_request))
        pieces = in_pieces(replayed.body, model.scenario)
        return Answer(pieces, replayed.status, replayed.content_type, replayed.headers)

    async def _list_models(self, request: web.Request) -> web.Response:
        profile = PROFILES[request.match_info["profile"]]
        refusal = profile.key_refusal(_key_of(request))
        if refusal is not None:
            return _error_response(refusal)
        return web.json_response(listings.list_models(profile.name))

    async def _show_model(self, request: web.Request) -> web.Response:
        body = await request.json()
        model = parse_model_name(body.get("model") or body.get("name") or "")
        if not self._knows(model):
            return web.json_response({"error": f"model '{model.full}' not found"}, status=404)
        return web.json_response(listings.show_model(model))

    async def _server_properties(self, request: web.Request) -> web.Response:
        return web.json_response(listings.server_properties())


def _key_of(request: web.Request) -> str:
    return request.headers.get("Authorization", "").removeprefix("Bearer ")


def _error_response(refusal: Refusal) -> web.Response:
    return web.Response(status=refusal.status, body=refusal.serialize(), content_type=JSON_TYPE)


async def _write(request: web.Request, entry: JournalEntry, answer: Answer) -> web.StreamResponse:
    """Write an answer step by step. The status line is sent with the first bytes."""
    headers = {"Content-Type": answer.content_type, **answer.headers}
    response = web.StreamResponse(status=answer.status, headers=headers)
    for step in answer.steps:
        match step:
            case Pause.SILENCE:
                # aiohttp cancels the handler when the client closes the connection.
                await asyncio.Event().wait()
            case Pause.CUT:
                assert request.transport is not None
                request.transport.close()
                return response
            case bytes():
                if not response.prepared:
                    entry.status = answer.status
                    await response.prepare(request)
                await response.write(step)
                await asyncio.sleep(0)
    if not response.prepared:
        entry.status = answer.status
        await response.prepare(request)
    # Before the end is sent, so that a client which has read it finds this in the journal.
    entry.is_complete = True
    await response.write_eof()
    return response


@contextmanager
def running_server(recordings: Mapping[str, RecordedBody] | None = None) -> Iterator[StandInServer]:
    """Run the stand-in on a free loopback port during the block. It starts in some milliseconds."""
    server = StandInServer(recordings or {})
    loop = asyncio.new_event_loop()
    is_started = threading.Event()
    stop = asyncio.Event()
    thread = threading.Thread(target=loop.run_until_complete, args=[_serve(server, is_started, stop)], daemon=True)
    thread.start()
    assert is_started.wait(START_LIMIT_S), "The stand-in server did not start."
    try:
        yield server
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join()
        loop.close()


async def _serve(server: StandInServer, is_started: threading.Event, stop: asyncio.Event) -> None:
    runner = web.AppRunner(server.application(), handler_cancellation=True, access_log=None, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    host, port = runner.addresses[0][:2]
    server.root_url = f"http://{host}:{port}"
    is_started.set()
    await stop.wait()
    await runner.cleanup()
