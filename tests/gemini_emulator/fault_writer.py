"""Writes answers that may contain faults, and records in the journal how each answer ended."""

from __future__ import annotations

import asyncio
import socket
import struct
from collections.abc import AsyncGenerator

from aiohttp import web

from chat.emulator import wire
from chat.emulator.response_writer import EventStreamBody, ResponseWriter
from tests.gemini_emulator.journal import CallState, JournalEntry
from tests.gemini_emulator.steps import Fault, RawBytes, error_body
from tests.scenarios.steps import HttpError, Reset, Silence


class FaultWriter(ResponseWriter):
    """Writes one answer with its faults."""

    def __init__(self, http_request: web.Request, entry: JournalEntry, *, is_stream: bool, pace: float) -> None:
        """`entry` is the journal's entry of the call."""
        super().__init__(http_request, is_stream=is_stream, pace=pace)
        self._http_request = http_request
        self._entry = entry
        self._has_begun = False

    async def write(self, steps: AsyncGenerator[wire.Step, None]) -> web.StreamResponse:
        """Write all steps, and record the end of the call."""
        try:
            response = await super().write(steps)
            self._entry.end(CallState.DONE)
            return response
        finally:
            # If the call has no state yet, it was cancelled or its connection broke.
            self._entry.end(CallState.LEFT)

    async def write_step(self, step: wire.Step) -> web.StreamResponse | None:
        """Write one step. If the first step is an error, it is the whole response."""
        match step:
            case Fault(Silence(duration_s)):
                await asyncio.sleep(duration_s)
            case Fault(Reset()):
                return self._reset()
            case Fault(HttpError() as error) if self._has_begun:
                await self.body.add(error_body(error))
            case Fault(HttpError() as error):
                return self._error(error)
            case RawBytes(data):
                assert isinstance(self.body, EventStreamBody)
                await self.body.write(data)
            case _:
                self._has_begun = True
                return await super().write_step(step)
        return None

    def _error(self, error: HttpError) -> web.Response:
        self._entry.end(CallState.REFUSED)
        body = wire.serialize_indented(error_body(error))
        return web.Response(status=error.status, body=body, content_type="application/json", charset="UTF-8")

    def _reset(self) -> web.StreamResponse:
        self._entry.end(CallState.RESET)
        transport = self._http_request.transport
        if transport is not None:
            # With a linger time of 0 s the kernel sends RST instead of FIN.
            raw_socket = transport.get_extra_info("socket")
            raw_socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            transport.abort()
        return web.Response()
