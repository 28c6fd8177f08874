"""Records the calls of models and how each of them ended, for `GET /emulator/calls`."""

from __future__ import annotations

import time
from collections import deque
from dataclasses import dataclass, field
from enum import StrEnum

from aiohttp import web

from chat.emulator.wire import WireError, WireObject

ENTRIES_LIMIT = 100
REQUESTS_LIMIT_BYTES = 64 * 1024 * 1024
"""Limit for all stored request bodies, which can contain files. Older ones are deleted first."""


class CallState(StrEnum):
    """The state of a call."""

    LIVE = "live"
    DONE = "done"
    LEFT = "left"
    """The client closed the connection before the end."""
    RESET = "reset"
    """The scenario reset the connection."""
    REFUSED = "refused"
    """The server answered with an HTTP error."""


@dataclass(slots=True)
class JournalEntry:
    """One call of a model."""

    number: int
    """Counts from 1."""
    model: str
    method: str
    request: WireObject
    """The request body with names in camelCase; empty if it was deleted to save memory."""
    request_bytes: int
    state: CallState = CallState.LIVE
    steps: int = 0
    """The number of steps of the answer that were sent."""
    duration_s: float = 0.0
    started_s: float = field(default_factory=time.monotonic)

    def end(self, state: CallState) -> None:
        """Set the final state. Only the first call has an effect."""
        if self.state is CallState.LIVE:
            self.state = state
            self.duration_s = time.monotonic() - self.started_s

    def summary(self) -> WireObject:
        """Return everything except the request, as JSON."""
        duration_s = self.duration_s or time.monotonic() - self.started_s
        return {
            "number": self.number,
            "model": self.model,
            "method": self.method,
            "state": self.state,
            "steps": self.steps,
            "duration_s": round(duration_s, 3),
        }


class Journal:
    """The last calls, oldest first."""

    def __init__(self) -> None:
        """Create an empty journal."""
        self._entries: deque[JournalEntry] = deque(maxlen=ENTRIES_LIMIT)
        self._count = 0

    def routes(self) -> list[web.RouteDef]:
        """Return the routes that show the journal."""
        return [
            web.get("/emulator/calls", self._list_calls),
            web.get("/emulator/calls/{number:[0-9]+}", self._get_call),
        ]

    def begin(self, model: str, method: str, request: WireObject, request_bytes: int) -> JournalEntry:
        """Add and return the entry of a new call."""
        self._count += 1
        entry = JournalEntry(self._count, model, method, request, request_bytes)
        self._entries.append(entry)
        total_bytes = 0
        for stored in reversed(self._entries):
            total_bytes += stored.request_bytes
            if total_bytes > REQUESTS_LIMIT_BYTES:
                stored.request, stored.request_bytes = {}, 0
        return entry

    async def _list_calls(self, http_request: web.Request) -> web.Response:
        return web.json_response([entry.summary() for entry in self._entries])

    async def _get_call(self, http_request: web.Request) -> web.Response:
        number = int(http_request.match_info["number"])
        for entry in self._entries:
            if entry.number == number:
                return web.json_response({**entry.summary(), "request": entry.request})
        raise WireError(404, f"The journal has no call {number}.", "NOT_FOUND")
