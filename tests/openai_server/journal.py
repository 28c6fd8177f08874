"""The requests that the server has received. Tests read it from another thread."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from typing import Any


@dataclass(eq=False, slots=True)
class JournalEntry:
    """One request for an answer."""

    number: int
    """Counts from 1."""
    profile: str
    body: dict[str, Any]
    status: int = 0
    """HTTP status of the response; 0 as long as none was sent."""
    error: Any = None
    """The body of the response, if the request was refused."""
    is_complete: bool = False
    """Whether the answer was sent to its end."""
    closed: threading.Event = field(default_factory=threading.Event)
    """Set when the client has closed the connection before the end of the answer."""

    @property
    def messages(self) -> list[dict[str, Any]]:
        """The messages of the request."""
        messages: list[dict[str, Any]] = self.body["messages"]
        return messages

    @property
    def roles(self) -> list[str]:
        """The role of each message."""
        return [message["role"] for message in self.messages]


class Journal:
    """All requests, oldest first. Appending to a list is atomic, so there is no lock."""

    def __init__(self) -> None:
        """Create an empty journal."""
        self.entries: list[JournalEntry] = []

    def begin(self, profile: str, body: dict[str, Any]) -> JournalEntry:
        """Record a request, and return its entry."""
        entry = JournalEntry(len(self.entries) + 1, profile, body)
        self.entries.append(entry)
        return entry

    def since(self, number: int) -> list[JournalEntry]:
        """Return the entries after the first `number` ones."""
        return self.entries[number:]

    def __len__(self) -> int:
        return len(self.entries)
