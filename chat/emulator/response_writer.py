"""Writes the steps of an answer to the connection: as server-sent events, as a JSON array, or as one JSON object."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from types import MappingProxyType
from typing import Protocol

from aiohttp import web

from chat.emulator import wire
from chat.emulator.wire import Chunk, Step, UnaryResponse, WireObject

_NO_HEADERS: Mapping[str, str] = MappingProxyType({})


class Body(Protocol):
    """The body of one HTTP response."""

    async def add(self, response: WireObject) -> None:
        """Add one GenerateContentResponse."""

    async def finish(self) -> web.StreamResponse:
        """Write the end of the body and return the response."""


class EventStreamBody:
    """Server-sent events. The HTTP headers are sent with the first byte of the body."""

    content_type = "text/event-stream"

    def __init__(self, http_request: web.Request, headers: Mapping[str, str] = _NO_HEADERS) -> None:
        """`headers` are further response headers."""
        self._http_request = http_request
        self._response = web.StreamResponse(headers={"Content-Type": self.content_type, **headers})

    async def add(self, response: WireObject) -> None:
        """Write one event."""
        await self.write(wire.sse_event(response))

    async def write(self, data: bytes) -> None:
        """Write raw bytes."""
        if not self._response.prepared:
            await self._response.prepare(self._http_request)
        if data:
            await self._response.write(data)

    async def finish(self) -> web.StreamResponse:
        """End the stream."""
        await self.write(b"")
        await self._response.write_eof()
        return self._response


class JsonArrayBody(EventStreamBody):
    """A JSON array that is written element by element: `streamGenerateContent` without `alt=sse`."""

    content_type = "application/json; charset=UTF-8"

    def __init__(self, http_request: web.Request, headers: Mapping[str, str] = _NO_HEADERS) -> None:
        """`headers` are further response headers."""
        super().__init__(http_request, headers)
        self._separator = b"["

    async def add(self, response: WireObject) -> None:
        """Write one element."""
        await self.write(self._separator + wire.serialize(response))
        self._separator = b",\r\n"

    async def finish(self) -> web.StreamResponse:
        """Close the array."""
        await self.write(b"[]" if self._separator == b"[" else b"]")
        return await super().finish()


class UnaryBody:
    """One JSON object with everything that the chunks contain: `generateContent`."""

    def __init__(self) -> None:
        """Start with no chunk."""
        self._response = UnaryResponse()

    async def add(self, response: WireObject) -> None:
        """Merge one chunk."""
        self._response.add(response)

    async def finish(self) -> web.StreamResponse:
        """Return the whole response."""
        return json_response(200, self._response.body)


class ResponseWriter:
    """Writes one answer. A subclass can support further kinds of steps."""

    def __init__(
        self,
        http_request: web.Request,
        *,
        is_stream: bool,
        pace: float = 1.0,
        headers: Mapping[str, str] = _NO_HEADERS,
    ) -> None:
        """`pace` multiplies all pauses; `headers` are further response headers of a stream."""
        self.pace = pace
        self.body: Body
        if not is_stream:
            self.body = UnaryBody()
        elif http_request.query.get("alt") == "sse":
            self.body = EventStreamBody(http_request, headers)
        else:
            self.body = JsonArrayBody(http_request, headers)

    async def write(self, steps: AsyncGenerator[Step, None]) -> web.StreamResponse:
        """Write all steps and return the response. `steps` is closed in any case, also if the client disconnects."""
        async with aclosing(steps):
            async for step in steps:
                response = await self.write_step(step)
                if response is not None:
                    return response
        return await self.body.finish()

    async def write_step(self, step: Step) -> web.StreamResponse | None:
        """Write one step. A step that ends the answer returns the response to send."""
        if not isinstance(step, Chunk):
            raise TypeError(f"The emulator cannot write a {type(step).__name__}.")
        await self.pause(step.after_s)
        await self.body.add(step.response)
        return None

    async def pause(self, duration_s: float) -> None:
        """Wait. Pace 0 also yields to the event loop, so that one long answer does not delay the others."""
        await asyncio.sleep(duration_s * self.pace)


def json_response(status: int, body: WireObject) -> web.Response:
    """Return a response with an indented JSON body."""
    data = wire.serialize_indented(body)
    return web.Response(status=status, body=data, content_type="application/json", charset="UTF-8")
