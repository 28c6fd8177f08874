"""Numbers of an answer that are not in the results any more, and the numbers in their place."""

from __future__ import annotations

import uuid

import pytest

from chat.messages.numbers.lost_numbers import lost_numbers
from chat.messages.numbers.sources import SourceText

ANSWER_ID = uuid.UUID(int=1)


def lost(text: str, before: str, after: str) -> list[tuple[str, str]]:
    """Return the lost numbers, each with the number in its place."""
    old, new = ([SourceText("output", output, ANSWER_ID, 1)] for output in (before, after))
    found = lost_numbers(text, old, new, {(ANSWER_ID, 1): after})
    return [(text[one.start : one.end], one.after) for one in found]


@pytest.mark.parametrize(
    ("text", "before", "after", "expected"),
    [
        pytest.param(
            "Ulm has 1,381 orders, Bonn 815.",
            "   city  orders\n0   Ulm    1381\n1  Bonn     815\n",
            "   city  orders\n0  Kiel      11\n1   Ulm    1402\n2  Bonn     815\n",
            [("1,381", "1402")],
            id="the row has moved",
        ),
        pytest.param("The mean is 12.3.", "mean 12.341\n", "mean 12.338\n", [], id="the same after rounding"),
        pytest.param("The share is 12.3 %.", "share 0.1234\n", "share 0.1481\n", [("12.3 %", "14.8 %")], id="a share"),
        pytest.param("The change is -3.2.", "change: -3.2\n", "change: 3.2\n", [("-3.2", "3.2")], id="another sign"),
        pytest.param(
            "In 2024 there were 600.", "2023  500\n2024  600\n", "2024  611\n2025  700\n", [("600", "611")], id="a year"
        ),
        pytest.param(
            "In 2023 there were 500.",
            "2023  500\n2024  600\n",
            "2024  611\n2025  700\n",
            [("500", "")],
            id="no such year",
        ),
        pytest.param(
            "On that day there were 70.",
            "2024-01-05  70\n2024-01-06  80\n",
            "2024-01-06  80\n2024-01-07  90\n",
            [("70", "")],
            id="no such day",
        ),
        pytest.param("Total 7.5.", "total 7.5\n", "total 8.5\ntotal 9.5\n", [("7.5", "")], id="two lines may be it"),
        pytest.param(
            "Together, 2,196 orders for Ulm (1,381) and Bonn (815).",
            "Ulm 1381\nBonn 815\n",
            "Ulm 1402\nBonn 815\n",
            [("2,196", ""), ("1,381", "1402")],
            id="a sum of what has changed",
        ),
        pytest.param("Version 1.2.3 has 99 orders.", "orders 5\n", "orders 6\n", [], id="never was in the results"),
        pytest.param("There are 815.", "815\n", "KeyError\n", [("815", "")], id="the code fails"),
    ],
)
def test_number_is_reported_as_lost_if_the_new_output_has_another_value_in_its_line(
    text: str, before: str, after: str, expected: list[tuple[str, str]]
) -> None:
    assert lost(text, before, after) == expected
