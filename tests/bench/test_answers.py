"""Orders and stamps: what is asked for is what the upstream sends, and each stamp is counted once."""

from __future__ import annotations

import json

import pytest

from bench.answers import PIECES, Answer, Reading
from bench.upstream import ordered, prompt_of
from bench.wire import GEMINI, OPENAI
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
    sent = [step for _, step in GEMINI.steps(answer)]
    assert len([step for step in sent if isinstance(step, tuple)]) == answer.stamps
    assert len([step for step in sent if isinstance(step, bytes)]) == graphs


def test_upstream_sends_json_and_ends_with_a_finish_reason() -> None:
    for _, step in GEMINI.steps(Answer(chunks=200, graphs=1)):
        data = step if isinstance(step, bytes) else b"1".join(step)
        assert data.startswith(b"data: ")
        assert data.endswith(b"\r\n\r\n")
        response = json.loads(data.removeprefix(b"data: "))
    assert response["candidates"][0]["finishReason"] == "STOP"


def test_openai_form_ends_with_a_finish_reason_and_done() -> None:
    *events, end = [step for _, step in OPENAI.steps(Answer(chunks=3, graphs=1))]
    assert end == b"data: [DONE]\n\n"
    chunks = [json.loads(b"1".join(event).removeprefix(b"data: ")) for event in events if isinstance(event, tuple)]
    assert [chunk["choices"][0]["finish_reason"] for chunk in chunks] == [None, None, "stop"]
    assert chunks[0]["choices"][0]["delta"]["content"] == "## ⟨1⟩ Findings\n\n"


def test_an_order_is_found_in_either_form_and_other_prompts_are_none() -> None:
    order = Answer(chunks=3).prompt()
    for body in (
        {"contents": [{"parts": [{"text": "earlier"}]}, {"parts": [{"text": order}]}]},
        {"messages": [{"role": "user", "content": order}]},
        {"messages": [{"role": "user", "content": [{"type": "text", "text": order}]}]},
    ):
        assert ordered(prompt_of(body)) == Answer(chunks=3)
    assert ordered("Name this conversation") is None
    assert ordered("{}") is None
    assert prompt_of({}) == ""


def test_rich_answer_is_20_kb_without_stamps() -> None:
    texts = [step for _, step in GEMINI.steps(Answer(chunks=1000, is_rich=True))]
    assert [type(step) for step in texts] == [bytes] * 999 + [tuple]


def test_a_stamp_that_json_escaped_is_found() -> None:
    reading = Reading()
    assert reading.take(json.dumps("a ⟨10⟩").encode(), 15)
    assert reading.delays_us == [5]


def test_a_stamp_that_is_sent_again_is_counted_once() -> None:
    reading = Reading()
    assert reading.take("a ⟨10⟩".encode(), 15)
    assert reading.take("a ⟨10⟩ b ⟨12⟩ c ⟨13⟩".encode(), 16)
    assert not reading.take("a ⟨10⟩ b ⟨12⟩ c ⟨13⟩".encode(), 99)
    assert reading.delays_us == [5, 4, 3]


def test_stamps_survive_rendering_in_their_order() -> None:
    text = "".join(piece.replace("@", f"⟨{number}⟩") for number, piece in enumerate(PIECES * 2, start=1))
    reading = Reading()
    reading.take("".join(split_markdown(text)).encode(), 0)
    assert len(reading.delays_us) == 2 * len(PIECES)
