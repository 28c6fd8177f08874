"""Delimiters, quotes and files of one column."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import date, datetime, timedelta
from decimal import Decimal

from tests.tables.corpus.case import Case, Rows, Value, csv_case, label, text_of
from tests.tables.corpus.values import LANGUAGES, grouped, header_of, rows_of, seeded

NAMES = {",": "comma", ";": "semicolon", "\t": "tab", "|": "pipe"}
KIND = "delimiter"


def make_delimiters() -> Iterator[Case]:
    """Yield tables with every common delimiter, and with delimiters, quotes and line breaks inside of cells."""
    for delimiter, word in NAMES.items():
        for language, count in (("en", 3), ("de", 30), ("ko", 200)):
            suffix = "tsv" if delimiter == "\t" and count == 30 else "csv"
            rows = rows_of(language, count, count > 3)
            yield csv_case(
                KIND, f"{word}-{language}-{count}.{suffix}", header_of(language, count > 3), rows, None, delimiter
            )
    # A first line that tells Excel the delimiter.
    for delimiter, count in ((";", 12), ("|", 5), (",", 60), ("\t", 9)):
        header, rows = header_of("de"), rows_of("de", count)
        text = f"sep={delimiter}\r\n" + text_of(header, rows, delimiter, "\r\n")
        yield label(KIND, f"sep-line-{NAMES[delimiter]}.csv", text.encode(), header, rows)
    yield from _aligned()
    yield from _quoted()
    yield from _unquoted()
    yield from _awkward_quotes()


def _aligned() -> Iterator[Case]:
    """Yield columns that are aligned by spaces, as command lines and old programs print them."""
    header = ("host", "jobs", "load")
    for count, gap in ((4, 3), (25, 2), (150, 5)):
        numbers = seeded(f"aligned{count}")
        rows: Rows = [[f"node{n:03}", numbers.randint(1, 9999), numbers.randint(0, 9900) / 100] for n in range(count)]
        text = "".join(f"{a:<12}{b:>8}{' ' * gap}{c:>6}\n" for a, b, c in [header, *rows])
        yield label(KIND, f"aligned-{count}.txt", text.encode(), header, rows)


def _quoted() -> Iterator[Case]:
    """Yield quoted cells that hold the delimiter, line breaks, doubled quotes and the other delimiters."""
    header = header_of("en")
    for delimiter, count in ((",", 8), (";", 45), ("\t", 20), ("|", 110)):
        rows: Rows = [
            [f"{place}{delimiter} north", size, f'said "{text}"\nand left{delimiter} at {n}; then, again|twice']
            for n, (place, size, text) in enumerate(rows_of("en", count))
        ]
        yield csv_case(KIND, f"quoted-{NAMES[delimiter]}.csv", header, rows, None, delimiter).without("Remark")
    header, rows = header_of("fr"), rows_of("fr", 40)
    text = "".join(";".join(f'"{cell}"' for cell in row) + "\n" for row in [header, *rows])
    yield label(KIND, "all-quoted.csv", text.encode(), header, rows)
    spaced = "".join(f'{row[0]}, {row[1]}, "{row[2]}, oui"\n' for row in rows)
    case = label(KIND, "space-after-comma.csv", (", ".join(header) + "\n" + spaced).encode(), header, rows)
    yield replace(case, texts={header[0]: case.texts[header[0]], header[2]: ", oui"})


def _unquoted() -> Iterator[Case]:
    """Yield tables whose free text holds another delimiter more often than the table's own."""
    header = header_of("en")
    for delimiter, other, count in ((";", ",", 30), ("\t", ",", 12), ("|", ";", 80), (",", ";", 25)):
        rows = rows_of("en", count)
        for n, row in enumerate(rows):
            row[2] = f"{row[2]}{other} well{other} perhaps{other} later" if n % 4 else row[2]
        yield csv_case(KIND, f"{NAMES[other]}-in-text-{count}.csv", header, rows, None, delimiter)
    rows = rows_of("en", 30)
    rows[17][2] = "returned, damaged"
    text = "\n".join(",".join(map(str, row)) for row in [header, *rows])
    case = label(KIND, "comma-without-quotes.csv", text.encode(), None, rows).without(2)
    words = ("18", "19", "line", "row", "cell", "column")
    # The fourth cell of one line may become a column of its own.
    yield Case(KIND, case.name, case.data, 30, types=case.types, ranges=case.ranges, texts=case.texts, must_note=words)


def _awkward_quotes() -> Iterator[Case]:
    """Yield inches, escaped quotes and quotes inside of words."""
    rows: Rows = [[f'{n / 2:g}" pipe', n * 3, f"rack {n % 4}"] for n in range(5, 29)]
    text = "size;pieces;place\n" + "".join(f"{a};{b};{c}\n" for a, b, c in rows)
    yield label(KIND, "inches.csv", text.encode(), ("size", "pieces", "place"), rows)
    rows = [[n, "Neil", n * 7] for n in range(1, 21)]
    text = "id,name,points\n" + "".join(f'{n},"O\\"{name}, {n} \\"the tall\\"",{p}\n' for n, name, p in rows)
    case = label(KIND, "backslash-quotes.csv", text.encode(), ("id", "name", "points"), rows)
    yield replace(case, texts={"name": "Neil"})
    rows = [[f"d'Arc {n}", "l'eau", n * 2] for n in range(1, 34)]
    yield csv_case(KIND, "apostrophes.csv", ("nom", "objet", "total"), rows)


def make_columns() -> Iterator[Case]:
    """Yield files of one column, in which no delimiter may be found."""
    for name, count in (("Preis", 23), ("Prix", 7), ("Cena", 160)):
        prices = [Decimal(seeded(f"{name}{n}").randint(100, 99_999)) / 100 for n in range(count)]
        yield _column(f"{name}.csv", name, prices, [f"{price:.2f}".replace(".", ",") for price in prices])
    sums = [seeded(f"g{n}").randint(1_000_000, 9_999_999) / 100 for n in range(50)]
    yield _column("Summen.csv", "Summe", sums, [grouped(value, 2, ".", ",") for value in sums])
    for count in (8, 40, 300):
        companies = [f"{place} Works" for place in LANGUAGES["en"].places * 40][:count]
        companies[count // 2] = "Apple, Inc."
        yield _column(f"companies-{count}.csv", "company", companies)
    yield _column("email.csv", "email", [f"anna.{n}@example.org" for n in range(1, 31)])
    notes = [
        "likes apples, bananas",
        "x, y, z",
        "nothing to add",
        "late; but friendly",
        "ok",
        "again, please: soon",
    ] * 4
    yield _column("notes.txt", "notes", notes)
    yield _column("days.csv", "day", [date(2024, 1, 1) + timedelta(n) for n in range(60)])
    yield _column("times.csv", "measured at", [datetime(2024, 5, 1, 10) + timedelta(hours=n) for n in range(20)])
    yield _column("count.csv", "count", [n * 3 for n in range(1, 11)])
    streets = [f"Main Street {n}, 2nd floor" if n % 5 else f"Old Road {n}" for n in range(1, 41)]
    yield _column("streets.csv", "street", streets)
    yield _column("titles.csv", "title", [f"Report {n}: costs, part {n % 3}" for n in range(1, 19)])


def _column(file: str, name: str, values: Sequence[Value], cells: Sequence[str] | None = None) -> Case:
    text = "\n".join([name, *(cells or map(str, values)), ""])
    return label("one column", file, text.encode(), (name,), [[value] for value in values])
