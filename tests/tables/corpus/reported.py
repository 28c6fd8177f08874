"""Files as banks, statistical offices, databases, instruments and web services write them.

Users of other programs have reported that these are misread. Most have several difficulties at once.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import date, datetime, time, timedelta

from tests.tables.corpus.case import Case, Name, Rows, csv_case, label, text_of
from tests.tables.corpus.values import grouped, header_of, rows_of, seeded
from tests.tables.corpus.workbooks import Sheet, rewrite, write_xlsx

KIND = "as reported"
START = date(2024, 1, 15)
LINES = (
    "line",
    "row",
    "above",
    "before",
    "after",
    "below",
    "skip",
    "left out",
    "header",
    "comment",
    "note",
    "last",
    "end",
)


def make_reported() -> Iterator[Case]:
    """Yield the files of this module."""
    for count in (6, 70):
        yield from _banks(count)
        yield from _statistics(count)
        yield from _several_header_rows(count)
        yield from _programs(count)
        yield from _services(count)
        yield from _other_suffixes(count)
        yield from _containers(count)


def _amount(n: int) -> float:
    return seeded(f"amount{n}").randint(-300_000, 500_000) / 100


def _german(value: float) -> str:
    return grouped(value, 2, ".", ",")


def _quoted(rows: Sequence[Sequence[str]]) -> str:
    return "".join(";".join(f'"{cell}"' for cell in row) + ";\r\n" for row in rows)


def _banks(count: int) -> Iterator[Case]:
    rows: Rows = [[START + timedelta(n), f"Müller & Söhne {n}", _amount(n), "EUR"] for n in range(count)]
    cells = [[f"{row[0]:%d.%m.%Y}", str(row[1]), _german(_amount(n)), "EUR"] for n, row in enumerate(rows)]
    header = ("Buchungstag", "Empfänger", "Betrag", "Währung")
    above = '"Umsätze Girokonto";"Zeitraum: 90 Tage";\r\n"Kontostand vom 31.03.2024:";"12.345,67 EUR";\r\n\r\n'
    case = label(KIND, f"umsaetze-{count}.csv", (above + _quoted([header, *cells])).encode("cp1252"), header, rows)
    # The empty fifth column behind the last semicolon may be left out.
    yield replace(case, names=None, width=None, must_note=LINES)
    rows = [[START + timedelta(n), f"Småsparing {n}", START + timedelta(n), None, _amount(n)] for n in range(count)]
    lines = "".join(
        f"{d:%d.%m.%Y};{text};{d:%d.%m.%Y};;{_german(_amount(n))};;\n" for n, (d, text, *_) in enumerate(rows)
    )
    names = ("Date", "Description", "Interestdate", "In", "Out")
    case = label(KIND, f"nordic-{count}.csv", (";".join(names) + ";\n" + lines).encode("cp1252"), names, rows)
    yield replace(case, names=None, width=None)
    rows = [[START + timedelta(n), f"{n * 7:08}", _amount(n)] for n in range(count)]
    text = text_of(("Dátum", "Számla", "Összeg"), rows, ",", "\r\n", {0: lambda day: f"{day:%Y.%m.%d}"})
    case = label(KIND, f"utf-16-{count}.csv", text.encode("utf-16"), ("Dátum", "Számla", "Összeg"), rows)
    yield replace(case.without("Számla"), texts={"Számla": "00000"}, must_note=("utf", "encod", "unicode"))
    rows = [[f"P{n}", _amount(n)] for n in range(count)]
    accounting = {1: lambda v: f" $ ({-v:,.2f})" if v < 0 else f" $ {v:,.2f} "}
    yield replace(
        csv_case(KIND, f"accounting-{count}.csv", ("item", "balance"), rows, accounting), roles={"balance": "money"}
    )
    rows = [[f"{n + 17:05}", n] for n in range(count)]
    protected = {0: lambda cell: f'="{cell}"'}
    case = csv_case(KIND, f"protected-{count}.csv", ("code", "pieces"), rows, protected)
    yield replace(case, types={"pieces": "number"}, texts={"code": "00017"})


def _statistics(count: int) -> Iterator[Case]:
    years = ("2019", "2020", "2021")
    values = [[seeded(f"st{n}{k}").randint(100, 9999) / 10 for k in range(3)] for n in range(count)]
    text = "freq,unit,geo\\TIME_PERIOD\t2019 \t2020 \t2021 \n"
    text += "".join(f"A,PC,{chr(65 + n % 26)}{n}\t{a} \t: \t{c} p\n" for n, (a, _, c) in enumerate(values))
    yield Case(KIND, f"eurostat-{count}.tsv", text.encode(), count, types={"2019": "number"})
    rows: Rows = [[f"Land {n}", f"L{n:02}", *line] for n, line in enumerate(values)]
    above = '"Data Source","World Indicators",\n\n"Last Updated Date","2024-03-28",\n\n'
    lines = "".join(f'"{row[0]}","{row[1]}","{row[2]}","","{row[4]}",\n' for row in rows)
    header = ("Country Name", "Country Code", *years)
    names = ",".join(f'"{name}"' for name in header) + ",\n"
    rows = [[*row[:3], None, row[4]] for row in rows]
    case = label(KIND, f"indicators-{count}.csv", (above + names + lines).encode("utf-8-sig"), header, rows)
    yield replace(case, names=None, width=None, must_note=LINES)
    rows = [[f"Kreis {n}", *line] for n, line in enumerate(values)]
    text = "Tabelle: 12411-0015\nBevölkerung: Kreise, Stichtag;;;\n" + text_of(
        ("Kreise", *years), rows, ";", "\n", dict.fromkeys((1, 2, 3), lambda v: str(v).replace(".", ","))
    )
    text += "__________\n(C)opyright Statistisches Amt, 2024\nStand: 02.05.2024 / 10:15:00\n"
    yield replace(label(KIND, f"kreise-{count}.csv", text.encode("cp1252"), ("Kreise", *years), rows), must_note=LINES)
    rows = [[1950 + n, *line[:2], None if n == count - 1 else line[2]] for n, line in enumerate(values)]
    text = "Land-Ocean: Global Means\n" + text_of(("Year", "Jan", "Feb", "Mar"), rows).rstrip(",\n") + ",***\n"
    case = label(KIND, f"temperature-{count}.csv", text.encode(), ("Year", "Jan", "Feb", "Mar"), rows)
    yield replace(case.without("Year"), roles={"Year": "year"}, must_note=LINES)
    rows = [[f"Province {n}", n * 3, n * 4, n * 9] for n in range(count)]
    yield csv_case(KIND, f"dates-as-names-{count}.csv", ("Province/State", "1/22/20", "1/23/20", "1/24/20"), rows)


def _several_header_rows(count: int) -> Iterator[Case]:
    rows: Rows = [[START + timedelta(n), abs(_amount(n)), n * 1000] for n in range(count)]
    text = "Price,Close,Volume\nTicker,XYZ,XYZ\nDate,,\n" + text_of(None, rows)
    names: list[Name] = [None, ("Close",), ("Volume",)]
    yield replace(label(KIND, f"prices-{count}.csv", text.encode(), names, rows), must_note=LINES)
    rows = [[f"05000{n:05}", f"County {n}", n * 31 + 5] for n in range(count)]
    text = "GEO_ID,NAME,B01001_001E\nGeography,Geographic Area Name,Estimate!!Total:\n" + text_of(None, rows)
    case = label(KIND, f"census-{count}.csv", text.encode(), (("GEO_ID",), ("NAME",), ("B01001_001E",)), rows)
    yield replace(case, types={1: "text", 2: "number"}, must_note=LINES)
    rows = [[datetime(2024, 3, 4, 9, 30) + timedelta(minutes=n), f"R_{n}x", 1 + n % 5] for n in range(count)]
    text = 'StartDate,ResponseId,Q1\nStart Date,Response ID,"How satisfied are you, overall?"\n'
    text += ",".join('"{""ImportId"":""' + name + '""}"' for name in ("startDate", "_recordId", "QID1")) + "\n"
    text += text_of(None, rows)
    names = [("StartDate",), ("ResponseId",), ("Q1",)]
    yield replace(label(KIND, f"survey-{count}.csv", text.encode(), names, rows), must_note=LINES)


def _programs(count: int) -> Iterator[Case]:
    rows: Rows = [[n + 1, f"Shelf {n}", n * 2.5] for n in range(count)]
    header = ("id", "name", "amount")
    lines = "".join(f" {a:>2} | {b:<9} | {c:>6}\n" for a, b, c in rows)
    text = f" id |   name    | amount \n----+-----------+--------\n{lines}({count} rows)\n\n"
    yield label(KIND, f"query-{count}.txt", text.encode(), header, rows)
    rows = [[n / 1000, seeded(f"ch{n}").randint(-500, 500) / 100] for n in range(count)]
    text = f"Model,DS-4\nFirmware Version,1.26\nSample Interval,1e-03,s\nRecord Length,{count},Points\n\n"
    text += text_of(("TIME", "CH1"), rows, ",", "\r\n")
    case = label(KIND, f"scope-{count}.csv", text.encode(), ("TIME", "CH1"), rows)
    yield replace(case, must_note=LINES)
    clock = datetime(2024, 1, 1, 20, 53, 6)
    moments = [clock + timedelta(hours=n, seconds=n) for n in range(count)]
    rows = [["bytes(b'no data')", moment.time(), moment] for moment in moments]
    text = text_of(None, rows, ",", "\n", {2: lambda moment: moment.isoformat()})
    yield replace(label(KIND, f"colons-{count}.csv", text.encode(), None, rows), must_note=("header", "name"))
    rows = [[n, f"* first\n* second, *bold*\n\n| a | b |\n#{n} end", n * 3] for n in range(count)]
    yield csv_case(KIND, f"markdown-{count}.csv", ("id", "text", "votes"), rows).without("text")
    rows = [[None if n == 0 else f'Text, with "quotes" and a number: {n},2', n * 42] for n in range(count)]
    yield csv_case(KIND, f"empty-first-cell-{count}.csv", ("problem", "number"), rows)
    rows = [[f"a{n}", n, n * 2] for n in range(count)]
    text = text_of(("key", "first", "second", "unused"), rows)
    yield replace(label(KIND, f"one-name-more-{count}.csv", text.encode(), None, rows), width=None)
    rows = [[f"s{n}", n * 5, "#DIV/0!" if n % 4 == 1 else str(n / 4)] for n in range(count)]
    case = csv_case(KIND, f"errors-of-excel-{count}.csv", ("name", "pieces", "rate"), rows)
    yield case.without("rate").changed({"rate": "number"})
    rows = [[f"run {n}", time(n % 12, 5 * n % 60)] for n in range(count)]
    yield csv_case(KIND, f"am-pm-{count}.csv", ("run", "at"), rows, {1: lambda moment: f"{moment:%I:%M %p}"})


def _services(count: int) -> Iterator[Case]:
    hours = [(datetime(2024, 5, 1) + timedelta(hours=n)).isoformat(timespec="minutes") for n in range(count)]
    rows: Rows = [[datetime.fromisoformat(hour), n / 8] for n, hour in enumerate(hours)]
    units = {"time": "iso8601", "temperature": "°C"}
    forecast = {
        "latitude": 52.5,
        "hourly_units": units,
        "hourly": {"time": hours, "temperature": [n / 8 for n in range(count)]},
    }
    data = json.dumps(forecast).encode()
    yield label(KIND, f"forecast-{count}.json", data, (("time",), ("temperature",)), rows)
    days = {str(START + timedelta(n)): {"1. open": f"{n + 0.5}", "2. close": f"{n + 0.75}"} for n in range(count)}
    data = json.dumps({"Meta Data": {"Symbol": "XYZ", "Zone": "US/Eastern"}, "Time Series": days}).encode()
    yield Case(KIND, f"time-series-{count}.json", data, count)
    hits = [{"_id": f"x{n}", "_score": 1.0, "_source": {"town": "Bath", "size": n}} for n in range(count)]
    data = json.dumps({"took": 5, "hits": {"total": {"value": 900}, "hits": hits}}).encode()
    yield Case(KIND, f"hits-{count}.json", data, count)
    events = [{"event": "view", "at": 1_700_000_000 + n, "user": {"id": n}} for n in range(count)]
    data = "\n".join(json.dumps(event) + "," for event in events).encode()
    # Lines with a comma at the end are no JSON Lines, so a sentence is right, too.
    yield Case(KIND, f"commas-at-ends-{count}.jsonl", data, count, refusal=None)


def _other_suffixes(count: int) -> Iterator[Case]:
    """Yield tables whose name promises another format. To read them or to say in a sentence what they are is right."""
    header, rows = header_of("de", True), rows_of("de", count, True)
    cells = "".join("<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>\n" for row in [header, *rows])
    page = f"<html><head><meta charset=utf-8></head><body><table>\n{cells}</table></body></html>"
    text = text_of(header, rows, "\t")
    sheet = write_xlsx([Sheet("Sheet1", [header, *rows])])
    for name, data in (
        (f"page-{count}.xls", page.encode()),
        (f"tabs-{count}.xls", text.encode()),
        (f"tabs-{count}.xlsx", text.encode()),
        (f"workbook-{count}.csv", sheet),
        (f"lines-{count}.json", text_of(header, rows).encode()),
    ):
        yield replace(label(KIND, name, data, header, rows), refusal=None)
    records = [dict(zip(header, row, strict=True)) for row in rows]
    yield replace(label(KIND, f"records-{count}.csv", json.dumps(records).encode(), header, rows), refusal=None)
    yield replace(label(KIND, f"python-{count}.json", str(records).encode(), header, rows), refusal=None)


def _containers(count: int) -> Iterator[Case]:
    """Yield workbooks that other programs than Excel write."""
    header, days = ("city", "day", "size"), [START + timedelta(n) for n in range(count)]
    rows: Rows = [["東京", day, n] for n, day in enumerate(days)]
    data = write_xlsx([Sheet("Sheet1", [header, *rows])])
    changes = {
        "backslashes": [],
        "absolute-links": [('Target="worksheets', 'Target="/xl/worksheets')],
        "readings-of-names": [("東京</t>", '東京</t><rPh sb="0" eb="2"><t>トウキョウ</t></rPh>')],
        "dates-from-1904": [("<sheets>", '<workbookPr date1904="true"/><sheets>')],
        "empty-cells-below": [("</sheetData>", '<row r="900"><c r="A900" s="1"/></row></sheetData>')],
        "wrong-dimension": [("<sheetData>", '<dimension ref="A1"/><sheetData>')],
    }
    for name, replacements in changes.items():
        new = rewrite(data, replacements, "\\" if name == "backslashes" else "/")
        # Days count from 1904-01-01 there: the same numbers are 1,462 days later.
        later = timedelta(1462 if name == "dates-from-1904" else 0)
        case = label(
            KIND, f"{name}-{count}.xlsx", new, header, [["東京", day + later, n] for n, day in enumerate(days)]
        )
        yield replace(case, refusal=None) if name == "backslashes" else case
