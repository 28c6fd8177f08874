"""How long code ran and the model thought, as parts store it."""

from __future__ import annotations

from chat.messages.assembler import Assembler
from chat.vocabulary.parts import OUTCOME_OK, CodeExecutionResult, ExecutableCode, Part, Text, Thought
from chat.vocabulary.stream_events import PartReceived

SIGNED = {"thought_signature": "c2lnbmVk"}


class Clock:
    """A clock that the test moves."""

    def __init__(self) -> None:
        self.now_s = 100.0
        self.assembler = Assembler(is_code_offered=False, new_id=lambda: "id", now_s=lambda: self.now_s)

    def receive(self, now_s: float, *parts: Part) -> None:
        """Let parts arrive at this time."""
        self.now_s = now_s
        for part in parts:
            self.assembler.add(PartReceived(part))


def test_result_stores_the_time_since_its_code_was_received() -> None:
    clock = Clock()
    clock.receive(100.0, ExecutableCode("1", call_id="a"))
    clock.receive(101.0, ExecutableCode("2", call_id="b"), Text("meanwhile"))
    clock.receive(101.5, *(CodeExecutionResult(outcome=OUTCOME_OK, call_id=call_id) for call_id in "abb"))
    results = [part for part in clock.assembler.answer.parts if isinstance(part, CodeExecutionResult)]
    assert [result.duration_ms for result in results] == [1500, 500, None]


def test_result_of_running_code_has_no_duration() -> None:
    clock = Clock()
    clock.receive(100.0, ExecutableCode("1", call_id="a"), CodeExecutionResult(output="so far", call_id="a"))
    assert getattr(clock.assembler.answer.parts[-1], "duration_ms", 0) is None


def test_thought_has_the_duration_from_its_first_piece_to_the_next_part() -> None:
    clock = Clock()
    clock.receive(100.0, Thought("first "))
    signatures = Thought("", provider_data=SIGNED), Text("", provider_data=SIGNED)
    clock.receive(101.0, Thought("thought"), *signatures)
    clock.receive(104.2, Text("An answer"))
    clock.receive(105.0, Text(" that goes on"), Thought("second"))
    clock.now_s = 107.5
    assert len(clock.assembler.end_thought()) == 1
    assert clock.assembler.end_thought() == []
    thoughts = [part for part in clock.assembler.answer.parts if isinstance(part, Thought)]
    assert [(part.text, part.duration_ms) for part in thoughts] == [
        ("first thought", 4200),
        ("", None),
        ("second", 2500),
    ]
