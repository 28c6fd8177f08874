"""The test server: the shipped emulator with scenarios, recordings, titles and a journal, strict as the real API."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections import Counter
from collections.abc import AsyncGenerator, Iterable, Iterator
from contextlib import aclosing
from dataclasses import replace
from pathlib import Path

from aiohttp import web

from chat.emulator import model_list, wire
from chat.emulator.app import CODE_LIMIT_S, SENT, Emulator
from chat.emulator.generation_request import GenerationRequest, parse_generation_request
from chat.emulator.wire import Chunk, Step, WireError, WireObject
from chat.python.kernels.places import Place
from tests.gemini_emulator.fault_writer import FaultWriter
from tests.gemini_emulator.journal import CallState, Journal
from tests.gemini_emulator.request_checks import Signatures, check_order
from tests.gemini_emulator.steps import Fault, RawBytes
from tests.gemini_emulator.titles import asks_for_title, title_steps
from tests.gemini_emulator.writer import NAMES, PREFIX, is_scenario, scenario_steps
from tests.scenarios.steps import HttpError

REPLAY = "replay-"
COUNTED_REQUESTS_LIMIT = 10_000
"""Maximum number of different requests that are counted. Then counting starts again."""
_CHANGING = re.compile(rb'"fileUri":"[^"]*"|\[Note of the server: it is [^]]*\]')


class EmulatorForTests(Emulator):
    """An emulator for tests. Its answers are reproducible: equal requests in the same order get equal answers."""

    def __init__(
        self, place: Place, *, pace: float = 1.0, code_limit_s: float = CODE_LIMIT_S, recordings: Path | None = None
    ) -> None:
        """`recordings`: folder with the bodies that can be replayed."""
        super().__init__(place, pace=pace, code_limit_s=code_limit_s)
        self._recordings = recordings
        self._signatures = Signatures()
        self._journal = Journal()
        self._repetitions: Counter[str] = Counter()

    def routes(self) -> list[web.RouteDef]:
        """Return the routes of the emulator and of the journal."""
        return [*self._journal.routes(), *super().routes()]

    def models(self) -> list[WireObject]:
        """Return the demo model and all scenarios."""
        scenarios = [model_list.describe_model(PREFIX + name, "A scripted answer.") for name in NAMES]
        return [*super().models(), *scenarios]

    def find_model(self, name: str) -> WireObject:
        """Return the description of a model; raises WireError for an unknown scenario."""
        if name.startswith(PREFIX) and not is_scenario(name.removeprefix(PREFIX)):
            raise WireError(404, f"models/{name} is not found for this API version.", "NOT_FOUND")
        return model_list.describe_model(name, "")

    async def generate(
        self, http_request: web.Request, model: str, body: WireObject, *, is_stream: bool
    ) -> web.StreamResponse:
        """Record, check and answer one generation request."""
        entry = self._journal.begin(model, http_request.get(SENT, body))
        try:
            request = parse_generation_request(model, body, response_id="")
            check_order(request)
            self._signatures.check(model, request.contents)
        except WireError:
            entry.end(CallState.REFUSED)
            raise
        steps = self._remembered(model, self._answer(request))
        return await FaultWriter(http_request, entry, is_stream=is_stream, pace=self.pace).write(steps)

    def _answer(self, request: GenerationRequest) -> AsyncGenerator[Step, None]:
        if asks_for_title(request.body):
            return _as_async(title_steps(replace(request, response_id=_response_id(request, 0))))
        repetition = self._count(request)
        request = replace(request, response_id=_response_id(request, repetition))
        if request.model.startswith(REPLAY):
            return _as_async(self._replay(request.model.removeprefix(REPLAY)))
        if request.model.startswith(PREFIX):
            return _as_async(scenario_steps(request, repetition))
        return self.answer(request)

    async def _remembered(self, model: str, steps: AsyncGenerator[Step, None]) -> AsyncGenerator[Step, None]:
        """Yield the steps. Remember their signatures first, because clients may send them back at once."""
        async with aclosing(steps):
            async for step in steps:
                if isinstance(step, Chunk):
                    self._signatures.remember(model, wire.serialize(step.response))
                elif isinstance(step, RawBytes):
                    self._signatures.remember(model, step.data)
                yield step

    def _replay(self, name: str) -> Iterator[Step]:
        """Yield a recorded body byte for byte: a stream, or the JSON of an HTTP error."""
        assert self._recordings is not None
        stream = self._recordings / f"{name}.sse"
        if stream.exists():
            yield RawBytes(stream.read_bytes())
            return
        error = json.loads((self._recordings / f"{name}.json").read_bytes())["error"]
        yield Fault(HttpError(error["code"], error.get("status", ""), error["message"], error.get("details", ())))

    def _count(self, request: GenerationRequest) -> int:
        """Return the number of earlier equal requests. Requests that differ only in file URIs or dates are equal."""
        contents = _CHANGING.sub(b"", wire.serialize(list(request.contents)))
        key = hashlib.sha256(request.model.encode() + contents).hexdigest()
        repetition = self._repetitions[key]
        if len(self._repetitions) > COUNTED_REQUESTS_LIMIT:
            self._repetitions.clear()
        self._repetitions[key] = repetition + 1
        return repetition


def _response_id(request: GenerationRequest, repetition: int) -> str:
    """Return an id that depends only on the request and its repetition."""
    contents = wire.serialize(list(request.contents))
    digest = hashlib.sha256(f"{request.model}\0{repetition}\0".encode() + contents).digest()
    return base64.urlsafe_b64encode(digest).decode()[:23]


async def _as_async(steps: Iterable[Step]) -> AsyncGenerator[Step, None]:
    for step in steps:
        yield step
