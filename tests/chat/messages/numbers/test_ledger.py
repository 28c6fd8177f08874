"""Where numbers come from: rounding, units, signs, rows and columns, and arithmetic."""

from __future__ import annotations

import pytest

from chat.messages.numbers.ledger import trace_numbers
from chat.messages.numbers.sources import SourceText

TABLE = """      city  revenue_eur  orders  growth
0     Ulm      76993.30    1381  0.1234
1    Bonn       2568.20      43 -0.0521
2  Kassel      74770.75    2266  0.5000
"""
SOURCES = [SourceText("output", TABLE), SourceText("question", "Is 4711 above it?"), SourceText("code", "limit = 815")]


def verdicts(text: str) -> list[str]:
    return [one.verdict for one in trace_numbers(text, SOURCES)]


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        ("Ulm had a revenue of 76,993.3 €.", "output"),
        ("Ulm had a revenue of 77 thousand.", "output"),
        ("Ulm had a revenue of 76,994 €.", "nowhere"),
        ("Ulm had a revenue of 76,993.3 $.", "nowhere"),
        ("Bonn had a revenue of 76,993.3 €.", "nowhere"),
        ("The orders of Ulm are 76,993.30.", "nowhere"),
        ("Ulm grew by 12.3 %.", "output"),
        ("Ulm grew by 12.4 %.", "nowhere"),
        ("Bonn fell by 5.2 %.", "output"),
        ("Bonn grew by 5.2 %.", "nowhere"),
        ("Ulm grew by -12.3 %.", "nowhere"),
        ("The limit of 4,711 is kept.", "question"),
        ("The limit of 815 is kept.", "code"),
        ("The difference between Ulm and Bonn in orders is 1,338.", "derived"),
        ("The total of orders is 3,690.", "derived"),
        ("The total of orders is 3,691.", "nowhere"),
    ],
)
def test_number_has_the_source_that_its_words_allow(text: str, verdict: str) -> None:
    assert verdicts(text) == [verdict]


def test_swapped_numbers_of_two_rows_have_no_source() -> None:
    assert verdicts("Ulm (1,381 orders) is behind Kassel (2,266 orders).") == ["output", "output"]
    assert verdicts("Ulm (2,266 orders) is behind Kassel (1,381 orders).") == ["nowhere", "nowhere"]


def test_statistic_of_a_column_is_no_source_for_a_row() -> None:
    sources = [SourceText("output", f"{TABLE}\n{'':8}orders\nmean  1230.000\nmax   2266.000\n")]
    for text, verdict in (
        ("Ulm is above the average of 1,230 orders.", "output"),
        ("Ulm has 1,230 orders.", "nowhere"),
        ("Ulm has 2,266 orders.", "nowhere"),
    ):
        assert [one.verdict for one in trace_numbers(text, sources)] == [verdict], text
