"""Tests of reading tables in the outputs of code."""

from __future__ import annotations

import pytest

from chat.messages.numbers.source_tables import SourceTables
from chat.messages.numbers.sources import SourceText
from chat.messages.numbers.tables import Table
from tests.chat.messages.numbers.verdicts import verdicts


def read_tables(output: str) -> list[Table]:
    return SourceTables([SourceText("output", output)]).all


def cells(table: Table) -> dict[str, dict[str, float | None]]:
    """Return the numbers of a table by the labels of its rows and the names of its columns."""
    return {
        row.label: {name: cell.value if cell else None for name, cell in zip(table.names, row.cells, strict=True)}
        for row in table.rows
    }


def test_names_of_columns_may_have_several_words() -> None:
    (table,) = read_tables("month  Main Hall  Old Barn  Tower\n  Jan        463       298    261\n")
    assert cells(table) == {"jan": {"Main Hall": 463, "Old Barn": 298, "Tower": 261}}


def test_column_of_texts_between_numbers_moves_no_names() -> None:
    output = "  plot  age soil  yield\n0   P1   13 clay   36.3\n1   P2   17 sand   32.8\n"
    (table,) = read_tables(output)
    assert cells(table)["p2"] == {"age": 17, "yield": 32.8}


def test_rows_with_several_texts_are_named_by_the_one_that_no_other_row_has() -> None:
    output = "   zone      town  shops\n0  East    Aldorf     31\n1  East  Bad Ohm      12\n2  West     Kirch     25\n"
    (table,) = read_tables(output)
    assert [(row.label, row.group) for row in table.rows] == [
        ("aldorf", "east"),
        ("bad ohm", "east"),
        ("kirch", "west"),
    ]


def test_columns_of_texts_may_have_one_space_between_them() -> None:
    output = "code        item  sold\nA-01  Floor lamp    84\nB-02       Chair    30\nC-03 Garden sofa    12\n"
    (table,) = read_tables(output)
    assert [row.label for row in table.rows] == ["a-01", "b-02", "c-03"]


def test_two_texts_that_only_together_tell_rows_apart_are_group_and_label() -> None:
    output = "town    fish  tons\nUlm      eel  11.5\nUlm     carp  17.2\nBonn     eel  29.4\nBonn    carp  36.9\n"
    (table,) = read_tables(output)
    assert [(row.group, row.label) for row in table.rows][:3] == [("ulm", "eel"), ("ulm", "carp"), ("bonn", "eel")]


def test_row_with_two_unique_texts_has_both_names() -> None:
    (table,) = read_tables("code        item  sold\nA-01  Floor lamp    84\nB-02       Chair    30\n")
    assert table.row_names == {"a-01": "a-01", "b-02": "b-02", "floor lamp": "a-01", "chair": "b-02"}


def test_statistic_has_no_second_name() -> None:
    (table,) = read_tables("kind   word  cost\n std  alpha   5.5\nmean   beta   7.5\n")
    assert table.row_names == {}


def test_numbers_in_labels_are_no_cells() -> None:
    output = "          band  n   gas\n       below 0  3  18.5\n        0 to 5  7  15.1\n       above 5  8   9.9\n"
    (table,) = read_tables(output)
    assert list(cells(table)) == ["below 0", "0 to 5", "above 5"]
    output = "version  users  crashes\n  4.0.3   5953       40\n  4.1.0   8439       73\nT6-2024    100        5\n"
    (table,) = read_tables(output)
    assert list(cells(table)) == ["4.0.3", "4.1.0", "t6-2024"]


def test_number_before_hyphen_and_letter_is_part_of_a_name() -> None:
    (table,) = read_tables("alloy    mpa\n7075-T6  570\n6061-T6  311\n")
    assert list(cells(table)) == ["7075-t6", "6061-t6"]


def test_quantiles_below_a_series_are_another_table() -> None:
    series, quantiles = read_tables("a    1.5\nb    2.5\n0.10    1.6\n0.90    2.4\n")
    assert [[*cells(one)] for one in (series, quantiles)] == [["a", "b"], ["10%", "90%"]]


def test_end_of_series_is_no_name_of_the_columns_below() -> None:
    series, table = read_tables("a    1\nb    2\ndtype: int64\n       x     y\na   1.00  0.50\nb   0.50  1.00\n")
    assert cells(series) == {"a": {"": 1}, "b": {"": 2}}
    assert cells(table)["b"] == {"x": 0.5, "y": 1.0}


def test_named_value_below_a_table_is_not_in_its_column() -> None:
    _, total = read_tables(
        "    item   eur  minutes\n  Chair  62.5       31\n  Table  24.0       14\nTotal cost: 8500\n"
    )
    assert cells(total) == {"total cost": {"": 8500}}


@pytest.mark.parametrize("number", ["5e999", "0e999", "9" * 400])
def test_number_that_is_too_great_is_a_missing_value(number: str) -> None:
    (table,) = read_tables(f"      a    b\nUlm   {number}  12\nBonn  7  34\n")
    assert [[cell and cell.value for cell in row.cells] for row in table.rows] == [[None, 12], [7, 34]]


def test_quantiles_of_several_columns_are_rows() -> None:
    (table,) = read_tables("      fibre  salt\n0.25   0.57  0.01\n0.50   4.00  0.06\n")
    assert cells(table)["25%"] == {"fibre": 0.57, "salt": 0.01}


def test_date_after_a_row_number_is_the_label() -> None:
    (table,) = read_tables("     month  sales  cost\n0  2024-01    412    32\n1  2024-02    398    31\n")
    assert cells(table)["2024-02"] == {"sales": 398, "cost": 31}


def test_slash_before_an_address_is_not_part_of_the_label() -> None:
    (table,) = read_tables("endpoint  p95\n  /login  310\n /search  655\n")
    assert list(cells(table)) == ["login", "search"]


SHOPS = """\
code        item  sold  price
A-01  Floor lamp    84   46.5
B-02       Chair    36   19.9
C-03       Stool    51   12.4
"""


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Floor lamp (A-01) cost 46.5 €.", ["output"]),
        ("Floor lamp (A-01) cost 19.9 €.", ["nowhere"]),
        ("The floor lamp (84) is ahead of the little seat (36).", ["output", "output"]),
        ("The floor lamp (36) is ahead of the chair (84).", ["nowhere", "nowhere"]),
        ("Floor lamp and chair sold 120 pieces (respectively 84 and 36).", ["derived", "output", "output"]),
        ("Floor lamp and chair sold 120 pieces (respectively 36 and 84).", ["nowhere"] * 3),
    ],
)
def test_rows_with_two_names_own_the_numbers_beside_either_name(text: str, expected: list[str]) -> None:
    assert verdicts(SHOPS, text) == expected


def test_percentage_that_begins_a_line_may_name_a_quantile() -> None:
    output = "      fibre  salt\n0.25   0.57  0.01\n0.75   6.95  0.31\n"
    assert verdicts(output, "| 75 % | 6.95 | 0.31 |") == ["output"] * 3


def test_question_whose_name_begins_with_q1_is_no_quartile() -> None:
    output = "q1_taste: pupils 2.50 (sd 1.15), staff 3.56 (sd 1.21)\n"
    assert verdicts(output, "Pupils give 2.50 on average (standard deviation 1.15).") == ["output", "output"]


PERSONS = "  id sex  weight\n1203   f    65.3\n1210   m    55.4\n1217   f    71.9\n"
IDS = "     id  height  weight\n2033917   171.2    65.3\n2033941   164.8    55.4\n2033968   180.1    71.9\n"


@pytest.mark.parametrize(
    ("output", "text", "expected"),
    [
        (PERSONS, "Person 1210 weighs 55.4.", ["output", "output"]),
        (PERSONS, "Person 1210 weighs 65.3.", ["output", "nowhere"]),
        (IDS, "Person 2033941 weighs 55.4.", ["output", "output"]),
        (IDS, "Person 2033941 weighs 65.3.", ["output", "nowhere"]),
        ("14484 ppm on 6400 boards\n", "The rate is 14,484 ppm.", ["output"]),
    ],
)
def test_first_number_of_a_line_may_be_an_id_or_a_value(output: str, text: str, expected: list[str]) -> None:
    assert verdicts(output, text) == expected


@pytest.mark.parametrize(
    ("row", "verdict"), [("| Ulm | 31.5 | 27.3 |", "output"), ("| Ulm | 27.3 | 31.5 |", "nowhere")]
)
@pytest.mark.parametrize(
    "output", ["town  share_2019  share_2024\n Ulm        31.5        27.3\n", "year   Ulm\n2019  31.5\n2024  27.3\n"]
)
def test_number_below_another_year_in_a_table_of_the_answer_has_no_source(output: str, row: str, verdict: str) -> None:
    text = f"| Town | Part 2019 | 2024 |\n|---|---|---|\n{row}"
    assert verdicts(output, text)[-2:] == [verdict] * 2


def test_key_of_a_quantile_is_no_number() -> None:
    assert verdicts("waits: {0.25: 350.5, 0.75: 452.0}", "It waits 0.75 s.") == ["nowhere"]
