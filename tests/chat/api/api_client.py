"""A client of the API of a real server, with a token."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import requests

from tests.live_server import LiveServer

TIMEOUT_S = 30.0
"""The longest wait for any bytes of a response."""
TURN_LIMIT_S = 120.0
"""The longest wait for the end of a turn."""


@dataclass(frozen=True)
class Event:
    """One event of a stream."""

    seq: int | None
    name: str
    data: dict[str, Any]


def parse_events(lines: Iterator[bytes]) -> Iterator[Event]:
    """Yield the events of `text/event-stream`, without comments."""
    fields: dict[str, str] = {}
    for line in lines:
        name, _, value = line.decode().partition(": ")
        if name:
            fields[name] = value
        elif not line and "event" in fields:
            seq = int(fields["id"]) if "id" in fields else None
            yield Event(seq, fields["event"], json.loads(fields["data"]))
            fields = {}
        elif not name:
            fields = {}


def _within_limit(lines: Iterator[bytes]) -> Iterator[bytes]:
    """Yield the lines. Raises AssertionError after TURN_LIMIT_S, because heartbeats keep a stream open for ever."""
    give_up_at = time.monotonic() + TURN_LIMIT_S
    for line in lines:
        assert time.monotonic() < give_up_at, "the turn did not end"
        yield line


class ApiClient:
    """Calls the API with one token."""

    def __init__(self, server: LiveServer, token: str) -> None:
        self.server = server
        self.http = requests.Session()
        self.http.headers["Authorization"] = f"Bearer {token}"

    def call(self, method: str, path: str, **options: Any) -> requests.Response:
        """Make a call. `path`: relative to the API, or a path that a response held."""
        url = f"{self.server.url}{path if path.startswith('/') else f'/api/v1/{path}'}"
        return self.http.request(method, url, timeout=TIMEOUT_S, **options)

    def get(self, path: str, **options: Any) -> requests.Response:
        """Make a GET call."""
        return self.call("GET", path, **options)

    def post(self, path: str, **options: Any) -> requests.Response:
        """Make a POST call."""
        return self.call("POST", path, **options)

    def create_conversation(self, **settings: str) -> str:
        """Create a conversation and return its id."""
        response = self.post("conversations/", json=settings)
        assert response.status_code == 201, response.text
        return str(response.json()["id"])

    def ask(self, conversation_id: str, text: str = "Hello", *, key: str = "", **fields: object) -> requests.Response:
        """Start a turn. `key`: the `Idempotency-Key`."""
        headers = {"Idempotency-Key": key} if key else {}
        return self.post(f"conversations/{conversation_id}/turns/", json={"text": text, **fields}, headers=headers)

    def start_turn(self, model: str, **fields: object) -> dict[str, Any]:
        """Start a turn in a new conversation and return its JSON."""
        response = self.post(
            f"conversations/{self.create_conversation(model=model)}/turns/", json={"text": "Hello", **fields}
        )
        assert response.status_code == 202, response.text
        started: dict[str, Any] = response.json()
        return started

    def events(self, url: str, after: int | None = None) -> Iterator[Event]:
        """Yield the events of a stream as they arrive. `after`: the `Last-Event-ID`."""
        headers = {} if after is None else {"Last-Event-ID": str(after)}
        with self.get(url, headers=headers, stream=True) as response:
            assert response.status_code == 200, response.text
            assert response.headers["Content-Type"] == "text/event-stream"
            yield from parse_events(_within_limit(response.iter_lines(chunk_size=1)))

    def wait_for_end(self, turn_id: str) -> dict[str, Any]:
        """Follow a turn to its last event and return its JSON."""
        *_, last = self.events(f"turns/{turn_id}/events/")
        assert last.name == "done"
        turn: dict[str, Any] = self.get(f"turns/{turn_id}/").json()
        return turn
