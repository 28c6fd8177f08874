"""How function calls are closed that have not ended when their answer ends."""

from __future__ import annotations

from dataclasses import replace

import pytest

from chat.messages import closing
from chat.messages.answer import Answer
from chat.messages.approval import EDITED
from chat.messages.changes import CallDecided, Change, PartStarted, RoundStarted, ToolStarted
from chat.messages.closing import Closing, call_changes
from chat.vocabulary.parts import (
    OUTCOME_ABORTED,
    OUTCOME_LOST,
    CodeExecutionResult,
    Display,
    Engine,
    ExecutableCode,
    FunctionCall,
    FunctionResponse,
    InlineData,
    Part,
    Refusal,
    Text,
)

STOP = Closing(OUTCOME_ABORTED)
CRASH = Closing(OUTCOME_LOST)
PRIVATE_STOP = Closing(OUTCOME_ABORTED, closing.PRIVATE)
HELD_STOP = Closing(OUTCOME_ABORTED, closing.NOT_RELEASED)


def answer_of(*steps: Part | Change) -> Answer:
    """Return an answer with these parts and changes."""
    answer = Answer()
    for step in steps:
        answer.apply(PartStarted(answer.part_count, step) if isinstance(step, Part) else step)
    return answer


def close(answer: Answer, how: Closing) -> list[FunctionResponse]:
    """Close the calls of an answer; return the responses that were added."""
    count = answer.part_count
    answer.apply_all(call_changes(answer, how))
    added = answer.parts[count:]
    assert all(isinstance(part, FunctionResponse) and part.is_error for part in added)
    return [part for part in added if isinstance(part, FunctionResponse)]


def output_of_call(call_id: str, text: str) -> CodeExecutionResult:
    """Return output of code that a call runs."""
    return CodeExecutionResult(text, call_id=call_id, engine=Engine.SESSION, made_by=call_id)


CALLS = [FunctionCall("f", {}, call_id) for call_id in ("a", "b", "c")]
FIRST_IS_DONE: list[Part | Change] = [
    *CALLS,
    ToolStarted("a"),
    FunctionResponse("f", {"output": "1"}, "a", made_by="a"),
    ToolStarted("b"),
]


@pytest.mark.parametrize(
    ("how", "refusal", "words"),
    [(STOP, Refusal.ABORTED, "was stopped or failed"), (CRASH, Refusal.LOST, "server was interrupted")],
)
def test_interrupted_call_and_call_that_never_began_get_different_responses(
    how: Closing, refusal: Refusal, words: str
) -> None:
    answer = answer_of(*FIRST_IS_DONE, output_of_call("b", "so far\n"))
    cut, not_run = close(answer, how)
    assert (cut.call_id, cut.made_by, cut.refusal, cut.result["output"]) == ("b", "b", refusal, "so far\n")
    assert words in str(cut.result["error"])
    assert closing.SHOWN in str(cut.result["error"])
    assert (not_run.call_id, not_run.refusal) == ("c", Refusal.NOT_RUN)
    assert not_run.result == {"error": closing.NOT_RUN}
    responses = [part.call_id for part in answer.parts if isinstance(part, FunctionResponse)]
    assert responses == ["a", "b", "c"]
    assert close(answer, how) == []


def test_response_that_closes_a_call_has_the_round_of_the_call() -> None:
    done: list[Part | Change] = [CALLS[0], ToolStarted("a"), FunctionResponse("f", {}, "a"), RoundStarted(1)]
    [response] = close(answer_of(*done, replace(CALLS[1], round=1), ToolStarted("b")), CRASH)
    assert (response.round, response.refusal) == (1, Refusal.LOST)


def test_response_contains_all_output_of_its_own_call_and_of_no_other() -> None:
    shown: list[Part] = [
        ExecutableCode("f()", call_id="b", engine=Engine.SESSION, made_by="b"),
        output_of_call("b", "one\n"),
        InlineData("image/png", made_by="b"),
        output_of_call("b", "two data:image/png;base64," + "A" * 400 + " three\n"),
        Display({"text/plain": "table"}, made_by="b"),
        output_of_call("a", "of the first call"),
        Text("of the model"),
    ]
    cut, _ = close(answer_of(*FIRST_IS_DONE, *shown), STOP)
    assert cut.result["graphs"] == 1
    output = str(cut.result["output"])
    assert output.startswith("one\ntwo ")
    assert output.endswith(" three\ntable\n")
    assert "AAAA" not in output


def test_long_output_is_shortened_and_empty_output_is_omitted() -> None:
    cut, _ = close(answer_of(*FIRST_IS_DONE, output_of_call("b", "x" * 1_000_000)), STOP)
    assert len(str(cut.result)) < 25_000
    silent, _ = close(answer_of(*FIRST_IS_DONE), STOP)
    assert silent.result.keys() == {"error"}
    assert closing.SHOWN not in str(silent.result)
    assert closing.CHECK_FIRST in str(silent.result)


@pytest.mark.parametrize("stop", [HELD_STOP, PRIVATE_STOP])
def test_response_that_closes_a_call_does_not_contain_output_that_must_not_be_released(stop: Closing) -> None:
    cut, not_run = close(answer_of(*FIRST_IS_DONE, output_of_call("b", "secret\n")), stop)
    assert cut.refusal is Refusal.WITHHELD
    assert cut.result.keys() == {"error"}
    assert stop.withheld in str(cut.result)
    assert "secret" not in str(cut.result)
    assert not_run.refusal is Refusal.NOT_RUN
    silent, _ = close(answer_of(*FIRST_IS_DONE), stop)
    assert silent.refusal is Refusal.ABORTED


def test_response_of_an_interrupted_call_says_that_a_person_had_changed_its_code() -> None:
    decided = CallDecided("b", "a", is_approved=True, code="print(2)")
    cut, _ = close(answer_of(decided, *FIRST_IS_DONE, output_of_call("b", "2\n")), STOP)
    assert (cut.result["executed_code"], cut.result["note_on_code"]) == ("print(2)", EDITED)
    # The code of a call that did not begin was not run.
    [not_run] = close(answer_of(CALLS[1], decided), STOP)
    assert not_run.result == {"error": closing.NOT_RUN}
