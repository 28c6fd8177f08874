"""Dates and times in the forms of several countries and programs."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, datetime, timedelta

from tests.tables.corpus.case import Case
from tests.tables.corpus.values import seeded, span, table_text

KIND = "date"
GERMAN = "Januar Februar März April Mai Juni Juli August September Oktober November Dezember".split()
ENGLISH = "January February March April May June July August September October November December".split()
FRENCH = "janvier février mars avril mai juin juillet août septembre octobre novembre décembre".split()


def _write(form: str, day: date) -> str:
    names = {"%G": GERMAN, "%E": ENGLISH, "%F": FRENCH}
    for mark, months in names.items():
        form = form.replace(mark, months[day.month - 1])
    form = form.replace("%S", ENGLISH[day.month - 1][:3]).replace("%-d", str(day.day)).replace("%-m", str(day.month))
    return day.strftime(form)


# Name and form; all of them decide the order of day and month by their form or by days above 12.
DECIDED = (
    ("iso", "%Y-%m-%d"),
    ("slash-iso", "%Y/%m/%d"),
    ("german", "%d.%m.%Y"),
    ("german-short", "%-d.%-m.%Y"),
    ("two-digit-year", "%d.%m.%y"),
    ("british", "%d/%m/%Y"),
    ("american", "%m/%d/%Y"),
    ("american-short", "%-m/%-d/%Y"),
    ("dashes", "%d-%m-%Y"),
    ("digits", "%Y%m%d"),
    ("us-words", "%S %-d, %Y"),
    ("us-long", "%E %-d, %Y"),
    ("british-words", "%d %S %Y"),
    ("oracle", "%d-%S-%Y"),
    ("german-words", "%-d. %G %Y"),
    ("french-words", "%-d %F %Y"),
    ("chinese", "%Y年%-m月%-d日"),
    ("dotted-iso", "%Y.%m.%d"),
)


def make_dates() -> Iterator[Case]:
    """Yield tables with a column of dates or times."""
    for name, form in DECIDED:
        for count in (12, 75):
            yield _case(f"{name}-{count}", form, _days(name, count), "date")
    yield from _ambiguous()
    yield from _impossible()
    yield from _times()
    yield from _years_and_months()
    yield from _not_dates()


def _days(seed: str, count: int, last_day: int = 28) -> list[date]:
    numbers = seeded(seed + str(count))
    days = [
        date(numbers.randint(2019, 2024), numbers.randint(1, 12), numbers.randint(1, last_day)) for _ in range(count)
    ]
    return [date(2023, 3, 25), date(2021, 11, 30), *days[2:]] if last_day > 12 else days


def _case(name: str, form: str, days: list[date], header: str) -> Case:
    rows = [[_write(form, day), str(n * 3), f"p{n % 5}"] for n, day in enumerate(days)]
    return Case(
        kind=KIND,
        name=f"{name}.csv",
        data=table_text((header, "count", "place"), rows, ";" if len(days) == 12 else ",").encode(),
        rows=len(days),
        names=(header, "count", "place"),
        types={header: "date", "count": "number", "place": "text"},
        ranges={header: span(day.isoformat() for day in days), "count": ("0", str(3 * len(days) - 3))},
    )


def _ambiguous() -> Iterator[Case]:
    """Yield dates with slashes whose days are all at most 12, so that the order is open."""
    for name, form, count in (
        ("open-slash", "%d/%m/%Y", 6),
        ("open-slash", "%m/%d/%Y", 30),
        ("open-dash", "%d-%m-%Y", 15),
        ("open-short", "%-d/%-m/%y", 10),
    ):
        case = _case(f"{name}-{count}", form, _days(name, count, 12), "date")
        yield Case(
            KIND, case.name, case.data, count, case.names, types={"date": "date"},
            ranges={"count": ("0", str(3 * count - 3))}, asks=frozenset({"date_order"}),
        )  # fmt: skip


def _impossible() -> Iterator[Case]:
    """Yield dates of which one does not exist: it is not made into another day."""
    for form, wrong, count in (
        ("%d/%m/%Y", "31/02/2024", 20),
        ("%d.%m.%Y", "31.06.2023", 48),
        ("%Y-%m-%d", "2023-02-30", 9),
    ):
        days = _days(wrong, count)
        rows = [[_write(form, day), str(n)] for n, day in enumerate(days)]
        rows[5][0] = wrong
        yield Case(
            KIND, f"impossible-{count}.csv", table_text(("day", "count"), rows, ";").encode(), count, ("day", "count"),
            types={"count": "number"}, must_note=(wrong, "date", "day"),
        )  # fmt: skip


def _times() -> Iterator[Case]:
    start = datetime(2024, 3, 28, 22, 0)
    for name, form in (
        ("iso-t", "%Y-%m-%dT%H:%M:%S"),
        ("iso-space", "%Y-%m-%d %H:%M"),
        ("iso-z", "%Y-%m-%dT%H:%M:%SZ"),
        ("iso-zone", "%Y-%m-%dT%H:%M:%S+02:00"),
        ("iso-millis", "%Y-%m-%d %H:%M:%S.250"),
        ("german-time", "%d.%m.%Y %H:%M"),
        ("us-time", "%m/%d/%Y %I:%M:%S %p"),
    ):
        for count in (10, 64):
            stamps = [start + timedelta(minutes=37 * n) for n in range(count)]
            rows = [[stamp.strftime(form), f"{n / 2:.1f}"] for n, stamp in enumerate(stamps)]
            limits = span(stamp.strftime("%Y-%m-%d %H:%M") for stamp in stamps)
            yield Case(
                KIND, f"time-{name}-{count}.csv", table_text(("time", "value"), rows).encode(), count,
                ("time", "value"), types={"time": ("date", "time"), "value": "number"},
                ranges={} if "z" in name else {"time": limits},
            )  # fmt: skip
    for name, form, type_ in (("clock", "%H:%M", "time"), ("clock-seconds", "%H:%M:%S", "time")):
        rows = [[(start + timedelta(minutes=11 * n)).strftime(form), str(n)] for n in range(32)]
        yield Case(
            KIND,
            f"{name}.csv",
            table_text(("at", "n"), rows).encode(),
            32,
            ("at", "n"),
            types={"at": type_, "n": "number"},
        )


def _years_and_months() -> Iterator[Case]:
    for count in (8, 90):
        rows = [[str(1930 + n), str(n * 11)] for n in range(count)]
        yield Case(
            KIND, f"years-only-{count}.csv", table_text(("year", "births"), rows).encode(), count, ("year", "births"),
            types={"year": ("number", "date"), "births": "number"}, roles={"year": "year"},
            ranges={"births": ("0", str(11 * count - 11))},
        )  # fmt: skip
    rows = [[f"{2020 + n // 12}-{1 + n % 12:02}", str(n)] for n in range(36)]
    yield Case(
        KIND, "months-iso.csv", table_text(("month", "n"), rows).encode(), 36, ("month", "n"),
        types={"month": ("date", "text"), "n": "number"},
    )  # fmt: skip
    rows = [[f"{ENGLISH[n % 12][:3]} {2021 + n // 12}", str(n)] for n in range(24)]
    yield Case(
        KIND, "months-words.csv", table_text(("month", "n"), rows).encode(), 24, ("month", "n"),
        types={"month": ("date", "text"), "n": "number"},
    )  # fmt: skip
    rows = [[f"Q{1 + n % 4} {2021 + n // 4}", str(n)] for n in range(16)]
    yield Case(
        KIND, "quarters.csv", table_text(("quarter", "n"), rows).encode(), 16, ("quarter", "n"), types={"n": "number"}
    )


def _not_dates() -> Iterator[Case]:
    """Yield texts in which a reader may see dates that are none."""
    rows = [[f"DEPARTURE: MONDAY {n} MAY", f"{n}/4", str(n)] for n in range(1, 29)]
    yield Case(
        KIND, "text-with-days.csv", table_text(("trip", "fraction", "n"), rows).encode(), 28, ("trip", "fraction", "n"),
        types={"trip": "text", "n": "number"}, texts={"trip": "DEPARTURE: MONDAY 1 MAY"},
    )  # fmt: skip
    rows = [[f"MAR{n}", f"{n}-SEP", str(n)] for n in range(1, 20)]
    yield Case(
        KIND, "genes.csv", table_text(("gene", "mark", "n"), rows).encode(), 19, ("gene", "mark", "n"),
        types={"gene": "text", "n": "number"}, texts={"gene": "MAR1"},
    )  # fmt: skip
