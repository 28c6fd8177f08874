"""The test server: the shipped emulator with scenarios, replays, titles, a journal and strict mode."""

from __future__ import annotations

import base64
import hashlib
import re
from collections import Counter
from collections.abc import AsyncGenerator, Iterable, Mapping
from dataclasses import replace
from pathlib import Path

from aiohttp import web

from chat.emulator import model_list, wire
from chat.emulator.app import CODE_LIMIT_S, Emulator
from chat.emulator.generation_request import GenerationRequest, parse_generation_request
from chat.emulator.wire import Step, WireError, WireObject
from chat.python.kernels.places import Place
from tests.gemini_emulator import replay, scenarios
from tests.gemini_emulator.fault_writer import FaultWriter
from tests.gemini_emulator.journal import CallState, Journal
from tests.gemini_emulator.replay import Recordings
from tests.gemini_emulator.strict_mode import StrictMode
from tests.gemini_emulator.titles import asks_for_title, title_steps

CUT_HEADER = "X-Emulator-Cut"
"""Request header: split a recorded body into pieces of so many bytes."""
NOTE_HEADER = "X-Emulator-Note"
"""Response header: says that a recorded body was converted."""
COUNTED_REQUESTS_LIMIT = 10_000
"""The number of different requests after which counting of equal requests starts again."""
_CHANGING = re.compile(rb'"fileUri":"[^"]*"|\[Note of the server: it is [^]]*\]')


class EmulatorForTests(Emulator):
    """An emulator for tests. Its answers are reproducible: equal requests in the same order get equal answers."""

    def __init__(
        self,
        place: Place,
        *,
        pace: float = 1.0,
        code_limit_s: float = CODE_LIMIT_S,
        is_strict: bool = False,
        recordings: Path | None = None,
    ) -> None:
        """`is_strict` rejects what the real API rejects; `recordings` is a folder of bodies to replay."""
        super().__init__(place, pace=pace, code_limit_s=code_limit_s)
        self._strict_mode = StrictMode() if is_strict else None
        self._recordings = Recordings(recordings)
        self._journal = Journal()
        self._repetitions: Counter[str] = Counter()

    def routes(self) -> list[web.RouteDef]:
        """Return the routes of the emulator and of the journal."""
        return [*self._journal.routes(), *super().routes()]

    def models(self) -> list[WireObject]:
        """Return the demo model, all scenarios and all recordings."""
        return [
            *super().models(),
            *(
                model_list.describe_model(scenarios.PREFIX + name, scenario.description)
                for name, scenario in scenarios.SCENARIOS.items()
            ),
            *(model_list.describe_model(name, "A recorded answer.") for name in self._recordings.names()),
        ]

    def find_model(self, name: str) -> WireObject:
        """Return the description of a model; raises WireError for an unknown scenario or recording."""
        is_unknown_scenario = name.startswith(scenarios.PREFIX) and scenarios.find(name) is None
        is_unknown_recording = name.startswith(replay.PREFIX) and self._recordings.find(name) is None
        if is_unknown_scenario or is_unknown_recording:
            raise WireError(404, f"models/{name} is not found for this API version.", "NOT_FOUND")
        return model_list.describe_model(name, "")

    async def generate(
        self, http_request: web.Request, model: str, body: WireObject, *, is_stream: bool
    ) -> web.StreamResponse:
        """Record, check and answer one generation request."""
        data = await http_request.read()
        entry = self._journal.begin(model, http_request.match_info["method"], body, len(data))
        try:
            request = parse_generation_request(model, body, response_id="")
            if self._strict_mode is not None:
                self._strict_mode.check(request)
        except WireError:
            entry.end(CallState.REFUSED)
            raise
        headers: Mapping[str, str] = {}
        if asks_for_title(body):
            steps = _as_async(title_steps(replace(request, response_id=_response_id(request, 0))))
        else:
            repetition = self._count(request)
            request = replace(request, response_id=_response_id(request, repetition))
            if model.startswith(replay.PREFIX):
                steps, headers = self._replay(http_request, model, is_stream=is_stream)
            elif model.startswith(scenarios.PREFIX):
                steps = _as_async(scenarios.scenario_steps(request, repetition))
            else:
                steps = self.answer(request)
        if self._strict_mode is not None:
            steps = self._strict_mode.observe(request, steps)
        return await FaultWriter(http_request, entry, is_stream=is_stream, pace=self.pace, headers=headers).write(steps)

    def _replay(
        self, http_request: web.Request, model: str, *, is_stream: bool
    ) -> tuple[AsyncGenerator[Step, None], Mapping[str, str]]:
        """Return the steps of a recording and the headers of the response."""
        path = self._recordings.find(model)
        if path is None:
            return _as_async([replay.not_found(model)]), {}
        cut = http_request.headers.get(CUT_HEADER, "")
        steps = replay.replay_steps(
            path,
            is_stream=is_stream,
            is_sse=http_request.query.get("alt") == "sse",
            cut_bytes=int(cut) if cut.isdecimal() else 0,
        )
        is_converted = is_stream and path.suffix == ".json"
        return _as_async(steps), {NOTE_HEADER: "unary recording, wrapped as one event"} if is_converted else {}

    def _count(self, request: GenerationRequest) -> int:
        """Return how many equal requests came before. Requests that differ only in file URIs or dates are equal."""
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
