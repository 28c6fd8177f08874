"""Decisions about function calls with real server processes: pages in several tabs, `kill -9`, and two processes.

The seed is fixed, so each run kills the server after the same delays.
"""

from __future__ import annotations

import json
import random
import re
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
import requests
from websockets.sync.client import ClientConnection

from tests.chat.answering.tools.code_server import make_token, running_code_server, second_process
from tests.chat.answering.tools.code_tools import executed
from tests.chat.api.api_client import ApiClient
from tests.dom import Page
from tests.live_server import LiveServer, Visitor, send
from tests.polling import wait_until

SEED = 20261122
KILLS = 5
ROUNDS = 6
LIMIT_S = 60.0
CODE = "number = 1\nprint(number * 11)"
"""The code of the first call of the scenario `function-code`."""
DONE = 'data-role="model" data-status="done"'
UNTIL_SERVER_ENDS = "import os, time\nserver = os.getppid()\nwhile os.getppid() == server:\n    time.sleep(0.02)"


@pytest.fixture(scope="module")
def server() -> Iterator[LiveServer]:
    """A server with a short lease whose answers can run code."""
    with running_code_server(SETTING_TURN_LEASE_S="2") as running:
        yield running


@pytest.fixture(scope="module")
def api(server: LiveServer, demo: Visitor) -> ApiClient:
    """A client of the REST API."""
    return ApiClient(server, make_token(demo))


@pytest.fixture(scope="module")
def demo(server: LiveServer) -> Visitor:
    """The user demo, logged in."""
    return Visitor(server)


def wait_for_status(api: ApiClient, turn_id: str, *statuses: str) -> dict[str, Any]:
    """Wait until a turn has one of these statuses, and return the turn."""

    def read_turn() -> dict[str, Any] | None:
        turn: dict[str, Any] = api.get(f"turns/{turn_id}/").json()
        return turn if turn["status"] in statuses else None

    turn = wait_until(read_turn, LIMIT_S)
    assert turn
    return turn


def ask(api: ApiClient, scenario: str = "function-code") -> tuple[str, str]:
    """Start a turn; return its id and the id of its approval."""
    turn_id = str(api.start_turn(f"scenario-{scenario}", code_execution="off")["id"])
    return turn_id, str(wait_for_status(api, turn_id, "waiting")["approval"]["id"])


def decide(api: ApiClient, turn_id: str, approval_id: str, decision: str = "run", **fields: str) -> requests.Response:
    """Send a decision."""
    return api.post(f"turns/{turn_id}/approval/", json={"id": approval_id, "decision": decision, **fields})


def restart(server: LiveServer) -> None:
    """Kill the server, and start it again."""
    server.kill()
    server.start()


# --- pages ---------------------------------------------------------------------------------------------------------


def asked_on(page: Page) -> str:
    """Return the id of the approval that a page asks for; empty if there is none."""
    match = re.search(r'data-approval="([^"]*)"', page.transcript)
    return match[1] if match else ""


def read(socket: ClientConnection, page: Page, *, asks_other_than: str = "", until: str = "") -> None:
    """Apply frames until the page contains a text, or asks for another approval."""
    give_up_at = time.monotonic() + LIMIT_S
    while until not in page.root.html() if until else asked_on(page) in ("", asks_other_than):
        page.apply(str(socket.recv(timeout=max(0.1, give_up_at - time.monotonic()))))


def sentence_of(socket: ClientConnection, page: Page, **message: object) -> str:
    """Send a message, and return the sentence with which the server refuses it; empty if it accepts it."""
    page.ids["composer-error"].children.clear()
    socket.send(json.dumps(message))
    while True:
        text = str(socket.recv(timeout=LIMIT_S))
        page.apply(text)
        if "composer-error" in text:
            return page.ids["composer-error"].inner()


def ask_on_page(demo: Visitor, socket: ClientConnection, page: Page) -> None:
    """Send a question, and read until the page asks for a decision."""
    send(socket, "go")
    read(socket, page, asks_other_than="none")


def new_conversation(demo: Visitor, scenario: str = "function-code") -> str:
    """Return a new conversation with a scenario."""
    conversation_id = demo.new_conversation()
    demo.post(f"/c/{conversation_id}/settings/", model=f"scenario-{scenario}", code_execution="off")
    return conversation_id


def test_invalid_decision_that_a_page_sends_is_answered_with_a_sentence(demo: Visitor) -> None:
    page = Page()
    with demo.socket(new_conversation(demo)) as socket:
        assert "you may not see it" in sentence_of(socket, page, action="approve", call_id="x")
        ask_on_page(demo, socket, page)
        call_id = asked_on(page)
        for message, sentence in (
            ({"action": "approve"}, "Say what is decided"),
            ({"action": "approve", "call_id": ["x"]}, "This must be text."),
            ({"action": "approve", "call_id": "x"}, "waits for another decision"),
            ({"action": "approve", "call_id": call_id, "code": "  "}, "There is no code to run."),
            ({"action": "approve", "call_id": call_id, "code": {"a": 1}}, "This must be text."),
        ):
            assert sentence in sentence_of(socket, page, **message), message
        assert sentence_of(socket, page, action="deny", call_id=call_id, code="ignored") == ""
        read(socket, page, until=DONE)
        assert sentence_of(socket, page, action="deny", call_id=call_id) == ""
        assert "denied already" in sentence_of(socket, page, action="approve", call_id=call_id)


def test_waiting_answer_of_another_user_cannot_be_decided(demo: Visitor, api: ApiClient, server: LiveServer) -> None:
    turn_id, approval_id = ask(api)
    stranger = Visitor.signed_up(server, "stranger", "a long password")
    page = Page()
    with stranger.socket(stranger.new_conversation()) as socket:
        assert "you may not see it" in sentence_of(socket, page, action="approve", call_id=approval_id)
    headers = {"X-CSRFToken": stranger.http.cookies["csrftoken"] or "", "Referer": server.url}
    response = stranger.http.post(
        f"{server.url}/api/v1/turns/{turn_id}/approval/",
        json={"id": approval_id, "decision": "run"},
        headers=headers,
        timeout=60,
    )
    assert response.status_code == 404
    assert api.post(f"turns/{turn_id}/stop/").status_code == 202


# --- processes that die ---------------------------------------------------------------------------------------------


def test_approval_after_a_server_restart_continues_the_turn_and_runs_the_code_once(
    api: ApiClient, demo: Visitor, server: LiveServer
) -> None:
    before = len(executed(server.var_dir))
    turn_id, approval_id = ask(api)
    stream = api.events(f"turns/{turn_id}/events/")
    waiting = next(event for event in stream if event.data == {"status": "waiting"})
    restart(server)
    turn = api.get(f"turns/{turn_id}/").json()
    assert (turn["status"], turn["approval"]["id"], turn["approval"]["code"]) == ("waiting", approval_id, CODE)
    assert decide(api, turn_id, approval_id, code="print('after the restart')").status_code == 202
    rest = list(api.events(f"turns/{turn_id}/events/", after=waiting.seq))
    assert (rest[0].data, rest[-1].name) == ({"status": "running"}, "done")
    assert wait_for_status(api, turn_id, "done")
    assert executed(server.var_dir)[before:] == ["print('after the restart')"]


def test_code_that_ran_when_the_server_was_killed_is_not_run_again(api: ApiClient, server: LiveServer) -> None:
    before = len(executed(server.var_dir))
    turn_id, approval_id = ask(api)
    assert decide(api, turn_id, approval_id, code=UNTIL_SERVER_ENDS).status_code == 202
    wait_until(lambda: len(executed(server.var_dir)) > before)
    restart(server)
    assert wait_for_status(api, turn_id, "interrupted")
    # The same decision is accepted again, and another one is refused. Neither runs code.
    assert decide(api, turn_id, approval_id, code=UNTIL_SERVER_ENDS).status_code == 200
    assert decide(api, turn_id, approval_id, "deny").status_code == 409
    assert executed(server.var_dir)[before:] == [UNTIL_SERVER_ENDS]


@pytest.mark.drill
def test_server_killed_around_a_decision_never_runs_code_twice_and_leaves_no_waiting_turn(
    api: ApiClient, server: LiveServer
) -> None:
    generator = random.Random(SEED)
    outcomes = []
    for number in range(KILLS):
        code = f"print('kill {number}')"
        turn_id, approval_id = ask(api)
        with ThreadPoolExecutor(max_workers=1) as executor:
            sent = executor.submit(_decide_while_killed, api, turn_id, approval_id, code)
            time.sleep(generator.uniform(0.0, 0.06))
            server.kill()
            is_accepted = sent.result()
        server.start()
        # If the decision was not stored, the turn still waits, so decide again.
        turn = wait_for_status(api, turn_id, "waiting", "interrupted", "done")
        if turn["status"] == "waiting":
            assert not is_accepted
            assert decide(api, turn_id, approval_id, code=code).status_code == 202
            turn = wait_for_status(api, turn_id, "done")
        runs = executed(server.var_dir).count(code)
        assert runs <= 1
        assert turn["status"] == "interrupted" or runs == 1
        outcomes.append((turn["status"], is_accepted, runs))
    print(f"seed {SEED}, status, accepted before the kill, runs: {outcomes}")


def _decide_while_killed(api: ApiClient, turn_id: str, approval_id: str, code: str) -> bool:
    """Send a decision to a server that is killed meanwhile; return whether it was accepted."""
    try:
        return decide(api, turn_id, approval_id, code=code).status_code == 202
    except requests.ConnectionError:
        return False


@pytest.mark.drill
def test_only_one_of_two_simultaneous_decisions_in_two_processes_is_accepted(
    api: ApiClient, server: LiveServer
) -> None:
    generator = random.Random(SEED)
    winners = []
    with second_process(server) as other_server, ThreadPoolExecutor(max_workers=2) as executor:
        other = ApiClient(other_server, str(api.http.headers["Authorization"]).removeprefix("Bearer "))
        for number in range(ROUNDS):
            code = f"print('race {number}')"
            turn_id, approval_id = ask(api)
            approve, deny = generator.sample([api, other], 2)
            running = executor.submit(decide, approve, turn_id, approval_id, "run", code=code)
            denying = executor.submit(decide, deny, turn_id, approval_id, "deny")
            statuses = running.result().status_code, denying.result().status_code
            assert sorted(statuses) == [202, 409]
            assert wait_for_status(other, turn_id, "done", "failed", "interrupted")["status"] == "done"
            assert executed(server.var_dir).count(code) == (statuses[0] == 202)
            winners.append("run" if statuses[0] == 202 else "deny")
    print(f"seed {SEED}, winners: {winners}")
