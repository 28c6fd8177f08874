"""Orders and stamps: what is asked for is what the upstream sends, and each stamp is counted once."""

from __future__ import annotations

import json

import pytest

from bench.answers import PIECES, Answer, Reading
from bench.upstream import steps
from chat.rendering.stream import split_markdown


def test_prompt_orders_the_same_answer() -> None:
    answer = Answer(chunks=30, rate=12.5, burst=5, graphs=2)
    assert Answer.ordered_by(answer.prompt()) == answer


def test_chunks_are_due_at_the_rate_and_a_burst_at_once() -> None:
    assert [Answer(chunks=4, rate=20).due_s(index) for index in range(4)] == [0, 0.05, 0.1, 0.15]
    assert [Answer(chunks=4, rate=20, burst=2).due_s(index) for index in range(4)] == [0, 0, 0.1, 0.1]
    assert Answer(chunks=4).due_s(3) == 0


@pytest.mark.parametrize("graphs", [0, 1, 4])
def test_upstream_stamps_as_often_as_the_answer_says(graphs: int) -> None:
    answer = Answer(chunks=40, rate=20, graphs=graphs)
    sent = [step for _, step in steps(answer)]
    assert len([step for step in sent if isinstance(step, tuple)]) == answer.stamps
    assert len([step for step in sent if isinstance(step, bytes)]) == graphs


def test_upstream_sends_json_and_ends_with_a_finish_reason() -> None:
    for _, step in steps(Answer(chunks=200, graphs=1)):
        data = step if isinstance(step, bytes) else b"1".join(step)
        assert data.startswith(b"data: ")
        assert data.endswith(b"\r\n\r\n")
        response = json.loads(data.removeprefix(b"data: "))
    assert response["candidates"][0]["finishReason"] == "STOP"


def test_a_stamp_that_is_sent_again_is_counted_once() -> None:
    reading = Reading()
    assert reading.take("a ⟨10⟩", 15)
    assert reading.take("a ⟨10⟩ b ⟨12⟩ c ⟨13⟩", 16)
    assert not reading.take("a ⟨10⟩ b ⟨12⟩ c ⟨13⟩", 99)
    assert reading.delays_us == [5, 4, 3]


def test_stamps_survive_rendering_in_their_order() -> None:
    text = "".join(piece.replace("@", f"⟨{number}⟩") for number, piece in enumerate(PIECES * 2, start=1))
    reading = Reading()
    reading.take("".join(split_markdown(text)), 0)
    assert len(reading.delays_us) == 2 * len(PIECES)
