"""Table files are described in a real kernel, with the packages of its environment, whatever they hold."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from datetime import date

import pytest

from chat.python.kernels.client import KernelClient
from chat.python.kernels.in_kernel.table_cells import Column
from chat.python.kernels.in_kernel.table_code import read_arguments
from chat.python.kernels.in_kernel.table_columns import decide_columns
from chat.python.kernels.table_reading import TableColumn, TableReading
from tests.chat.python.kernels.conftest import read_table
from tests.table_files import Cell, excel_file

pytestmark = pytest.mark.asyncio(loop_scope="module")

GERMAN = "id;datum;umsatz;stadt;plz\n1;31.12.2023;1.234,50;Köln;01067\n2;01.01.2024;n/a;Köln;80331\n"


def by_name(preview: TableReading) -> dict[str, TableColumn]:
    assert preview.error == ""
    return {column.name: column for column in preview.columns}


async def test_notes_describe_delimiter_number_and_date_formats_of_a_german_csv_file(kernel: KernelClient) -> None:
    preview = await read_table(kernel, "umsätze.csv", GERMAN.encode())
    columns = by_name(preview)
    assert (preview.format, preview.row_count, preview.column_count) == ("CSV", 2, 5)
    types = {name: column.type for name, column in columns.items()}
    assert types == {"id": "whole number", "datum": "date", "umsatz": "number", "stadt": "text", "plz": "text"}
    assert (columns["umsatz"].missing, columns["umsatz"].maximum) == (1, "1234.5")
    assert (columns["datum"].minimum, columns["datum"].maximum) == ("2023-12-31", "2024-01-01")
    assert [(one.text, one.count) for one in columns["stadt"].examples] == [("Köln", 2)]
    assert list(preview.notes) == [
        "The cells are separated by semicolons.",
        "Missing values: 1, in “umsatz”.",
        "“umsatz” has points between thousands, such as “1.234,50”.",
        "“plz” has numbers that begin with zeros, such as “01067”: read as numbers, they lose them.",
        "“datum” has dates like “31.12.2023”, which are read as text unless their form is named.",
        "Missing values in “umsatz” are written as “n/a”.",
    ]


NOTES = {
    "a,a,,b\n1,2,3,$4\n1,2,3,$4\n5,x\n": [
        "1 row has fewer cells than the header: line 4.",
        "1 column without a name: 3.",
        "More than one column is named “a”.",
        "1 row equals an earlier row.",
        "Missing values: 2, in “column 3” and “b”.",
        "“a” has numbers, and 1 other value: “x”.",
        "“b” has currency or percent signs, such as “$4”, which code must remove.",
    ],
    "a,b\n": ["There are names of columns, but no rows."],
    "a,b\n1,\n2,\n": ["“b” has no value at all."],
    "1,2\n3,4\n": ["The first row holds values and no names, so the columns are numbered."],
    'a\n"1,234"\n"5,678"\n': ["Decimals and thousands cannot be told apart in “a”: “1,234” is read as “1234”."],
    'a,b\n"1,5",x\n2.5,y\n': [
        "“a” has decimal commas, such as “1,5”.",
        "“a” mixes decimal commas and decimal points, such as “1,5” and “2.5”.",
    ],
    "d,n\n2024-01-02,1\n3 Jan 2024,2\n": ["“d” has dates in several forms, such as “2024-01-02” and “3 Jan 2024”."],
    "a\t b\n1\t x \n": ["“b” has spaces around values, such as around “x”."],
}


@pytest.mark.parametrize("text", NOTES)
async def test_each_unusual_property_of_a_table_gives_one_note(kernel: KernelClient, text: str) -> None:
    preview = await read_table(kernel, "odd.tsv" if "\t" in text else "odd.csv", text.encode())
    assert list(preview.notes) == NOTES[text]


@pytest.mark.parametrize(
    ("name", "data", "error"),
    [
        ("empty.csv", b"", "it is empty."),
        ("blank.csv", b"\n , \n\n", "it has no cell with a value."),
        ("text.xlsx", b"hello", "its name ends in .xlsx, but its content has another format."),
        ("cut.xlsx", excel_file({"A": [["a"], [1]]})[:-40], "it is a broken Excel file. Save or download it again."),
        ("none.xlsx", excel_file({"A": [], "B": []}), "its sheets are empty."),
        ("broken.parquet", b"PAR1\0\0PAR1", "it is not a Parquet file that can be read"),
        ("broken.dta", b"s\1\0", "it is not a Stata file that can be read"),
        ("spss.sav", b"$FL2@(#)", "it is an SPSS file, which cannot be read here."),
        ("none.json", b"{}", "its JSON holds no list of rows with a value."),
        ("page.csv", b"<table><tr><td>a</td></tr></table>", "it is a web page (HTML) and no table."),
        ("a.csv", b"ID;PWXL;N;E\nC;Y1;X1;K5\n", "it is a file of the format SYLK."),
        ("html.json", b"<html>", "its name ends in .json, but its content is HTML or XML."),
        ("deep.json", b"[" * 100_000, "its JSON is nested too deeply."),
        ("columns.csv", b"a," * 2**20, "it has more than 100,000 columns."),
    ],
)
async def test_error_says_why_a_file_cannot_be_read_as_a_table(
    kernel: KernelClient, name: str, data: bytes, error: str
) -> None:
    preview = await read_table(kernel, name, data)
    assert preview.error.startswith(error)
    assert preview.error.endswith(".")
    assert (preview.columns, preview.is_lasting) == ((), True)


async def test_excel_file_that_unpacks_to_too_many_bytes_is_not_read(kernel: KernelClient) -> None:
    preview = await read_table(kernel, "bomb.xlsx", excel_file({"A": [["a"], [1]]}, padding_bytes=300 * 2**20))
    assert preview.error == "it unpacks to more than 256 MB."
    assert (preview.columns, preview.is_lasting) == ((), True)


async def test_same_table_in_four_json_forms_has_the_same_columns(kernel: KernelClient) -> None:
    rows = [{"city": "Oslo", "km": 1, "more": {"x": [1]}}, {"city": None, "km": 2.5}]
    shapes = {
        "rows.json": json.dumps(rows),
        "lines.jsonl": "\n".join(map(json.dumps, rows)),
        "nested.json": json.dumps({"count": 2, "data": rows}),
        "columns.json": json.dumps({"city": ["Oslo", None], "km": [1, 2.5], "more": [{"x": [1]}, None]}),
    }
    for name, text in shapes.items():
        preview = await read_table(kernel, name, text.encode())
        assert {column.name: (column.type, column.missing) for column in preview.columns} == {
            "city": ("text", 1),
            "km": ("number", 0),
            "more": ("nested", 1),
        }
        assert "“more” holds lists or objects in its cells." in preview.notes
    assert preview.row_count == 2


async def test_preview_of_an_excel_file_shows_one_sheet_and_lists_the_names_of_all(kernel: KernelClient) -> None:
    days = [date(2024, 1, day) for day in (2, 3, 4)]
    rows: list[list[Cell]] = [[days[0], 3, "x"], [days[1], None, "y"], [days[2], 2.5, ""]]
    data = excel_file({"Empty": [], "A & B": [["Report 2024"], ["day", "n", "who"], *rows], "C": [[1]]})
    preview = await read_table(kernel, "book.xlsx", data)
    columns = by_name(preview)
    assert (preview.format, preview.row_count) == ("Excel", 3)
    assert (columns["day"].type, columns["day"].maximum) == ("date", "2024-01-04")
    assert (columns["n"].type, columns["n"].missing, columns["who"].missing) == ("number", 1, 1)
    assert preview.notes == (
        "The file has 3 sheets: “Empty”, “A & B”, “C”. This is “A & B”.",
        "A row above the names of columns is left out: “Report 2024”.",
        "Missing values: 2, in “n” and “who”.",
    )
    execution = await kernel.execute("import pandas; print(pandas.read_excel('book.xlsx', 'C', engine='calamine'))")
    assert execution.text.strip().startswith("Empty DataFrame")


async def test_notes_report_numbers_and_dates_that_excel_stores_as_text(kernel: KernelClient) -> None:
    preview = await read_table(kernel, "texts.xlsx", excel_file({"A": [["n", "d"], ["12", "2024-01-02"]]}))
    assert preview.notes == (
        "“n” has numbers that are stored as text, such as “12”.",
        "“d” has dates that are stored as text, such as “2024-01-02”.",
    )


async def test_number_of_columns_and_length_of_their_names_are_limited(kernel: KernelClient) -> None:
    names = ["<script>alert(1)</script>", "x" * 10_000, "a\x1b[31m\x00b\u202e", *(f"c{n}" for n in range(197))]
    data = "\t".join(names) + "\n" + "\t".join(map(str, range(200)))
    preview = await read_table(kernel, "wide.tsv", data.replace("\0", "").encode())
    assert (preview.column_count, len(preview.columns)) == (200, 100)
    assert "Only the first 100 of 200 columns were examined." in preview.notes
    assert preview.columns[0].name == names[0]
    assert all(len(column.name) <= 80 for column in preview.columns)
    assert "\x1b" not in preview.columns[2].name


async def test_generated_code_reads_values_with_the_types_of_their_description(kernel: KernelClient) -> None:
    columns = {
        "number": ["1.234,5", "2,5", ""],
        "zeros": ["00123", "04560", "7"],
        "long": ["123456789012345678", "", "123456789012345679"],
        "day": ["31.12.2023", "k.A.", "01.01.2024"],
        "iso": ["2023-12-31", "31.02.2024", "2024-01-01"],
        "host": ["10.0.0.1", "10.0.0.2", "-"],
        "few": ["1", "2", "foo"],
    }
    cells = [Column(values, name=name, is_text_file=True) for name, values in columns.items()]
    decide_columns(cells, {}, delimiter=";", is_text=True)
    arguments = read_arguments(cells, is_text_file=True)
    text = "\n".join(map(";".join, [list(columns), *zip(*columns.values(), strict=True)]))
    program = f"""
import io, pandas as pd
table = pd.read_csv(io.StringIO({text!r}), sep=";"{arguments})
print(*table.dtypes, *table.isna().sum(), table.long.max())
"""
    types = "float64 str Int64 datetime64[us] datetime64[us] str float64"
    assert (await kernel.execute(program)).text == f"{types} 1 0 1 1 1 1 1 123456789012345679\n"


async def test_generated_code_works_if_columns_have_the_names_of_its_placeholders(kernel: KernelClient) -> None:
    preview = await read_table(kernel, "MORE NAME.csv", b"Report\nNAME;MORE\n1,5;a\n2,5;b\n")
    assert (await kernel.execute(f"import pandas as pd\nprint(({preview.code}).NAME.sum())")).text == "4.0\n"


@pytest.mark.drill
async def test_preview_of_a_table_of_30_mb_is_made(kernel: KernelClient) -> None:
    rows = 60_000
    line = f"{{}},2024-01-02,Oslo,1.25,{'some words ' * 46}\n"
    data = ("id,day,city,price,note\n" + "".join(map(line.format, range(rows)))).encode()
    assert len(data) > 30 * 2**20
    preview = await read_table(kernel, "large.csv", data)
    assert (preview.row_count, preview.column_count, preview.error) == (rows, 5, "")
    assert preview.columns[0].is_index


async def test_reading_a_table_for_too_long_is_interrupted_and_the_kernel_stays_usable(kernel: KernelClient) -> None:
    async def pieces() -> AsyncIterator[bytes]:
        yield b"a,b\n"
        for _ in range(8):
            yield b"1,2\n" * 1_000_000

    name = await kernel.write_file("slow.csv", pieces())
    # Even on a busy machine, the reading begins within this time, and it never ends within it.
    preview = await kernel.read_table(name, {}, limit_s=1.0)
    assert preview == TableReading(error="reading it takes too long.", is_lasting=False)
    assert (await kernel.execute("print(6 * 7)")).text == "42\n"
