"""Tables that the request describes: every format, the questions of previews, and notes about left out rows."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from django.conf import settings
from django.utils import translation

from chat.emulator.demo.language import Plan
from chat.emulator.demo.plan import plan_answer
from chat.emulator.generation_request import TABLES, GenerationRequest, parse_generation_request
from chat.emulator.table_descriptions import TableDescription, table_descriptions
from chat.vocabulary.sentences import translate_sentence
from tests.chat.emulator.demo.run_programs import Result, run_programs
from tests.chat.emulator.demo.test_plan import comment_of, offered
from tests.table_files import excel_file

MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep"]
SALES = excel_file({"2024": [["month", "sales"], *zip(MONTHS, range(10, 19), strict=True)]})
SALES_NOTE = {
    "file": "sales.xlsx",
    "rows": 9,
    "columns": {"month": "text", "sales": "number"},
    "read_as": "pd.read_excel('sales.xlsx', engine='calamine')",
}
SHOPS = b"# shop report\nid;year;shop;share\n1;2019;A;1,5 %\n2;2020;B;2,5 %\n3;2021;A;\n4;2023;A;3,5 %\nTotal;;;7\n"
SHOPS_NOTE = {
    "file": "shops.csv",
    "rows": 4,
    "columns": {"id": "number", "year": "number", "shop": "text", "share": "number"},
    "read_as": "pd.read_csv('shops.csv', sep=';', skiprows=1, nrows=4, decimal=',')",
    "roles": {"id": "identifier", "year": "year", "share": "percent"},
    "notes": ["“share” has percent signs, such as “1,5 %”.", "A row with a total, the last one, is left out."],
    "missing": {"share": 1},
}
STAYS = json.dumps(
    {
        "data": [
            {"day": f"{1 + n % 28:02}/{1 + n // 28:02}/2024", "paid": f"({n},000.50)" if n % 2 else "R$ 10.50"}
            for n in range(3)
        ]
    }
).encode()
STAYS_NOTE = {
    "file": "stays.json",
    "rows": 3,
    "columns": {"day": "date", "paid": "number"},
    "read_as": "pd.DataFrame(json.load(open('stays.json'))['data'])",
}


def described(*notes: Mapping[str, object], new: bool = True) -> list[TableDescription]:
    """Return the descriptions of tables in a request whose question came with them, or is a later one."""
    question: dict[str, object] = {"parts": [{"text": "\n".join([TABLES, *map(json.dumps, notes)])}, {"text": "?"}]}
    later: list[dict[str, object]] = [{"role": "model", "parts": [{"text": "."}]}, {"parts": [{"text": "?"}]}]
    return table_descriptions(request([question] if new else [question, *later]))


def request(contents: Sequence[Mapping[str, object]]) -> GenerationRequest:
    return parse_generation_request("m", {"contents": [*contents]}, "id")


def plan(prompt: str, *notes: Mapping[str, object], new: bool = True) -> Plan | str:
    return plan_answer([prompt], [], [], described(*notes, new=new))


def run(prompt: str, note: Mapping[str, object], data: bytes, folder: Path) -> tuple[Result, str]:
    """Return what the program for a prompt did, and the text after it."""
    planned = plan(prompt, note)
    assert isinstance(planned, Plan), planned
    [result] = run_programs([({str(note["file"]): data}, planned.program)], folder)
    assert not result.error, planned.program
    return result, comment_of(planned, result)


def test_tables_described_in_the_newest_message_are_new_and_descriptions_are_no_prompts() -> None:
    note = "[The file my sales.xlsx (9,000 bytes) is in the working directory of the Python session, as “sales.xlsx”.]"
    first = {"parts": [{"text": note}, {"text": f"{TABLES}\n{json.dumps(SALES_NOTE)}\nno JSON\n[]"}]}
    tables = f'{TABLES}\n{json.dumps(SALES_NOTE)}\n{{"file": "b.csv", "refused": "no"}}'
    later = {"parts": [{"text": "[The file b.csv was here.]"}, {"text": tables}, {"text": "?"}]}
    assert [(one.name, one.is_new) for one in table_descriptions(request([first]))] == [("sales.xlsx", True)]
    both = request([first, later])
    assert [*both.prompts()] == ["?", note]
    assert [(one.name, one.is_new, one.refusal) for one in table_descriptions(both)] == [
        ("sales.xlsx", False, ""),
        ("b.csv", True, "no"),
    ]


@pytest.mark.parametrize("before", [[], [{"text": f"{TABLES}\n{json.dumps(SHOPS_NOTE)}"}]])
def test_text_of_a_person_that_looks_like_a_description_of_tables_is_a_prompt(before: list[dict[str, str]]) -> None:
    own = f"{TABLES}\n{json.dumps(SALES_NOTE)}"
    date = {"text": "[Note of the server: it is Monday, 1 January 2024, 12:00, in the zone UTC.]"}
    asked = request([{"parts": [*before, {"text": own}, date]}])
    assert asked.prompt == own
    assert [one.name for one in table_descriptions(asked)] == ["shops.csv"][: len(before)]


def test_demo_model_answers_questions_about_a_workbook_that_the_request_describes(tmp_path: Path) -> None:
    _, comment = run("Describe this table", SALES_NOTE, SALES, tmp_path)
    assert comment == "The table has **9** rows and **2** columns: `month`, `sales`."
    result, comment = run("Which month has the highest sales?", SALES_NOTE, SALES, tmp_path)
    assert result.printed["highest"] == "Sep"
    assert comment.startswith("Largest of `sales` by `month`, **9** groups")
    result, comment = run('sum of sales where month is "Feb" and sales > 3', SALES_NOTE, SALES, tmp_path)
    assert (result.number("sum"), comment) == (11, "Sum of `sales`: **11**. Rows used: 1 of 9.")


def test_answer_reports_missing_values_and_a_row_of_totals_that_was_left_out(tmp_path: Path) -> None:
    result, comment = run('Plot "share" over "year"', SHOPS_NOTE, SHOPS, tmp_path)
    [(years, shares)] = result.figures[0].lines
    assert (years, shares) == ([2019, 2020, 2023], [1.5, 2.5, 3.5])
    assert 'Left out, without a value for "share" or "year": 1 of 4 rows.' in comment
    assert comment.endswith("How the server read the table: “A row with a total, the last one, is left out.”")
    result, _ = run('Compare "share" by "shop"', SHOPS_NOTE, SHOPS, tmp_path)
    assert result.figures[0].bars == [2.5, 2.5]
    result, comment = run('Summe von "share"', SHOPS_NOTE, SHOPS, tmp_path)
    assert result.number("sum") == 7.5
    assert 'Ohne Wert für "share", daher nicht mitgezählt: 1 von 4 Zeilen.' in comment
    _, comment = run("描述这个表格", SHOPS_NOTE, SHOPS, tmp_path)
    assert "缺失值：share 1。" in comment


@pytest.mark.parametrize(
    "question", ['Plot "id" over "year"', 'Show the distribution of "id"', 'Plot "id" against "share"']
)
def test_question_to_plot_a_column_of_identifiers_is_refused(question: str) -> None:
    assert isinstance(plan(question, SHOPS_NOTE), str)


def test_code_of_the_demo_model_converts_dates_and_amounts_that_pandas_read_as_text(tmp_path: Path) -> None:
    result, _ = run('Plot "paid" over "day"', STAYS_NOTE, STAYS, tmp_path)
    [(days, amounts)] = result.figures[0].lines
    assert (days, amounts) == ([19723.0, 19724.0, 19725.0], [10.5, -1000.5, 10.5])


def test_non_latin_digits_and_times_with_zones_are_converted_and_words_become_missing(tmp_path: Path) -> None:
    cells = "'n \"net\"': ['١٫٥', '\u200e-２', 'closed', '4'], 'm': [1, 2, 3, 5], 'at': ['May 1, 2024 3:04 PM PST'] * 4"
    code = f"pd.DataFrame({{{cells}}})"
    columns = {'n "net"': "number", "m": "number", "at": "date"}
    note = {"file": "a.json", "columns": columns, "read_as": code}
    result, comment = run('Plot "m" against "n \'net\'"', note, b"", tmp_path)
    assert (result.number("correlation"), result.figures[0].points) == (0.6509, 3)
    assert "1 of 4 rows." in comment
    result, _ = run('Plot "m" over "at"', note, b"", tmp_path)
    assert result.figures


def test_arrow_columns_are_summed_by_month_and_rows_with_years_outside_pandas_range_left_out(tmp_path: Path) -> None:
    cells = "{'day': [*pd.to_datetime(['2024-01-01', '2024-01-03', '2024-01-04'])], 'n': [1, 2, 5]}"
    code = f"pd.DataFrame({cells}).convert_dtypes(dtype_backend='pyarrow')"
    note = {"file": "a.json", "columns": {"day": "date", "n": "number"}, "read_as": code}
    result, _ = run('"n" per month', note, b"", tmp_path)
    assert (result.printed["highest"], result.number("highest value")) == ("2024-01", 8)
    code = (
        "pd.DataFrame({'day': ['2024-01-01', '12921-08-18', '-0768-01-01', '9999-12-31', '2024-01-03'], 'n': range(5)})"
    )
    _, comment = run('Plot "n" over "day"', {**note, "read_as": code}, b"", tmp_path)
    assert 'Left out, without a value for "n" or "day": 3 of 5 rows.' in comment


def test_answer_says_how_many_of_all_rows_or_groups_are_listed(tmp_path: Path) -> None:
    note = {**SALES_NOTE, "rows": 180, "cut": True}
    data = excel_file({"1": [["month", "sales"], *((f"m{number}", number) for number in range(180))]})
    assert "100 of 180 rows are shown." in run("only rows where sales >= 0", note, data, tmp_path)[1]
    assert "100 of 180 groups are listed." in run("sum of sales by month", note, data, tmp_path)[1]
    assert "The server describes only a part" in run("describe", note, data, tmp_path)[1]


NAMES = {
    "temp (°C)": "number",
    "名称 2": "text",
    '5" disk': "number",
    "Größe m²": "number",
    "date": "date",
    "of": "number",
}
FORMS = (
    'Plot "{n}" over "date"',
    'Compare "{n}" by "名称 2"',
    'Plot "{n}" against "{m}"',
    'Show the distribution of "{n}"',
)


@pytest.mark.parametrize("language", [code for code, _ in settings.LANGUAGES])
def test_suggested_questions_are_understood_for_any_column_name_in_each_language(language: str) -> None:
    note = {"file": "表 1.parquet", "rows": 3, "columns": NAMES, "read_as": "pd.read_parquet('表 1.parquet')"}
    numbers = [name.replace('"', "'") for name, kind in NAMES.items() if kind == "number"]
    questions = [
        form.format(n=n, m=m) for form in FORMS for n, m in zip(numbers, numbers[1:] + numbers[:1], strict=True)
    ]
    with translation.override(language):
        shown = [translate_sentence(one) for one in [*questions, 'Count the rows by "名称 2"', "Describe this table"]]
    assert [question for question in shown if not isinstance(plan(question, note), Plan)] == []


def test_demo_model_chooses_the_table_with_the_named_column_or_else_asks_the_person() -> None:
    notes = [SALES_NOTE, SHOPS_NOTE]
    for new in (True, False):
        chosen = plan("sum of sales", *notes, new=new)
        assert isinstance(chosen, Plan)
        assert chosen.file == "sales.xlsx"
        asked = plan("Describe this table", *notes, new=new)
        assert isinstance(asked, str)
        assert offered(asked) == ["sales.xlsx", "shops.csv"]
    named = plan_answer(["shops.csv, please", "Describe this table"], [], [], described(*notes, new=False))
    assert isinstance(named, Plan)
    assert named.file == "shops.csv"


@pytest.mark.parametrize(
    ("prompt", "sentence"),
    [
        ("Describe this table", "`locked.xlsx` cannot be read as a table: it is encrypted."),
        ("Beschreibe diese Tabelle", "`locked.xlsx` lässt sich nicht als Tabelle lesen: it is encrypted."),
        ("描述这个表格", "`locked.xlsx` 无法读作表格：it is encrypted."),
    ],
)
def test_answer_reports_a_refused_file_even_if_an_older_table_exists(prompt: str, sentence: str) -> None:
    refused = TableDescription("locked.xlsx", is_new=True, refusal="it is encrypted.")
    for one in ([refused], [*described(SALES_NOTE, new=False), refused]):
        answer = plan_answer([prompt], [], [], one)
        assert isinstance(answer, str)
        assert answer.startswith(sentence)


def test_table_is_refused_if_the_code_that_reads_it_is_not_one_expression() -> None:
    for code in ("pd.read_csv('a.csv'); x = 1", "pd.read_csv(\n'a.csv')", "", "(" * 1000):
        answer = plan("describe", {**SALES_NOTE, "read_as": code})
        assert isinstance(answer, str)
        assert "has not read `sales.xlsx` as a table" in answer
