"""Adjoining texts are shown as one, wherever a signature stands between them."""

from __future__ import annotations

import pytest

from chat.messages.text_runs import part_runs
from chat.vocabulary.parts import ExecutableCode, Part, Text, Thought

SIGNED = {"thought_signature": "cw=="}
CODE = ExecutableCode("1")
EMPTY = Text("", provider_data=SIGNED)
HIDDEN = Thought("", provider_data=SIGNED)


def runs(*parts: Part, attachments: frozenset[int] = frozenset()) -> list[tuple[int, int, str]]:
    """Return start, end and text of each run."""
    return [(run.start, run.end, run.part.long_text) for run in part_runs(parts, attachments)]


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        ([], []),
        ([Text("a")], [(0, 1, "a")]),
        ([Text("a"), Text("b", provider_data=SIGNED), Text("c")], [(0, 3, "abc")]),
        ([Text("a"), EMPTY, EMPTY, Text("b")], [(0, 4, "ab")]),
        ([EMPTY, Text("a")], [(0, 2, "a")]),
        ([Text("a"), HIDDEN, HIDDEN, Text("b"), CODE], [(0, 4, "ab"), (4, 5, "1")]),
        ([HIDDEN, Text("a")], [(0, 1, ""), (1, 2, "a")]),
        ([Text("a"), CODE, Text("b")], [(0, 1, "a"), (1, 2, "1"), (2, 3, "b")]),
        ([Text("a"), Thought("b"), Text("c")], [(0, 1, "a"), (1, 2, "b"), (2, 3, "c")]),
        ([Thought("a"), Thought("b")], [(0, 1, "a"), (1, 2, "b")]),
        ([Text("a"), Text("b", round=1)], [(0, 1, "a"), (1, 2, "b")]),
    ],
)
def test_adjoining_texts_of_the_same_round_are_joined(parts: list[Part], expected: list[tuple[int, int, str]]) -> None:
    assert runs(*parts) == expected


def test_texts_before_and_after_an_attachment_are_not_joined() -> None:
    texts = [Text("a"), Text("b"), Text("c")]
    assert runs(*texts, attachments=frozenset({1})) == [(0, 2, "ab"), (2, 3, "c")]


def test_joining_texts_does_not_change_the_stored_parts() -> None:
    parts = [Text("a", provider_data=SIGNED), Text("b")]
    list(part_runs(parts))
    assert parts == [Text("a", provider_data=SIGNED), Text("b")]
