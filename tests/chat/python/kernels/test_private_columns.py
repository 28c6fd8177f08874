"""One search in all cells of a column finds the same numbers, dates and texts as one search in each."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import pytest

from chat.python.kernels.in_kernel import private_columns
from chat.python.kernels.in_kernel.private_cells import Texts
from chat.python.kernels.in_kernel.private_columns import index_column
from chat.python.kernels.in_kernel.private_files import read_private_file

NEVER = re.compile(r"(?!)")

COLUMNS = (
    ["price", *(f"{number * 1.37:.2f}" for number in range(90))],
    ["price", *(f"{number}.125" for number in range(90)), "n/a", "", "-4"],
    ["price", *(f"{number}.125" for number in range(90)), "7,5"],
    ["2019", *map(str, range(500, 590)), "007"],
    ["day", *(f"2024-02-{number:02}" for number in range(1, 30)), "", "2023-02-28 07:05:09.25", "2023-02-28T07:05"],
    ["day", *(f"2024-02-{number:02}" for number in range(1, 32))],
    [
        "day",
        "2024-02-03 25:00",
        "0000-01-01",
        "03/04/2024",
        "13/04/2024",
        *(f"2021-0{number}-11" for number in range(1, 9)),
    ],
    ["name", "Åsa Müller-Lüdens", "北京", "½ cup", " pad ", "True", "NA", "M", "flat 12\nof 2024-05-06", "a_b c"],
    ["remark", *(f"{number} parts came late, said Ulla Ŵ{'abc'[number]}y to all of us" for number in range(3))],
    ["mixed", 4, 2.5, None, True, "4", "2024-01-02", [1, "x"], {"a": "b 3"}],
)


def indexed(cells: Sequence[object]) -> list[object]:
    texts = Texts()
    columns = [
        (one.is_date, repr(one.values), one.distinct, one.usual, one.unit, one.count)
        for one in index_column(cells, 1, texts)
    ]
    texts.finish()
    return [columns, texts.keys, texts.short, texts.sequences]


@pytest.mark.parametrize("cells", COLUMNS, ids=lambda cells: f"{cells[0]} {cells[-1]}"[:20])
def test_index_of_a_private_column_is_equal_with_and_without_the_fast_searches(
    cells: Sequence[object], monkeypatch: pytest.MonkeyPatch
) -> None:
    fast = indexed(cells)
    for name in ("PLAIN_NUMBER", "PLAIN_DATE", "NO_DIGIT"):
        monkeypatch.setattr(private_columns, name, NEVER)
    assert fast == indexed(cells)
    assert fast[0] or fast[1]


@pytest.mark.parametrize("blank", ["", ";;", ";"])
def test_csv_file_without_quotes_is_read_to_the_same_columns_as_one_with_quotes(
    tmp_path: Path, blank: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A quote in a cell that holds no delimiter changes nothing but the way of reading."""
    monkeypatch.chdir(tmp_path)
    rows = ["name;age;city", *(f"Ulla {number};{number};Ulm" for number in range(20)), blank, "Bo;;Köln"]
    Path("a.csv").write_text("\n".join(rows))
    Path("b.csv").write_text("\n".join(rows).replace("Bo", '"Bo"'))
    [fast], [other] = read_private_file("a.csv"), read_private_file("b.csv")
    assert ([*fast.names], [[*one] for one in fast.columns], fast.first) == (
        [*other.names],
        [[*one] for one in other.columns],
        other.first,
    )
    assert fast.columns[0][-1] == "Bo"
