"""Which code of an answer a result belongs to."""

from __future__ import annotations

import random
from collections.abc import Callable

from chat.messages.code_results import CodeResults
from chat.vocabulary.parts import OUTCOME_FAILED, OUTCOME_OK, CodeExecutionResult, Engine, ExecutableCode, Part, Text


def test_result_belongs_to_the_last_code_before_it_with_the_same_id() -> None:
    parts: list[Part] = [
        ExecutableCode("1", call_id="a"),
        ExecutableCode("2", call_id="b"),
        CodeExecutionResult(outcome=OUTCOME_OK, call_id="a"),
        CodeExecutionResult(output="so far", call_id="b", engine=Engine.SESSION),
        CodeExecutionResult(outcome=OUTCOME_FAILED, call_id="b"),
        CodeExecutionResult(outcome=OUTCOME_OK),
        ExecutableCode("3"),
        Text("and"),
        CodeExecutionResult(outcome=OUTCOME_OK),
    ]
    results = CodeResults(parts)
    assert results.code_of == {2: 0, 3: 1, 4: 1, 8: 6}
    assert results.result_of == {0: parts[2], 1: parts[4], 6: parts[8]}


def test_result_without_an_outcome_does_not_end_its_code() -> None:
    results = CodeResults()
    assert results.add(0, ExecutableCode("1")) is None
    assert results.add(1, CodeExecutionResult(output="so far", engine=Engine.SESSION)) is None
    assert results.add(1, CodeExecutionResult(output="so far, and more", outcome=OUTCOME_OK)) == 0


def test_removing_parts_leaves_the_pairs_that_the_remaining_parts_have() -> None:
    rng = random.Random(7)
    makers: list[Callable[[], Part]] = [
        lambda: ExecutableCode("1", call_id=rng.choice("ab")),
        lambda: CodeExecutionResult(outcome=OUTCOME_OK, call_id=rng.choice("ab")),
        lambda: CodeExecutionResult(output="so far", call_id=rng.choice("ab"), engine=Engine.SESSION),
        lambda: Text("and"),
    ]
    for _ in range(200):
        parts = [rng.choice(makers)() for _ in range(rng.randrange(9))]
        kept = rng.randrange(len(parts) + 1)
        results, expected = CodeResults(parts), CodeResults(parts[:kept])
        before = dict(results.result_of)
        changed = results.remove(kept)
        assert (results.code_of, results.result_of) == (expected.code_of, expected.result_of)
        assert changed == [code for code in before if code < kept and expected.result_of.get(code) is not before[code]]
