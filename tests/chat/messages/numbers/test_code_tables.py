"""Tests of reading tables in the literals of code."""

from __future__ import annotations

import pytest

from chat.messages.numbers.code_tables import code_tables
from chat.messages.numbers.source_tables import SourceTables
from chat.messages.numbers.sources import SourceText
from tests.chat.messages.numbers.verdicts import verdicts

COLUMNS = "pd.DataFrame({'town': ['Ulm', 'Bonn'], 'sold': [12, -3.5]})"
ROWS = "towns = [('Ulm', 12, True), ('Bonn', -3.5, False)]"
LISTS = "towns = ['Ulm', 'Bonn']\n%matplotlib inline\nsold = [12, -3.5]\nplt.bar(towns, sold)"
GROUPS = "{'South': [('Ulm', 12)], 'West': [('Bonn', -3.5)]}"
TEXT = 'data = """town,sold\nUlm,12\nBonn,-3.5\n"""'


@pytest.mark.parametrize(
    "code",
    [
        COLUMNS,
        ROWS,
        LISTS,
        GROUPS,
        TEXT,
        "{'Ulm': 12, 'Bonn': -3.5}",
        "{'Ulm': {'sold': 12}, 'Bonn': {'sold': -3.5}}",
        "f([{'town': 'Ulm', 'sold': 12}, {'town': 'Bonn', 'sold': -3.5}])",
        "f([{'town': 'Ulm', 'sold': 12}, {'sold': -3.5, 'town': 'Bonn'}])",
        "towns = ['Ulm', 'Bonn']\r\rsold = [12, -3.5]",
    ],
)
def test_literals_of_code_are_read_as_tables(code: str) -> None:
    (table,) = SourceTables([SourceText("code", code)]).all
    cells = [cell for row in table.rows for cell in row.cells if cell]
    assert [cell.value for cell in cells] == [12, -3.5]
    assert [code[cell.start : cell.end] for cell in cells] == ["12", "-3.5"]
    assert {"ulm", "bonn"} <= table.row_names.keys()


@pytest.mark.parametrize("code", ["for", "(" * 300, "\0", "f(1, (2, 3))", "size = [8, 5]", "[[f(1), 2], [3, 4]]", "{}"])
def test_other_code_has_no_tables(code: str) -> None:
    assert code_tables(SourceText("code", code))[0] == []


@pytest.mark.parametrize(
    "code",
    [
        f"[('Ulm', {'9' * 400}), ('Bonn', 2)]",
        "[('Ulm', 1e999), ('Bonn', 2)]",
        f"pd.DataFrame(rows, columns=['town', 0x{'f' * 4000}])",
    ],
)
def test_code_with_a_number_that_is_too_great_has_no_tables(code: str) -> None:
    assert code_tables(SourceText("code", code))[0] == []


def test_literal_in_many_lists_is_no_table() -> None:
    """Without a limit, reading the same lists again for each level takes minutes."""
    code = f"rows = {'[' * 190}'ü', {'1,' * 9_000} x{']' * 190}"
    assert code_tables(SourceText("code", code))[0] == []


def test_characters_before_a_literal_do_not_move_its_position() -> None:
    code = "# Größe\ngröße = {'Köln': 12, 'Bonn': 3.5}"
    (table,) = code_tables(SourceText("code", code))[0]
    assert [code[cell.start : cell.end] for row in table.rows for cell in row.cells if cell] == ["12", "3.5"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Ulm sold 84.4, Bonn 79.9.", ["code", "code"]),
        ("Ulm sold 79.9, Bonn 84.4.", ["nowhere", "nowhere"]),
        ("Ulm sold 1.06x as much as Bonn.", ["derived"]),
        ("Ulm sold 1.26x as much as Bonn.", ["nowhere"]),
    ],
)
def test_numbers_of_an_answer_are_compared_with_the_rows_of_code(text: str, expected: list[str]) -> None:
    code = "pd.DataFrame({'town': ['Ulm', 'Bonn', 'Hof'], 'sold': [84.4, 79.9, 51.3]})"
    assert verdicts("", text, code=code) == expected
