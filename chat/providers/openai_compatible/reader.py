"""Reads one response: its bytes become stream events, and an error that follows them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Iterable, Iterator
from contextlib import aclosing, suppress
from itertools import chain
from typing import Protocol

from chat.providers.openai_compatible.accumulator import Accumulator
from chat.providers.openai_compatible.chunks import Delta, ErrorInStream
from chat.providers.openai_compatible.errors import ReportedError, provider_error, report_of
from chat.providers.openai_compatible.pace import Pace
from chat.providers.openai_compatible.transport import Response, read_all
from chat.providers.provider_errors import MalformedResponse, ProviderError
from chat.providers.reasons import clean_reason
from chat.providers.sse import EventParser, JSONEvent
from chat.providers.untrusted_json import WireObject, read_json
from chat.vocabulary.stream_events import Finish, Finished, StreamEvent

END_LIMIT_S = 0.2
EVENT_LIMIT_BYTES = 32 * 1024 * 1024
"""Maximum size of an event, and of a response that is no stream. It can hold a picture of 24 MB as base64."""
RESPONSE_LIMIT_BYTES = 256 * 1024 * 1024
"""Maximum size of a stream. The chunk of a token has some hundred bytes."""
PAUSE_BYTES = 2 * 1024
"""Maximum number of bytes that are parsed before other tasks run. They may all be empty lines."""
PAUSE_STEPS = 64
"""Maximum number of events and deltas that are parsed before other tasks run."""
MALFORMED_CALL = "tool_use_failed"
"""Groq's code for a function call that does not follow the function's schema."""


class Decoder(Protocol):
    """Makes the normal form of one response from its events, or from the one value of a server that does not stream."""

    done_completes: bool
    """Whether `[DONE]` alone makes an answer complete."""
    is_done: bool
    """Whether the last event was decoded. What follows is not read."""

    def deltas_of(self, value: WireObject) -> Iterator[Delta]:
        """Yield the content of one event."""
        ...

    def rest(self) -> Iterator[Delta]:
        """Yield what is known only at the end of the response."""
        ...


class ResponseReader:
    """Reads one response."""

    def __init__(self, accumulator: Accumulator, decoder: Decoder, *, api_key: str) -> None:
        self._accumulator = accumulator
        self._decoder = decoder
        self._api_key = api_key
        self._is_done = False
        self._has_chunks = False
        self._read_bytes = 0
        """Length of the stream so far."""
        self.error: Exception | None = None
        """The error that follows the events that were yielded last."""

    async def read(self, response: Response) -> AsyncGenerator[list[StreamEvent], None]:
        """Yield the events of each network read, in short lists. Nothing follows an error.

        After each list, even an empty one, other tasks may run. If parsing has taken much time, the reader sleeps too
        (see `Pace`).
        """
        pace = Pace()
        try:
            async with aclosing(self._network_reads(response)) as network_reads:
                async for lists in network_reads:
                    pace.begin()
                    for events in lists:
                        pace.end()
                        yield events
                        await pace.rest()
                        pace.begin()
        except ProviderError as error:
            self.error = error
            # The connection has broken. Text that was held back is yielded; an incomplete picture becomes words.
            yield list(self._accumulator.flush())

    async def _network_reads(self, response: Response) -> AsyncGenerator[Iterator[list[StreamEvent]], None]:
        """Yield, for each network read, an iterator of lists of events. It parses no more than the next list needs."""
        if not response.is_stream:
            # The whole body is one event: the server does not stream, or reports an error with status 200.
            yield chain(
                self._collect(_single_event(await read_all(response.body, EVENT_LIMIT_BYTES))), self._end(is_done=True)
            )
            return
        parser = EventParser(EVENT_LIMIT_BYTES)
        async with aclosing(response.body) as body:
            async for piece in body:
                yield self._collect(self._parse(parser, piece))
                if self._is_done or self.error:
                    break
            if not self.error:
                yield chain(self._collect(parser.close()), self._end())
            if self._is_done:
                await _read_to_end(body)

    def _parse(self, parser: EventParser, data: bytes) -> Iterator[JSONEvent | None]:
        """Yield the events of the server that these bytes complete; `None` where other tasks should run."""
        self._read_bytes += len(data)
        if self._read_bytes > RESPONSE_LIMIT_BYTES:
            raise ValueError(f"the response is longer than {RESPONSE_LIMIT_BYTES} bytes")
        for start in range(0, len(data), PAUSE_BYTES):
            if start:
                yield None
            yield from parser.feed(data[start : start + PAUSE_BYTES])

    def _collect(self, events: Iterator[JSONEvent | None]) -> Iterator[list[StreamEvent]]:
        """Yield the stream events of some events of the server, and note the error that ended them."""
        collected: list[StreamEvent] = []
        steps = 0
        try:
            for step in self._steps(events):
                steps += 1
                collected += step or ()
                if step is None or steps >= PAUSE_STEPS:
                    yield collected
                    collected, steps = [], 0
        except ValueError as error:
            self.error = MalformedResponse(str(error))
        if self.error:
            collected += self._accumulator.flush()
        yield collected

    def _steps(self, events: Iterator[JSONEvent | None]) -> Iterator[Iterable[StreamEvent] | None]:
        """Yield the stream events of each delta, up to the end or an error. Each event and each delta is one step."""
        for event in events:
            if event is None:
                yield None
                continue
            if event.is_done:
                self._is_done = True
                return
            self._has_chunks = True
            if event.name == "error" or not isinstance(event.data, dict):
                yield self._reported(ErrorInStream(event.data))
            else:
                yield from map(self._events, self._decoder.deltas_of(event.data))
            self._is_done = self._decoder.is_done
            if self.error or self._is_done:
                return
            yield ()

    def _events(self, delta: Delta) -> Iterable[StreamEvent]:
        return self._reported(delta) if isinstance(delta, ErrorInStream) else self._accumulator.add(delta)

    def _reported(self, reported: ErrorInStream) -> Iterator[StreamEvent]:
        """Record an error of the stream. A malformed call is not an error, but the end of the answer."""
        report = report_of(reported.error)
        if report.code == MALFORMED_CALL:
            yield malformed_call(report, self._api_key)
        else:
            self.error = self.error or provider_error(report, status=None, headers={}, api_key=self._api_key)

    def _end(self, *, is_done: bool = False) -> Iterator[list[StreamEvent]]:
        """Yield the last events of the response, unless an error has ended it."""
        if self.error:
            return
        if not self._has_chunks:
            self.error = MalformedResponse("The response is empty: it holds no event.")
            yield []
            return
        events = list(chain.from_iterable(map(self._events, self._decoder.rest())))
        is_done = self._decoder.done_completes and (self._is_done or is_done)
        yield events + list(self._accumulator.flush() if self.error else self._accumulator.close(is_done=is_done))


def malformed_call(report: ReportedError, api_key: str) -> Finished:
    """Return the end of an answer whose function call the server refused."""
    return Finished(Finish.MALFORMED_CALL, report.code, clean_reason(report.message, api_key))


async def _read_to_end(body: AsyncGenerator[bytes, None]) -> None:
    """Read what follows the end of the stream, so that the connection can be used again."""
    with suppress(TimeoutError, ProviderError):
        async with asyncio.timeout(END_LIMIT_S):
            async for _ in body:
                pass


def _single_event(body: bytes) -> Iterator[JSONEvent]:
    yield JSONEvent("", read_json(body.decode("utf-8", "replace")))
