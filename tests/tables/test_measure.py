"""The comparison of a reading with the labels of a case, and the labels that follow from values."""

from __future__ import annotations

from dataclasses import replace
from datetime import date

import pytest

from tests.tables.compare import ASKED, RIGHT, SAID, WRONG, Reading, compare, has_range
from tests.tables.corpus.case import Rows, csv_case

ROWS: Rows = [["Ulm", 12, date(2024, 3, 1)], ["Bonn", None, date(2024, 3, 25)], ["Ulm", 1250, date(2024, 3, 2)]]
CASE = csv_case("kind", "places.csv", ("place", "units", "day"), ROWS)


def reading() -> Reading:
    """Return a right reading of the case."""
    return {
        "state": "read",
        "rows": 3,
        "columns": [
            {"name": "place", "type": "text", "missing": 0, "summary": "Ulm (2), Bonn (1)", "sample": ["Ulm", "Bonn"]},
            {"name": "units", "type": "number", "missing": 1, "summary": "12 to 1,250, median 631"},
            {"name": "day", "type": "date", "missing": 0, "summary": "2024-03-01 to 2024-03-25"},
        ],
        "notes": [],
        "candidates": {},
    }


def test_expected_rows_missing_cells_and_ranges_of_a_case_follow_from_its_values() -> None:
    assert CASE.data == b"place,units,day\nUlm,12,2024-03-01\nBonn,,2024-03-25\nUlm,1250,2024-03-02\n"
    assert (CASE.rows, CASE.missing) == (3, {"place": 0, "units": 1, "day": 0})
    assert CASE.ranges == {"units": ("12", "1250"), "day": ("2024-03-01", "2024-03-25")}


def test_verdict_is_right_if_all_values_match() -> None:
    assert compare(CASE, reading()).verdict == RIGHT


def test_verdict_is_wrong_if_a_column_range_is_wrong_and_no_note_mentions_it() -> None:
    found = reading()
    found["columns"][1]["summary"] = "12 to 1.25"
    outcome = compare(CASE, found)
    assert outcome.verdict == WRONG
    assert [str(difference) for difference in outcome.differences] == [
        "range of units: expected ('12', '1250'), found '12 to 1.25'"
    ]


def test_verdict_said_is_given_if_a_note_mentions_the_column_with_the_wrong_range() -> None:
    found = reading()
    found["columns"][1]["summary"] = "12 to 1.25"
    found["notes"] = ["The mark in units may stand for thousands."]
    assert compare(CASE, found).verdict == SAID


def test_verdict_is_wrong_if_the_note_is_on_another_column() -> None:
    found = reading()
    found["columns"][1]["summary"] = "12 to 1.25"
    found["notes"] = ["The days of day were read as day and month."]
    assert compare(CASE, found).verdict == WRONG


def test_verdict_asked_is_given_if_an_ambiguous_file_offers_a_choice() -> None:
    case = replace(CASE, asks=frozenset({"date_order"})).without("day")
    asked = reading()
    asked["candidates"] = {"date_order": ["day first", "month first"]}
    assert compare(case, asked).verdict == ASKED
    assert compare(case, reading()).verdict == WRONG


def test_verdict_asked_is_given_for_a_needless_choice_unless_a_value_is_wrong() -> None:
    asked = reading()
    asked["candidates"] = {"encoding": ["utf-8", "cp1252"]}
    assert compare(CASE, asked).verdict == ASKED
    asked["rows"] = 4
    assert compare(CASE, asked).verdict == WRONG


def test_verdict_is_wrong_if_the_sample_has_a_text_that_is_not_in_the_column() -> None:
    found = reading()
    found["columns"][0]["sample"] = ["UlmÃ", "BonnÃ"]
    assert compare(CASE, found).verdict == WRONG


def test_verdict_is_wrong_if_a_required_note_is_missing() -> None:
    case = replace(CASE, rows=(3, 4), must_note=("total",))
    found = reading()
    assert compare(case, found).verdict == WRONG
    found["notes"] = ["The last row is a total."]
    assert compare(case, found).verdict == RIGHT


def test_verdict_of_a_refusal_is_right_only_if_its_sentence_names_the_cause() -> None:
    case = replace(CASE, refusal=True, must_note=("pdf",))
    assert compare(case, {"state": "refused", "detail": "This file is a PDF."}).verdict == RIGHT
    assert compare(case, {"state": "refused", "detail": "This file cannot be read."}).verdict == SAID
    assert compare(case, {"state": "refused", "detail": "Error"}).verdict == WRONG
    assert compare(case, reading()).verdict == WRONG


def test_verdict_of_a_refused_table_depends_on_whether_the_case_allows_a_refusal() -> None:
    refused: Reading = {"state": "refused", "detail": "Save this file as .xlsx."}
    assert compare(CASE, refused).verdict == SAID
    assert compare(replace(CASE, refusal=None), refused).verdict == RIGHT


@pytest.mark.parametrize(
    ("summary", "limits", "expected"),
    [
        ("1234567890123456700 to 1234567890123456999", ("1234567890123456700", "1234567890123456999"), True),
        ("1.23457e+18 to 1.23457e+18", ("1234567890123456700", "1234567890123456999"), False),
        ("52.5200066 to 52.5200105", ("52.5200066", "52.5200105"), True),
        ("-5,000.00 to 9,000", ("-5000", "9000"), True),
        ("€38.80 to €899.99", ("38.8", "899.99"), True),
        ("−30 to 90", ("-30", "90"), True),
        ("-86,38 to 899,99", ("-86.38", "899.99"), False),
        ("2024-03-01T08:00:00 to 2024-03-02T13:00:00", ("2024-03-01 08:00", "2024-03-02 13:00"), True),
        ("2024-03-01 to 2024-03-02", ("2024-03-01", "2024-03-25"), False),
        ("41", ("41", "41"), True),
    ],
)
def test_ranges_are_compared_by_value_and_not_by_notation(
    summary: str, limits: tuple[str, str], expected: bool
) -> None:
    assert has_range(summary, limits) is expected
