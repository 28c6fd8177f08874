"""Frames and series that pandas prints are tables, and no other text is."""

from __future__ import annotations

import pytest

from chat.page.rendering.tables import CELLS_LIMIT
from chat.page.rendering.text_tables import split_table

FRAME = """\
   step  value name     s
0     0         1.5   a b
1     1         NaN  c  d
"""
NAMED_INDEX = """\
     x
id    
0    0
1    1
..  ..
99  99

[100 rows x 1 columns]
"""
LEVELS = """\
     b
g a   
x 1  3
  2  5
y 2  4
"""
CROSS_TABLE = """\
sex    f  m
class      
1      1  1
2      0  1
"""
SERIES = """\
aa    1
b     2
Name: n, dtype: int64
"""


@pytest.mark.parametrize("above", ["", "Result:\n", "Mean: 5\n\n", "0123456789012345678901234\n"])
@pytest.mark.parametrize(
    ("text", "names", "rows", "index_columns", "size"),
    [
        (
            FRAME,
            ["", "step", "value name", "s"],
            [("0", "0", "1.5", "a b"), ("1", "1", "NaN", "c  d")],
            1,
            "2 rows × 3 columns",
        ),
        (
            NAMED_INDEX,
            ["id", "x"],
            [("0", "0"), ("1", "1"), ("...", "..."), ("99", "99")],
            1,
            "100 rows × 1 column, of which 3 rows are here",
        ),
        (LEVELS, ["g", "a", "b"], [("x", "1", "3"), ("", "2", "5"), ("y", "2", "4")], 2, "3 rows × 1 column"),
        (CROSS_TABLE, ["sex / class", "f", "m"], [("1", "1", "1"), ("2", "0", "1")], 1, "2 rows × 2 columns"),
        (SERIES, ["", "n"], [("aa", "1"), ("b", "2")], 1, "2 rows × 1 column"),
    ],
    ids=["frame", "named index", "levels", "cross table", "series"],
)
def test_data_frame_or_series_at_the_end_of_an_output_is_a_table(
    above: str, text: str, names: list[str], rows: list[tuple[str, ...]], index_columns: int, size: str
) -> None:
    before, table = split_table(above + text)
    assert table is not None
    assert before == above
    assert (table.column_names, list(table.rows)) == (names, rows)
    assert (table.index_columns, table.size) == (index_columns, size)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "1\n2\n",
        "name  value\nx     1\nyy    2\n",
        "  a  b\n0 1 2\n",
        "   a  b\n0  1  2\nsum 3\n",
        "    a  \\\n0   1   \n\n    b\n0   2\n",
        "Empty DataFrame\nColumns: [a]\nIndex: []\n",
        "dtype: int64\n",
        FRAME + "That is all.\n",
        "     a\n" + "".join(f"{row:<3}  1\n" for row in range(CELLS_LIMIT)),
    ],
)
def test_text_that_is_no_table_of_pandas_stays_text(text: str) -> None:
    assert split_table(text) == (text, None)
