"""Writes the steps of an answer to the connection: as server-sent events, or as one JSON object."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Protocol

from aiohttp import web

from chat.emulator import wire
from chat.emulator.wire import Chunk, Step, WireObject

BODY = "body of the response"
"""The key under which a request may hold a body of another protocol."""


class Body(Protocol):
    """The body of one HTTP response."""

    async def add(self, response: WireObject) -> None:
        """Add one GenerateContentResponse."""

    async def finish(self) -> web.StreamResponse:
        """Write the end of the body and return the response."""


class EventStreamBody:
    """A body of server-sent events. The HTTP headers are sent with the first byte of the body."""

    def __init__(self, http_request: web.Request) -> None:
        """Create a body. Nothing is sent yet."""
        self._http_request = http_request
        self._response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})

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


class UnaryBody:
    """A body of one JSON object that has the content of all chunks, as `generateContent` responds."""

    def __init__(self) -> None:
        """Create a body without chunks."""
        self._body: WireObject = {}

    async def add(self, response: WireObject) -> None:
        """Merge one chunk."""
        wire.merge_chunk(self._body, response)

    async def finish(self) -> web.StreamResponse:
        """Return the whole response."""
        return json_response(200, self._body)


class ResponseWriter:
    """Writes one answer. A subclass can support further kinds of steps."""

    def __init__(self, http_request: web.Request, *, is_stream: bool, pace: float = 1.0) -> None:
        """`pace` multiplies all pauses."""
        self.pace = pace
        self.body: Body = http_request.get(BODY) or (EventStreamBody(http_request) if is_stream else UnaryBody())

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
