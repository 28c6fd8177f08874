"""Reasoning in tags at the beginning of an answer is told apart from the answer, however it is divided."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chat.providers.openai_compatible.think_tags import ThinkTags

TEXTS = st.text(alphabet="a<>/think \n", max_size=30)


def divided(pieces: list[str]) -> tuple[str, str]:
    """Return the reasoning and the answer of a text in pieces."""
    tags = ThinkTags()
    deltas = [delta for piece in pieces for delta in tags.feed(piece)]
    deltas += tags.close()
    return (
        "".join(delta.text for delta in deltas if delta.is_reasoning),
        "".join(delta.text for delta in deltas if not delta.is_reasoning),
    )


@pytest.mark.parametrize(
    ("text", "reasoning", "answer"),
    [
        ("<think>\nHm.\n</think>\n\n42", "Hm.\n", "42"),
        ("  \n<think>Hm.</think>42", "Hm.", "42"),
        ("<think></think>42", "", "42"),
        ("<think>not closed", "not closed", ""),
        ("42 and <think>no tag</think>", "", "42 and <think>no tag</think>"),
        ("<thinking>42", "", "<thinking>42"),
        ("<think>a </thin b</think>c", "a </thin b", "c"),
        (" <th", "", " <th"),
        ("", "", ""),
        (" " * 300 + "<think>a", "", " " * 300 + "<think>a"),
    ],
)
def test_only_tags_at_the_beginning_mark_reasoning(text: str, reasoning: str, answer: str) -> None:
    assert divided([text]) == (reasoning, answer)
    assert divided(list(text)) == (reasoning, answer)


@given(text=TEXTS, cuts=st.lists(st.integers(0, 40), max_size=6))
def test_division_into_pieces_changes_nothing(text: str, cuts: list[int]) -> None:
    borders = [0, *sorted(min(cut, len(text)) for cut in cuts), len(text)]
    pieces = [text[start:end] for start, end in pairwise(borders)]
    assert divided(pieces) == divided([text])
    assert divided([f"<think>{piece}" if not index else piece for index, piece in enumerate(pieces)]) == divided(
        [f"<think>{text}"]
    )
