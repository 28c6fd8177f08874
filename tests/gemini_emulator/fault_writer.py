"""Writes answers that may contain faults, and records in the journal how each answer ended."""

from __future__ import annotations

import asyncio
import socket
import struct
from collections.abc import AsyncGenerator, Mapping

from aiohttp import web

from chat.emulator import wire
from chat.emulator.response_writer import EventStreamBody, JsonArrayBody, ResponseWriter
from chat.emulator.wire import Step
from tests.gemini_emulator.journal import CallState, JournalEntry
from tests.gemini_emulator.steps import ConnectionReset, JsonReply, RawBytes, Silence, StreamError


class FaultWriter(ResponseWriter):
    """Writes one answer, also its faults."""

    def __init__(
        self,
        http_request: web.Request,
        entry: JournalEntry,
        *,
        is_stream: bool,
        pace: float,
        headers: Mapping[str, str],
    ) -> None:
        """`entry` is the journal's entry of the call."""
        super().__init__(http_request, is_stream=is_stream, pace=pace, headers=headers)
        self._http_request = http_request
        self._entry = entry

    async def write(self, steps: AsyncGenerator[Step, None]) -> web.StreamResponse:
        """Write all steps, and record the end of the call."""
        try:
            response = await super().write(steps)
            self._entry.end(CallState.DONE)
            return response
        finally:
            # The call has no state yet only if it was cancelled or its connection broke.
            self._entry.end(CallState.LEFT)

    async def write_step(self, step: Step) -> web.StreamResponse | None:
        """Write one step, and count it."""
        match step:
            case JsonReply():
                return self._json_reply(step)
            case ConnectionReset():
                return self._reset()
            case Silence(duration_s):
                await asyncio.sleep(duration_s)
                return None
            case RawBytes(data, after_s):
                await self.pause(after_s)
                if isinstance(self.body, EventStreamBody):
                    await self.body.write(data)
            case StreamError():
                await self.pause(step.after_s)
                if not isinstance(self.body, EventStreamBody):
                    return self._json_reply(JsonReply(step.body["error"]["code"], wire.serialize_indented(step.body)))
                if step.as_event or isinstance(self.body, JsonArrayBody):
                    await self.body.add(step.body)
                else:
                    await self.body.write(wire.serialize_indented(step.body))
            case _:
                await super().write_step(step)
        self._entry.steps += 1
        return None

    def _json_reply(self, reply: JsonReply) -> web.Response:
        self._entry.end(CallState.DONE if reply.status == 200 else CallState.REFUSED)
        body = b"[" + reply.body.rstrip() + b"\n]\n" if isinstance(self.body, JsonArrayBody) else reply.body
        return web.Response(status=reply.status, body=body, content_type="application/json", charset="UTF-8")

    def _reset(self) -> web.StreamResponse:
        self._entry.end(CallState.RESET)
        transport = self._http_request.transport
        if transport is not None:
            # With a linger time of 0 s the kernel sends RST instead of FIN.
            raw_socket = transport.get_extra_info("socket")
            raw_socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            transport.abort()
        return web.Response()
