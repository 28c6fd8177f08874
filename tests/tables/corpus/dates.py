"""Dates and times in the forms of several countries and programs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import date, datetime, time, timedelta

from tests.tables.corpus.case import Case, Rows, csv_case
from tests.tables.corpus.values import seeded, words_of

KIND = "date"
MONTHS = {
    "%G": words_of("Januar|Februar|März|April|Mai|Juni|Juli|August|September|Oktober|November|Dezember"),
    "%E": words_of("January|February|March|April|May|June|July|August|September|October|November|December"),
    "%F": words_of("janvier|février|mars|avril|mai|juin|juillet|août|septembre|octobre|novembre|décembre"),
    "%S": words_of("Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec"),
}
# Name and format. In each, the format or a day above 12 shows the order of day and month.
DECIDED = {
    "iso": "%Y-%m-%d",
    "slash-iso": "%Y/%m/%d",
    "german": "%d.%m.%Y",
    "german-short": "%-d.%-m.%Y",
    "two-digit-year": "%d.%m.%y",
    "british": "%d/%m/%Y",
    "american": "%m/%d/%Y",
    "american-short": "%-m/%-d/%Y",
    "dashes": "%d-%m-%Y",
    "digits": "%Y%m%d",
    "us-words": "%S %-d, %Y",
    "us-long": "%E %-d, %Y",
    "british-words": "%d %S %Y",
    "oracle": "%d-%S-%Y",
    "german-words": "%-d. %G %Y",
    "french-words": "%-d %F %Y",
    "chinese": "%Y年%-m月%-d日",
    "dotted-iso": "%Y.%m.%d",
}
OPEN = (
    ("slash-british", "%d/%m/%Y", 6),
    ("slash-american", "%m/%d/%Y", 30),
    ("dash", "%d-%m-%Y", 15),
    ("short", "%-d/%-m/%y", 10),
)
TIMES = {
    "iso-t": "%Y-%m-%dT%H:%M:%S",
    "iso-space": "%Y-%m-%d %H:%M",
    "iso-utc": "%Y-%m-%dT%H:%M:%SZ",
    "iso-zone": "%Y-%m-%dT%H:%M:%S+02:00",
    "iso-millis": "%Y-%m-%d %H:%M:%S.250",
    "german": "%d.%m.%Y %H:%M",
    "american": "%m/%d/%Y %I:%M:%S %p",
}


def make_dates() -> Iterator[Case]:
    """Yield tables with a column of dates or times."""
    for name, form in DECIDED.items():
        for count in (12, 75):
            yield _case(f"{name}-{count}", form, _days(name, count))
    # The days are all at most 12, so that the order is open.
    for name, form, count in OPEN:
        case = _case(f"open-{name}-{count}", form, _days(name, count, 12)).without("date")
        yield replace(case.changed({"date": "date"}), asks=frozenset({"date_order"}))
    # One date does not exist: it must not become another day.
    for form, wrong, count in (
        ("%d/%m/%Y", "31/02/2024", 20),
        ("%d.%m.%Y", "31.06.2023", 48),
        ("%Y-%m-%d", "2023-02-30", 9),
    ):
        case = _case(f"impossible-{count}", form, _days(wrong, count)).without("date")
        lines = case.data.decode().splitlines()
        lines[6] = wrong + lines[6][len(wrong) :]
        yield replace(case, data="\n".join(lines).encode(), must_note=(wrong, "date", "day"))
    yield from _times()
    yield from _years_and_months()


def _write(form: str, day: date) -> str:
    for mark, months in MONTHS.items():
        form = form.replace(mark, months[day.month - 1])
    return day.strftime(form.replace("%-d", str(day.day)).replace("%-m", str(day.month)))


def _days(seed: str, count: int, last_day: int = 28) -> list[date]:
    numbers = seeded(seed + str(count))
    days = [
        date(numbers.randint(2019, 2024), numbers.randint(1, 12), numbers.randint(1, last_day)) for _ in range(count)
    ]
    return [date(2023, 3, 25), date(2021, 11, 30), *days[2:]] if last_day > 12 else days


def _case(name: str, form: str, days: list[date]) -> Case:
    rows: Rows = [[day, n * 3, f"p{n % 5}"] for n, day in enumerate(days)]
    delimiter = ";" if len(days) == 12 else ","
    return csv_case(KIND, f"{name}.csv", ("date", "count", "place"), rows, {0: lambda d: _write(form, d)}, delimiter)


def _time_format(form: str) -> Callable[[time], str]:
    return lambda moment: moment.strftime(form)


def _times() -> Iterator[Case]:
    start = datetime(2024, 3, 28, 22)
    for name, form in TIMES.items():
        for count in (10, 64):
            rows: Rows = [[start + timedelta(minutes=37 * n), n / 2] for n in range(count)]
            case = csv_case(KIND, f"time-{name}-{count}.csv", ("time", "value"), rows, {0: _time_format(form)})
            # A reader may show times with a zone in UTC.
            yield case.without("time").changed({"time": ("date", "time")}) if "zone" in name or "utc" in name else case
    for form in ("%H:%M", "%H:%M:%S"):
        rows = [[(start + timedelta(minutes=11 * n)).time(), n] for n in range(32)]
        yield csv_case(KIND, f"clock-{len(form)}.csv", ("at", "n"), rows, {0: _time_format(form)})


def _years_and_months() -> Iterator[Case]:
    for count in (8, 90):
        case = csv_case(KIND, f"years-only-{count}.csv", ("year", "births"), [[1930 + n, n * 11] for n in range(count)])
        yield replace(case.without("year").changed({"year": ("number", "date")}), roles={"year": "year"})
    for name, cells in (
        ("month-iso", [f"{2020 + n // 12}-{1 + n % 12:02}" for n in range(36)]),
        ("month-words", [f"{MONTHS['%S'][n % 12]} {2021 + n // 12}" for n in range(24)]),
        ("quarter", [f"Q{1 + n % 4} {2021 + n // 4}" for n in range(16)]),
    ):
        case = csv_case(KIND, f"{name}.csv", ("period", "n"), [[cell, n] for n, cell in enumerate(cells)])
        yield case.without("period").changed({"period": ("date", "text")})
    # Texts that look like dates but are not dates.
    rows: Rows = [[f"DEPARTURE: MONDAY {n} MAY", f"{n}/4", n] for n in range(1, 29)]
    yield csv_case(KIND, "text-with-days.csv", ("trip", "fraction", "n"), rows).without("fraction")
    rows = [[f"MAR{n}", f"{n}-SEP", n] for n in range(1, 20)]
    yield csv_case(KIND, "genes.csv", ("gene", "mark", "n"), rows).without("mark")
    rows = [[f"476-09-0{n % 9 + 1} fall of the empire", "1944-06-06 Tag X", n] for n in range(12)]
    yield csv_case(KIND, "text-after-dates.csv", ("event", "other", "n"), rows)
