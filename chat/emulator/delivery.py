"""Puts the steps of an answer on the connection: as server-sent events, as a JSON array, or as one body."""

from __future__ import annotations

import asyncio
import socket
import struct
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from dataclasses import dataclass, field

from aiohttp import web

from chat.emulator import wire
from chat.emulator.journal import CallState, Entry
from chat.emulator.wire import Chunk, Raw, Reply, Reset, Silence, Step, StreamError, Unary, WireObject


class _Body:
    """A body that is sent bit by bit; its headers go with the first byte, so silence before it is silence."""

    content_type = "text/event-stream"

    def __init__(self, request: web.Request, headers: Mapping[str, str]) -> None:
        self._request = request
        self._response = web.StreamResponse(headers={"Content-Type": self.content_type, **headers})

    async def send(self, step: Chunk | Raw | StreamError) -> None:
        match step:
            case Chunk(response):
                await self.write(wire.event(response))
            case StreamError(body, as_event=True):
                await self.write(wire.event(body))
            case StreamError(body):
                await self.write(wire.bare_error(body))
            case Raw(data):
                await self.write(data)

    async def write(self, data: bytes) -> None:
        if not self._response.prepared:
            await self._response.prepare(self._request)
        if data:
            await self._response.write(data)

    async def finish(self) -> web.StreamResponse:
        await self.write(b"")
        await self._response.write_eof()
        return self._response


class _ArrayBody(_Body):
    """What `streamGenerateContent` gives without `alt=sse`: a JSON array, sent element by element."""

    content_type = "application/json; charset=UTF-8"

    def __init__(self, request: web.Request, headers: Mapping[str, str]) -> None:
        super().__init__(request, headers)
        self._separator = b"["

    async def send(self, step: Chunk | Raw | StreamError) -> None:
        if isinstance(step, Raw):
            await self.write(step.data)
            return
        element = step.response if isinstance(step, Chunk) else step.body
        await self.write(self._separator + wire.dump(element))
        self._separator = b",\r\n"

    async def finish(self) -> web.StreamResponse:
        await self.write(b"[]" if self._separator == b"[" else b"]")
        return await super().finish()


@dataclass(frozen=True, slots=True)
class Delivery:
    """One answer on its way."""

    request: web.Request
    entry: Entry
    pace: float
    """Multiplies the pauses of the steps; 0 leaves them out."""
    headers: Mapping[str, str] = field(default_factory=dict)

    async def send(self, steps: AsyncGenerator[Step, None], *, is_stream: bool) -> web.StreamResponse:
        """Deliver to the end, and note in the journal when the client leaves; the steps are always closed."""
        try:
            async with aclosing(steps):
                return await (self._stream(steps) if is_stream else self._unary(steps))
        finally:
            # Reached with the call still live only when it was cancelled or its connection broke.
            self.entry.end(CallState.LEFT)

    async def _stream(self, steps: AsyncGenerator[Step, None]) -> web.StreamResponse:
        is_sse = self.request.query.get("alt") == "sse"
        body = (_Body if is_sse else _ArrayBody)(self.request, self.headers)
        async for step in steps:
            match step:
                case Reply():
                    return self._reply(step, in_array=not is_sse)
                case Silence(duration_s):
                    await asyncio.sleep(duration_s)
                case Reset():
                    return self._reset()
                case _:
                    # Even at pace 0 the loop takes a breath, so that one long answer starves no other.
                    await asyncio.sleep(step.after_s * self.pace)
                    await body.send(step)
                    self.entry.steps += 1
        response = await body.finish()
        self.entry.end(CallState.DONE)
        return response

    async def _unary(self, steps: AsyncGenerator[Step, None]) -> web.StreamResponse:
        """Collect all steps into one JSON body; an error inside the stream becomes the HTTP error."""
        whole = Unary()
        async for step in steps:
            match step:
                case Reply():
                    return self._reply(step)
                case Silence(duration_s):
                    await asyncio.sleep(duration_s)
                case Reset():
                    return self._reset()
                case StreamError(body):
                    return self._reply(Reply(body["error"]["code"], wire.bare_error(body)))
                case Chunk(response, after_s):
                    await asyncio.sleep(after_s * self.pace)
                    whole.add(response)
                    self.entry.steps += 1
        self.entry.end(CallState.DONE)
        return json_reply(200, whole.response)

    def _reply(self, reply: Reply, *, in_array: bool = False) -> web.Response:
        self.entry.end(CallState.DONE if reply.status == 200 else CallState.REFUSED)
        body = b"[" + reply.body.rstrip() + b"\n]\n" if in_array else reply.body
        return web.Response(status=reply.status, body=body, content_type="application/json", charset="UTF-8")

    def _reset(self) -> web.StreamResponse:
        self.entry.end(CallState.RESET)
        transport = self.request.transport
        if transport is not None:
            # Lingering for 0 s makes the close a RST instead of a FIN.
            raw = transport.get_extra_info("socket")
            raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            transport.abort()
        return web.Response()


def json_reply(status: int, body: WireObject) -> web.Response:
    """A JSON answer, as the API writes it when it does not stream."""
    return web.Response(status=status, body=wire.bare_error(body), content_type="application/json", charset="UTF-8")
