"""The time that the model thought, as a thought stores it."""

from __future__ import annotations

import uuid

from chat.answering.turns.thought_times import ThoughtTimes
from chat.messages.assembler import Assembler
from chat.vocabulary.parts import Part, Text, Thought
from chat.vocabulary.stream_events import PartReceived

SIGNED = {"thought_signature": "c2lnbmVk"}


def test_thought_has_the_time_from_its_first_piece_to_the_next_part() -> None:
    now_s = 100.0
    times = ThoughtTimes(lambda: now_s)
    assembler = Assembler(is_code_offered=False, new_id=lambda: str(uuid.uuid4()))

    def receive(part: Part) -> None:
        for ended in times.after(assembler.add(PartReceived(part))):
            assembler.answer.apply_all([ended])

    receive(Thought("first "))
    now_s = 101.0
    receive(Thought("thought"))
    receive(Thought("", provider_data=SIGNED))
    receive(Text("", provider_data=SIGNED))
    now_s = 104.2
    receive(Text("An answer"))
    now_s = 105.0
    receive(Text(" that goes on"))
    receive(Thought("second"))
    now_s = 107.5
    for ended in times.end():
        assembler.answer.apply_all([ended])
    assert [*times.end()] == []
    thoughts = [part for part in assembler.answer.parts if isinstance(part, Thought)]
    assert [(part.text, part.duration_ms) for part in thoughts] == [
        ("first thought", 4200),
        ("", None),
        ("second", 2500),
    ]
