"""Numbers as people of several countries, banks and devices write them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from decimal import Decimal
from functools import partial

from tests.tables.corpus.case import Case, Rows, Value, csv_case
from tests.tables.corpus.values import grouped, indian, seeded

KIND = "number"
CODE = ("code", "identifier")


def _bracket(value: float, text: str) -> str:
    return f"({text})" if value < 0 else text


# Name, format, header, delimiter, least and greatest value. Names with a `*` have a currency.
WRITTEN: tuple[tuple[str, Callable[[float], str], str, str, float, float], ...] = (
    ("de-comma", lambda v: f"{v:.2f}".replace(".", ","), "Betrag", ";", -90, 900),
    ("de-groups", lambda v: grouped(v, 2, ".", ","), "Betrag", ";", 100, 90_000),
    ("fr-groups", lambda v: grouped(v, 2, "\u202f", ","), "Montant", ";", 100, 90_000),
    ("fr-nbsp", lambda v: grouped(v, 2, "\u00a0", ","), "Montant", ";", 100, 90_000),
    ("fr-space", lambda v: grouped(v, 2, " ", ","), "Montant", ";", 100, 90_000),
    ("ch-groups", lambda v: grouped(v, 2, "'", "."), "Betrag", ";", 100, 90_000),
    ("ch-curly", lambda v: grouped(v, 2, "’", "."), "Betrag", ",", 100, 90_000),
    ("us-groups", lambda v: grouped(v, 2, ",", "."), "amount", ",", -9000, 90_000),
    ("euro-after*", lambda v: grouped(v, 2, ".", ",") + " €", "Preis", ";", 10, 9000),
    ("euro-before*", lambda v: f"€{v:.2f}", "price", ",", 10, 900),
    ("dollar*", lambda v: f"${v:,.2f}", "price", ",", 10, 9000),
    ("minus-dollar*", lambda v: f"-${-v:,.2f}" if v < 0 else f"${v:,.2f}", "balance", ",", -5000, 9000),
    ("pound*", lambda v: f"£{v:,.2f}", "cost", ",", 10, 9000),
    ("rupee*", lambda v: f"₹{v:,.2f}", "cost", ",", 10, 900),
    ("kr*", lambda v: f"{v:.0f} kr", "pris", ",", 10, 900),
    ("real*", lambda v: "R$ " + grouped(v, 2, ".", ","), "preço", ";", 10, 9000),
    ("zloty*", lambda v: f"{v:.2f} zł".replace(".", ","), "cena", ";", 10, 900),
    ("chf*", lambda v: "CHF " + grouped(v, 2, "'", "."), "Preis", ",", 10, 9000),
    ("yen*", lambda v: f"¥{v:,.0f}", "price", ",", 1000, 900_000),
    ("eur-word*", lambda v: f"{v:.2f} EUR", "cost", ",", 10, 900),
    ("usd-before*", lambda v: f"USD {v:,.2f}", "cost", ",", 10, 9000),
    ("brackets", lambda v: _bracket(v, f"{abs(v):,.2f}"), "result", ",", -3000, 9000),
    ("dollar-brackets*", lambda v: _bracket(v, f"${abs(v):,.2f}"), "result", ",", -3000, 9000),
    ("trailing-minus", lambda v: f"{abs(v):.2f}" + ("-" if v < 0 else ""), "Saldo", ",", -300, 900),
    ("real-minus", lambda v: f"{v:.1f}".replace("-", "\u2212"), "change", ",", -30, 90),
    ("plus", lambda v: f"{v:+.1f}", "change", ",", -30, 90),
)
# Name, group separator, greatest value, delimiter, whether the file shows what the separator means.
WHOLE = (
    ("points-millions", ".", 9_000_000, ";", True),
    ("points", ".", 99_999, ";", False),
    ("commas-millions", ",", 9_000_000, ",", True),
    ("commas", ",", 99_999, ";", False),
    ("apostrophes", "'", 99_999, ",", True),
    ("spaces", "\u00a0", 99_999, ";", True),
)


def make_numbers() -> Iterator[Case]:
    """Yield tables with amounts, ids, codes, coordinates and measurements."""
    for number, (name, write, header, delimiter, least, greatest) in enumerate(WRITTEN):
        for count in (8, 30 + 7 * number):
            places = 0 if name in ("kr*", "yen*") else 1 if name in ("real-minus", "plus") else 2
            values = [round(seeded(f"{name}{n}").uniform(least, greatest), places) for n in range(count)]
            values[1] = round(greatest - (0.01 if places == 2 else 0), places)
            values[2] = round(least + 0.04, places) if places == 2 else least
            rows: Rows = [[f"R-{n}x", value] for n, value in enumerate(values)]
            plain = name.removesuffix("*")
            case = csv_case(KIND, f"{plain}-{count}.csv", ("item", header), rows, {1: write}, delimiter)
            yield case if plain == name else replace(case, roles={header: "money"})
    yield from _whole_groups()
    yield from _ids_and_codes()
    yield from _measurements()
    yield from _odd_numbers()


def _write_percent(form: str, mark: str, value: float) -> str:
    return form.format(value).replace(".", mark)


def _whole_groups() -> Iterator[Case]:
    """Yield whole numbers with groups. `1.234` and `1,234` alone do not decide what the mark is."""
    for name, mark, top, delimiter, decided in WHOLE:
        for count in (9, 40):
            rows: Rows = [[f"K{n}", seeded(f"{name}{n}").randint(1000, top) if n else top - 1] for n in range(count)]
            write = {1: lambda value, mark=mark: grouped(value, 0, mark, "_")}
            case = csv_case(KIND, f"whole-{name}-{count}.csv", ("key", "count"), rows, write, delimiter)
            open_case = replace(case.without("count").changed({"count": "number"}), asks=frozenset({"decimal"}))
            yield case if decided else open_case
    for count in (7, 44):
        rows = [[f"Unit {n}", seeded(f"in{n}").randint(100_000, 99_999_999)] for n in range(count)]
        yield csv_case(KIND, f"lakhs-{count}.csv", ("unit", "turnover"), rows, {1: indian})
    for name, form, mark in (("dense", "{:.1f}%", "."), ("space", "{:.1f} %", "."), ("de", "{:.1f} %", ",")):
        for count in (6, 52):
            rows = [[f"Q{n}", seeded(f"{name}{n}").uniform(0, 100)] for n in range(count)]
            percent = {1: partial(_write_percent, form, mark)}
            case = csv_case(KIND, f"percent-{name}-{count}.csv", ("item", "share"), rows, percent, ";")
            # Whether 12 % is 12 or 0.12 is a matter of taste.
            yield replace(case, ranges={}, roles={"share": "percent"})


def _ids_and_codes() -> Iterator[Case]:
    """Yield ids of 17 to 20 digits, and codes whose leading zeros are a part of them."""
    for digits, count in ((17, 12), (18, 150), (19, 40), (20, 300)):
        first = 10 ** (digits - 1) + 234_567_890_123_400
        rows: Rows = [[first + n, n % 7, f"text {n}"] for n in range(count)]
        case = csv_case(KIND, f"ids-{digits}.csv", ("post_id", "likes", "text"), rows)
        types = {name: type_ for name, type_ in case.types.items() if name != "post_id"}
        yield replace(case, types=types, roles={"post_id": CODE})
    rows = [[f"DE{n:02}3704004405320130{n:02}", n] for n in range(20)]
    yield csv_case(KIND, "iban.csv", ("iban", "count"), rows)
    for name, width, count in (("plz", 5, 30), ("zip", 5, 8), ("article", 8, 120), ("phone", 10, 25)):
        values = [seeded(f"{name}{n}").randint(0, 10**width - 1) for n in range(count)]
        values[0], values[3] = 1067, 99
        rows = [[f"{value:0{width}}", n] for n, value in enumerate(values)]
        case = csv_case(KIND, f"code-{name}.csv", (name, "number"), rows)
        yield replace(case, types={"number": "number"}, roles={name: CODE})


def _measurements() -> Iterator[Case]:
    step = Decimal("0.0000001")
    for count in (5, 60):
        rows: Rows = [
            [f"S{n}", Decimal("48.1371079") + n * step, Decimal("11.5753822") - n * step] for n in range(count)
        ]
        yield csv_case(KIND, f"coordinates-{count}.csv", ("station", "lat", "lon"), rows)
    for count, form in ((9, ".4e"), (80, ".4E")):
        values = [float(f"{seeded(f'sci{n}').uniform(1, 9) * 10.0 ** (n % 12 - 6):.4e}") for n in range(count)]
        rows = [[f"run{n}", value] for n, value in enumerate(values)]
        write = {1: lambda value, form=form: format(value, form)}
        yield csv_case(KIND, f"scientific-{count}.csv", ("run", "flux"), rows, write)
    rows = [[f"run{n}", f"{n * 1.5:.1f} kg"] for n in range(1, 25)]
    yield csv_case(KIND, "with-unit.csv", ("run", "mass"), rows).without("mass")
    for count in (10, 65):
        rows = [[f"P{n}", Decimal("12345678.90") + n * Decimal("1000000.11")] for n in range(count)]
        yield csv_case(KIND, f"millions-{count}.csv", ("project", "budget"), rows)


def _odd_numbers() -> Iterator[Case]:
    rows: list[list[Value]] = [[f"a{n}", "1e999" if n == 5 else f"{n}.5"] for n in range(20)]
    yield csv_case(KIND, "beyond-floats.csv", ("key", "value"), rows).without("value").changed({"value": "number"})
    rows = [[f"4{n}_10_1", f"{n}-{n + 1}", f"1.{n}.0"] for n in range(1, 28)]
    yield csv_case(KIND, "not-numbers.csv", ("plot", "interval", "version"), rows).without("interval")
    rows = [[1950 + n, n * 1000] for n in range(70)]
    case = csv_case(KIND, "years.csv", ("year", "visitors"), rows)
    yield replace(case.without("year"), roles={"year": "year"})
    rows = [[n, "12" if n % 3 else "twelve"] for n in range(30)]
    yield csv_case(KIND, "numbers-and-words.csv", ("id", "answer"), rows).without("answer")
