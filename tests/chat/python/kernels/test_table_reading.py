"""Descriptions of tables are bounded and can be stored, whatever a file or a kernel that it has taken over says."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chat.python.kernels.in_kernel import table_text
from chat.python.kernels.in_kernel.table_json import read_json_file
from chat.python.kernels.in_kernel.table_source import Unreadable
from chat.python.kernels.in_kernel.table_text import read_text_file
from chat.python.kernels.in_kernel.tables import describe
from chat.python.kernels.table_reading import ANSWER_LIMIT_CHARS, TableReading, parse_table_reading

CELLS = st.text(max_size=12) | st.sampled_from(
    [
        *(
            "1",
            "1,5",
            "1.234,5",
            "$3",
            "2024-01-02",
            "31.12.2023",
            "1/2/24",
            "n/a",
            "true",
            "9" * 70,
            "1e999",
            '"',
            "-",
        ),
        *("٣", "inf", "(1)", "5 kg", "Rs 1", "01", "20240230", "24/03/01", "1h 2m", "2024-02-30", "NA", "1.234"),
    ]
)
TEXTS = st.lists(st.lists(CELLS, max_size=4).map(";".join), max_size=8).map("\n".join)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)


def check(answer: Mapping[str, object]) -> None:
    """Check that an answer has a limited size, and that what is stored of it reads as the same preview."""
    text = json.dumps(answer)
    assert len(text) < ANSWER_LIMIT_CHARS
    preview = parse_table_reading(json.loads(text))
    stored = json.dumps(preview.as_json())
    assert parse_table_reading(json.loads(stored)) == preview


@given(TEXTS.map(str.encode) | st.binary(max_size=200))
def test_any_text_file_gives_a_valid_description_or_unreadable(data: bytes) -> None:
    with suppress(Unreadable):
        check(describe(read_text_file(data, "a.csv", {}), "a.csv", {}))


def test_rows_above_the_limit_of_cells_are_counted_but_their_values_are_not_examined(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(table_text, "CELLS_LIMIT", 20)
    answer = describe(read_text_file(b"a,b\n" + b"1,x\n" * 50, "a.csv", {}), "a.csv", {})
    assert answer["row_count"] == 50
    assert answer["notes"] == ["Only the first 9 rows were examined.", "8 rows equal an earlier row."]


@given(VALUES.map(json.dumps) | st.text(max_size=40))
def test_any_json_gives_a_valid_description_or_unreadable(text: str) -> None:
    with suppress(Unreadable):
        check(describe(read_json_file(text.encode(), "json", {}), "a.json", {}))


@given(st.dictionaries(st.sampled_from(["format", "row_count", "columns", "notes", "error", "is_lasting"]), VALUES))
def test_any_reply_of_a_kernel_gives_a_valid_preview(answer: dict[str, object]) -> None:
    check(answer)
    check({"columns": [answer], **answer})


def test_texts_in_a_kernels_reply_are_cleaned_and_shortened() -> None:
    column = {"name": "a\x1b[31m\nb\0" + "c" * 999, "missing": -1, "distinct": True, "examples": [["x" * 99, 2], "y"]}
    preview = parse_table_reading({"columns": [column] * 200, "notes": ["n" * 999] * 99, "row_count": 2**70})
    assert (len(preview.columns), len(preview.notes), preview.row_count) == (100, 16, 0)
    first = preview.columns[0]
    assert first.name.startswith("a b")
    assert len(first.name) == 80
    assert (first.missing, first.distinct, [len(one.text) for one in first.examples]) == (0, 0, [40])


def test_kernel_reply_without_columns_gives_an_error() -> None:
    assert parse_table_reading({"columns": ["x"]}) == TableReading(error="it has no columns.")
