"""Tests of the answers that the upstream sends, and of the timestamps in them."""

from __future__ import annotations

import json

import pytest

from bench.answers import PIECES, Answer, AnswerTimings
from bench.upstream import extract_prompt, parse_answer
from bench.wire_formats import GEMINI, OPENAI
from chat.page.rendering.stream import split_markdown

pytestmark = pytest.mark.drill


def test_description_of_an_answer_is_equal_after_it_is_written_as_a_prompt_and_parsed() -> None:
    answer = Answer(chunks=30, rate=12.5, burst=5, graphs=2)
    assert Answer.from_prompt(answer.to_prompt()) == answer


def test_chunks_are_sent_at_the_given_rate_and_chunks_of_a_burst_at_once() -> None:
    assert [Answer(chunks=4, rate=20).compute_due_s(index) for index in range(4)] == [0, 0.05, 0.1, 0.15]
    assert [Answer(chunks=4, rate=20, burst=2).compute_due_s(index) for index in range(4)] == [0, 0, 0.1, 0.1]
    assert Answer(chunks=4).compute_due_s(3) == 0


@pytest.mark.parametrize("graphs", [0, 1, 4])
def test_upstream_sends_as_many_timestamps_as_the_answer_expects(graphs: int) -> None:
    answer = Answer(chunks=40, rate=20, graphs=graphs)
    steps = [step for _, step in GEMINI.generate_steps(answer)]
    assert len([step for step in steps if isinstance(step, tuple)]) == answer.stamp_count
    assert len([step for step in steps if isinstance(step, bytes)]) == graphs


def test_gemini_answer_consists_of_json_events_and_ends_with_a_finish_reason() -> None:
    for _, step in GEMINI.generate_steps(Answer(chunks=200, graphs=1)):
        data = step if isinstance(step, bytes) else b"1".join(step)
        assert data.startswith(b"data: ")
        assert data.endswith(b"\r\n\r\n")
        response = json.loads(data.removeprefix(b"data: "))
    assert response["candidates"][0]["finishReason"] == "STOP"


def test_openai_answer_ends_with_a_finish_reason_and_done() -> None:
    *events, end = [step for _, step in OPENAI.generate_steps(Answer(chunks=3, graphs=1))]
    assert end == b"data: [DONE]\n\n"
    chunks = [json.loads(b"1".join(event).removeprefix(b"data: ")) for event in events if isinstance(event, tuple)]
    assert [chunk["choices"][0]["finish_reason"] for chunk in chunks] == [None, None, "stop"]
    assert chunks[0]["choices"][0]["delta"]["content"] == "## ⟨1⟩ Findings\n\n"


def test_requested_answer_is_parsed_from_gemini_and_openai_request_bodies() -> None:
    prompt = Answer(chunks=3).to_prompt()
    for body in (
        {"contents": [{"parts": [{"text": "earlier"}]}, {"parts": [{"text": prompt}]}]},
        {"messages": [{"role": "user", "content": prompt}]},
        {"messages": [{"role": "user", "content": [{"type": "text", "text": prompt}]}]},
    ):
        assert parse_answer(extract_prompt(body)) == Answer(chunks=3)


def test_prompt_that_describes_no_answer_is_parsed_as_none() -> None:
    assert parse_answer("Name this conversation") is None
    assert parse_answer("{}") is None
    assert extract_prompt({}) == ""


def test_rich_answer_has_a_timestamp_only_in_its_last_chunk() -> None:
    steps = [step for _, step in GEMINI.generate_steps(Answer(chunks=1000, is_rich=True))]
    assert [type(step) for step in steps] == [bytes] * 999 + [tuple]


def test_timestamp_with_json_escapes_is_recorded() -> None:
    timings = AnswerTimings()
    assert timings.record_stamps(json.dumps("a ⟨10⟩").encode(), 15)
    assert timings.delays_us == [5]


def test_timestamp_that_is_received_twice_is_recorded_once() -> None:
    timings = AnswerTimings()
    assert timings.record_stamps("a ⟨10⟩".encode(), 15)
    assert timings.record_stamps("a ⟨10⟩ b ⟨12⟩ c ⟨13⟩".encode(), 16)
    assert not timings.record_stamps("a ⟨10⟩ b ⟨12⟩ c ⟨13⟩".encode(), 99)
    assert timings.delays_us == [5, 4, 3]


def test_markdown_rendering_keeps_every_timestamp_in_order() -> None:
    text = "".join(piece.replace("@", f"⟨{number}⟩") for number, piece in enumerate(PIECES * 2, start=1))
    timings = AnswerTimings()
    timings.record_stamps("".join(split_markdown(text)).encode(), 0)
    assert len(timings.delays_us) == 2 * len(PIECES)
