"""The time that code took, as a result stores it."""

from __future__ import annotations

from chat.answering.turns.code_times import CodeTimes
from chat.vocabulary.parts import OUTCOME_OK, CodeExecutionResult, ExecutableCode, Part, Text
from chat.vocabulary.stream_events import PartReceived


def test_final_result_has_the_time_since_its_code() -> None:
    now_s = 100.0
    times = CodeTimes(lambda: now_s)

    def duration_ms(part: Part) -> int | None:
        event = times.with_duration(PartReceived(part))
        assert isinstance(event, PartReceived)
        return getattr(event.part, "duration_ms", None)

    assert duration_ms(ExecutableCode("1", call_id="a")) is None
    now_s = 101.0
    assert duration_ms(ExecutableCode("2", call_id="b")) is None
    assert duration_ms(Text("meanwhile")) is None
    now_s = 101.5
    assert duration_ms(CodeExecutionResult(output="so far", call_id="a")) is None
    assert duration_ms(CodeExecutionResult(outcome=OUTCOME_OK, call_id="a")) == 1500
    assert duration_ms(CodeExecutionResult(outcome=OUTCOME_OK, call_id="b")) == 500
    assert duration_ms(CodeExecutionResult(outcome=OUTCOME_OK, call_id="b")) is None
