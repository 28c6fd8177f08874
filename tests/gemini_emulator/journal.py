"""Records the calls of models and how each of them ended, for `GET /emulator/calls`."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from enum import StrEnum

from aiohttp import web

from chat.emulator.wire import WireError, WireObject

ENTRIES_LIMIT = 100
"""Maximum number of calls that are kept, because requests can contain files."""


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
    """Number of the call, counted from 1."""
    model: str
    request: WireObject
    """The request body: for `generateContent` with names in camelCase, for an interaction unchanged."""
    state: CallState = CallState.LIVE

    def end(self, state: CallState) -> None:
        """Set the final state. Only the first call has an effect."""
        if self.state is CallState.LIVE:
            self.state = state

    def summary(self) -> WireObject:
        """Return everything except the request, as JSON."""
        return {"number": self.number, "model": self.model, "state": self.state}


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

    def begin(self, model: str, request: WireObject) -> JournalEntry:
        """Add and return the entry of a new call."""
        self._count += 1
        entry = JournalEntry(self._count, model, request)
        self._entries.append(entry)
        return entry

    async def _list_calls(self, http_request: web.Request) -> web.Response:
        return web.json_response([entry.summary() for entry in self._entries])

    async def _get_call(self, http_request: web.Request) -> web.Response:
        number = int(http_request.match_info["number"])
        for entry in self._entries:
            if entry.number == number:
                return web.json_response({**entry.summary(), "request": entry.request})
        raise WireError(404, f"The journal has no call {number}.", "NOT_FOUND")
