"""The server: which path is asked, who answers, and errors in Gemini's form."""

from __future__ import annotations

import hashlib
import ipaddress
import re
from collections import Counter
from collections.abc import AsyncGenerator, AsyncIterator, Iterable
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlsplit

from aiohttp import web
from aiohttp.typedefs import Handler, Middleware

from chat.emulator import catalogue, replay, scenarios, titles, voice, wire
from chat.emulator.call import (
    Call,
    contents_of,
    has_code_execution,
    instruction_of,
    read_body,
    wants_images,
    wants_thoughts,
)
from chat.emulator.delivery import Delivery, json_reply
from chat.emulator.demo import Demo
from chat.emulator.embedded import KERNELS_PATH
from chat.emulator.files import FileStore
from chat.emulator.journal import CallState, Journal
from chat.emulator.replay import Recordings
from chat.emulator.strict import Strict
from chat.emulator.wire import Step, WireError, WireObject

BODY_LIMIT_BYTES = 256 * 1024 * 1024
CODE_LIMIT_S = 30.0
"""Time limit of one execution, as Gemini's."""
CUT_HEADER = "X-Emulator-Cut"
"""Request header: send a recorded body in pieces of so many bytes."""
COUNTED_CALLS = 10_000
"""Different calls whose repetitions are counted before counting starts anew."""
_FILE_URI = re.compile(rb'"fileUri":"[^"]*"')
STREAM, UNARY = "streamGenerateContent", "generateContent"


class Emulator:
    """One server's state: pace, recordings, uploaded files, journal, warm kernels."""

    def __init__(
        self,
        *,
        pace: float = 1.0,
        recordings: Path | None = None,
        cut_bytes: int = 0,
        warm_kernels: int = 0,
        code_limit_s: float = CODE_LIMIT_S,
        keeps_requests: bool = False,
        strict: bool = False,
    ) -> None:
        """`pace` multiplies all pauses; `warm_kernels` sessions are kept ready for the demo model.

        `keeps_requests` lets the journal show the bodies of calls to whoever asks; `strict` refuses what the real API
        does.
        """
        self._pace = pace
        self._cut_bytes = cut_bytes
        self._recordings = Recordings(recordings)
        self._files = FileStore()
        self._journal = Journal(keeps_requests=keeps_requests)
        self._demo = Demo(self._files, warm_kernels, code_limit_s)
        self._strict = Strict() if strict else None
        self._equal_calls: Counter[str] = Counter()

    def application(self, host: str) -> web.Application:
        """The routes; any version and any Vertex path may stand before `models/`.

        `host` is the address that is listened on: a request must name it, or loopback, as the host it wants.
        """
        app = web.Application(client_max_size=BODY_LIMIT_BYTES, middlewares=[_in_gemini_form, _only_for(host)])
        app.router.add_routes(
            [
                web.get("/emulator/calls", self._calls),
                web.get("/emulator/calls/{number:[0-9]+}", self._call),
                web.get(KERNELS_PATH, self._count_kernels),
                *self._files.routes(),
                web.get("/{path:.*models}", self._models),
                web.get("/{path:.*models}/{model:[^:]+}", self._model),
                web.post("/{path:.*?models}/{model:[^:]+}:{method}", self._generate),
            ]
        )
        app.cleanup_ctx.append(self._kernels)
        return app

    async def _kernels(self, app: web.Application) -> AsyncIterator[None]:
        self._demo.warm_up()
        yield
        await self._demo.close()

    async def _count_kernels(self, request: web.Request) -> web.Response:
        alive, warm = self._demo.kernels()
        return web.json_response({"alive": alive, "warm": warm})

    # --- generation ---

    async def _generate(self, request: web.Request) -> web.StreamResponse:
        model, method = request.match_info["model"], request.match_info["method"]
        data = await request.read()
        body = read_body(data)
        if method == "countTokens":
            return json_reply(200, {"totalTokens": max(1, len(data) // 4)})
        if method not in (STREAM, UNARY):
            raise WireError(404, f"models/{model} is not supported for {method}.", "NOT_FOUND")
        entry = self._journal.begin(model, method, body, len(data))
        is_stream = method == STREAM
        try:
            call = self._read_call(model, body)
        except WireError:
            entry.end(CallState.REFUSED)
            raise
        if titles.asks_for_title(instruction_of(body)):
            steps, note = _asynchronous(titles.steps(call)), ""
        else:
            steps, note = self._answer(request, self._counted(call), is_stream)
        if self._strict is not None:
            steps = self._strict.listen(call, steps)
        headers = {"X-Emulator-Note": note} if note else {}
        return await Delivery(request, entry, self._pace, headers).send(steps, is_stream=is_stream)

    def _read_call(self, model: str, body: WireObject) -> Call:
        contents = contents_of(body)
        code_execution, include_thoughts = has_code_execution(body), wants_thoughts(body)
        if self._strict is not None:
            self._strict.check(model, body, contents)
        return Call(
            model=model,
            contents=contents,
            code_execution=code_execution,
            include_thoughts=include_thoughts,
            number=0,
            response_id=voice.response_id(model, wire.dump(contents), 0),
            image_output=wants_images(body),
            is_continuation="continuationToken" in body,
        )

    def _counted(self, call: Call) -> Call:
        """The call with its number among equal ones; a file that was uploaded anew makes no difference."""
        asked = wire.dump(list(call.contents))
        key = hashlib.sha256(call.model.encode() + _FILE_URI.sub(b"", asked)).hexdigest()
        number = self._equal_calls[key]
        if len(self._equal_calls) > COUNTED_CALLS:
            self._equal_calls.clear()
        self._equal_calls[key] = number + 1
        return replace(call, number=number, response_id=voice.response_id(call.model, asked, number))

    def _answer(self, request: web.Request, call: Call, is_stream: bool) -> tuple[AsyncGenerator[Step, None], str]:
        """The steps of an answer, and what a header should say of them."""
        if call.model.startswith(scenarios.PREFIX):
            return _asynchronous(scenarios.steps(call)), ""
        if not call.model.startswith(replay.PREFIX):
            return self._demo.steps(call), ""
        path = self._recordings.find(call.model)
        if path is None:
            return _asynchronous([replay.not_found(call.model)]), ""
        recorded = replay.steps(
            path,
            is_stream=is_stream,
            is_sse=request.query.get("alt") == "sse",
            cut_bytes=_cut_bytes(request, self._cut_bytes),
        )
        is_wrapped = is_stream and path.suffix == ".json"
        return _asynchronous(recorded), "unary recording, wrapped as one event" if is_wrapped else ""

    # --- models and journal ---

    async def _models(self, request: web.Request) -> web.Response:
        described = catalogue.models(self._recordings.names())
        if "publishers/" not in request.match_info["path"]:
            return web.json_response(catalogue.page(described, request.query, "models"))
        publisher = [{**model, "name": f"publishers/google/{model['name']}"} for model in described]
        return web.json_response(catalogue.page(publisher, request.query, "publisherModels"))

    async def _model(self, request: web.Request) -> web.Response:
        name = request.match_info["model"]
        unknown_scenario = name.startswith(scenarios.PREFIX) and scenarios.find(name) is None
        unknown_recording = name.startswith(replay.PREFIX) and self._recordings.find(name) is None
        if unknown_scenario or unknown_recording:
            raise WireError(404, f"models/{name} is not found for this API version.", "NOT_FOUND")
        return web.json_response(catalogue.describe(name, ""))

    async def _calls(self, request: web.Request) -> web.Response:
        return web.json_response([entry.summary() for entry in self._journal.entries()])

    async def _call(self, request: web.Request) -> web.Response:
        for entry in self._journal.entries():
            if entry.number == int(request.match_info["number"]):
                return web.json_response({**entry.summary(), "request": entry.request})
        raise WireError(404, "No such call, or no longer kept.", "NOT_FOUND")


@web.middleware
async def _in_gemini_form(request: web.Request, handler: Handler) -> web.StreamResponse:
    try:
        return await handler(request)
    except WireError as fault:
        body = [fault.body] if _is_array(request) else fault.body
        return web.Response(status=fault.status, body=wire.dump(body), content_type="application/json", charset="UTF-8")
    except web.HTTPException as fault:
        name = {404: "NOT_FOUND", 405: "UNIMPLEMENTED", 413: "INVALID_ARGUMENT"}.get(fault.status, "UNKNOWN")
        return json_reply(fault.status, wire.error(fault.status, f"{fault.reason}: {request.path}", name))


def _only_for(own: str) -> Middleware:
    """Refuse requests for any other host: a web page whose name leads to loopback sends its own name."""

    @web.middleware
    async def check(request: web.Request, handler: Handler) -> web.StreamResponse:
        host = request.headers.get("Host", "")
        if not _is_loopback(host) and _name_of(host) != own.lower():
            raise WireError(403, f"The emulator is not {host[:100]!r}.", "PERMISSION_DENIED")
        if "Origin" in request.headers:
            # Only a browser sends one: a page that posts blindly to an address of this machine.
            raise WireError(403, "The emulator is not for web pages.", "PERMISSION_DENIED")
        return await handler(request)

    return check


def _is_loopback(host: str) -> bool:
    name = _name_of(host)
    try:
        return name == "localhost" or ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False


def _name_of(host: str) -> str:
    """The name or address of a Host header, without its port; empty where it is none."""
    try:
        return urlsplit(f"//{host}").hostname or ""
    except ValueError:
        return ""


def _is_array(request: web.Request) -> bool:
    return request.path.endswith(f":{STREAM}") and request.query.get("alt") != "sse"


def _cut_bytes(request: web.Request, usual: int) -> int:
    wanted = request.headers.get(CUT_HEADER, "")
    return int(wanted) if wanted.isdecimal() else usual


async def _asynchronous(steps: Iterable[Step]) -> AsyncGenerator[Step, None]:
    for step in steps:
        yield step
