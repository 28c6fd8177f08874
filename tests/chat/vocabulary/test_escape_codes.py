"""Escape codes of terminals are removed from outputs."""

from __future__ import annotations

import pytest

from chat.vocabulary.escape_codes import remove_escape_codes
from tests.time_growth import GROWTH_LIMIT, time_growth


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain [31m text\n", "plain [31m text\n"),
        ("\x1b[31mred\x1b[0m \x1b[1;38;5;12mbold\x1b[m", "red bold"),
        ("\x9b31mred\x9b0m", "red"),
        ("\x1b[2K\x1b[1A\x1b[?25lline", "line"),
        ("\x1b]0;title\x07a\x1b]8;;https://e.example\x1b\\link\x1b]8;;\x1b\\", "alink"),
        ("\x1b(Ba\x1b=b\x1b7c", "abc"),
        ("cut \x1b[31", "cut \x1b[31"),
    ],
)
def test_escape_codes_are_removed(text: str, shown: str) -> None:
    assert remove_escape_codes(text) == shown


@pytest.mark.parametrize("unit", ["\x1b", "\x1b[", "\x1b]", "\x1b[1;", "\x1b]x", "\x1b ", "\x9b0"])
def test_time_to_remove_escape_codes_is_linear_in_the_text_length(unit: str) -> None:
    text = unit * 400_000
    assert time_growth(lambda length: remove_escape_codes(text[:length]), 400_000) < GROWTH_LIMIT
