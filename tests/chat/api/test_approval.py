"""Decisions about function calls over the REST API of a real server, which runs real code."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.chat.answering.tools.code_server import make_token, running_code_server
from tests.chat.answering.tools.code_tools import executed
from tests.chat.api.api_client import ApiClient, Event
from tests.live_server import LiveServer, Visitor
from tests.polling import wait_until

CODE = "number = 1\nprint(number * 11)"
"""The code of the first call of the scenario `function-code`."""


@pytest.fixture(scope="module")
def server() -> Iterator[LiveServer]:
    """A server whose answers can run code."""
    with running_code_server() as running:
        yield running


@pytest.fixture(scope="module")
def token(server: LiveServer) -> str:
    """A token of user demo."""
    return make_token(Visitor(server))


def wait_for_approval(api: ApiClient, turn_id: str) -> dict[str, Any]:
    """Wait until a turn asks for a decision, and return its `approval`."""
    turn = wait_until(lambda: (turn := api.get(f"turns/{turn_id}/").json())["status"] != "running" and turn)
    assert turn["status"] == "waiting"
    approval: dict[str, Any] = turn["approval"]
    return approval


def ask(api: ApiClient, scenario: str = "function-code") -> tuple[str, str]:
    """Start a turn; return its id and the id of its approval."""
    turn_id = str(api.start_turn(f"scenario-{scenario}", code_execution="off")["id"])
    return turn_id, str(wait_for_approval(api, turn_id)["id"])


def deciders_of(server: LiveServer, turn_id: str) -> list[str]:
    """Return the names of the users who decided about a turn."""
    users = "SELECT username FROM chat_calldecision JOIN chat_user ON chat_user.id = decided_by_id WHERE turn_id = ?"
    return [str(name) for (name,) in server.rows(users, turn_id.replace("-", ""))]


def read_to(events: Iterator[Event], status: str) -> list[Event]:
    """Return the events up to the event of this status."""
    read = []
    for event in events:
        read.append(event)
        if event.data.get("status") == status:
            return read
    raise AssertionError(f"no status {status} in {read}")


def test_stream_stays_open_while_the_turn_waits_and_goes_on_after_the_decision(
    api: ApiClient, server: LiveServer
) -> None:
    before = len(executed(server.var_dir))
    turn_id, approval_id = ask(api)
    stream = api.events(f"turns/{turn_id}/events/")
    read_to(stream, "waiting")
    turn = api.get(f"turns/{turn_id}/").json()
    assert turn["approval"] == {
        "id": approval_id,
        "kind": "call",
        "name": "run_python",
        "code": CODE,
        "arguments": {"code": CODE},
        "result": None,
    }
    body = {"id": approval_id, "decision": "run", "code": "print('changed')"}
    response = api.post(f"turns/{turn_id}/approval/", json=body)
    assert response.status_code == 202, response.text
    assert response.json()["id"] == turn_id
    rest = list(stream)
    assert rest[0].data == {"status": "running"}
    code, result = (event.data for event in rest if event.name.startswith("code_"))
    assert code["executable_code"] == "print('changed')"
    assert (result["code_execution_output"], result["code_execution_outcome"]) == ("changed\n", "success")
    assert rest[-1].name == "done"
    assert list(api.events(f"turns/{turn_id}/events/"))[-len(rest) :] == rest
    assert executed(server.var_dir)[before:] == ["print('changed')"]
    assert deciders_of(server, turn_id) == ["demo"]
    assert api.get(f"turns/{turn_id}/").json()["approval"] is None


def test_repeated_decision_is_accepted_and_a_different_second_decision_is_refused(
    api: ApiClient, server: LiveServer
) -> None:
    turn_id, approval_id = ask(api)
    body = {"id": approval_id, "decision": "run"}
    assert api.post(f"turns/{turn_id}/approval/", json=body).status_code == 202
    for statuses in (("running", "done"), ("done",)):
        again = api.post(f"turns/{turn_id}/approval/", json=body)
        assert again.status_code == 200
        assert again.json()["status"] in statuses
        for other in ({**body, "decision": "deny"}, {**body, "code": "print(2)"}):
            refused = api.post(f"turns/{turn_id}/approval/", json=other)
            assert (refused.status_code, refused.json()["type"]) == (409, "/api/docs/#problem-not-waiting")
            assert refused.json()["detail"] == "This was approved already."
        api.wait_for_end(turn_id)
    assert [code for code in executed(server.var_dir) if code == "print(2)"] == []


INVALID: list[tuple[object, str]] = [
    ({"decision": "run"}, "id"),
    ({"id": "c"}, "decision"),
    ({"id": "c", "decision": "maybe"}, "decision"),
    ({"id": 1, "decision": "run"}, "id"),
    ({"id": "c", "decision": "run", "code": 5}, "code"),
    ({"id": "c", "decision": "run", "code": None}, "code"),
    ({"id": "c", "decision": "run", "code": " \n"}, "code"),
    ({"id": "c", "decision": "run", "code": "x" * 262_145}, "code"),
    ({"id": "c", "decision": "run", "code": ""}, "code"),
    ({"id": "c", "decision": "run", "verdict": "run"}, "verdict"),
    ([], "body"),
]


@pytest.mark.parametrize(("body", "field"), INVALID)
def test_invalid_decision_is_refused_with_a_sentence(api: ApiClient, body: object, field: str) -> None:
    turn_id, approval_id = ask(api)
    if isinstance(body, dict) and body.get("id") == "c":
        body = {**body, "id": approval_id}
    response = api.post(f"turns/{turn_id}/approval/", json=body)
    assert (response.status_code, list(response.json()["errors"])) == (400, [field])
    assert response.json()["detail"].endswith(".")
    assert api.get(f"turns/{turn_id}/").json()["status"] == "waiting"
    assert api.post(f"turns/{turn_id}/stop/").status_code == 202


def test_waiting_turn_can_be_stopped_and_prevents_another_question(api: ApiClient) -> None:
    conversation_id = api.create_conversation(model="scenario-function-code", code_execution="off")
    turn_id = api.ask(conversation_id).json()["id"]
    approval = wait_for_approval(api, turn_id)
    refused = api.ask(conversation_id, "Another")
    assert (refused.status_code, refused.json()["type"]) == (409, "/api/docs/#problem-turn-live")
    assert "waits for your decision" in refused.json()["detail"]
    stream = api.events(f"turns/{turn_id}/events/")
    read_to(stream, "waiting")
    assert api.post(f"turns/{turn_id}/stop/").status_code == 202
    assert [event.name for event in stream][-1] == "done"
    late = api.post(f"turns/{turn_id}/approval/", json={"id": approval["id"], "decision": "run"})
    assert (late.status_code, late.json()["detail"]) == (409, "This answer does not wait for a decision any more.")
