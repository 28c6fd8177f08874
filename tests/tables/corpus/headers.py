"""Forms of headers, and lines that stand before the table."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timedelta

from tests.tables.corpus.case import Case, Name, Rows, csv_case, label, text_of
from tests.tables.corpus.values import header_of, rows_of, seeded

KIND = "header"
ABOVE = {
    "title": ("Monthly report of the northern branches", ""),
    "two-titles": ("Quarterly figures", "Made on 2024-04-02 by finance", ""),
    "comments": ("# exported by station 4", "# unit of amounts: EUR", "# 2 channels"),
    "keys": ("Report,Branches", "Created,2024-05-01", "User,m.weber", ""),
    "keys-without-blank": ("Device,TX-20", "Serial,004711", "Interval,10 min"),
    "percent-comments": ("% written by a simulation", "% step 0.1"),
    "account": ("Kontonummer: 12345", "Zeitraum: 01.01.2024 - 31.03.2024", "Waehrung: EUR", "", ""),
    "blank": ("", "", ""),
    "commas": ("Annual overview,,", ",,"),
    "hash-fields": ("#Version: 1.0", "#Fields are separated by commas"),
}
LINES = ("line", "row", "above", "before", "skip", "left out", "comment", "header", "unit")


def make_headers() -> Iterator[Case]:
    """Yield tables without a header, with lines above it, with units, and with names that are unusual."""
    yield from _no_header()
    for number, (name, lines) in enumerate(ABOVE.items()):
        for language, count in (("en", 7 + number), ("fr", 60 + 3 * number)):
            header, rows = header_of(language), rows_of(language, count)
            delimiter = ";" if name in ("account", "title") and language == "fr" else ","
            text = "\n".join(lines) + "\n" + text_of(header, rows, delimiter)
            case = label(KIND, f"above-{name}-{language}.csv", text.encode(), header, rows)
            yield replace(case, must_note=() if name == "blank" else LINES)
    yield from _units()
    yield from _two_rows()
    yield from _unusual_names()


def _no_header() -> Iterator[Case]:
    start = datetime(2024, 2, 1)
    tables: dict[str, Rows] = {
        f"{language}-{n}": rows_of(language, n) for language, n in (("en", 4), ("de", 33), ("zh-cn", 150))
    }
    for count in (10, 90):
        tables[f"series-{count}"] = [
            [start + timedelta(hours=n), seeded(f"m{n}").randint(0, 5000) / 10, n * 2] for n in range(count)
        ]
    tables["numbers"] = [[seeded(f"n{n}{k}").randint(1, 99) for k in range(4)] for n in range(40)]
    for name, rows in tables.items():
        case = label(KIND, f"no-header-{name}.csv", text_of(None, rows).encode(), None, rows)
        yield replace(case, must_note=("header", "name"))


def _units() -> Iterator[Case]:
    """Yield tables with a row of units below the header, and files of data loggers with two such rows."""
    for count, units in ((5, ("", "degC", "%")), (48, ("s", "°C", "hPa")), (200, ("[s]", "[m/s]", "[kW]"))):
        numbers = seeded(f"units{count}")
        rows: Rows = [[n, round(numbers.uniform(-5, 40), 1), round(numbers.uniform(20, 90), 2)] for n in range(count)]
        names: tuple[Name, ...] = (("step",), ("first",), ("second",))
        text = text_of(("step", "first", "second"), [units, *rows], ";" if count == 48 else ",")
        yield replace(label(KIND, f"units-{count}.csv", text.encode(), names, rows), must_note=("unit",))
    start = datetime(2023, 7, 1)
    for count, step in ((6, 15), (110, 10), (400, 1)):
        rows = [
            [start + timedelta(minutes=n * step), n + 100, seeded(f"w{n}").randint(0, 2000) / 100, 12 + n % 7 / 10]
            for n in range(count)
        ]
        head = (
            f'"TOA5","Site{count}","CR300","8812","CR300.Std.08","CPU:wind.CR300","4021","Min{step}"\n'
            '"TIMESTAMP","RECORD","Wind_Avg","Batt_Min"\n"TS","RN","meters/second","Volts"\n"","","Avg","Min"\n'
        )
        lines = "".join(f'"{row[0]}",{row[1]},{row[2]},{row[3]}\n' for row in rows)
        names = (("TIMESTAMP",), ("RECORD",), ("Wind_Avg",), ("Batt_Min",))
        case = label(KIND, f"logger-{count}.csv", (head + lines).replace("\n", "\r\n").encode(), names, rows)
        yield replace(case, must_note=LINES)


def _two_rows() -> Iterator[Case]:
    rows: Rows
    for count, labels in ((4, ("2022", "2023")), (16, ("North", "South")), (60, ("Sommer", "Winter"))):
        rows = [[f"Item {n}", *(seeded(f"t{n}{k}").randint(5, 900) for k in range(4))] for n in range(count)]
        second = ["product", "units", "revenue", "units", "revenue"]
        text = text_of(["", labels[0], "", labels[1], ""], [second, *rows])
        names: list[Name] = [("product",), *((label, word) for label in labels for word in ("units", "revenue"))]
        case = label(KIND, f"two-header-rows-{count}.csv", text.encode(), names, rows)
        yield replace(case, must_note=("two", "2 ", "header", "joined"))


def _unusual_names() -> Iterator[Case]:
    rows: Rows = [[f"A{n}", n, f"x{n}", n * 2, "z"] for n in range(1, 26)]
    names: tuple[Name, ...] = ("key", ("value",), ("note",), ("value",), ("note",))
    text = text_of(["key", "value", "note", "value", "note"], rows)
    yield label(KIND, "repeated-names.csv", text.encode(), names, rows)
    for count in (6, 70):
        rows = [[n, f"part {n % 9}", n * 5] for n in range(count)]
        text = text_of(["", "part", "price"], rows)
        yield label(KIND, f"index-of-pandas-{count}.csv", text.encode(), (None, "part", "price"), rows)
    for count, first in ((5, "Land"), (45, "country")):
        rows = [[f"Region {n}", *(seeded(f"y{n}{k}").randint(100, 999) for k in range(4))] for n in range(count)]
        yield csv_case(KIND, f"years-as-names-{count}.csv", (first, "2019", "2020", "2021", "2022"), rows)
    rows = [[f"t{n}", "yes" if n % 2 else "no", "left"] for n in range(20)]
    case = csv_case(KIND, "only-text.csv", ("token", "answer", "side"), rows)
    yield replace(case, types={"token": "text", "side": "text"}, texts={"token": "t0"})
    rows = [[f"t{n}", n, "left"] for n in range(12)]
    data = ("name,size,side,\n" + text_of(None, [[*row, ""] for row in rows])).encode()
    # The empty fourth column may be left out.
    yield replace(label(KIND, "trailing-comma.csv", data, None, rows), width=None)
    text = text_of(("Name of the\nplace", "Size, in ha", 'The "side"'), rows)
    yield label(KIND, "long-names.csv", text.encode(), (("Name of the", "place"), "Size, in ha", 'The "side"'), rows)
    text = text_of(("  name ", " size", "side  "), rows)
    yield label(KIND, "spaces-in-names.csv", text.encode(), ("name", "size", "side"), rows)
