"""Abuses by which one person may delay others. Each is a function that returns when it is over."""

from __future__ import annotations

import io
import json
import socket
import threading
import time
from collections.abc import Callable, Collection, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

import requests
from PIL import Image
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import ClientConnection, connect

from bench.abuse_upstream import FENCES
from bench.processes import BenchError

MESSAGES = 19_900
TIMEOUT_S = 300.0
LOOPS = 8
HALF_SENT = 250
IMAGES = 8
IMAGE_SIDE = 6_000
FRAMES_PER_S = 400
REPEATS = 5
"""Number of repetitions of a short abuse, so that it meets enough of the other person's requests."""


@dataclass(frozen=True, slots=True)
class Person:
    """A logged-in person."""

    url: str
    cookie: str
    token: str
    conversation_id: str

    def call(
        self,
        method: str,
        path: str,
        *,
        content_type: str = "",
        refusals: Collection[int] = (),
        **options: Any,
    ) -> requests.Response:
        """Call the REST API. Raise BenchError for an error, except for a status of `refusals`."""
        headers = {"Authorization": f"Bearer {self.token}"} | ({"Content-Type": content_type} if content_type else {})
        response = requests.request(method, f"{self.url}/api/v1/{path}", headers=headers, timeout=TIMEOUT_S, **options)
        if response.status_code >= 400 and response.status_code not in refusals:
            raise BenchError(f"{method} {path}: {response.status_code} {response.text[:300]}")
        return response

    def page(self, conversation_id: str) -> float:
        """Load the page of a conversation, and return how many seconds it took."""
        started_at = time.monotonic()
        requests.get(
            f"{self.url}/c/{conversation_id}/", headers={"Cookie": self.cookie}, timeout=TIMEOUT_S
        ).raise_for_status()
        return time.monotonic() - started_at

    def new_conversation(self) -> str:
        """Create a conversation and return its id."""
        return str(self.call("POST", "conversations/", json={}).json()["id"])

    def ask(self, text: str) -> None:
        """Ask in a new conversation whose page is open, and return when the answer is complete.

        Raise BenchError if the turn ends in another way.
        """
        conversation_id = self.new_conversation()
        turn = self.call("POST", f"conversations/{conversation_id}/turns/", json={"text": text}).json()
        with self.socket(conversation_id) as tab:
            while (status := self.call("GET", f"turns/{turn['id']}/").json()["status"]) in ("queued", "running"):
                try:
                    while True:
                        tab.recv(timeout=0.2)
                except TimeoutError:
                    pass
        if status != "done":
            raise BenchError(f"the answer to {text!r} ended as {status}")

    def socket(self, conversation_id: str) -> ClientConnection:
        """Open a page's socket."""
        return connect(
            f"{self.url.replace('http', 'ws')}/ws/conversations/{conversation_id}/",
            additional_headers={"Cookie": self.cookie, "Origin": self.url},
            max_size=64 * 1024 * 1024,
        )

    def import_messages(self, texts: Sequence[str]) -> str:
        """Import a conversation in ChatGPT's form, and return its id."""
        mapping: dict[str, object] = {"root": {"id": "root", "message": None, "parent": None, "children": ["0"]}}
        for number, text in enumerate(texts):
            mapping[str(number)] = {
                "id": str(number),
                "parent": str(number - 1) if number else "root",
                "children": [str(number + 1)] if number + 1 < len(texts) else [],
                "message": {
                    "id": str(number),
                    "author": {"role": "assistant" if number % 2 else "user"},
                    "create_time": 1.7e9 + number,
                    "content": {"content_type": "text", "parts": [text]},
                    "metadata": {},
                },
            }
        document = [{"id": f"{time.time()}", "title": "Long", "mapping": mapping, "current_node": str(len(texts) - 1)}]
        body = json.dumps(document).encode()
        response = self.call("POST", "import/", data=body, content_type="application/json")
        return str(response.json()["ids"][0])


def in_parallel(*calls: Callable[[], object]) -> None:
    """Run calls in threads and return when all have ended. Raise the first error, or BenchError if a call hangs."""
    errors: list[Exception] = []

    def run(call: Callable[[], object]) -> None:
        try:
            call()
        except Exception as error:  # noqa: BLE001 - it is raised below
            errors.append(error)

    threads = [threading.Thread(target=run, args=[call], daemon=True) for call in calls]
    for thread in threads:
        thread.start()
    give_up_at = time.monotonic() + TIMEOUT_S
    for thread in threads:
        thread.join(max(0.0, give_up_at - time.monotonic()))
    if errors:
        raise errors[0]
    if any(thread.is_alive() for thread in threads):
        raise BenchError(f"a call did not end within {TIMEOUT_S:g} s")


def long_texts() -> list[str]:
    """Return the texts of a long conversation."""
    return [f"Message {number} with some words in it. " * 4 for number in range(MESSAGES)]


def read_pages(person: Person, conversation_id: str) -> None:
    """Read all messages by the REST API."""
    path = f"conversations/{conversation_id}/messages/?limit=100"
    while path:
        path = (person.call("GET", path).json()["next"] or "").removeprefix("/api/v1/")


def import_fences(person: Person) -> None:
    """Import messages with code over which lexers backtrack and load their page, several times."""
    for _ in range(REPEATS):
        person.page(person.import_messages([FENCES] * 10))


def read_long_page(person: Person, conversation_id: str) -> None:
    """Load the page of a long conversation several times."""
    for _ in range(REPEATS * 10):
        person.page(conversation_id)


def flood(person: Person) -> None:
    """Send 400 frames a second until the server closes the socket."""
    with person.socket(person.conversation_id) as tab:
        try:
            started_at = time.monotonic()
            for number in range(100 * FRAMES_PER_S):
                tab.send("{}")
                time.sleep(max(0.0, started_at + number / FRAMES_PER_S - time.monotonic()))
        except ConnectionClosed:
            return
    raise BenchError("the socket was not closed")


def send_halves(person: Person) -> None:
    """Begin 250 requests, and leave them for 5 s."""
    port = int(person.url.rpartition(":")[2])
    with ExitStack() as stack:
        for _ in range(HALF_SENT):
            connection = stack.enter_context(socket.create_connection(("127.0.0.1", port), timeout=20))
            connection.sendall(b"POST /accounts/login/ HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 1000\r\n\r\nx")
        time.sleep(5)


def upload_images(person: Person) -> None:
    """Upload large images at the same time."""
    buffer = io.BytesIO()
    Image.linear_gradient("L").resize((IMAGE_SIDE, IMAGE_SIDE)).convert("RGB").save(buffer, "PNG")
    data = buffer.getvalue()

    def upload() -> None:
        person.call("POST", "attachments/", files={"file": ("large.png", data, "image/png")})

    in_parallel(*[upload] * IMAGES)


def run_loops(people: Sequence[Person]) -> None:
    """Run endless loops in Python sessions for 20 s, and stop them. Raise BenchError if one ended earlier."""
    turns: list[tuple[Person, str]] = []

    def loop(person: Person) -> Callable[[], object]:
        def run() -> None:
            path = f"conversations/{person.new_conversation()}/session/run/"
            turns.append((person, person.call("POST", path, json={"code": "while True: pass"}).json()["id"]))

        return run

    in_parallel(*[loop(people[number % len(people)]) for number in range(LOOPS)])
    time.sleep(20)
    states = [person.call("GET", f"turns/{turn}/").json()["status"] for person, turn in turns]
    for person, turn in turns:
        person.call("POST", f"turns/{turn}/stop/")
    if states != ["running"] * LOOPS:
        raise BenchError(f"the loops were {states}")
