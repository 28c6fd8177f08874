"""Forms of headers, and lines that stand before the table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta

from tests.tables.corpus.case import Case, Name
from tests.tables.corpus.values import LANGUAGES, ints, rows_of, seeded, span, table_text

KIND = "header"


def make_headers() -> Iterator[Case]:
    """Yield tables without a header, with lines above it, with units, and with names that are unusual."""
    yield from _no_header()
    yield from _lines_above()
    yield from _units()
    yield from _loggers()
    yield from _two_rows()
    yield from _unusual_names()


def _case(name: str, text: str, rows: list[list[str]], names: Sequence[Name] | None, **more: Sequence[str]) -> Case:
    """Return a case of a place, a whole number and a remark."""
    return Case(
        kind=KIND,
        name=name,
        data=text.encode(),
        rows=len(rows),
        names=names,
        width=len(rows[0]),
        types={0: "text", 1: "number", 2: "text"},
        ranges={1: ints(rows, 1)},
        texts={0: rows[0][0]},
        must_note=more.get("must_note", ()),
    )


def _no_header() -> Iterator[Case]:
    for language, count in (("en", 4), ("de", 33), ("zh-cn", 150)):
        rows = rows_of(language, count, f"bare{count}")
        yield _case(f"no-header-{language}.csv", table_text(None, rows), rows, None, must_note=("header", "name"))
    start = datetime(2024, 2, 1)
    for count in (10, 90):
        values = [seeded(f"m{n}").randint(0, 5000) / 10 for n in range(count)]
        lines = [f"{start + timedelta(hours=n):%Y-%m-%dT%H:%M:%S},{v},{n * 2}" for n, v in enumerate(values)]
        yield Case(
            KIND, f"no-header-series-{count}.csv", "\n".join(lines).encode(), count, width=3,
            types={0: ("date", "time"), 1: "number", 2: "number"},
            ranges={1: span(values), 2: ("0", str(2 * count - 2))}, must_note=("header", "name"),
        )  # fmt: skip
    numbers = [[str(seeded(f"n{n}{k}").randint(1, 99)) for k in range(4)] for n in range(40)]
    yield Case(
        KIND, "no-header-numbers.csv", table_text(None, numbers).encode(), 40, width=4,
        types=dict.fromkeys(range(4), "number"), ranges={0: ints(numbers, 0)}, must_note=("header", "name"),
    )  # fmt: skip


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
    "byte-mark-comment": ("#Version: 1.0", "#Fields are separated by commas"),
}


def _lines_above() -> Iterator[Case]:
    for number, (name, lines) in enumerate(ABOVE.items()):
        for language, count in (("en", 7 + number), ("fr", 60 + 3 * number)):
            rows, header = rows_of(language, count, f"{name}{count}"), LANGUAGES[language].header
            delimiter = ";" if name in ("account", "title") and language == "fr" else ","
            text = "\n".join(lines) + "\n" + table_text(header, rows, delimiter)
            words = () if name == "blank" else ("line", "above", "before", "skip", "left out", "comment", "header")
            yield _case(f"above-{name}-{language}.csv", text, rows, header, must_note=words)


def _units() -> Iterator[Case]:
    """Yield tables with a row of units below the header."""
    for count, units in ((5, ("", "degC", "%")), (48, ("s", "°C", "hPa")), (200, ("[s]", "[m/s]", "[kW]"))):
        numbers = seeded(f"units{count}")
        rows = [[str(n), f"{numbers.uniform(-5, 40):.1f}", f"{numbers.uniform(20, 90):.2f}"] for n in range(count)]
        text = table_text(("step", "first", "second"), [list(units), *rows], ";" if count == 48 else ",")
        yield Case(
            KIND, f"units-{count}.csv", text.encode(), count, (("step",), ("first",), ("second",)),
            types=dict.fromkeys(range(3), "number"),
            ranges={0: ("0", str(count - 1)), 1: span(float(row[1]) for row in rows)}, must_note=("unit",),
        )  # fmt: skip


def _loggers() -> Iterator[Case]:
    """Yield files of data loggers: a line about the device, names, units, kinds of values."""
    start = datetime(2023, 7, 1)
    for count, step in ((6, 15), (110, 10), (400, 1)):
        numbers = seeded(f"logger{count}")
        wind = [round(numbers.uniform(0, 20), 2) for _ in range(count)]
        lines = [
            f'"TOA5","Site{count}","CR300","8812","CR300.Std.08","CPU:wind.CR300","4021","Min{step}"',
            '"TIMESTAMP","RECORD","Wind_Avg","Batt_Min"',
            '"TS","RN","meters/second","Volts"',
            '"","","Avg","Min"',
        ]
        for n, value in enumerate(wind):
            stamp = start + timedelta(minutes=n * step)
            lines.append(f'"{stamp:%Y-%m-%d %H:%M:%S}",{n + 100},{value},{12 + n % 7 / 10:.1f}')
        yield Case(
            KIND, f"logger-{count}.dat.csv", "\r\n".join(lines).encode(), count,
            (("TIMESTAMP",), ("RECORD",), ("Wind_Avg",), ("Batt_Min",)),
            types={0: ("date", "time"), 1: "number", 2: "number", 3: "number"},
            ranges={1: ("100", str(99 + count)), 2: span(wind)}, must_note=("unit", "line", "row", "above", "header"),
        )  # fmt: skip


def _two_rows() -> Iterator[Case]:
    for count, labels in ((4, ("2022", "2023")), (16, ("North", "South")), (60, ("Sommer", "Winter"))):
        rows = [[f"Item {n}", *(str(seeded(f"t{n}{k}").randint(5, 900)) for k in range(4))] for n in range(count)]
        top = ["", labels[0], "", labels[1], ""]
        text = table_text(top, [["product", "units", "revenue", "units", "revenue"], *rows])
        names = (("product",), *((label, word) for label in labels for word in ("units", "revenue")))
        yield Case(
            KIND, f"two-header-rows-{count}.csv", text.encode(), count, names,
            types={0: "text", 1: "number", 4: "number"}, ranges={1: ints(rows, 1), 4: ints(rows, 4)},
            must_note=("two", "2 ", "header", "joined"),
        )  # fmt: skip


def _unusual_names() -> Iterator[Case]:
    rows = [[f"A{n}", str(n), f"x{n}", str(n * 2), "z"] for n in range(1, 26)]
    text = table_text(["key", "value", "note", "value", "note"], rows)
    yield Case(
        KIND, "repeated-names.csv", text.encode(), 25, ("key", ("value",), ("note",), ("value",), ("note",)),
        types={1: "number", 3: "number"}, ranges={1: ("1", "25"), 3: ("2", "50")},
    )  # fmt: skip
    for count in (6, 70):
        rows = [[str(n), f"part {n % 9}", str(n * 5)] for n in range(count)]
        text = table_text(["", "part", "price"], rows)
        yield Case(
            KIND, f"index-of-pandas-{count}.csv", text.encode(), count, (None, "part", "price"),
            types={0: "number", 1: "text", 2: "number"}, ranges={2: ("0", str(5 * count - 5))},
        )  # fmt: skip
    years = ("2019", "2020", "2021", "2022")
    for count, first in ((5, "Land"), (45, "country")):
        rows = [[f"Region {n}", *(str(seeded(f"y{n}{k}").randint(100, 999)) for k in range(4))] for n in range(count)]
        yield Case(
            KIND, f"years-as-names-{count}.csv", table_text((first, *years), rows).encode(), count, (first, *years),
            types={first: "text", **dict.fromkeys(years, "number")}, ranges={"2020": ints(rows, 2)},
        )  # fmt: skip
    rows = [[f"t{n}", "yes" if n % 2 else "no", "left"] for n in range(20)]
    yield Case(
        KIND, "only-text.csv", table_text(("token", "answer", "side"), rows).encode(), 20, ("token", "answer", "side"),
        types={"token": "text", "side": "text"}, texts={"token": "t0"},
    )  # fmt: skip
    rows = [[f"t{n}", str(n), "left", ""] for n in range(12)]
    yield Case(
        KIND, "trailing-comma.csv", ("name,size,side,\n" + table_text(None, rows)).encode(), 12,
        types={0: "text", 1: "number"}, ranges={1: ("0", "11")}, texts={0: "t0"},
    )  # fmt: skip
    rows = [[f"t{n}", str(n), "left"] for n in range(12)]
    yield Case(
        KIND, "long-names.csv", table_text(("Name of the\nplace", "Size, in ha", 'The "side"'), rows).encode(), 12,
        (("Name of the", "place"), "Size, in ha", 'The "side"'), types={1: "number"}, ranges={1: ("0", "11")},
    )  # fmt: skip
