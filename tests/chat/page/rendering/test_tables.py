"""Tables as data: spanning cells, the header, numbers and sizes."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chat.page.rendering.tables import (
    CELLS_LIMIT,
    COLUMNS_LIMIT,
    HEADER_ROWS_LIMIT,
    ROWS_LIMIT,
    SourceCell,
    SourceTable,
    Table,
    build_table,
    is_number,
)


def table_of(*body: list[SourceCell], header: list[list[SourceCell]] | None = None) -> Table:
    """Return the table of these rows."""
    table = build_table(SourceTable("", header or [], body))
    assert table is not None
    return table


def cells(*texts: str, is_header: bool = False) -> list[SourceCell]:
    """Return a row of cells that span nothing."""
    return [SourceCell(text, is_header) for text in texts]


def test_cell_spanning_rows_is_repeated_in_each_row_and_cell_spanning_columns_is_not() -> None:
    table = table_of([SourceCell("a", rows=2), SourceCell("b", columns=2)], cells("c", "d"))
    assert table.rows == (("a", "b", ""), ("a", "c", "d"))


def test_short_rows_of_a_table_are_padded_with_empty_cells() -> None:
    assert table_of(cells("a"), cells("b", "c")).rows == (("a", ""), ("b", "c"))


def test_source_without_cells_gives_no_table() -> None:
    assert build_table(SourceTable("caption", [], [[]])) is None


@pytest.mark.parametrize(
    ("texts", "is_number_column"),
    [
        (["1", "-2.5", "NaN", ""], True),
        (["1,234", "−5", "3e-4", "12 %", "$4.20", "inf", ".5", "5."], True),
        (["None", "nan", ""], False),
        (["1", "a"], False),
        (["1.2.3"], False),
        (["1,23"], False),
        (["2024-01-01"], False),
        (["1", "...", "2"], True),
    ],
)
def test_column_is_a_number_column_if_all_its_cells_are_numbers_or_missing(
    texts: list[str], is_number_column: bool
) -> None:
    assert (0 in table_of(*(cells(text, "x") for text in texts)).number_columns) == is_number_column


@given(st.integers() | st.floats(allow_nan=False))
def test_numbers_in_pythons_notation_are_recognized_as_numbers(number: float) -> None:
    assert is_number(str(number))
    assert is_number(f"{number:,}")


@pytest.mark.parametrize("text", ["", "-", "e5", "%", "$", ",", "1 2", "0x1f", "infinite", "١٢", "1" * 20_000 + "x"])
def test_texts_that_only_resemble_numbers_are_not_recognized_as_numbers(text: str) -> None:
    assert not is_number(text)


def test_leading_columns_with_only_header_cells_are_index_columns() -> None:
    row = [*cells("a", "b", is_header=True), *cells("1")]
    assert table_of(row, row).index_columns == 2
    assert table_of(row, cells("a", "b", "1")).index_columns == 0
    assert table_of(cells("a", "b", is_header=True)).index_columns == 0


def test_index_names_in_a_header_row_of_their_own_are_merged_into_the_row_above() -> None:
    header = [cells("", "x", "y", is_header=True), cells("index", "", "", is_header=True)]
    table = table_of(cells("1", "2", "3"), header=header)
    assert [[cell.text for cell in row] for row in table.header] == [["index", "x", "y"]]
    assert table.column_names == ["index", "x", "y"]


def test_lowest_header_cell_with_a_text_sorts_its_column() -> None:
    header = [
        [SourceCell("", True), SourceCell("size", True, columns=2)],
        cells("unit", "w", "h", is_header=True),
        cells("key", "", "", is_header=True),
    ]
    table = table_of(cells("a", "1", "2"), header=header)
    assert [[(cell.text, cell.sorts_column) for cell in row] for row in table.header] == [
        [("", None), ("size", None)],
        [("unit", None), ("w", 1), ("h", 2)],
        [("key", 0), ("", None), ("", None)],
    ]
    assert table.column_names == ["unit / key", "size / w", "size / h"]


def test_cells_with_column_types_below_the_column_names_have_no_sort_button() -> None:
    table = table_of(cells("1"), header=[cells("n", is_header=True), cells("i64")])
    assert [[(cell.text, cell.is_header, cell.sorts_column) for cell in row] for row in table.header] == [
        [("n", True, 0)],
        [("i64", False, None)],
    ]


def test_header_cell_that_spans_two_rows_is_kept_as_one_cell() -> None:
    table = table_of(
        cells("1", "2"), header=[[SourceCell("a", True, rows=2), SourceCell("b", True)], cells("c", is_header=True)]
    )
    assert [[(cell.text, cell.rows) for cell in row] for row in table.header] == [[("a", 2), ("b", 1)], [("c", 1)]]


@pytest.mark.parametrize(
    ("total_rows", "size"),
    [
        (0, "2 rows × 1 column"),
        (1, "2 rows × 1 column"),
        (1234567, "1,234,567 rows × 1 column, of which 2 rows are here"),
    ],
)
def test_size_line_of_a_table_says_how_many_of_all_rows_are_shown(total_rows: int, size: str) -> None:
    table = build_table(SourceTable("", [], [cells("1"), cells("..."), cells("2")]), total_rows=total_rows)
    assert table is not None
    assert table.size == size


def test_size_line_of_a_table_includes_columns_that_the_output_left_out() -> None:
    header = [cells("", "a", "...", "z", is_header=True)]
    table = build_table(
        SourceTable("", header, [[SourceCell("0", True), *cells("1", "...", "2")]]), total_rows=1, total_columns=26
    )
    assert table is not None
    assert table.size == "1 row × 26 columns, of which 2 columns are here"


SPANS = st.integers(min_value=1, max_value=1_000)
SOURCE_ROWS = st.lists(
    st.lists(st.builds(SourceCell, st.text(max_size=3), st.booleans(), SPANS, SPANS), max_size=4), max_size=6
)


@given(SOURCE_ROWS, SOURCE_ROWS)
def test_any_source_rows_give_a_table_with_equal_row_lengths_within_the_limits(
    header: list[list[SourceCell]], body: list[list[SourceCell]]
) -> None:
    table = build_table(SourceTable("", header[:HEADER_ROWS_LIMIT], body))
    if table is None:
        assert not any(header)
        assert not any(body)
        return
    widths = {len(row) for row in table.rows}
    assert len(widths) <= 1
    assert all(width <= COLUMNS_LIMIT for width in widths)
    assert len(table.rows) <= ROWS_LIMIT
    assert sum(map(len, table.rows)) <= CELLS_LIMIT
    # Each column of the header belongs to exactly one cell of each row.
    occupied: dict[tuple[int, int], int] = {}
    for number, row in enumerate(table.header):
        for cell in row:
            for below in range(number, number + cell.rows):
                for column in range(cell.column, cell.column + cell.columns):
                    occupied[below, column] = occupied.get((below, column), 0) + 1
    columns = len(table.column_names)
    assert set(occupied) <= {(number, column) for number in range(len(table.header)) for column in range(columns)}
    assert re.match(r"\d+ rows? × \d+ columns?", table.size)
