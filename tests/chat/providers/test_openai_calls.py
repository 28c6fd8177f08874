"""Function calls are put together from the pieces of every kind of server."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chat.providers.openai_compatible.accumulator import CALLS_LIMIT, DETAILS_LIMIT, Accumulator
from chat.providers.openai_compatible.chunks import SOURCES_LIMIT, ErrorInStream, deltas_of
from chat.providers.untrusted_json import read_json
from chat.vocabulary.parts import JSON, FunctionCall, Text, Thought
from chat.vocabulary.stream_events import (
    Finish,
    Finished,
    MetadataReported,
    PartReceived,
    SourcesReported,
    StreamEvent,
    Usage,
    UsageReported,
)

CODE = '{"code": "print(1)"}'


def events_of(chunks: Iterable[dict[str, Any]], *, is_done: bool = True) -> list[StreamEvent]:
    accumulator = Accumulator(has_functions=True)
    deltas = [delta for chunk in chunks for delta in deltas_of(chunk)]
    events = [event for delta in deltas if not isinstance(delta, ErrorInStream) for event in accumulator.add(delta)]
    return [*events, *accumulator.close(is_done=is_done)]


def calls_in(events: Iterable[StreamEvent]) -> list[FunctionCall]:
    parts = [event.part for event in events if isinstance(event, PartReceived)]
    return [part for part in parts if isinstance(part, FunctionCall)]


def finish_of(events: Iterable[StreamEvent]) -> Finish | None:
    finishes = [event.finish for event in events if isinstance(event, Finished)]
    return finishes[-1] if finishes else None


def piece(finish: str | None = None, **call: JSON) -> dict[str, Any]:
    """Return a chunk with a piece of a call: `index`, `id`, `name`, `arguments` and other fields."""
    function = {name: call.pop(name) for name in ("name", "arguments") if name in call}
    return {
        "choices": [{"index": 0, "delta": {"tool_calls": [{**call, "function": function}]}, "finish_reason": finish}]
    }


def text(content: str, finish: str | None = None) -> dict[str, Any]:
    return {"choices": [{"delta": {"content": content}, "finish_reason": finish}]}


FORMS = {
    "first index is 1": [
        piece(index=1, id="a", name="f", arguments='{"x": 1}'),
        piece(index=2, id="b", name="g", arguments='{"y": 2}'),
    ],
    "id and name in each piece": [
        piece(index=0, id="a", name="f", arguments='{"x"'),
        piece(index=0, id="a", name="f", arguments=": 1}"),
        piece(index=1, id="b", name="g", arguments='{"y": 2}'),
    ],
    "whole response": [
        {
            "choices": [
                {
                    "message": {
                        "content": None,
                        "tool_calls": [
                            {"id": "a", "type": "function", "function": {"name": "f", "arguments": '{"x": 1}'}},
                            {"id": "b", "type": "function", "function": {"name": "g", "arguments": '{"y": 2}'}},
                        ],
                    },
                    "finish_reason": "tool_calls",
                }
            ]
        }
    ],
}
"""Forms of calls that `tests/openai_server/shapes.yaml` does not have."""


@pytest.mark.parametrize("form", FORMS)
def test_two_calls_are_read_in_the_format_of_each_kind_of_server(form: str) -> None:
    calls = calls_in(events_of(FORMS[form]))
    assert [(call.name, call.arguments, call.call_id) for call in calls] == [("f", {"x": 1}, "a"), ("g", {"y": 2}, "b")]


def test_repeated_name_begins_a_new_call_if_pieces_have_no_id_and_no_index() -> None:
    chunks = [piece(name="f", arguments='{"x"'), piece(arguments=": 1}"), piece(name="f", arguments='{"x": 2}')]
    assert [call.arguments for call in calls_in(events_of(chunks))] == [{"x": 1}, {"x": 2}]


def test_different_name_begins_a_new_call_even_if_the_first_call_has_no_arguments() -> None:
    calls = calls_in(events_of([piece(index=0, name="f"), piece(index=0, name="g", arguments='{"x": 1}')]))
    assert [(call.name, call.arguments) for call in calls] == [("f", {}), ("g", {"x": 1})]


@pytest.mark.parametrize("index", [0, None])
def test_piece_with_a_repeated_id_continues_its_call(index: int | None) -> None:
    chunks = [
        piece(index=index, id="q", name="n", arguments='{"a": 1}'),
        piece(index=index, id="q", name="n", arguments=""),
    ]
    assert [call.arguments for call in calls_in(events_of(chunks))] == [{"a": 1}]


@pytest.mark.parametrize("pieces", [["{", *["}"] * 10_000], ['{"x": "', *["}"] * 10_000], ["{}x", *["}"] * 10_000]])
def test_arguments_are_parsed_at_most_four_times_if_each_piece_repeats_the_name(
    monkeypatch: pytest.MonkeyPatch, pieces: list[str]
) -> None:
    parsed: list[int] = []

    def counted(text: str) -> JSON:
        parsed.append(len(text))
        value: JSON = read_json(text)
        return value

    monkeypatch.setattr("chat.providers.openai_compatible.call_pieces.read_json", counted)
    events_of(piece(name="f", arguments=one) for one in pieces)
    assert len(parsed) <= 4


@pytest.mark.parametrize(
    "first",
    [
        ['{"x": {"y": 1}', "}"],
        ['{"x": "}{', '}"}'],
        ['{"x": "\\', '""}'],
        ['{"x": "\\\\', '"}'],
        ['{"x": "', "\\", '"', '"', "}"],
        ["null"],
        ["nu", "ll"],
    ],
    ids=repr,
)
def test_end_of_arguments_is_found_wherever_they_are_divided(first: list[str]) -> None:
    chunks = [piece(name="f", arguments=one) for one in [*first, '{"last": 1}']]
    assert [call.arguments for call in calls_in(events_of(chunks))] == [json.loads("".join(first)) or {}, {"last": 1}]


@given(
    arguments=st.lists(
        st.dictionaries(st.text(max_size=4), st.text('"\\{}a', max_size=6), max_size=3), min_size=2, max_size=3
    ),
    size=st.integers(1, 9),
)
def test_calls_whose_pieces_all_have_the_same_name_and_no_id_are_separated(
    arguments: list[dict[str, str]], size: int
) -> None:
    wholes = [json.dumps(one) for one in arguments]
    chunks = [
        piece(name="f", arguments=whole[start : start + size])
        for whole in wholes
        for start in range(0, len(whole), size)
    ]
    assert [call.arguments for call in calls_in(events_of(chunks))] == arguments


def test_indexes_of_calls_may_be_strings() -> None:
    chunks = [piece(index=one, id=one, name="f", arguments=text) for text in ('{"x"', ": 1}") for one in ("0", "1")]
    assert [call.arguments for call in calls_in(events_of(chunks))] == [{"x": 1}, {"x": 1}]


def test_deeply_nested_arguments_are_treated_as_invalid() -> None:
    deep = '{"a": ' + "[" * 300 + "]" * 300 + "}"
    assert calls_in(events_of([piece("stop", id="a", name="f", arguments=deep)]))[0].arguments is None


@pytest.mark.parametrize("field", ["arguments", "id", "extra"])
def test_total_size_of_the_arguments_ids_and_unknown_fields_of_all_calls_is_limited(field: str) -> None:
    with pytest.raises(ValueError, match="too much"):
        events_of(piece(index=one, name="f", **{"id": str(one), field: f"{one}" * 1_000_000}) for one in range(5))


@given(
    arguments=st.dictionaries(st.text(max_size=4), st.text(max_size=8), max_size=3),
    size=st.integers(1, 9),
    data=st.data(),
)
def test_arguments_are_the_same_however_they_are_divided_into_chunks(
    arguments: dict[str, str], size: int, data: st.DataObject
) -> None:
    whole = json.dumps(arguments, ensure_ascii=data.draw(st.booleans()))
    chunks = [piece(index=0, id="a", name="f", arguments="")]
    chunks += [piece(index=0, arguments=whole[start : start + size]) for start in range(0, len(whole), size)]
    assert calls_in(events_of(chunks))[0].arguments == arguments


@pytest.mark.parametrize(
    ("arguments", "finish"), [('{"code": "pri', "length"), ("", "length"), ("[1]", "stop"), ("x", "stop")]
)
def test_incomplete_or_invalid_arguments_are_kept_as_raw_text_and_not_used(arguments: str, finish: str) -> None:
    [call] = calls_in(events_of([piece(finish, id="a", name="f", arguments=arguments)]))
    assert call.arguments is None
    assert call.provider_data.get("raw_arguments", "") == arguments


def test_unknown_fields_of_a_call_are_kept_for_the_model_that_sent_them() -> None:
    signature: JSON = {"google": {"thought_signature": "c2ln"}}
    [call] = calls_in(events_of([piece(index=0, id="a", name="f", arguments="{}", extra_content=signature)]))
    assert call.provider_data["fields"] == {"extra_content": signature}


def test_response_with_too_many_calls_is_refused() -> None:
    with pytest.raises(ValueError, match="more than"):
        events_of(piece(index=index, id=str(index), name="f", arguments="{}") for index in range(CALLS_LIMIT + 1))


def test_code_block_in_the_text_is_not_treated_as_a_call() -> None:
    assert finish_of(events_of([text("```python\nprint(1)\n```", "stop")])) is Finish.STOP


def test_metadata_and_token_counts_that_each_chunk_repeats_are_reported_once() -> None:
    chunk = {"id": "1", "model": "m", "system_fingerprint": "fp", "usage": {"prompt_tokens": 1, "completion_tokens": 2}}
    events = events_of([chunk | text("a"), chunk | text("b")])
    assert [type(event) for event in events].count(MetadataReported) == 1
    assert [type(event) for event in events].count(UsageReported) == 1


@pytest.mark.parametrize(
    ("wire", "usage"),
    [
        (
            {
                "prompt_tokens": 5,
                "completion_tokens": 10,
                "total_tokens": 15,
                "completion_tokens_details": {"reasoning_tokens": 4},
                "prompt_tokens_details": {"cached_tokens": 2},
            },
            Usage(prompt=5, thoughts=4, candidates=6, cached=2, total=15),
        ),
        (
            # xAI does not count reasoning among the completion tokens.
            {
                "prompt_tokens": 5,
                "completion_tokens": 6,
                "total_tokens": 15,
                "completion_tokens_details": {"reasoning_tokens": 4},
            },
            Usage(prompt=5, thoughts=4, candidates=6, total=15),
        ),
        # Some servers send no total, or a broken one.
        (
            {"prompt_tokens": 5, "completion_tokens": 10, "reasoning_tokens": 4},
            Usage(prompt=5, thoughts=4, candidates=6, total=15),
        ),
        ({"prompt_tokens": 5.0, "completion_tokens": None, "total_tokens": "?"}, Usage(prompt=5, total=5)),
        ({"prompt_tokens": float("inf"), "completion_tokens": float("nan"), "total_tokens": -1}, Usage()),
    ],
)
def test_reasoning_tokens_are_not_counted_twice(wire: dict[str, Any], usage: Usage) -> None:
    [event] = [event for event in events_of([{"usage": wire, "choices": []}]) if isinstance(event, UsageReported)]
    assert event.usage == usage


def test_reasoning_details_become_a_thought_before_the_answer_text() -> None:
    delta = {"reasoning_details": [{"type": "reasoning.text", "text": "hm", "index": 0}], "content": "4"}
    parts = [event.part for event in events_of([{"choices": [{"delta": delta}]}]) if isinstance(event, PartReceived)]
    texts = [(type(part), part.text) for part in parts if isinstance(part, Text | Thought) and part.text]
    assert texts == [(Thought, "hm"), (Text, "4")]


def test_pieces_of_reasoning_details_are_joined_to_be_sent_back() -> None:
    pieces: list[dict[str, Any]] = [
        {"type": "reasoning.text", "index": 0, "text": "a", "signature": None},
        {"type": "reasoning.text", "index": 0, "text": "b"},
        {"type": "reasoning.text", "index": 0, "signature": "s"},
        {"type": "reasoning.encrypted", "index": 0, "data": "x"},
    ]
    events = events_of({"choices": [{"delta": {"reasoning_details": [one]}}]} for one in pieces)
    signed = [e.part for e in events if isinstance(e, PartReceived) and e.part.provider_data]
    assert [part.provider_data["reasoning_details"] for part in signed] == [
        [
            {"type": "reasoning.text", "index": 0, "text": "ab", "signature": "s"},
            {"type": "reasoning.encrypted", "index": 0, "data": "x"},
        ]
    ]


def detail(**fields: JSON) -> dict[str, Any]:
    return {"choices": [{"delta": {"reasoning_details": [fields]}}]}


def test_pieces_of_a_reasoning_detail_are_joined_only_at_the_end() -> None:
    class Piece(str):
        """Text that fails the test if it is joined by `+`."""

        def __add__(self, other: str) -> str:
            raise AssertionError

    accumulator = Accumulator(has_functions=True)
    for _ in range(1_000):
        for delta in deltas_of(detail(index=0, type="reasoning.encrypted", data=Piece("ab"))):
            assert not isinstance(delta, ErrorInStream)
            assert not list(accumulator.add(delta))
    [part] = [event.part for event in accumulator.close(is_done=False) if isinstance(event, PartReceived)]
    assert part.provider_data["reasoning_details"] == [
        {"index": 0, "type": "reasoning.encrypted", "data": "ab" * 1_000}
    ]


def test_field_that_each_piece_of_a_reasoning_detail_repeats_counts_once_towards_the_limit() -> None:
    events = events_of(detail(index=0, type="reasoning.text", format="f" * 1_000, data="x") for _ in range(5_000))
    assert any(isinstance(event, PartReceived) and event.part.provider_data for event in events)


def test_number_of_reasoning_details_is_limited() -> None:
    with pytest.raises(ValueError, match="reasoning details"):
        events_of(detail(index=number, type="reasoning.text") for number in range(DETAILS_LIMIT + 1))


def test_long_texts_and_lists_in_the_metadata_of_a_server_are_cut() -> None:
    long = "x" * 100_000
    pages = [{"url": "https://e.example", "title": long}] * 1_000
    chunk = {"id": long, "model": long, "usage": {"prompt_tokens": 1, "more": long}, "search_results": pages}
    events = events_of([chunk | text("a")])
    assert len(str(events)) < 100_000
    assert [event.usage.prompt for event in events if isinstance(event, UsageReported)] == [1]
    assert [len(event.sources) for event in events if isinstance(event, SourcesReported)] == [SOURCES_LIMIT]


def test_citation_with_a_too_long_url_is_left_out() -> None:
    events = events_of([{"citations": ["https://e.example/" + "x" * 10_000, "https://e.example"]}])
    [report] = [event for event in events if isinstance(event, SourcesReported)]
    assert [source.url for source in report.sources] == ["https://e.example"]


@given(
    chunk=st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=5),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(
                    [
                        "choices",
                        "delta",
                        "content",
                        "tool_calls",
                        "function",
                        "arguments",
                        "usage",
                        "id",
                        "error",
                        "index",
                    ]
                ),
                inner,
                max_size=5,
            )
        ),
        max_leaves=20,
    )
)
def test_chunk_with_values_of_unexpected_types_raises_no_error(chunk: object) -> None:
    if isinstance(chunk, dict):
        events_of([chunk])


@pytest.mark.parametrize(
    ("reason", "native", "finished"),
    [
        ("stop", "end_turn", Finished(Finish.STOP, "stop")),
        ("stop", "MALFORMED_FUNCTION_CALL", Finished(Finish.MALFORMED_CALL, "stop", "MALFORMED_FUNCTION_CALL")),
        ("error", "MALFORMED_FUNCTION_CALL", Finished(Finish.MALFORMED_CALL, "error", "MALFORMED_FUNCTION_CALL")),
        ("content_filter", "SAFETY", Finished(Finish.SAFETY, "content_filter", "SAFETY")),
        ("content_filter", "sensitive <b>words</b>", Finished(Finish.BLOCKED, "content_filter", "sensitive words")),
        ("length", "LENGTH", Finished(Finish.LENGTH, "length")),
        ("length", ["max_tokens"], Finished(Finish.LENGTH, "length")),
    ],
)
def test_finish_reason_of_the_upstream_service_is_kept_if_the_answer_is_incomplete(
    reason: str, native: JSON, finished: Finished
) -> None:
    chunk = text("I compute it.", reason)
    chunk["choices"][0]["native_finish_reason"] = native
    assert [event for event in events_of([chunk]) if isinstance(event, Finished)] == [finished]
    assert not any(isinstance(delta, ErrorInStream) for delta in deltas_of(chunk))


def test_error_that_ends_an_answer_contains_the_finish_reason_of_the_upstream_service() -> None:
    chunk = text("Par", "error")
    chunk["choices"][0]["native_finish_reason"] = "OVERHEATED"
    *_, error = deltas_of(chunk)
    assert error == ErrorInStream("The server ended the answer with the finish reason “error” (OVERHEATED).")
