"""Controls show what makes sense for a format, candidates first; a form gives choices."""

from __future__ import annotations

import pytest

from chat.python.kernels.table_reading import TableReading
from chat.python.table_readings.choices import InvalidChoice, check_effect
from chat.python.table_readings.controls import choices_from_form, controls_of

BOOK = TableReading(format="Excel", reading={"sheet": "Sales"}, candidates={"sheet": ["Costs"]})


@pytest.mark.parametrize(
    ("name", "reading", "keys"),
    [
        ("a.csv", TableReading(), "encoding delimiter decimal header_rows date_order missing_words"),
        ("a.xlsx", BOOK, "sheet decimal header_rows date_order missing_words"),
        ("a.xlsx", TableReading(reading={"sheet": "Sales"}), "decimal header_rows date_order missing_words"),
        (
            "a.json",
            TableReading(reading={"path": "a"}, candidates={"path": ["b"]}),
            "path encoding date_order missing_words",
        ),
        ("a.parquet", TableReading(), ""),
        ("a.feather", TableReading(), ""),
    ],
)
def test_each_file_format_has_its_own_controls(name: str, reading: TableReading, keys: str) -> None:
    assert [control.key for control in controls_of(name, reading, {})] == keys.split()


def test_options_begin_with_the_detected_value_and_the_chosen_one_is_marked() -> None:
    sheet = controls_of("a.xlsx", BOOK, {})[0]
    assert [option.label for option in sheet.options] == ["Sales (automatic)", "Sales", "Costs"]
    chosen = controls_of(
        "a.xlsx", TableReading(reading={"sheet": "Costs"}, candidates={"sheet": ["Sales"]}), {"sheet": "Costs"}
    )
    assert [(one.label, one.is_chosen) for one in chosen[0].options] == [
        ("Automatic", False),
        ("Costs", True),
        ("Sales", False),
    ]


def test_form_fields_are_parsed_to_choices_and_an_invalid_number_is_refused() -> None:
    form = {
        "delimiter": "\t",
        "header_rows": "0",
        "missing_words": "n/a, ,-999",
        "sheet": "",
        "csrfmiddlewaretoken": "x",
    }
    assert choices_from_form(form) == {"delimiter": "\t", "header_rows": 0, "missing_words": ["n/a", "-999"]}
    assert choices_from_form({**form, "automatic": "1"}) == {}
    with pytest.raises(InvalidChoice, match="whole number"):
        choices_from_form({"header_rows": "many"})


def test_chosen_sheet_that_has_no_readable_table_is_refused() -> None:
    check_effect({"sheet": "sales"}, BOOK)
    with pytest.raises(InvalidChoice, match="no sheet “Nowhere”"):
        check_effect({"sheet": "Nowhere"}, BOOK)
    with pytest.raises(InvalidChoice, match="in this way: it has no columns"):
        check_effect({"sheet": "Sales"}, TableReading(error="it has no columns."))
