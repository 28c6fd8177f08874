"""A program that calls the API of a real server with a token."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import requests

from tests.live_server import LiveServer

LIMIT_S = 30.0
LIVE = ("queued", "running")


@dataclass(frozen=True)
class Event:
    """One event of a stream."""

    seq: int | None
    name: str
    data: dict[str, Any]


def parsed(lines: Iterator[bytes]) -> Iterator[Event]:
    """Events of `text/event-stream`, comments left out."""
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


class Caller:
    """One token's owner."""

    def __init__(self, server: LiveServer, token: str) -> None:
        self.server = server
        self.http = requests.Session()
        self.http.headers["Authorization"] = f"Bearer {token}"

    def call(self, method: str, path: str, **options: Any) -> requests.Response:  # noqa: ANN401 - as requests'
        """Any call; a path within the API, or a reference that it gave."""
        url = f"{self.server.url}{path if path.startswith('/') else f'/api/v1/{path}'}"
        return self.http.request(method, url, timeout=LIMIT_S, **options)

    def get(self, path: str, **options: Any) -> requests.Response:  # noqa: ANN401 - as requests'
        """GET."""
        return self.call("GET", path, **options)

    def post(self, path: str, **options: Any) -> requests.Response:  # noqa: ANN401 - as requests'
        """POST."""
        return self.call("POST", path, **options)

    def new_conversation(self, **given: str) -> str:
        """Its id."""
        response = self.post("conversations/", json=given)
        assert response.status_code == 201, response.text
        return str(response.json()["id"])

    def ask(self, conversation_id: str, text: str = "Hello", key: str = "", **given: Any) -> requests.Response:  # noqa: ANN401
        """Begin a turn."""
        headers = {"Idempotency-Key": key} if key else {}
        return self.post(f"conversations/{conversation_id}/turns/", json={"text": text, **given}, headers=headers)

    def begin(self, model: str, text: str = "Hello", **given: Any) -> dict[str, Any]:  # noqa: ANN401 - JSON
        """A turn in a conversation of its own."""
        response = self.ask(self.new_conversation(model=model), text, **given)
        assert response.status_code == 202, response.text
        started: dict[str, Any] = response.json()
        return started

    def events(self, url: str, after: int | None = None) -> Iterator[Event]:
        """The events, as they come."""
        headers = {} if after is None else {"Last-Event-ID": str(after)}
        with self.get(url, headers=headers, stream=True) as response:
            assert response.status_code == 200, response.text
            assert response.headers["Content-Type"] == "text/event-stream"
            yield from parsed(response.iter_lines(chunk_size=1))

    def ended(self, turn_id: str) -> dict[str, Any]:
        """A turn, once it has ended."""
        give_up_at = time.monotonic() + LIMIT_S
        while time.monotonic() < give_up_at:
            turn: dict[str, Any] = self.get(f"turns/{turn_id}/").json()
            if turn["status"] not in LIVE:
                return turn
            time.sleep(0.05)
        raise AssertionError("the turn did not end")
