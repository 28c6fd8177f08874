"""The layout of tables whose cells are values, as in spreadsheets and JSON."""

from __future__ import annotations

from datetime import date

import pytest

from chat.python.kernels.in_kernel.table_layout import find_layout

DAYS = [date(2024, 5, day) for day in range(1, 6)]
GROUPED: list[list[object]] = [
    ["Sales by region", None, None, None, None],
    [None, 2023.0, None, 2024.0, None],
    ["Region", "units", "revenue", "units", "revenue"],
    ["North", 1, 2.5, 3, 4.5],
    ["South", 5, 6.5, 7, 8.5],
    ["Total", 6, 9.0, 10, 13.0],
    ["Source: till system", None, None, None, None],
]
LAYOUTS: list[tuple[list[list[object]], list[str], int]] = [
    (GROUPED, ["Region", "2023 / units", "2023 / revenue", "2024 / units", "2024 / revenue"], 2),
    (
        [["As of", DAYS[0], None], ["Region", "day", "n"], ["N", DAYS[1], 1], ["S", DAYS[2], 2]],
        ["Region", "day", "n"],
        2,
    ),
    ([["day", "t"], [None, "°C"], [DAYS[0], 1.5], [DAYS[1], 2.5]], ["day", "t"], 2),
    ([["Region", 2022.0, 2023.0], ["N", 5, 6], ["S", 7, 8]], ["Region", "2022", "2023"], 2),
    (
        [["Land", 2022, 2022, 2023, 2023], [None, "n", "m", "n", "m"], ["L1", 1, 1.5, 2, 2.5], ["L2", 3, 3.5, 4, 4.5]],
        ["Land", "2022 / n", "2022 / m", "2023 / n", "2023 / m"],
        2,
    ),
    # Merged cells of the names are filled; the last row of names can be years, or number the columns.
    (
        [["Land", "Sales", "Sales", "Note"], ["Land", 2022, 2023, "Note"], ["L1", 51, 52, "x"], ["L2", 61, 62, "y"]],
        ["Land", "Sales / 2022", "Sales / 2023", "Note"],
        2,
    ),
    (
        [["Day", "Mon", "Mon"], ["Day", "room", "name"], ["1st", "R1", "Ann"], ["2nd", "R2", "Bob"]],
        ["Day", "Mon / room", "Mon / name"],
        2,
    ),
    ([["Land", "plan", "fact"], [1, 2, 3], ["L1", 51, 52], ["L2", 61, 62]], ["Land", "plan", "fact"], 2),
    (
        [[None, "2023", "2023"], [None, "n", "m"], ["Land", None, None], ["L1", 51, 52], ["L2", 61, 62]],
        ["Land", "2023 / n", "2023 / m"],
        2,
    ),
    # No rows of names: values that only look like them.
    ([["a", "b", "c"], [1, 2, 3], [4, 5, 6]], ["a", "b", "c"], 2),
    ([[1, "x"], [2, "y"], [3, "z"]], ["column 1", "column 2"], 3),
    ([["a", "b", None], [1, {"x": 1}, None], [2, [3], None]], ["a", "b"], 2),
    ([["only", "names"]], ["only", "names"], 0),
    ([[5]], ["column 1"], 1),
    ([["a", "b"], [None, 1], [True, float("nan")]], ["a", "b"], 2),
]


@pytest.mark.parametrize(("rows", "names", "count"), LAYOUTS)
def test_column_names_and_number_of_rows_are_found_in_each_layout(
    rows: list[list[object]], names: list[str], count: int
) -> None:
    layout = find_layout(rows)
    assert (layout.names, len(layout.body)) == (names, count)


@pytest.mark.parametrize("header_rows", [None, 0, 1, 2, 3, 9])
@pytest.mark.parametrize(("rows", "names", "count"), LAYOUTS)
def test_each_row_belongs_to_exactly_one_part_of_the_layout_such_as_header_or_body(
    rows: list[list[object]], names: list[str], count: int, header_rows: int | None
) -> None:
    layout = find_layout(rows, header_rows)
    parts = (layout.first, layout.header_rows, layout.below, len(layout.body), len(layout.repeated), layout.after)
    assert sum(parts) == len(rows)
    assert min(parts) >= 0
    assert header_rows in (None, layout.header_rows) or layout.first + layout.header_rows == len(rows)


def test_end_of_a_table_is_not_searched_if_its_rows_were_cut_off() -> None:
    assert find_layout(GROUPED, is_whole=False).after == 0


def test_last_row_is_a_total_only_if_its_value_can_be_computed_from_the_other_rows() -> None:
    rows: list[list[object]] = [["shop", "n"], ["A", 5], ["B", 7]]
    assert find_layout([*rows, ["Total", 12]]).after == 1
    assert find_layout([*rows, ["Average", 6]]).after == 1
    assert find_layout([*rows, [None, 12]]).after == 1
    doubtful = find_layout([*rows, ["Total", 99]])
    assert (doubtful.after, doubtful.notes) == (
        0,
        ["1 row looks like a total and is counted as a row, such as “Total”."],
    )
