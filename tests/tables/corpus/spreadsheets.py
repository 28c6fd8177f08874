"""Spreadsheets as people of Excel and LibreOffice make them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import date, datetime, timedelta

from tests.tables.corpus.case import Case
from tests.tables.corpus.values import LANGUAGES, ints, rows_of, seeded
from tests.tables.corpus.workbooks import Cell, Formula, Sheet, write_ods, write_xls, write_xlsx

KIND = "spreadsheet"


def make_spreadsheets() -> Iterator[Case]:
    """Yield workbooks with hidden sheets, titles, merged cells, formulas, several tables, and other types of file."""
    yield from _plain_files()
    yield from _sheets()
    yield from _above_and_below()
    yield from _merged()
    yield from _formulas()
    yield from _typed_cells()


def _cells(language: str, count: int) -> list[list[Cell]]:
    return [[place, int(amount), remark] for place, amount, remark in rows_of(language, count, f"sheet{count}")]


def _body(language: str, count: int) -> list[list[Cell]]:
    return [list(LANGUAGES[language].header), *_cells(language, count)]


def _case(name: str, sheets: Sequence[Sheet], language: str, count: int) -> Case:
    """Return a case of a place, a whole number and a remark; the end of the name chooses the type of file."""
    header, rows = LANGUAGES[language].header, rows_of(language, count, f"sheet{count}")
    if name.endswith(".xls"):
        data = write_xls(sheets)
    else:
        data = write_ods(sheets) if name.endswith(".ods") else write_xlsx(sheets, name.endswith(".xlsm"))
    return Case(
        kind=KIND,
        name=name,
        data=data,
        rows=count,
        names=header,
        types={header[0]: "text", header[1]: "number", header[2]: "text"},
        ranges={header[1]: ints(rows, 1)},
        texts={header[0]: rows[0][0]},
    )


def _plain_files() -> Iterator[Case]:
    for suffix in ("xlsx", "xlsm", "ods", "xls"):
        for language, count in (("en", 4), ("de", 45), ("ja", 220)):
            sheets = [Sheet("Tabelle1" if language == "de" else "Sheet1", _body(language, count))]
            yield _case(f"plain-{count}.{suffix}", sheets, language, count)


def _sheets() -> Iterator[Case]:
    lists = [[["Status"], ["open"], ["closed"]], [["Country", "Code"], ["Germany", "DE"], ["France", "FR"]]]
    for state in ("hidden", "veryHidden"):
        for count in (9, 70):
            sheets = [Sheet(f"lists{n}", rows, state=state) for n, rows in enumerate(lists[: 1 + count // 50])]
            yield _case(f"{state}-{count}.xlsx", [*sheets, Sheet("Orders", _body("en", count))], "en", count)
    yield _case("hidden.xls", [Sheet("lists", lists[1], state="hidden"), Sheet("Orders", _body("de", 30))], "de", 30)
    for count in (6, 80):
        sheets = [Sheet("Cover", []), Sheet("Data", _body("fr", count))]
        yield _case(f"empty-first-{count}.xlsx", sheets, "fr", count)
    for count, others in ((12, ("2023", "2022")), (40, ("Notes",)), (150, ("Feb", "Mar", "Apr"))):
        sheets = [Sheet("Main", _body("en", count)), *(Sheet(name, _body("en", 5)) for name in others)]
        case = _case(f"several-sheets-{count}.xlsx", sheets, "en", count)
        yield replace(case, asks=frozenset({"sheet"}))
    cover: list[list[Cell]] = [["Sales report 2024"], [], ["Made by: finance"], ["Date:", date(2024, 5, 2)]]
    yield replace(
        _case("cover-sheet.xlsx", [Sheet("Cover", cover), Sheet("Data", _body("en", 60))], "en", 60),
        asks=frozenset({"sheet"}),
    )


def _above_and_below() -> Iterator[Case]:
    words = ("line", "row", "above", "before", "title", "skip", "left out", "header", "note")
    for language, count, above in (
        ("en", 8, [["Sales by branch"]]),
        ("de", 60, [["Umsätze der Filialen"], ["Stand: 31.03.2024"], []]),
        ("en", 25, [["As of", date(2024, 5, 1)], []]),
        ("fr", 14, [["Note : chiffres provisoires"], ["Auteur", "M. Petit"]]),
        ("en", 130, [[], [], ["Overview"], []]),
    ):
        case = _case(f"title-{count}.xlsx", [Sheet("Report", [*above, *_body(language, count)])], language, count)
        yield replace(case, must_note=words)
    case = _case("title.ods", [Sheet("Report", [["Sales by branch"], [], *_body("en", 20)])], "en", 20)
    yield replace(case, must_note=words)
    for count in (10, 55):
        shifted: list[list[Cell]] = [[], [], *([None, None, *row] for row in _body("en", count))]
        yield _case(f"table-from-c3-{count}.xlsx", [Sheet("Sheet1", shifted)], "en", count)
    for count in (7, 48):
        body = _body("en", count)
        total = sum(int(row[1]) for row in rows_of("en", count, f"sheet{count}"))
        case = _case(f"total-{count}.xlsx", [Sheet("Sheet1", [*body, ["Total", total, None]])], "en", count)
        yield replace(case, rows=(count, count + 1), ranges={}, must_note=("total", "sum"))
    for count in (12, 30):
        second: list[list[Cell]] = [[], [], ["Costs"], ["kind", "EUR"], ["rent", 900], ["power", 120]]
        case = _case(f"two-tables-{count}.xlsx", [Sheet("Sheet1", [*_body("en", count), *second])], "en", count)
        words_below = ("table", "below", "after", "rows", "lines", "left out")
        yield replace(case, must_note=words_below)


def _merged() -> Iterator[Case]:
    for count, title in ((4, False), (9, True), (40, False)):
        rows = [[f"Region {n}", *(seeded(f"mr{n}{k}").randint(10, 900) for k in range(4))] for n in range(count)]
        head: list[list[Cell]] = [
            ["Region", "2023", None, "2024", None],
            [None, "units", "revenue", "units", "revenue"],
        ]
        above: list[list[Cell]] = [["Sales of both years"]] if title else []
        first = len(above) + 1
        merged = [f"A{first}:A{first + 1}", f"B{first}:C{first}", f"D{first}:E{first}"]
        data = write_xlsx([Sheet("Report", [*above, *head, *rows], merged)])
        names = (("Region",), *((year, word) for year in ("2023", "2024") for word in ("units", "revenue")))
        yield Case(
            KIND, f"two-header-rows-{count}.xlsx", data, count, names,
            types={0: "text", **dict.fromkeys(range(1, 5), "number")},
            ranges={1: ints([[str(cell) for cell in row] for row in rows], 1)}, texts={0: "Region 0"},
        )  # fmt: skip
    for groups, size in ((3, 4), (12, 5)):
        count = groups * size
        rows = [[f"G{n // size}" if n % size == 0 else None, f"item {n}", n * 2] for n in range(count)]
        merged = [f"A{2 + n * size}:A{1 + (n + 1) * size}" for n in range(groups)]
        data = write_xlsx([Sheet("Sheet1", [["Group", "Item", "Pieces"], *rows], merged)])
        yield Case(
            KIND, f"merged-body-{count}.xlsx", data, count, ("Group", "Item", "Pieces"),
            types={"Item": "text", "Pieces": "number"}, ranges={"Pieces": ("0", str(2 * count - 2))},
            texts={"Group": "G0"}, missing={"Group": 0},
        )  # fmt: skip


def _formulas() -> Iterator[Case]:
    for count in (8, 50):
        rows: list[list[Cell]] = [[f"p{n}", n, Formula(f"B{n + 2}*2")] for n in range(count)]
        data = write_xlsx([Sheet("Sheet1", [["part", "single", "double"], *rows])])
        yield Case(
            KIND, f"formulas-without-values-{count}.xlsx", data, count, ("part", "single", "double"),
            types={"part": "text", "single": "number"}, ranges={"single": ("0", str(count - 1))}, must_note=("formula",),
        )  # fmt: skip
        rows = [[f"p{n}", n, Formula(f"B{n + 2}*2", n * 2)] for n in range(count)]
        data = write_xlsx([Sheet("Sheet1", [["part", "single", "double"], *rows])])
        yield Case(
            KIND, f"formulas-{count}.xlsx", data, count, ("part", "single", "double"),
            types={"single": "number", "double": "number"}, ranges={"double": ("0", str(2 * count - 2))},
        )  # fmt: skip


def _typed_cells() -> Iterator[Case]:
    first = date(2024, 2, 5)
    for suffix in ("xlsx", "ods", "xls"):
        for count in (6, 90):
            rows: list[list[Cell]] = [[first + timedelta(n), n / 4, n % 3 == 0, f"{n + 7:05}"] for n in range(count)]
            sheet = Sheet("Sheet1", [["day", "level", "checked", "code"], *rows])
            write = {"xlsx": write_xlsx, "ods": write_ods, "xls": write_xls}[suffix]
            yield Case(
                KIND, f"types-{count}.{suffix}", write([sheet]), count, ("day", "level", "checked", "code"),
                types={"day": "date", "level": "number", "checked": "boolean"}, texts={"code": "00007"},
                ranges={"day": ("2024-02-05", (first + timedelta(count - 1)).isoformat()), "level": ("0", str((count - 1) / 4))},
                roles={"code": ("code", "identifier")},
            )  # fmt: skip
    moments: list[list[Cell]] = [[datetime(2024, 3, 1, 8) + timedelta(hours=n), n] for n in range(30)]
    yield Case(
        KIND, "moments.xlsx", write_xlsx([Sheet("Log", [["at", "n"], *moments])]), 30, ("at", "n"),
        types={"at": ("date", "time"), "n": "number"}, ranges={"at": ("2024-03-01 08:00", "2024-03-02 13:00")},
    )  # fmt: skip
    for count in (9, 40):
        texts: list[list[Cell]] = [[f"a{n}", str(n * 15), f"{n},5"] for n in range(count)]
        yield Case(
            KIND, f"numbers-as-text-{count}.xlsx", write_xlsx([Sheet("Sheet1", [["name", "pieces", "Preis"], *texts])]),
            count, ("name", "pieces", "Preis"), types={"pieces": "number", "Preis": "number"},
            ranges={"pieces": ("0", str(15 * count - 15)), "Preis": ("0.5", f"{count - 1}.5")},
        )  # fmt: skip
    gaps: list[list[Cell]] = [[f"a{n}", None if n % 4 == 1 else n] for n in range(24)]
    yield Case(
        KIND, "gaps.xlsx", write_xlsx([Sheet("Sheet1", [["name", "level"], *gaps])]), 24, ("name", "level"),
        types={"level": "number"}, ranges={"level": ("0", "23")}, missing={"level": 6},
    )  # fmt: skip
