"""Questions about tables: how cells are read, which questions fit, and that texts of a file never become code."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from chat.emulator.attached_files import AttachedFile
from chat.emulator.demo.language import Plan
from chat.emulator.demo.table_files import read_table, take_pasted_table
from tests.chat.emulator.demo.newcomer_prompts import PEOPLE, SALES, TREES
from tests.chat.emulator.demo.run_programs import run_programs
from tests.chat.emulator.demo.test_plan import comment_of, offered, plan, program_of

HOSTILE = "'''\"\"\"];import os;os.abort()#{x!q}`"


def kinds_of(data: str, encoding: str = "utf-8") -> list[str]:
    """Return the kinds of the columns of a CSV file."""
    table = read_table(AttachedFile("t.csv", "text/csv", data.encode(encoding), is_new=True))
    assert table is not None
    return [column.kind for column in table.columns]


@pytest.mark.parametrize(
    ("cells", "kind"),
    [
        (["1", "-2.5", "3e4"], "number"),
        (["$1,200.50", "80"], "number"),
        (["1.200,50 €", "80,00 €"], "number"),
        (["12%", "3%", "n/a"], "number"),
        (["2024-01-31", "2024-02-01"], "date"),
        (["31.01.2024", "01.02.2024"], "date"),
        (["1/31/2024", "2/1/2024"], "date"),
        (["1/2/2024", "2/1/2024"], "text"),
        (["1", "many"], "text"),
        (["", "-"], "text"),
    ],
)
def test_column_is_number_date_or_text_depending_on_its_cells(cells: list[str], kind: str) -> None:
    assert kinds_of("name;value\n" + "".join(f"x{number};{cell}\n" for number, cell in enumerate(cells)))[1] == kind


def test_tab_separated_text_is_read_with_and_without_a_byte_order_mark(tmp_path: Path) -> None:
    rows = "Größe\tStück\n1,5\t2\n2,5\t4\n"
    programs = []
    for encoding in ("utf-8", "utf-8-sig"):
        assert kinds_of(rows, encoding) == ["number", "number"]
        files = {f"{encoding}.csv": rows.encode(encoding)}
        programs.append((files, program_of("Summe der Größe", files=files)))
    assert [result.number("sum") for result in run_programs(programs, tmp_path)] == [4.0] * 2


def test_table_pasted_as_markdown_or_csv_is_separated_from_the_question() -> None:
    for pasted in ("| a | b |\n|---|---|\n| x | 2 |\n| y | 4 |", "a,b\nx,2\ny,4", "```csv\na;b\nx;2\ny;4\n```"):
        table, rest = take_pasted_table(f"What is the mean of b?\n{pasted}\n")
        assert table is not None
        assert [(column.name, column.kind) for column in table.columns] == [("a", "text"), ("b", "number")]
        assert rest.strip() == "What is the mean of b?"
    for prose in ("Hello,\nhow are you?", "solve x + y = 5,\nx - y = 1", "1,2\n3,4"):
        assert take_pasted_table(prose) == (None, prose)


QUESTIONS = [
    ("what is the mean price in region North?", "mean", "642.75"),
    ("which product has the highest total units?", "highest", "Lamp"),
    ("show only rows where units > 2", "rows", "3"),
    ("units per month", "highest", "2024-01"),
    ("number of rows by region", "highest value", "2"),
    ("histogram of price", "count", "5"),
    ("plot price against units", "correlation", "-0.3122"),
    ("describe units", "median", "3"),
    ("compare North and South units", "highest value", "6"),
]


def test_questions_about_a_table_get_the_expected_values(tmp_path: Path) -> None:
    files = {"sales.csv": SALES}
    programs = [(files, program_of(prompt, files=files)) for prompt, _, _ in QUESTIONS]
    for (prompt, value, expected), result in zip(QUESTIONS, run_programs(programs, tmp_path), strict=True):
        assert not result.error, prompt
        assert result.printed[value] == expected, prompt


@pytest.mark.parametrize(
    "prompt",
    [
        "average price without North",
        "average price by weather",
        "which product has the highest units?",
        "price over 100 or units over 2",
        "bar chart of price and units",
        "forecast the price",
        "is the mean price greater than 100?",
        "median and mean of price by region",
        "boxplot of units by region",
        "top 3",
        "how many columns",
        "how many units",
        "who has the highest price?",
        "where is the highest price?",
        "describe units by region",
        "how many files are there?",
    ],
)
def test_question_with_an_unknown_or_unclear_part_is_refused_with_questions_about_the_table(prompt: str) -> None:
    answer = plan(prompt, files={"sales.csv": SALES})
    assert isinstance(answer, str), answer
    assert len(offered(answer)) == 3
    assert [one for one in offered(answer) if isinstance(plan(one, files={"sales.csv": SALES}), str)] == []
    assert any('"units"' in one for one in offered(answer))


def test_question_is_answered_from_the_file_that_has_the_column_or_is_named_in_it() -> None:
    files = {"sales.csv": SALES, "people.csv": PEOPLE, "trees.csv": TREES.encode()}
    assert "'people.csv'" in program_of("bar chart of city", files=files)
    assert "'trees.csv'" in program_of("describe trees.csv", files=files)
    refused = plan("describe this", files=files)
    assert isinstance(refused, str)
    assert offered(refused) == ["sales.csv", "people.csv", "trees.csv"]


def test_table_of_an_earlier_prompt_is_described_only_if_the_prompt_asks_for_it() -> None:
    assert isinstance(plan("thanks", files={"sales.csv": SALES}, new=False), str)
    assert isinstance(plan("Plot a sine wave", files={"sales.csv": SALES}, new=False), Plan)
    assert isinstance(plan("describe this table", files={"sales.csv": SALES}, new=False), Plan)


def test_refusal_names_the_file_that_is_not_a_table() -> None:
    answer = plan("What is in here?", files={"empty.csv": b""})
    assert isinstance(answer, str)
    assert "`empty.csv`" in answer


def test_hostile_text_of_a_file_or_prompt_never_becomes_code_of_the_program(tmp_path: Path) -> None:
    quoted = '"' + HOSTILE.replace('"', '""') + '"'
    rows = f"name,{quoted},\nx,1\n{quoted},2\n"
    files = {"h.csv": rows.encode()}
    planned = [plan("describe", files=files), plan(f"describe\n\n{rows}"), plan(f"bar chart of {HOSTILE[9:]} 3, b 5")]
    programs = [one.program for one in planned if isinstance(one, Plan)]
    assert len(programs) >= 1
    for program in programs:
        names = {node.id for node in ast.walk(ast.parse(program)) if isinstance(node, ast.Name)}
        assert "os" not in names
    for one, result in zip(planned, run_programs([(files, program) for program in programs], tmp_path), strict=False):
        assert isinstance(one, Plan)
        assert not result.error
        assert comment_of(one, result)


def test_text_cell_far_down_in_a_number_column_raises_an_error_instead_of_being_left_out(tmp_path: Path) -> None:
    files = {"long.csv": b"name,value\n" + b"x,1\n" * 2_000 + b"y,much\n"}
    [result] = run_programs([(files, program_of("sum of value", files=files))], tmp_path)
    assert "much" in result.error
