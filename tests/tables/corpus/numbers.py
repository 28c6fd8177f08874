"""Numbers as people of several countries, banks and devices write them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from tests.tables.corpus.case import Case
from tests.tables.corpus.values import grouped, indian, seeded, span, table_text

KIND = "number"
Format = Callable[[float], str]


def make_numbers() -> Iterator[Case]:
    """Yield tables with amounts, ids, codes, coordinates and measurements."""
    yield from _written_amounts()
    yield from _whole_groups()
    yield from _percents()
    yield from _ids()
    yield from _codes()
    yield from _measurements()
    yield from _odd_numbers()


def _case(
    name: str,
    header: Sequence[str],
    rows: Sequence[Sequence[str]],
    column: str,
    values: tuple[str, str] | None,
    delimiter: str = ",",
    role: str | tuple[str, ...] = "",
    asks: frozenset[str] = frozenset(),
) -> Case:
    return Case(
        kind=KIND,
        name=f"{name}.csv",
        data=table_text(header, rows, delimiter).encode(),
        rows=len(rows),
        names=header,
        types={column: "number"},
        ranges={column: values} if values else {},
        roles={column: role} if role else {},
        asks=asks,
    )


def _bracket(value: float, text: str) -> str:
    return f"({text})" if value < 0 else text


# Name, format, header, delimiter, least and greatest value, role.
WRITTEN: tuple[tuple[str, Format, str, str, tuple[float, float], str], ...] = (
    ("de-comma", lambda v: f"{v:.2f}".replace(".", ","), "Betrag", ";", (-90, 900), ""),
    ("de-groups", lambda v: grouped(v, 2, ".", ","), "Betrag", ";", (100, 90_000), ""),
    ("fr-groups", lambda v: grouped(v, 2, "\u202f", ","), "Montant", ";", (100, 90_000), ""),
    ("fr-nbsp", lambda v: grouped(v, 2, "\u00a0", ","), "Montant", ";", (100, 90_000), ""),
    ("fr-space", lambda v: grouped(v, 2, " ", ","), "Montant", ";", (100, 90_000), ""),
    ("ch-groups", lambda v: grouped(v, 2, "'", "."), "Betrag", ";", (100, 90_000), ""),
    ("ch-curly", lambda v: grouped(v, 2, "’", "."), "Betrag", ",", (100, 90_000), ""),
    ("us-groups", lambda v: grouped(v, 2, ",", "."), "amount", ",", (-9000, 90_000), ""),
    ("euro-after", lambda v: grouped(v, 2, ".", ",") + " €", "Preis", ";", (10, 9000), "money"),
    ("euro-before", lambda v: f"€{v:.2f}", "price", ",", (10, 900), "money"),
    ("dollar", lambda v: f"${v:,.2f}", "price", ",", (10, 9000), "money"),
    ("minus-dollar", lambda v: f"-${-v:,.2f}" if v < 0 else f"${v:,.2f}", "balance", ",", (-5000, 9000), "money"),
    ("pound", lambda v: f"£{v:,.2f}", "cost", ",", (10, 9000), "money"),
    ("rupee", lambda v: f"₹{v:,.2f}", "cost", ",", (10, 900), "money"),
    ("kr", lambda v: f"{v:.0f} kr", "pris", ",", (10, 900), "money"),
    ("real", lambda v: "R$ " + grouped(v, 2, ".", ","), "preço", ";", (10, 9000), "money"),
    ("zloty", lambda v: f"{v:.2f} zł".replace(".", ","), "cena", ";", (10, 900), "money"),
    ("chf", lambda v: "CHF " + grouped(v, 2, "'", "."), "Preis", ",", (10, 9000), "money"),
    ("yen", lambda v: f"¥{v:,.0f}", "price", ",", (1000, 900_000), "money"),
    ("eur-word", lambda v: f"{v:.2f} EUR", "cost", ",", (10, 900), "money"),
    ("usd-before", lambda v: f"USD {v:,.2f}", "cost", ",", (10, 9000), "money"),
    ("brackets", lambda v: _bracket(v, f"{abs(v):,.2f}"), "result", ",", (-3000, 9000), ""),
    ("dollar-brackets", lambda v: _bracket(v, f"${abs(v):,.2f}"), "result", ",", (-3000, 9000), "money"),
    ("trailing-minus", lambda v: f"{abs(v):.2f}" + ("-" if v < 0 else ""), "Saldo", ",", (-300, 900), ""),
    ("real-minus", lambda v: f"{v:.1f}".replace("-", "\u2212"), "change", ",", (-30, 90), ""),
    ("plus", lambda v: f"{v:+.1f}", "change", ",", (-30, 90), ""),
)


def _written_amounts() -> Iterator[Case]:
    for number, (name, write, header, delimiter, (least, greatest), role) in enumerate(WRITTEN):
        for count in (8, 30 + 7 * number):
            numbers = seeded(f"{name}{count}")
            places = 0 if name in ("kr", "yen") else 1 if name in ("real-minus", "plus") else 2
            values = [round(numbers.uniform(least, greatest), places) for _ in range(count)]
            values[1] = round(greatest - 0.01 if places == 2 else greatest, places)
            if least < 0:
                values[2] = round(least, places)
            rows = [[f"R-{n}x", write(value)] for n, value in enumerate(values)]
            yield _case(f"{name}-{count}", ("item", header), rows, header, span(values), delimiter, role)


def _whole_groups() -> Iterator[Case]:
    """Yield whole numbers with groups. `1.234` and `1,234` alone do not decide what the mark is."""
    for name, mark, millions, delimiter in (
        ("points-decided", ".", True, ";"),
        ("points", ".", False, ";"),
        ("commas-decided", ",", True, ","),
        ("commas", ",", False, ";"),
        ("apostrophes", "'", False, ","),
        ("spaces", "\u00a0", False, ";"),
    ):
        for count in (9, 40):
            numbers = seeded(f"{name}{count}")
            top = 9_000_000 if millions else 99_999
            values = [numbers.randint(1000, top) for _ in range(count)]
            values[0] = top - 1
            rows = [[f"K{n}", grouped(value, 0, mark, "_")] for n, value in enumerate(values)]
            decided = millions or mark not in ".,"
            asks = frozenset[str]() if decided else frozenset({"decimal"})
            limits = span(values) if decided else None
            yield _case(f"whole-{name}-{count}", ("key", "count"), rows, "count", limits, delimiter, "", asks)
    for count in (7, 44):
        values = [seeded(f"in{n}").randint(100_000, 99_999_999) for n in range(count)]
        rows = [[f"Unit {n}", indian(value)] for n, value in enumerate(values)]
        yield _case(f"lakhs-{count}", ("unit", "turnover"), rows, "turnover", span(values))


def _percents() -> Iterator[Case]:
    for name, write in (("percent", "{:.1f}%"), ("percent-space", "{:.1f} %"), ("percent-de", "{:.1f} %")):
        for count in (6, 52):
            values = [seeded(f"{name}{n}").uniform(0, 100) for n in range(count)]
            mark = "," if name == "percent-de" else "."
            rows = [[f"Q{n}", write.format(value).replace(".", mark)] for n, value in enumerate(values)]
            yield _case(f"{name}-{count}", ("item", "share"), rows, "share", None, ";", "percent")


def _ids() -> Iterator[Case]:
    for digits, count in ((17, 12), (18, 150), (19, 40), (20, 300)):
        first = 10 ** (digits - 1) + 234_567_890_123_400
        rows = [[str(first + n), str(n % 7), f"text {n}"] for n in range(count)]
        yield Case(
            KIND, f"ids-{digits}.csv", table_text(("post_id", "likes", "text"), rows).encode(), count,
            ("post_id", "likes", "text"), types={"likes": "number"},
            ranges={"post_id": (str(first), str(first + count - 1)), "likes": ("0", "6")},
            roles={"post_id": ("identifier", "code")},
        )  # fmt: skip
    rows = [[f"DE{n:02}3704004405320130{n:02}", str(n)] for n in range(20)]
    yield Case(
        KIND, "iban.csv", table_text(("iban", "count"), rows).encode(), 20, ("iban", "count"),
        types={"iban": "text", "count": "number"}, texts={"iban": "DE003704004405320130"},
    )  # fmt: skip


def _codes() -> Iterator[Case]:
    """Yield codes whose leading zeros are a part of them."""
    for name, width, count in (("plz", 5, 30), ("zip", 5, 8), ("article", 8, 120), ("phone", 10, 25)):
        top = 10**width - 1
        values = [f"{seeded(f'{name}{n}').randint(0, top):0{width}}" for n in range(count)]
        values[0], values[3] = f"{1067:0{width}}", f"{99:0{width}}"
        rows = [[value, str(n)] for n, value in enumerate(values)]
        yield Case(
            KIND, f"code-{name}.csv", table_text((name, "number"), rows).encode(), count, (name, "number"),
            types={"number": "number"}, texts={name: values[0]}, roles={name: ("code", "identifier")},
        )  # fmt: skip


def _measurements() -> Iterator[Case]:
    for count in (5, 60):
        lat = [48.1371079 + n / 10_000_000 for n in range(count)]
        rows = [[f"S{n}", f"{value:.7f}", f"{11.5753822 - n / 10_000_000:.7f}"] for n, value in enumerate(lat)]
        yield Case(
            KIND, f"coordinates-{count}.csv", table_text(("station", "lat", "lon"), rows).encode(), count,
            ("station", "lat", "lon"), types={"lat": "number", "lon": "number"},
            ranges={"lat": (rows[0][1], rows[-1][1]), "lon": (rows[-1][2], rows[0][2])},
        )  # fmt: skip
    for count in (9, 80):
        values = [seeded(f"sci{n}").uniform(1, 9) * 10.0 ** (n % 12 - 6) for n in range(count)]
        cells = [f"{value:.4e}" for value in values]
        rows = [[f"run{n}", cell.upper() if count == 80 else cell] for n, cell in enumerate(cells)]
        limits = span(float(cell) for cell in cells)
        yield _case(f"scientific-{count}", ("run", "flux"), rows, "flux", limits)
    rows = [[f"run{n}", f"{n * 1.5:.1f} kg"] for n in range(1, 25)]
    yield Case(
        KIND, "with-unit.csv", table_text(("run", "mass"), rows).encode(), 24, ("run", "mass"), texts={"run": "run1"}
    )


def _odd_numbers() -> Iterator[Case]:
    rows = [[f"a{n}", "1e999" if n == 5 else f"{n}.5"] for n in range(20)]
    yield Case(
        KIND, "beyond-floats.csv", table_text(("key", "value"), rows).encode(), 20, ("key", "value"),
        types={"key": "text", "value": "number"},
    )  # fmt: skip
    for count in (10, 65):
        values = [round(12_345_678.9 + n * 1_000_000.11, 2) for n in range(count)]
        rows = [[f"P{n}", f"{value:.2f}"] for n, value in enumerate(values)]
        yield _case(f"millions-{count}", ("project", "budget"), rows, "budget", (rows[0][1], rows[-1][1]))
    rows = [[f"4{n}_10_1", f"{n}-{n + 1}", f"1.{n}.0"] for n in range(1, 28)]
    yield Case(
        KIND, "not-numbers.csv", table_text(("plot", "interval", "version"), rows).encode(), 27,
        ("plot", "interval", "version"), types=dict.fromkeys(("plot", "version"), "text"), texts={"plot": "41_10_1"},
    )  # fmt: skip
    rows = [[str(1950 + n), str(n * 1000)] for n in range(70)]
    yield Case(
        KIND, "years.csv", table_text(("year", "visitors"), rows).encode(), 70, ("year", "visitors"),
        types={"visitors": "number"}, ranges={"visitors": ("0", "69000")}, roles={"year": "year"},
    )  # fmt: skip
