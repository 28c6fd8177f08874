"""Prompts and files that were made to be slow to read."""

from __future__ import annotations

import pytest

from chat.emulator.demo.language import LENGTH_LIMIT
from chat.emulator.demo.maths import parse_formula
from chat.emulator.demo.table_files import take_pasted_table
from tests.chat.emulator.demo.test_plan import plan
from tests.time_growth import GROWTH_LIMIT, time_growth

UNITS = ["1,", "1 ", "(", "-", "x+", "a 1, ", "from 1 ", "[1,", "1 <= x <= ", "正弦", "1% of 2 ", "top 5 "]


@pytest.mark.parametrize("unit", UNITS)
def test_time_to_parse_a_prompt_is_not_quadratic_in_its_length(unit: str) -> None:
    assert time_growth(lambda length: plan((unit * length)[:length]), 2 * LENGTH_LIMIT) < GROWTH_LIMIT


@pytest.mark.parametrize("unit", ["a,b\n", "\t", "|a|b|\n", "x", "a,b\nc;d\n", "```\n"])
def test_time_to_parse_a_pasted_table_is_not_quadratic_in_its_length(unit: str) -> None:
    assert time_growth(lambda length: take_pasted_table((unit * length)[:length]), 100_000) < GROWTH_LIMIT


@pytest.mark.parametrize(
    "prompt", ["draw " * 100_000, "1" * 50_000, "```csv\n" + "a,b\n" * 100_000, "x" * 41, "1" * 41]
)
def test_oversized_prompt_or_table_in_a_prompt_is_refused(prompt: str) -> None:
    assert isinstance(plan(prompt), str)


@pytest.mark.parametrize("prompt", ["sum of ⟪2⟫", "mean of ⟦9⟧", "sum of 3, 4 by ⟦9⟧"])
def test_marks_of_the_parser_in_a_prompt_have_no_meaning(prompt: str) -> None:
    assert isinstance(plan(prompt, files={"a.csv": b"x,y\n1,2\n"}), str)


@pytest.mark.parametrize(
    "text",
    [
        "(" * 190,
        "9**9**9**9",
        "2^(10^9)",
        "1" * 41,
        "-" * 199,
        "x.__class__",
        "x[0]",
        "__import__('os')",
        "f(x)",
        "9999!",
        "\0",
    ],
)
def test_text_that_would_be_dangerous_to_compute_is_not_parsed_as_a_formula(text: str) -> None:
    assert not parse_formula(text)


def test_long_prompt_about_a_wide_table_is_refused_without_delay() -> None:
    rows = [",".join(f"col {number}" for number in range(100))]
    rows += [",".join(f"v{number} {line}" for number in range(100)) for line in range(150)]
    assert isinstance(plan("mean of v1 1 by v2 2 " * 50, files={"wide.csv": "\n".join(rows).encode()}), str)
    assert isinstance(plan("describe", files={"quotes.csv": b'"' * 1_000_000}), str)
