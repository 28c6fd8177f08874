"""Which function calls and responses are hidden because their code shows the same."""

from __future__ import annotations

from dataclasses import replace

import pytest

from chat.messages.calls_as_code import CallsAsCode
from chat.vocabulary.parts import (
    OUTCOME_FAILED,
    OUTCOME_OK,
    CodeExecutionResult,
    Engine,
    ExecutableCode,
    FunctionCall,
    Part,
    Refusal,
)
from chat.vocabulary.parts import FunctionResponse as Response


def call(call_id: str) -> FunctionCall:
    return FunctionCall("run_python", {"code": "1"}, call_id)


def code(call_id: str) -> ExecutableCode:
    return ExecutableCode("1", engine=Engine.SESSION, made_by=call_id)


def result(call_id: str, outcome: str = OUTCOME_OK) -> CodeExecutionResult:
    return CodeExecutionResult(output="1", outcome=outcome, engine=Engine.SESSION, made_by=call_id)


def response(call_id: str) -> Response:
    return Response("run_python", {"output": "1"}, call_id)


def test_each_function_call_is_hidden_as_soon_as_the_code_of_this_call_is_shown() -> None:
    run_a: list[Part] = [code("a"), result("a"), response("a")]
    run_b: list[Part] = [code("b"), result("b"), response("b")]
    calls = CallsAsCode()
    newly_hidden = [calls.add(index, part) for index, part in enumerate([call("a"), call("b"), *run_a, *run_b])]
    assert newly_hidden == [None, None, 0, None, 4, 1, None, 7]
    assert set(calls.hidden) == {0, 1, 4, 7}


def test_call_without_code_is_shown_with_its_response() -> None:
    assert not CallsAsCode([call("a"), response("a"), call("b")]).hidden


def test_code_that_ran_in_the_providers_sandbox_hides_no_function_call() -> None:
    assert not CallsAsCode([call(""), code(""), result(""), response("")]).hidden


def test_call_stays_visible_if_a_person_has_changed_its_code() -> None:
    parts: list[Part] = [call("a"), replace(code("a"), is_edited=True), result("a"), response("a")]
    assert set(CallsAsCode(parts).hidden) == {3}


def test_response_stays_visible_until_the_code_has_an_outcome() -> None:
    calls = CallsAsCode([call("a"), code("a"), result("a", ""), response("a")])
    assert set(calls.hidden) == {0}
    assert calls.add(2, result("a", OUTCOME_FAILED)) == 3


@pytest.mark.parametrize("refusal", [None, *Refusal])
def test_response_with_an_error_is_visible_unless_code_was_aborted_or_lost(refusal: Refusal | None) -> None:
    failed = replace(response("a"), is_error=True, refusal=refusal)
    hidden = CallsAsCode([call("a"), code("a"), result("a"), failed]).hidden
    assert (3 in hidden) == (refusal in (Refusal.ABORTED, Refusal.LOST))
