"""A server process that is told to end: its answers may go on for a while, and pages move to another process."""

from __future__ import annotations

import signal
import subprocess
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager

import pytest
import requests
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import ClientConnection

from chat.answering.turns.draining import RESTART, SENTENCE
from chat.messages.notices import INTERRUPTIONS
from chat.page.relay.follower import CLOSE_RESTARTING
from tests.dom import Page
from tests.emulator_server import running_emulator
from tests.live_server import LiveServer, Visitor, running_server, send
from tests.polling import wait_until

LONG_LEASE_S = 60
"""Longer than any test: no turn ends because its lease has expired."""
EXIT_LIMIT_S = 60.0


@pytest.fixture(scope="module")
def emulator_url() -> Iterator[str]:
    with running_emulator(pace=1.0) as url:
        yield url


@contextmanager
def draining_server(emulator_url: str, seconds: int) -> Iterator[LiveServer]:
    """Run a server that drains for this time."""
    variables = {"DRAIN_SECONDS": str(seconds), "SETTING_TURN_LEASE_S": str(LONG_LEASE_S)}
    with running_server(GOOGLE_GEMINI_BASE_URL=emulator_url, **variables) as server:
        yield server
        if server.process and server.process.poll() is None:
            server.kill()


def terminate(server: LiveServer) -> subprocess.Popen[bytes]:
    """Send SIGTERM to a server, and wait until it drains."""
    assert server.process
    server.process.terminate()
    wait_until(lambda: requests.get(f"{server.url}/readyz", timeout=60).status_code == 503)
    return server.process


def new_conversation(visitor: Visitor, model: str) -> str:
    conversation_id = visitor.new_conversation()
    visitor.post(f"/c/{conversation_id}/settings/", model=model)
    return conversation_id


def ask(socket: ClientConnection, page: Page) -> None:
    """Ask, and apply messages to the page until the first part of the answer is there."""
    client_id = send(socket, "go")
    while client_id not in page.accepted_ids or "data-part-kind" not in page.transcript:
        page.apply(str(socket.recv(timeout=60)))


def read_to_the_close(socket: ClientConnection, page: Page) -> int | None:
    """Apply messages to the page until the server closes the socket; return the code."""
    try:
        while True:
            page.apply(str(socket.recv(timeout=EXIT_LIMIT_S)))
    except ConnectionClosed as closed:
        return closed.rcvd.code if closed.rcvd else None


def turn_statuses(server: LiveServer) -> list[tuple[str, str]]:
    return server.rows("SELECT status, error_code FROM chat_turn ORDER BY created_at")


@pytest.mark.drill
def test_draining_server_ends_answers_closes_sockets_and_starts_no_turns(emulator_url: str) -> None:
    answers = 4
    with draining_server(emulator_url, 30) as server, ExitStack() as stack:
        visitor = Visitor(server)
        pages = [Page() for _ in range(answers)]
        conversations = [new_conversation(visitor, "scenario-long-20") for _ in pages]
        sockets = [stack.enter_context(visitor.socket(conversation_id)) for conversation_id in conversations]
        idle = new_conversation(visitor, "scenario-text")
        sockets.append(stack.enter_context(visitor.socket(idle)))
        for socket, page in zip(sockets, pages, strict=False):
            ask(socket, page)
        process = terminate(server)
        client_id = check_refusals(server, visitor, idle)
        with ThreadPoolExecutor() as threads:
            codes = list(threads.map(read_to_the_close, sockets, [*pages, Page()]))
        assert codes == [CLOSE_RESTARTING] * (answers + 1)
        assert process.wait(EXIT_LIMIT_S) == 0
        assert turn_statuses(server) == [("done", "")] * answers
        server.start()
        # The pages show what the successor shows, and it takes the question that was refused.
        for conversation_id, page in zip(conversations, pages, strict=True):
            assert page.transcript == visitor.transcript(conversation_id)
        send(stack.enter_context(visitor.socket(idle)), "go", client_id=client_id)
        wait_until(lambda: turn_statuses(server) == [("done", "")] * (answers + 1))
        server.kill()


def check_refusals(server: LiveServer, visitor: Visitor, conversation_id: str) -> str:
    """Assert that a draining server starts nothing; return the `client_id` of a question that it has refused."""
    assert requests.get(f"{server.url}/healthz", timeout=60).ok
    with visitor.socket(conversation_id) as socket:
        # The page keeps a question with a client_id. It connects again and sends it elsewhere.
        client_id = send(socket, "go")
        assert read_to_the_close(socket, page := Page()) == CLOSE_RESTARTING
        assert page.accepted_ids == []
    with visitor.socket(conversation_id) as socket:
        # The page does not repeat other actions, so it says why nothing happened.
        socket.send('{"action": "continue"}')
        while SENTENCE not in str(socket.recv(timeout=60)):
            pass  # The transcript may arrive before.
    response = visitor.http.post(
        f"{server.url}/api/v1/conversations/{conversation_id}/turns/",
        json={"text": "go"},
        headers={"X-CSRFToken": visitor.http.cookies["csrftoken"] or "", "Referer": server.url},
        timeout=60,
    )
    assert (response.status_code, response.json()["detail"]) == (503, SENTENCE)
    assert response.headers["Retry-After"]
    return client_id


def test_answer_that_still_runs_when_the_drain_time_is_over_is_interrupted_with_a_reason(emulator_url: str) -> None:
    with draining_server(emulator_url, 1) as server:
        visitor, page = Visitor(server), Page()
        conversation_id = new_conversation(visitor, "scenario-long-600")
        with visitor.socket(conversation_id) as socket:
            ask(socket, page)
            began_s = time.monotonic()
            process = terminate(server)
            assert read_to_the_close(socket, page) == CLOSE_RESTARTING
            assert process.wait(EXIT_LIMIT_S) == 0
        assert time.monotonic() - began_s < LONG_LEASE_S / 4
        assert turn_statuses(server) == [("interrupted", RESTART)]
        assert INTERRUPTIONS[RESTART] in page.transcript


@pytest.mark.drill
def test_second_signal_ends_the_process_at_once(emulator_url: str) -> None:
    with draining_server(emulator_url, 60) as server:
        visitor = Visitor(server)
        with visitor.socket(new_conversation(visitor, "scenario-long-600")) as socket:
            ask(socket, Page())
            process = terminate(server)
            process.send_signal(signal.SIGINT)
            assert process.wait(EXIT_LIMIT_S) == 128 + signal.SIGINT
        assert turn_statuses(server) == [("running", "")]
