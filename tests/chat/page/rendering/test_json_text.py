"""JSON as indented text: equal to Python's own form, and bounded for large and deep values."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chat.page.rendering.json_text import INDENT_LIMIT, STRING_LIMIT_CHARS, TEXT_LIMIT_CHARS, format_json
from chat.vocabulary.parts import JSON

SCALARS = (
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=8)
)
VALUES = st.recursive(
    SCALARS,
    lambda children: st.lists(children, max_size=4) | st.dictionaries(st.text(max_size=4), children, max_size=4),
).filter(lambda value: depth_of(value) <= INDENT_LIMIT)


def depth_of(value: JSON) -> int:
    """Return how deeply lists and objects are nested."""
    children = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return max((1 + depth_of(child) for child in children), default=0)


@given(VALUES)
def test_small_json_value_is_formatted_like_json_dumps(value: JSON) -> None:
    assert format_json(value) == json.dumps(value, indent=2, ensure_ascii=False)


@pytest.mark.parametrize(
    "value", [[1] * 500_000, {str(number): number for number in range(100_000)}, [[]] * 300_000, ["x" * 9_000] * 100]
)
def test_large_json_value_is_cut(value: JSON) -> None:
    text = format_json(value)
    assert len(text) < TEXT_LIMIT_CHARS + 100
    assert text.endswith("\n…")


def test_long_json_string_is_cut() -> None:
    assert len(format_json("x" * 10**6)) == STRING_LIMIT_CHARS + 3


def test_json_values_that_are_nested_deeper_than_the_limit_are_written_on_one_line() -> None:
    value: JSON = [1, {"a": 2}]
    for _ in range(900):
        value = [value]
    text = format_json(value)
    assert json.loads(text) == value
    assert f"\n{'  ' * INDENT_LIMIT}[[[" in text
    assert '[1, {"a": 2}]' in text
    assert len(text) < 2_000
