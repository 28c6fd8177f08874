"""Reads one response: its bytes become stream events, and an error that follows them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Iterator
from contextlib import aclosing, suppress

from chat.providers.base import MalformedResponse, ProviderError
from chat.providers.openai_compatible.accumulator import Accumulator
from chat.providers.openai_compatible.chunks import ErrorInStream, deltas_of
from chat.providers.openai_compatible.errors import ReportedError, provider_error, report_of, without_key
from chat.providers.openai_compatible.transport import Response, read_all
from chat.providers.sse import EventParser, JSONEvent
from chat.providers.untrusted_json import read_json
from chat.stream_events import Finish, Finished, StreamEvent

END_LIMIT_S = 0.2
MALFORMED_CALL = "tool_use_failed"
"""Groq's code for a function call that does not follow the function's schema."""


class ResponseReader:
    """Reads one response."""

    def __init__(self, accumulator: Accumulator, *, api_key: str) -> None:
        self._accumulator = accumulator
        self._api_key = api_key
        self._is_done = False
        self._has_chunks = False
        self.error: Exception | None = None
        """The error that follows the events that were yielded last."""

    async def read(self, response: Response) -> AsyncGenerator[list[StreamEvent], None]:
        """Yield the events of each network read. Nothing follows an error."""
        if not response.is_stream:
            # The server does not stream, or reports an error with status 200.
            yield [*self._collect(_single_event(await read_all(response.body))), *self._end(is_done=True)]
            return
        parser = EventParser()
        async with aclosing(response.body) as body:
            async for piece in body:
                yield self._collect(parser.feed(piece))
                if self._is_done or self.error:
                    break
            if not self.error:
                yield [*self._collect(parser.close()), *self._end()]
            if self._is_done:
                await _read_to_end(body)

    def _collect(self, events: Iterator[JSONEvent]) -> list[StreamEvent]:
        """Return the stream events of some events of the server, and note the error that ended them."""
        collected: list[StreamEvent] = []
        try:
            for event in events:
                if event.is_done:
                    self._is_done = True
                    break
                self._has_chunks = True
                self._add(event, collected)
        except ValueError as error:
            self.error = MalformedResponse(str(error))
        if self.error:
            collected += self._accumulator.flush()
        return collected

    def _add(self, event: JSONEvent, collected: list[StreamEvent]) -> None:
        if event.name == "error" or not isinstance(event.data, dict):
            collected += self._reported(ErrorInStream(event.data))
            return
        for delta in deltas_of(event.data):
            if isinstance(delta, ErrorInStream):
                collected += self._reported(delta)
            else:
                collected += self._accumulator.add(delta)

    def _reported(self, reported: ErrorInStream) -> Iterator[StreamEvent]:
        """Record an error of the stream. A malformed call is not an error, but the end of the answer."""
        report = report_of(reported.error)
        if report.code == MALFORMED_CALL:
            yield malformed_call(report, self._api_key)
        else:
            self.error = self.error or provider_error(report, status=None, headers={}, api_key=self._api_key)

    def _end(self, *, is_done: bool = False) -> Iterator[StreamEvent]:
        if not self._has_chunks and not self.error:
            self.error = MalformedResponse("The response is empty: it holds no event.")
        return self._accumulator.close(is_done=(self._is_done or is_done) and not self.error)


def malformed_call(report: ReportedError, api_key: str) -> Finished:
    """Return the end of an answer whose function call the server refused."""
    return Finished(Finish.MALFORMED_CALL, report.code, without_key(report.message, api_key))


async def _read_to_end(body: AsyncGenerator[bytes, None]) -> None:
    """Read what follows the end of the stream, so that the connection can be used again."""
    with suppress(TimeoutError, ProviderError):
        async with asyncio.timeout(END_LIMIT_S):
            async for _ in body:
                pass


def _single_event(body: bytes) -> Iterator[JSONEvent]:
    yield JSONEvent("", read_json(body.decode("utf-8", "replace")))
