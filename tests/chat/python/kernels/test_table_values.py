"""Values of tables are read exactly, whatever form people write them in, and what is doubtful is said."""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping
from datetime import datetime
from decimal import Decimal

import pytest

from chat.python.kernels.in_kernel.table_arrow import ArrowFile, find_arrow_code
from chat.python.kernels.in_kernel.table_arrow_cells import ArrowCells
from chat.python.kernels.in_kernel.table_cells import Column
from chat.python.kernels.in_kernel.table_code import read_arguments
from chat.python.kernels.in_kernel.table_columns import decide_columns
from chat.python.kernels.in_kernel.table_numbers import show_number
from chat.python.kernels.in_kernel.table_sheet_cells import sheet_value
from chat.python.kernels.in_kernel.table_source import Choices
from chat.python.kernels.in_kernel.table_text import read_text_file
from chat.python.kernels.in_kernel.table_values import read_text
from chat.python.kernels.in_kernel.tables import describe
from chat.python.kernels.table_reading import TableReading, parse_table_reading
from chat.python.table_readings.suggestions import suggest_questions
from chat.python.table_readings.summaries import summarize


def reading_of(text: str, choices: Choices | None = None) -> TableReading:
    """Return the reading of a text of CSV."""
    source = read_text_file(text.encode(), "a.csv", choices or {})
    return parse_table_reading(json.loads(json.dumps(describe(source, "a.csv", choices or {}))))


def column_of(*cells: str, name: str = "x", choices: Choices | None = None) -> tuple[str, str, str]:
    """Return type, role and summary of a column of texts."""
    [column] = reading_of("\n".join([name, *(f'"{cell}"' for cell in cells)]), choices).columns
    return column.type, column.role, summarize(column)


@pytest.mark.parametrize(
    ("cells", "result"),
    [
        # Digits survive, and no more of them are shown than the texts have.
        (("1234567890123456700", "1234567890123456999"), ("1234567890123456700 to 1234567890123456999")),
        (("18446744073709551615", "1"), "1 to 18446744073709551615"),
        (("52.5200066", "52.5200105"), "52.5200066 to 52.5200105"),
        (("1234567.89", "0.1", "0.1000000001"), "0.1 to 1234567.89"),
        (("0.12345678901234567890", "0.12345678901234567891"), "0.1234567890123456789 to 0.12345678901234567891"),
        (("-0.1234567890123456789012345678901", "1"), "-0.1234567890123456789012345678901 to 1"),
        (("1e999", "-inf", "nan", "2"), "2 to 1e+999"),
        (("1.2e5", "3"), "3 to 120000"),
        # Currencies, percent signs, brackets and trailing signs.
        (("10 kr", "25 kr"), "10 to 25"),
        (("R$ 10,50", "R$ 1.000,00"), "10.5 to 1000"),
        (("10,50 zł", "11,50 zł"), "10.5 to 11.5"),
        (("CHF 1'200.50", "EUR 5"), "5 to 1200.5"),
        (("₹ 1,23,456.78", "Rs. 500"), "500 to 123456.78"),
        (("(1,211.50)", "1,001.50", "($3)"), "-1211.5 to 1001.5"),
        (("5-", "3", "−2 €", "€-1"), "-5 to 3"),
        (("12 %", "7.5%"), "7.5 to 12"),
        (("S/ 10.50", "PEN 9", "CLP$ 12", "￥7", "1,200원", "KSh 8"), "7 to 1200"),
        # Digits of other scripts, and signs that people do not see.
        (("１２", "１，２３４．５０", "￥７"), "7 to 1234.5"),
        (("١٬٠٠١٫٥٠", "٧٫٢٥"), "7.25 to 1001.5"),
        (("△1,200", "3,400.5"), "-1200 to 3400.5"),
        (("\u200e-2.25 ₪\u200f", "\u202a130.75\u202c", "\u200b3", "\u00a04\u00a0"), "-2.25 to 130.75"),
        # A dash in place of decimals is no sign.
        (("CHF 99.-", "CHF 1'234.50", "5.–"), "5 to 1234.5"),
        (("1.250,- €", "99,95 €", "5,– €"), "5 to 1250"),
        (("Rs. 500/-", "Rs. 1,200/-"), "500 to 1200"),
        # Marks between thousands.
        (("1 234,5", "12\u00a0345,6", "1\u2009000,0", "1\u202f234,0"), "1000 to 12345.6"),
        (("1.234.567", "12"), "12 to 1234567"),
        (("1,234.5", "1,234"), "1234 to 1234.5"),
        # A unit after every number.
        (("12 kg", "9 kg", "10.5 kg"), "9 to 12"),
        (("5km/h", "7km/h"), "5 to 7"),
        (("10 €/h", "12.5 €/h"), "10 to 12.5"),
        (("1,2 Mio. €", "12 Mio. €"), "1.2 to 12"),
        (("1.2万", "3万"), "1.2 to 3"),
    ],
)
def test_numbers_are_read_exactly_with_currencies_units_and_thousands_separators(
    cells: tuple[str, ...], result: str
) -> None:
    kind, _, summary = column_of(*cells)
    assert (kind in ("number", "whole number"), summary) == (True, result)


@pytest.mark.parametrize(
    "cells",
    [
        *(("A1", "2B"), ("1.2.3.4",), ("1,23,4",), ("12-34-56",), ("e5",), ("1 2",), ("$",), ("(1)", "(2)")),
        *(("很好，喜欢１", "不错２"), ("1.2M", "3M"), ("005 520 135", "552 100 554"), ("2004/05", "2005/06")),
        *(("5 kg", "300 g"), ("103A", "104A"), ("01067", "80331"), ("+4930123456", "+4930123457"), ("2024-13-01",)),
    ],
)
def test_texts_that_only_resemble_numbers_stay_text(cells: tuple[str, ...]) -> None:
    assert column_of(*cells)[0] == "text"


def test_notes_report_digits_of_other_scripts_and_mixed_currencies() -> None:
    [day, paid] = reading_of("day,paid\n२०२४-०१-०२,$1.2M\n۲۰۲۴-۰۱-۰۳,$350K\n2024-01-04,$2M\n,870\n,$5M\n,$7K\n").columns
    assert (day.minimum, day.maximum) == ("2024-01-02", "2024-01-04")
    assert day.note.startswith("“day” has digits of another script or invisible characters, such as “")
    assert (paid.type, paid.note) == ("text", "“paid” mixes currencies or units, such as “$1.2M” and “$350K”.")


@pytest.mark.parametrize(
    ("number", "text"),
    [
        *(
            (3, "3"),
            (12_345, "12345"),
            (2.5, "2.5"),
            (0.1 + 0.2, "0.3"),
            (0.10000000149011612, "0.1"),
            (2.0**62, "4611686018427387904"),
        ),
        *((float("inf"), "inf"), (10**400, "1e+400"), (Decimal("1.10"), "1.1"), (Decimal(2**64), str(2**64))),
        *((1e23, "100000000000000000000000"), (1e300, "1e+300"), (1.5e-7, "0.00000015"), (1234567.89, "1234567.89")),
    ],
)
def test_numbers_of_every_type_are_shown_with_their_digits(number: float | Decimal, text: str) -> None:
    assert show_number(number) == text


@pytest.mark.parametrize(
    ("text", "delimiter", "choices", "summaries", "candidates"),
    [
        ("x\n1.234\n2.345\n", ",", {}, ["1.234 to 2.345"], {"decimal": [".", ","]}),
        ("x\n1.234\n2.345\n", ",", {"decimal": ","}, ["1234 to 2345"], {"decimal": [",", "."]}),
        ('x\n"1,234"\n"2,500"\n', ",", {}, ["1234 to 2500"], {"decimal": [".", ","]}),
        ('x\n"1,234"\n"2,500"\n', ",", {"decimal": ","}, ["1.234 to 2.5"], {"decimal": [",", "."]}),
        ("x;y\n1,234;5\n2,500;6\n", ";", {}, ["1.234 to 2.5", "5 to 6"], {"decimal": [",", "."]}),
        # The column itself or another one decides.
        ("x\n1.234\n0.345\n", ",", {}, ["0.345 to 1.234"], {}),
        ("x\n1.234\n2.5\n", ",", {}, ["1.234 to 2.5"], {}),
        ("x;y\n1.234;1,5\n2.345;2,5\n", ";", {}, ["1234 to 2345", "1.5 to 2.5"], {}),
        # A choice is obeyed: what cannot be written so is an exception.
        ('x\n"1,234"\n"2,5"\n"3,456"\n"4,567"\n"5,678"\n', ",", {"decimal": "."}, ["1234 to 5678"], {}),
        ("x\n1.234\n2.5\n3\n4\n5\n", ",", {"decimal": ","}, ["3 to 1234"], {}),
    ],
)
def test_all_values_of_a_table_decide_what_the_decimal_sign_is(
    text: str, delimiter: str, choices: Choices, summaries: list[str], candidates: Mapping[str, list[str]]
) -> None:
    names, *rows = csv.reader(text.splitlines(), delimiter=delimiter)
    columns = [
        Column(cells, name=name, is_text_file=True) for name, cells in zip(names, zip(*rows, strict=True), strict=True)
    ]
    reading, found = decide_columns(columns, choices, delimiter=delimiter, is_text=True)
    assert found == candidates
    assert [f"{show_number(min(column.numbers))} to {show_number(max(column.numbers))}" for column in columns] == (
        summaries
    )
    assert reading["decimal"] == (candidates.get("decimal") or [columns[-1].decimal])[0]


@pytest.mark.parametrize(
    ("cells", "first"),
    [
        (("2024-05-31", "2024-06-01"), "2024-05-31"),
        (("2024/5/1", "2024/12/31"), "2024-05-01"),
        (("20240301", "20240302"), "2024-03-01"),
        (("2024-05", "2024-06"), "2024-05"),
        (("31.12.99", "1.1.2000"), "1999-12-31"),
        (("12/31/2024", "01/02/2025"), "2024-12-31"),
        (("31/12/2024", "01/02/2025"), "2024-12-31"),
        (("24-03-01", "24-03-15"), "2024-03-01"),
        (("3 Jan 2024", "January 4, 2024"), "2024-01-03"),
        (("3. März 2024", "1. Dez. 2024"), "2024-03-03"),
        (("1er janvier 2024", "2 août 2024"), "2024-01-01"),
        (("2 de febrero de 2024", "3 enero 2025"), "2024-02-02"),
        (("Mar 2024", "Apr 2024"), "2024-03"),
        (("01-Mar-24", "02-Mar-24"), "2024-03-01"),
        (("2024年3月1日", "2024年3月2日"), "2024-03-01"),
        (("2024-05-31T9:05:00Z", "2024-06-01 10:00:00"), "2024-05-31 09:05:00"),
        (("1/2/2024 3:04 pm", "13/2/2024 3:04 am"), "2024-02-01 15:04"),
    ],
)
def test_dates_are_read_in_many_formats_and_languages(cells: tuple[str, ...], first: str) -> None:
    kind, _, summary = column_of(*cells)
    assert kind in ("date", "date and time")
    assert summary.startswith(f"{first} to ")


def test_dates_and_times_of_the_first_and_last_years_are_read() -> None:
    times = [datetime(2024, 1, 2, 3), datetime(999, 5, 6, 7), datetime(999, 5, 6)]
    assert Column(times, name="x", is_text_file=False).days == [
        "2024-01-02 03:00:00",
        "0999-05-06 07:00:00",
        "0999-05-06",
    ]
    assert sheet_value(datetime.max) == datetime.max


def test_note_reports_uncertain_order_of_day_and_month_unless_another_column_decides_it() -> None:
    doubtful = "d,n\n01/02/2024,1\n03/04/2024,2\n"
    reading = reading_of(doubtful)
    assert (reading.reading["date_order"], reading.candidates["date_order"]) == ("DMY", ["DMY", "MDY"])
    assert reading.columns[0].note == (
        "Day and month cannot be told apart in “d”: “01/02/2024” is read as “2024-02-01”."
    )
    chosen = reading_of(doubtful, {"date_order": "MDY"})
    assert summarize(chosen.columns[0]) == "2024-01-02 to 2024-03-04"
    assert chosen.candidates["date_order"] == ["MDY", "DMY"]
    decided = reading_of("d,e\n01/02/2024,02/13/2024\n03/04/2024,04/14/2024\n")
    assert summarize(decided.columns[0]) == "2024-01-02 to 2024-03-04"
    assert "date_order" not in decided.candidates


def test_column_is_text_if_its_values_do_not_have_the_chosen_decimal_sign() -> None:
    [commas] = reading_of('x\n"1,5"\n"2,5"\n', {"decimal": "."}).columns
    [points] = reading_of("x\n1.5\n2.5\n", {"decimal": ","}).columns
    assert [column.type for column in (commas, points)] == ["text", "text"]
    assert commas.note == "Values of “x” such as “1,5” are no numbers with the chosen decimal sign."


def test_note_reports_that_a_number_such_as_minus_999_may_mean_a_missing_value() -> None:
    [gaps, falls] = reading_of("t,u\n1.5,-60\n-999.9,-99\n-2.5,5\n").columns
    assert gaps.note == "“t” may have missing values that are written as “-999.9”. They are read as numbers."
    assert (falls.note, falls.minimum) == ("", "-99")


def test_notes_report_the_few_cells_that_do_not_fit_the_type_of_their_column() -> None:
    text = "d,n,t\n" + "".join(f"{day:02}/03/2024,{day},9:{day}\n" for day in range(10, 31))
    reading = reading_of(text + "31/02/2024,foo,late\n01/03/2024,bar,8:30\n")
    assert [column.type for column in reading.columns] == ["date", "whole number", "time"]
    assert [summarize(column) for column in reading.columns] == [
        "2024-03-01 to 2024-03-30",
        "10 to 30",
        "8:30 to 9:30",
    ]
    assert list(reading.notes[:3]) == [
        "“d” has dates, and 1 other value: “31/02/2024”.",
        "“n” has numbers, and 2 other values: “foo”, “bar”.",
        "“t” has times, and 1 other value: “late”.",
    ]


@pytest.mark.parametrize(
    ("cells", "type_name"),
    [
        *((("ja", "nein"), "yes or no"), (("oui", "non"), "yes or no"), (("sí", "no"), "yes or no")),
        *((("是", "否"), "yes or no"), (("Y", "N"), "yes or no"), (("0", "1"), "whole number"), (("N", "S"), "text")),
        *((("8:05", "17:30"), "time"), (("27:15:00", "1:00:00"), "time"), (("1h 30min", "2h 5min"), "time")),
    ],
)
def test_booleans_and_times_are_recognized(cells: tuple[str, ...], type_name: str) -> None:
    assert column_of(*cells)[0] == type_name


def test_words_that_mean_a_missing_value_are_counted_and_a_person_can_choose_others() -> None:
    text = "n,m\n1,a\nk.A.,-\n#N/A,b\n999,.\n\\N,c\n"
    reading = reading_of(text)
    assert [column.missing for column in reading.columns] == [3, 2]
    assert reading.reading["missing_words"] == ["k.A.", "#N/A", "\\N", "-", "."]
    assert list(reading.notes) == [
        "Missing values: 5, in “n” and “m”.",
        "Missing values in “n” and “m” are written as “k.A.”, “#N/A”, “\\N”.",
    ]
    chosen = reading_of(text, {"missing_words": ["999", "K.A.", "#N/A", "\\N"]})
    assert [(column.missing, summarize(column)) for column in chosen.columns] == [(4, "1"), (0, "a, -, b and 2 more")]


@pytest.mark.parametrize(
    ("cells", "missing"),
    [
        (("+", "-", "--"), 0),
        (("1.5", "***", "2.5"), 1),
        (("*", "**", "***"), 0),
        (("n.s.", "**", "***"), 0),
        (("NA", "DE", "FR"), 0),
        (("ND", "NY", "CA"), 0),
        (("有", "无"), 0),
    ],
)
def test_word_such_as_na_is_a_value_if_other_values_of_the_column_resemble_it(
    cells: tuple[str, ...], missing: int
) -> None:
    [column] = reading_of("\n".join(["x", *cells])).columns
    assert (column.missing, column.distinct) == (missing, len(cells) - missing)


@pytest.mark.parametrize(
    ("name", "cells", "role"),
    [
        ("post_id", ("1234567890123456700", "1234567890123456701"), "identifier"),
        ("x", ("1234567890123456700", "1234567890123456701"), "identifier"),
        ("customerId", ("3", "3", "5"), "identifier"),
        ("user_id", ("1000123456789.0", "1000123456790.0"), "identifier"),
        ("hash", ("-1234567890123456789", "1234567890123456700"), "identifier"),
        ("profit", ("-1234567890", "1234567890"), ""),
        ("count.$numberLong", ("1000", "2000"), ""),
        ("Kundennr", ("17", "12", "30"), "identifier"),
        ("x", ("6f9619ff-8b86-d011-b42d-00cf4fc964ff", "7f9619ff-8b86-d011-b42d-00cf4fc964ff"), "identifier"),
        ("Baujahr", ("1999", "2005"), "year"),
        ("年份", ("1999", "2005"), "year"),
        ("year", ("1", "2", "3"), ""),
        ("sales", ("1999", "2005"), ""),
        ("plz", ("01067", "80331"), "code"),
        ("zip", ("80331", "80333"), "code"),
        ("phone", ("+49 30 1234567", "+49 30 7654321"), "code"),
        ("country_code", ("DE", "FR"), "code"),
        ("cost", ("10 kr", "12 kr"), "money"),
        ("share", ("10 %", "12 %"), "percent"),
        ("video", ("1", "5"), ""),
        ("paid", ("1", "5"), ""),
    ],
)
def test_role_of_a_column_depends_on_its_name_and_its_values(name: str, cells: tuple[str, ...], role: str) -> None:
    assert column_of(*cells, name=name)[1] == role


def test_suggested_questions_do_not_plot_identifiers_postcodes_or_years() -> None:
    rows = "".join(f"{10**17 + n},{2000 + n},{80331 + n},{n * n % 7}\n" for n in range(8))
    assert suggest_questions(reading_of("post_id,year,zip,likes\n" + rows)) == [
        'Plot "likes" over "year"',
        'Show the distribution of "likes"',
        "Describe this table",
    ]


def test_short_words_such_as_inf_in_a_header_are_text() -> None:
    assert [read_text(text).kind for text in ("n", "y", "Inf", "1 Zimmer", "")] == ["text"] * 5


CODES = {
    "id": (("00123", "04560", ""), 'dtype={"x": "str"}'),
    "long": (("123456789012345678", "123456789012345679", "-"), 'dtype={"x": "Int64"}, na_values=["-"]'),
    "longer": (("123456789012345678901", "123456789012345678902"), 'dtype={"x": "str"}'),
    "comma": (("1.234,5", "2,5"), 'decimal=",", thousands="."'),
    "date": (("31.12.2023", "01.01.2024"), 'parse_dates=["x"], date_format="%d.%m.%Y"'),
    "exception": (("1", "2", "x"), 'na_values={"x": ["x"]}'),
    "NA": (("NA", "DE", "FR"), 'keep_default_na=False, na_values={"x": [""]}'),
    "plain": (("1", "2.5", "NULL"), ""),
    "money": (("10 kr", "11 kr"), ""),
}


@pytest.mark.parametrize("case", CODES)
def test_generated_code_has_the_read_arguments_that_the_values_need(case: str) -> None:
    cells, arguments = CODES[case]
    column = Column(cells, name="x", is_text_file=True)
    decide_columns([column], {}, delimiter=",", is_text=True)
    assert read_arguments([column], is_text_file=True) == (f", {arguments}" if arguments else "")


@pytest.mark.parametrize(("names", "arguments"), [("ab", ', thousands=".", dtype={"a": "str"}'), ("aa", "")])
def test_generated_code_does_not_drop_decimal_points_that_other_columns_have_between_thousands(
    names: str, arguments: str
) -> None:
    cells = [("52.5", "13.25"), ("1.234,5", "2,5")]
    columns = [Column(values, name=name, is_text_file=True) for values, name in zip(cells, names, strict=True)]
    decide_columns(columns, {}, delimiter=";", is_text=True)
    assert read_arguments(columns, is_text_file=True) == f', decimal=","{arguments}'


def test_damaged_parquet_file_with_long_column_names_has_no_code() -> None:
    file = ArrowFile(["n" * 3_000, "w"], 1, iter(()))
    assert find_arrow_code("Parquet", file, [ArrowCells(), ArrowCells()], ["w"]) == ""
