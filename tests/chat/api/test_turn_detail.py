"""Turns in JSON."""

from __future__ import annotations

import pytest
from django.test import Client

from chat.messages.changes import ApprovalRequested, CallDecided, Change, PartStarted, ResultHeld
from chat.models import Turn, User
from chat.vocabulary.parts import FunctionCall, FunctionResponse
from chat.vocabulary.stream_events import Finish
from tests.chat.api.logs import LiveTurn
from tests.factories import make_conversation, make_model_message

pytestmark = pytest.mark.django_db


def test_error_of_a_failed_turn_leaves_out_details_for_staff(client: Client, owner: User) -> None:
    message = make_model_message(
        make_conversation(owner), status=Turn.Status.FAILED, error_code="storage", error_detail="secret"
    )
    response = client.get(f"/api/v1/turns/{message.turn.pk}/")
    assert response.json()["error"]["code"] == "storage"
    assert b"secret" not in response.content


def test_error_of_a_request_refused_by_the_service_quotes_the_services_reason(client: Client, owner: User) -> None:
    message = make_model_message(
        make_conversation(owner),
        status=Turn.Status.FAILED,
        error_code="invalid_request",
        error_detail="secret",
        finish_message="Field x is not valid.",
    )
    response = client.get(f"/api/v1/turns/{message.turn.pk}/")
    detail = response.json()["error"]["detail"]
    assert detail.endswith("choose another model. The service says: “Field x is not valid.”")
    assert b"secret" not in response.content
    turn = response.json()
    assert (turn["provider"], turn["endpoint"], turn["model"]) == ("gemini", "", "plotline-demo")


def test_interrupted_turn_has_an_error_with_code_and_detail(client: Client, owner: User) -> None:
    message = make_model_message(make_conversation(owner), status=Turn.Status.INTERRUPTED)
    error = client.get(f"/api/v1/turns/{message.turn.pk}/").json()["error"]
    assert error["code"] == "interrupted"
    assert error["detail"].endswith(".")


def test_turn_has_its_finish_the_providers_finish_reason_and_the_number_of_rounds(client: Client, owner: User) -> None:
    message = make_model_message(make_conversation(owner), finish=Finish.LENGTH.value, finish_reason="MAX_TOKENS")
    Turn.objects.update(round_count=3, cost="0.1")
    turn = client.get(f"/api/v1/turns/{message.turn.pk}/").json()
    assert (turn["finish"], turn["finish_reason"], turn["rounds"]) == ("length", "MAX_TOKENS", 3)
    assert (turn["status"], turn["error"], turn["cost"]) == ("done", None, "0.10000000")


def waiting_turn(*changes: Change) -> LiveTurn:
    """Return a turn that waits, with these changes in its log."""
    live = LiveTurn.create()
    live.write(changes)
    live.write_row(("waiting", {}))
    Turn.objects.filter(pk=live.turn.pk).update(status=Turn.Status.WAITING)
    return live


def approval_of(live: LiveTurn) -> object:
    """Return the `approval` in the JSON of a turn."""
    client = Client()
    client.force_login(live.turn.conversation.owner)
    return client.get(f"/api/v1/turns/{live.turn.pk}/").json()["approval"]


CALL = PartStarted(0, FunctionCall("run_python", {"code": "print(1)", "timeout_s": 5}, "c1"))
ASKED = {
    "id": "a1",
    "kind": "call",
    "name": "run_python",
    "code": "print(1)",
    "arguments": {"code": "print(1)", "timeout_s": 5},
    "result": None,
}


def test_waiting_turn_has_the_call_that_needs_approval() -> None:
    assert approval_of(waiting_turn(CALL, ApprovalRequested("c1", "a1"))) == ASKED


def test_approval_of_a_call_without_code_has_its_arguments() -> None:
    call = PartStarted(0, FunctionCall("look_up", {"value": 1}, "c1"))
    expected = {**ASKED, "name": "look_up", "code": None, "arguments": {"value": 1}}
    assert approval_of(waiting_turn(call, ApprovalRequested("c1", "a1"))) == expected


def test_approval_to_send_a_result_to_the_model_has_the_code_that_ran() -> None:
    held = ResultHeld(FunctionResponse("run_python", {"output": "2"}, "c1"))
    decided = CallDecided("c1", "a1", is_approved=True, code="print(2)")
    live = waiting_turn(
        CALL, ApprovalRequested("c1", "a1"), decided, held, ApprovalRequested("c1", "a2", is_result=True)
    )
    expected = {**ASKED, "id": "a2", "kind": "result", "code": "print(2)", "result": {"output": "2"}}
    assert approval_of(live) == expected


def test_turn_that_does_not_wait_has_no_approval(client: Client, owner: User) -> None:
    message = make_model_message(make_conversation(owner))
    assert client.get(f"/api/v1/turns/{message.turn.pk}/").json()["approval"] is None
