"""What was asked of the emulator and how each call ended, for tests and for the curious: `GET /emulator/calls`."""

from __future__ import annotations

import time
from collections import deque
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

KEPT_CALLS = 100
KEPT_REQUESTS_BYTES = 64 * 1024 * 1024
"""Requests with attachments are large: older ones are emptied when all together pass this."""


class CallState(StrEnum):
    """How far a call came."""

    LIVE = "live"
    DONE = "done"
    LEFT = "left"
    """The client closed the connection before the end."""
    RESET = "reset"
    """The scenario broke the connection."""
    REFUSED = "refused"
    """An HTTP error was sent."""


@dataclass(slots=True)
class Entry:
    """One call of a model."""

    number: int
    model: str
    method: str
    request: dict[str, Any]
    request_bytes: int
    state: CallState = CallState.LIVE
    steps: int = 0
    """How many steps of the answer were sent."""
    duration_s: float = 0.0
    started: float = field(default_factory=time.monotonic)

    def end(self, state: CallState) -> None:
        """Note how the call ended; the first ending counts."""
        if self.state is CallState.LIVE:
            self.state = state
            self.duration_s = time.monotonic() - self.started

    def summary(self) -> dict[str, Any]:
        """All but the request, as JSON."""
        duration_s = self.duration_s or time.monotonic() - self.started
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

    def __init__(self, *, keeps_requests: bool = False) -> None:
        """Begin with none; without `keeps_requests` nothing that users wrote is kept."""
        self._keeps_requests = keeps_requests
        self._entries: deque[Entry] = deque(maxlen=KEPT_CALLS)
        self._count = 0

    def begin(self, model: str, method: str, request: dict[str, Any], request_bytes: int) -> Entry:
        """Write down a new call; `request` is its body in camelCase."""
        self._count += 1
        if not self._keeps_requests:
            request, request_bytes = {}, 0
        entry = Entry(self._count, model, method, request, request_bytes)
        self._entries.append(entry)
        total_bytes = 0
        for kept in reversed(self._entries):
            total_bytes += kept.request_bytes
            if total_bytes > KEPT_REQUESTS_BYTES:
                kept.request, kept.request_bytes = {}, 0
        return entry

    def entries(self) -> list[Entry]:
        """What is kept."""
        return list(self._entries)
