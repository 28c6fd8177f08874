"""Spreadsheets are read as people see them, in a real kernel, and the code of a reading gives the same table."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date

import pytest

from chat.python.kernels.client import KernelClient
from chat.python.kernels.in_kernel.table_source import Choices
from chat.python.kernels.table_reading import TableReading
from tests.chat.python.kernels.conftest import read_table
from tests.table_files import Cell, excel_file, opendocument_file, rename_parts, zip_file
from tests.tables.corpus.workbooks import rewrite

pytestmark = pytest.mark.asyncio(loop_scope="module")

ORDERS: Sequence[Sequence[Cell]] = [["city", "n"], ["Ulm", 1], ["Bonn", 2]]
COSTS: Sequence[Sequence[Cell]] = [["kind", "EUR"], ["rent", 900], ["power", 120]]
ODS_CELL = '<table:table-cell office:value-type="string"{}><text:p>{}</text:p></table:table-cell>'


async def read(
    kernel: KernelClient, data: bytes, choices: Choices | None = None, *, name: str = "b.xlsx"
) -> TableReading:
    return await read_table(kernel, name, data, choices)


async def run_code(kernel: KernelClient, reading: TableReading) -> str:
    """Return the table that the code of a reading gives, as CSV."""
    return (await kernel.execute(f"print(({reading.code}).to_csv(index=False), end='')")).text


async def test_visible_sheet_is_read_and_hidden_ones_can_be_chosen_by_name(kernel: KernelClient) -> None:
    sheets: dict[str, Sequence[Sequence[Cell]]] = {
        "lists": [["code", "label"], ["a", "b"]],
        "cfg": [["k", "v"], ["x", 3]],
        "Orders 'NAME' MORE": ORDERS,
    }
    data = excel_file(sheets, states={"lists": "hidden", "cfg": "veryHidden"})
    reading = await read(kernel, data)
    assert (reading.row_count, [column.name for column in reading.columns]) == (2, ["city", "n"])
    assert reading.notes == ("2 sheets are hidden: “lists”, “cfg”.",)
    assert "sheet" not in reading.candidates
    assert await run_code(kernel, reading) == "city,n\nUlm,1\nBonn,2\n"
    chosen = await read(kernel, data, {"sheet": "cfg"})
    assert [column.name for column in chosen.columns] == ["k", "v"]
    assert (await read(kernel, data, {"sheet": "gone"})).error == "it has no sheet “gone”."


async def test_sheet_with_data_is_preferred_to_a_cover_sheet(kernel: KernelClient) -> None:
    sheets: dict[str, Sequence[Sequence[Cell]]] = {"Cover": [["Report"], [], ["By: finance"]], "Data": ORDERS}
    reading = await read(kernel, excel_file(sheets))
    assert (reading.reading["sheet"], reading.candidates["sheet"]) == ("Data", ["Data", "Cover"])


SIDE_BY_SIDE = [[*a, None, *b] for a, b in zip([*ORDERS, ["Jena", 3]], [*COSTS, [None, None]], strict=True)]


@pytest.mark.parametrize(
    ("rows", "first", "second"),
    [
        ([*ORDERS, ["Jena", 3], [], ["Costs"], *COSTS], "Sheet (A1:B4)", "Sheet (A7:B9)"),
        (SIDE_BY_SIDE, "Sheet (A1:B4)", "Sheet (D1:E3)"),
    ],
)
async def test_each_of_several_tables_on_a_sheet_can_be_chosen(
    kernel: KernelClient, rows: Sequence[Sequence[Cell]], first: str, second: str
) -> None:
    data = excel_file({"Sheet": rows})
    reading = await read(kernel, data)
    assert reading.candidates["sheet"] == [first, second]
    assert reading.notes == (f"The sheet has 2 tables: {first[7:-1]}, {second[7:-1]}. This is {first[7:-1]}.",)
    assert await run_code(kernel, reading) == "city,n\nUlm,1\nBonn,2\nJena,3\n"
    other = await read(kernel, data, {"sheet": second})
    assert other.reading["sheet"] == second
    assert await run_code(kernel, other) == "kind,EUR\nrent,900\npower,120\n"


@pytest.mark.parametrize(
    "rows",
    [
        [*ORDERS, [], ["Jena", 3], ["Kiel", 4]],
        [["city", None, "n"], ["Ulm", None, 1], ["Bonn", None, 2], [], ["Jena", None, 3], ["Kiel", None, 4]],
    ],
    ids=["empty row", "empty row and column"],
)
async def test_empty_row_or_column_within_a_table_does_not_end_the_table(
    kernel: KernelClient, rows: Sequence[Sequence[Cell]]
) -> None:
    reading = await read(kernel, excel_file({"Sheet": rows}))
    assert (reading.row_count, dict(reading.candidates)) == (4, {})
    columns = {column.name: column for column in reading.columns}
    assert (columns["n"].minimum, columns["n"].maximum) == ("1", "4")
    assert [line.partition(",")[0] for line in (await run_code(kernel, reading)).splitlines()[1:]] == [
        *("Ulm", "Bonn", "Jena", "Kiel")
    ]


async def test_merged_cells_below_the_header_are_filled_with_their_value(kernel: KernelClient) -> None:
    rows: list[list[Cell]] = [["Region", "Sales"]]
    rows += [[f"R{n // 4}" if n % 4 == 0 else None, n] for n in range(12)]
    data = excel_file({"Sheet": rows}, merged=["A2:A5", "A6:A9", "A10:A13"])
    reading = await read(kernel, data)
    assert [(one.text, one.count) for one in reading.columns[0].examples] == [("R0", 4), ("R1", 4), ("R2", 4)]
    assert "Merged cells in “Region” are filled with their value." in reading.notes
    assert await run_code(kernel, reading) == "Region,Sales\n" + "".join(f"R{n // 4},{n}\n" for n in range(12))


async def test_merged_header_cell_names_all_its_columns_and_a_merged_title_above_it_does_not(
    kernel: KernelClient,
) -> None:
    rows: list[list[Cell]] = [["Report"], ["Region", "2023"], [None, "units", "revenue"], ["North", 10, 100.5]]
    reading = await read(kernel, excel_file({"Sheet": rows}, merged=["A1:C1", "B2:C2", "A2:A3"]))
    assert reading.columns[0].name.startswith("Region")
    assert reading.columns[2].name.startswith("2023")
    assert not any("Merged cells" in note for note in reading.notes)


async def test_merged_cells_of_an_opendocument_file_are_filled_with_their_value(kernel: KernelClient) -> None:
    spanned = ODS_CELL.format(' table:number-rows-spanned="2"', "R0")
    rows = [
        ODS_CELL.format("", "Region") + ODS_CELL.format("", "City"),
        spanned + ODS_CELL.format("", "Ulm"),
        "<table:covered-table-cell/>" + ODS_CELL.format("", "Bonn"),
    ]
    data = opendocument_file("".join(f"<table:table-row>{row}</table:table-row>" for row in rows))
    reading = await read(kernel, data, name="b.ods")
    assert (reading.format, reading.row_count, reading.columns[0].missing) == ("OpenDocument", 2, 0)
    assert "Merged cells in “Region” are filled with their value." in reading.notes


async def test_notes_report_formulas_without_stored_values_and_cells_with_errors(kernel: KernelClient) -> None:
    rows: list[list[Cell]] = [["x", "Double", "Share"], [3, 6, 0.5]]
    rows += [[n, f"=2*A{n + 3}", "#DIV/0!"] for n in range(3)]
    reading = await read(kernel, excel_file({"Sheet": rows}))
    assert [column.missing for column in reading.columns] == [0, 3, 3]
    assert reading.notes[:2] == (
        "“Double” has formulas whose values are not stored in the file."
        " Open it in Excel and save it, and attach it again.",
        "“Share” has errors such as “#DIV/0!”, which count as missing.",
    )
    alone = await read(kernel, excel_file({"Sheet": [["=1", "=2"]]}))
    assert alone.error.startswith("its formulas have no values in the file.")


@pytest.mark.parametrize("main", ["xl\\workbook.xml", "xl/workbook2.xml", "/xl/workbook.xml"])
async def test_workbook_is_read_if_its_internal_files_have_unusual_names(kernel: KernelClient, main: str) -> None:
    def rename(name: str) -> str:
        if "2" in main:
            return name.replace("xl/workbook", "xl/workbook2").replace("rels/workbook.xml", "rels/workbook2.xml")
        return f"/{name}" if main.startswith("/") else name.replace("/", "\\")

    reading = await read(kernel, rename_parts(excel_file({"Sheet": ORDERS}), rename))
    assert (reading.error, reading.row_count) == ("", 2)


async def test_workbook_with_parent_folders_in_its_internal_paths_is_read_by_preview_and_code(
    kernel: KernelClient,
) -> None:
    data = excel_file({"Sheet": [["day", "n"], [date(2024, 1, 2), 1.5], [date(2024, 1, 3), 2]]})
    reading = await read(kernel, rewrite(data, [('Target="worksheets', 'Target="../xl/worksheets')], "/"))
    assert (reading.error, reading.row_count, reading.columns[0].maximum) == ("", 2, "2024-01-03")
    assert (await run_code(kernel, reading)).startswith("day,n\n2024-01-02,1.5\n2024-01-03,2.0\n")


async def test_generated_code_reads_digits_in_text_cells_as_text(kernel: KernelClient) -> None:
    rows: list[list[Cell]] = [["plz", "id", "land", "n"], ["01067", "1234567890123456711", "NA", 1]]
    rows += [["80331", None, "DE", "closed"], ["00017", "1234567890123456713", "FR", 3], ["1", "7", "None", 4]]
    reading = await read(kernel, excel_file({"S": rows}))
    assert await run_code(kernel, reading) == (
        "plz,id,land,n\n01067,1234567890123456711,NA,1.0\n80331,,DE,\n00017,1234567890123456713,FR,3.0\n1,7,,4.0\n"
    )


async def test_generated_code_fills_merged_cells_of_a_column_without_a_name(kernel: KernelClient) -> None:
    rows: list[list[Cell]] = [[None, None, "v"], ["a", 1, 10], [None, 2, 20], ["b", 1, 30], [None, 2, 40]]
    reading = await read(kernel, excel_file({"S": rows}, merged=["A2:A3", "A4:A5"]))
    assert (await run_code(kernel, reading)).splitlines()[1:] == ["a,1,10", "a,2,20", "b,1,30", "b,2,40"]


async def test_error_reports_that_an_opendocument_file_has_a_password(kernel: KernelClient) -> None:
    manifest = '<m:manifest xmlns:m="urn:m"><m:file-entry><m:encryption-data/></m:file-entry></m:manifest>'
    data = zip_file({"mimetype": b"x", "content.xml": bytes(range(256)), "META-INF/manifest.xml": manifest.encode()})
    assert (await read(kernel, data)).error.startswith("it is protected by a password.")


async def test_error_reports_that_the_cells_of_a_sheet_are_too_far_apart(kernel: KernelClient) -> None:
    rows: list[list[Cell]] = [["city", "n"], ["Ulm", 1]]
    data = excel_file({"Sheet": rows}, far_cell="XFD1048576")
    assert (await read(kernel, data)).error.startswith("the cells of “Sheet” lie too far from each other.")


async def test_generated_code_reads_dates_and_numbers_below_a_title_row(kernel: KernelClient) -> None:
    rows: list[list[Cell]] = [["Report"], [], ["day", "n"], [date(2024, 1, 2), 1.5], [date(2024, 1, 3), None]]
    reading = await read(kernel, excel_file({"Sheet": rows}))
    assert (reading.columns[0].minimum, reading.columns[0].maximum) == ("2024-01-02", "2024-01-03")
    assert await run_code(kernel, reading) == "day,n\n2024-01-02,1.5\n2024-01-03,\n"


async def test_generated_code_reads_all_rows_beside_repeated_headers_and_a_total(kernel: KernelClient) -> None:
    head, ulm, bonn = map(list, ORDERS)
    end: list[list[Cell]] = [["Jena", 3], ["Kiel", 4], ["Total", 10]]
    for rows in ([head, ulm, bonn, head, *end], [head, ulm, head, bonn, *end]):
        reading = await read(kernel, excel_file({"S": rows}))
        assert reading.row_count == 4
        assert await run_code(kernel, reading) == "city,n\nUlm,1\nBonn,2\nJena,3\nKiel,4\n"


async def test_generated_code_reads_a_last_column_without_a_name(kernel: KernelClient) -> None:
    reading = await read(kernel, excel_file({"S": [["city", "n"], ["Ulm", 1, "new"], ["Bonn", 2]]}))
    assert [column.name for column in reading.columns] == ["city", "n", ""]
    assert await run_code(kernel, reading) == "city,n,Unnamed: 2\nUlm,1,new\nBonn,2,\n"
    beside = await read(kernel, excel_file({"S": [[None, "city", "n"], [None, "Ulm", 1, "new"], [None, "Bonn", 2]]}))
    assert await run_code(kernel, beside) == "city,n,Unnamed: 2\nUlm,1,new\nBonn,2,\n"


async def test_first_row_can_be_chosen_as_header_if_no_header_is_certain(kernel: KernelClient) -> None:
    data = excel_file({"S": [["Ulm", "x", 5], ["Bonn", "y", 6]]})
    reading = await read(kernel, data)
    assert (reading.reading["header_rows"], reading.candidates) == (0, {"header_rows": [1]})
    assert (await read(kernel, data, {"header_rows": 1})).candidates == {}
