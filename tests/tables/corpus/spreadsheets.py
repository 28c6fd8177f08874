"""Spreadsheets as people of Excel and LibreOffice make them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import date, datetime, timedelta

from tests.tables.corpus.case import Case, Name, Rows, Value, label
from tests.tables.corpus.values import header_of, rows_of, seeded
from tests.tables.corpus.workbooks import Cell, Formula, Sheet, write_ods, write_xls, write_xlsx

KIND = "spreadsheet"
LINES = ("line", "row", "above", "before", "title", "skip", "left out", "header", "note")
ABOVE: tuple[tuple[str, int, list[list[Cell]]], ...] = (
    ("en", 8, [["Sales by branch"]]),
    ("de", 60, [["Umsätze der Filialen"], ["Stand: 31.03.2024"], []]),
    ("en", 25, [["As of", date(2024, 5, 1)], []]),
    ("fr", 14, [["Note : chiffres provisoires"], ["Auteur", "M. Petit"]]),
    ("en", 130, [[], [], ["Overview"], []]),
)


def make_spreadsheets() -> Iterator[Case]:
    """Yield workbooks with hidden sheets, titles, merged cells, formulas, several tables, and other types of file."""
    for suffix in ("xlsx", "xlsm", "ods", "xls"):
        for language, count in (("en", 4), ("de", 45), ("ja", 220)):
            yield _case(f"plain-{count}.{suffix}", [Sheet("Sheet1", _body(language, count))], language, count)
    yield from _sheets()
    yield from _around()
    yield from _merged()
    yield from _typed_cells()


def _body(language: str, count: int) -> list[Sequence[Cell]]:
    return [header_of(language, count > 40), *rows_of(language, count, count > 40)]


def _write(name: str, sheets: Sequence[Sheet]) -> bytes:
    if name.endswith(".xls"):
        return write_xls(sheets)
    return write_ods(sheets) if name.endswith(".ods") else write_xlsx(sheets, name.endswith(".xlsm"))


def _case(name: str, sheets: Sequence[Sheet], language: str, count: int) -> Case:
    """Return a case whose table is `_body`; the end of the name chooses the type of file."""
    wide = count > 40
    case = label(KIND, name, _write(name, sheets), header_of(language, wide), rows_of(language, count, wide))
    # A sentence that says how to save the file as .xlsx or CSV is right for the older types, too.
    return replace(case, refusal=None) if name.endswith((".xls", ".ods")) else case


def _sheets() -> Iterator[Case]:
    lists: list[Rows] = [[["Status"], ["open"], ["closed"]], [["Country", "Code"], ["Germany", "DE"], ["France", "FR"]]]
    for state in ("hidden", "veryHidden"):
        for count, suffix in ((9, "xlsx"), (70, "xlsx"), (30, "xls")):
            sheets = [Sheet(f"lists{n}", rows, state=state) for n, rows in enumerate(lists[: 1 + count // 50])]
            name = f"{state}-{count}.{suffix}"
            yield _case(name, [*sheets, Sheet("Orders", _body("en", count))], "en", count)
    for count in (6, 80):
        yield _case(f"empty-first-{count}.xlsx", [Sheet("Cover", []), Sheet("Data", _body("fr", count))], "fr", count)
    cover: list[list[Cell]] = [["Sales report 2024"], [], ["Made by: finance"], ["Date:", date(2024, 5, 2)]]
    for count, others in ((12, ("2023", "2022")), (40, ("Notes",)), (150, ("Feb", "Mar", "Apr")), (60, ())):
        data, more = Sheet("Main", _body("en", count)), [Sheet(name, _body("en", 5)) for name in others]
        sheets = [data, *more] if others else [Sheet("Cover", cover), data]
        yield replace(_case(f"several-sheets-{count}.xlsx", sheets, "en", count), asks=frozenset({"sheet"}))


def _around() -> Iterator[Case]:
    """Yield sheets with lines above or below the table, and tables that do not begin in A1."""
    for language, count, above in ABOVE:
        case = _case(f"title-{count}.xlsx", [Sheet("Report", [*above, *_body(language, count)])], language, count)
        yield replace(case, must_note=LINES)
    for count in (10, 55):
        shifted: list[Sequence[Cell]] = [[], [], *([None, None, *row] for row in _body("en", count))]
        yield _case(f"table-from-c3-{count}.xlsx", [Sheet("Sheet1", shifted)], "en", count)
    for count in (7, 32):
        total: list[Cell] = ["Total", sum(int(str(row[1])) for row in rows_of("en", count)), None]
        case = _case(f"total-{count}.xlsx", [Sheet("Sheet1", [*_body("en", count), total])], "en", count)
        case = case.without("Amount").changed({"Amount": "number"})
        yield replace(case, rows=(count, count + 1), missing={}, must_note=("total", "sum"))
    for count in (12, 31):
        second: list[list[Cell]] = [[], [], ["Costs"], ["kind", "EUR"], ["rent", 900], ["power", 120]]
        case = _case(f"two-tables-{count}.xlsx", [Sheet("Sheet1", [*_body("en", count), *second])], "en", count)
        yield replace(case, must_note=("table", "below", "after", "rows", "lines", "left out"))


def _merged() -> Iterator[Case]:
    second: list[Cell] = [None, "units", "revenue", "units", "revenue"]
    names: list[Name] = [("Region",), *((year, word) for year in ("2023", "2024") for word in ("units", "revenue"))]
    for count, title in ((4, False), (9, True), (40, False)):
        rows: list[list[Value]] = [
            [f"Region {n}", *(seeded(f"mr{n}{k}").randint(10, 900) for k in range(4))] for n in range(count)
        ]
        above: list[list[Cell]] = [["Sales of both years"]] if title else []
        first = len(above) + 1
        merged = [f"A{first}:A{first + 1}", f"B{first}:C{first}", f"D{first}:E{first}"]
        data = write_xlsx([Sheet("Report", [*above, ["Region", "2023", None, "2024", None], second, *rows], merged)])
        yield label(KIND, f"two-header-rows-{count}.xlsx", data, names, rows)
    header = ("Group", "Item", "Pieces")
    for groups, size in ((3, 4), (12, 5)):
        full: Rows = [[f"G{n // size}", f"item {n}", n * 2] for n in range(groups * size)]
        cells = [[row[0] if n % size == 0 else None, *row[1:]] for n, row in enumerate(full)]
        merged = [f"A{2 + n * size}:A{1 + (n + 1) * size}" for n in range(groups)]
        yield label(
            KIND, f"merged-body-{len(full)}.xlsx", write_xlsx([Sheet("Sheet1", [header, *cells], merged)]), header, full
        )


def _typed_cells() -> Iterator[Case]:
    header: tuple[str, ...] = ("part", "single", "double")
    for count in (8, 50):
        rows: Rows = [[f"p{n}", n, n * 2] for n in range(count)]
        for name, stored in (("formulas", True), ("formulas-without-values", False)):
            cells: list[list[Cell]] = [
                [f"p{n}", n, Formula(f"B{n + 2}*2", n * 2 if stored else None)] for n in range(count)
            ]
            case = label(KIND, f"{name}-{count}.xlsx", write_xlsx([Sheet("Sheet1", [header, *cells])]), header, rows)
            yield case if stored else replace(case.without("double"), must_note=("formula",))
    header = ("day", "level", "checked", "code")
    for suffix in ("xlsx", "ods", "xls"):
        for count in (6, 90):
            rows = [[date(2024, 2, 5) + timedelta(n), n / 4, n % 3 == 0, f"{n + 7:05}"] for n in range(count)]
            name = f"types-{count}.{suffix}"
            case = label(KIND, name, _write(name, [Sheet("Sheet1", [header, *rows])]), header, rows)
            types = {key: type_ for key, type_ in case.types.items() if key != "code"}
            refusal = False if suffix == "xlsx" else None
            yield replace(case, types=types, roles={"code": ("code", "identifier")}, refusal=refusal)
    rows = [[datetime(2024, 3, 1, 8) + timedelta(hours=n), n if n % 4 else None] for n in range(30)]
    yield label(KIND, "moments.xlsx", write_xlsx([Sheet("Log", [("at", "n"), *rows])]), ("at", "n"), rows)
    header = ("name", "pieces", "Preis")
    for count in (9, 40):
        rows = [[f"a{n}", n * 15, n + 0.5] for n in range(count)]
        texts: Rows = [[f"a{n}", str(n * 15), f"{n},5"] for n in range(count)]
        data = write_xlsx([Sheet("Sheet1", [header, *texts])])
        yield label(KIND, f"numbers-as-text-{count}.xlsx", data, header, rows)
