"""Delimiters, quotes and files of one column."""

from __future__ import annotations

from collections.abc import Iterator

from tests.tables.corpus.case import Case
from tests.tables.corpus.values import LANGUAGES, grouped, ints, rows_of, seeded, span, table_text

NAMES = {",": "comma", ";": "semicolon", "\t": "tab", "|": "pipe"}


def _plain(kind: str, name: str, text: str, rows: list[list[str]], header: tuple[str, ...]) -> Case:
    return Case(
        kind=kind,
        name=name,
        data=text.encode(),
        rows=len(rows),
        names=header,
        types={header[0]: "text", header[1]: "number", header[2]: "text"},
        ranges={header[1]: ints(rows, 1)},
        texts={header[0]: rows[0][0]},
    )


def make_delimiters() -> Iterator[Case]:
    """Yield tables with every common delimiter, and with delimiters, quotes and line breaks inside of cells."""
    for number, (delimiter, word) in enumerate(NAMES.items()):
        for language, count in (("en", 3), ("de", 30), ("ko", 200)):
            name = f"{word}-{language}-{count}"
            rows, header = rows_of(language, count, name), LANGUAGES[language].header
            suffix = "tsv" if delimiter == "\t" and number % 2 == 0 and count == 30 else "csv"
            yield _plain("delimiter", f"{name}.{suffix}", table_text(header, rows, delimiter), rows, header)
    yield from _excel_hint()
    yield from _aligned()
    yield from _quoted()
    yield from _unquoted()
    yield from _awkward_quotes()


def _excel_hint() -> Iterator[Case]:
    """Yield files whose first line tells Excel the delimiter."""
    for delimiter, count in ((";", 12), ("|", 5), (",", 60), ("\t", 9)):
        rows, header = rows_of("de", count, f"sep{count}"), LANGUAGES["de"].header
        text = f"sep={delimiter}\r\n" + table_text(header, rows, delimiter, "\r\n")
        yield _plain("delimiter", f"sep-line-{NAMES[delimiter]}.csv", text, rows, header)


def _aligned() -> Iterator[Case]:
    """Yield columns that are aligned by spaces, as command lines and old programs print them."""
    for count, gap in ((4, 3), (25, 2), (150, 5)):
        numbers = seeded(f"aligned{count}")
        rows = [[f"node{n:03}", str(numbers.randint(1, 9999)), f"{numbers.uniform(0, 99):.2f}"] for n in range(count)]
        lines = [("host", "jobs", "load"), *rows]
        text = "".join(f"{a:<12}{b:>8}{' ' * gap}{c:>6}\n" for a, b, c in lines)
        yield Case(
            "delimiter", f"aligned-{count}.txt", text.encode(), count, ("host", "jobs", "load"),
            types={"host": "text", "jobs": "number", "load": "number"},
            ranges={"jobs": ints(rows, 1), "load": span(float(row[2]) for row in rows)},
            texts={"host": "node000"},
        )  # fmt: skip


def _quoted() -> Iterator[Case]:
    """Yield quoted cells that hold the delimiter, line breaks, doubled quotes and the other delimiters."""
    for delimiter, count in ((",", 8), (";", 45), ("\t", 20), ("|", 110)):
        rows, header = rows_of("en", count, f"quoted{count}"), LANGUAGES["en"].header
        for number, row in enumerate(rows):
            row[0] = f"{row[0]}{delimiter} north"
            row[2] = f'said "{row[2]}"\nand left{delimiter} at {number}; then, again|twice'
        text = table_text(header, rows, delimiter, "\r\n" if count == 45 else "\n")
        yield _plain("delimiter", f"quoted-{NAMES[delimiter]}.csv", text, rows, header)
    rows, header = rows_of("fr", 40, "all-quoted"), LANGUAGES["fr"].header
    text = "".join(";".join(f'"{cell}"' for cell in row) + "\n" for row in [list(header), *rows])
    yield _plain("delimiter", "all-quoted.csv", text, rows, header)
    spaced = "".join(f'{row[0]}, {row[1]}, "{row[2]}, yes"\n' for row in rows)
    yield _plain("delimiter", "space-after-comma.csv", ", ".join(header) + "\n" + spaced, rows, header)


def _unquoted() -> Iterator[Case]:
    """Yield tables whose free text holds another delimiter more often than the table's own."""
    for delimiter, other, count in ((";", ",", 30), ("\t", ",", 12), ("|", ";", 80), (",", ";", 25)):
        rows, header = rows_of("en", count, f"other{count}"), LANGUAGES["en"].header
        for row in rows:
            row[2] = f"{row[2]}{other} well{other} perhaps{other} later" if int(row[1]) % 3 else row[2]
        text = table_text(header, rows, delimiter)
        yield _plain("delimiter", f"{NAMES[other]}-in-text-{count}.csv", text, rows, header)
    rows = rows_of("en", 30, "broken")
    rows[17][2] = "returned, damaged"
    lines = [",".join(row) for row in [list(LANGUAGES["en"].header), *rows]]
    words = ("18", "19", "line", "row", "cell", "column")
    yield Case(
        "delimiter", "comma-without-quotes.csv", "\n".join(lines).encode(), 30,
        types={0: "text", 1: "number"}, ranges={1: ints(rows, 1)}, must_note=words,
    )  # fmt: skip


def _awkward_quotes() -> Iterator[Case]:
    """Yield escaped quotes, inches, single quotes and quotes inside of words."""
    sizes = [(f'{n / 2:g}" pipe', str(n * 3), f"rack {n % 4}") for n in range(5, 29)]
    lines = "".join(f"{a};{b};{c}\n" for a, b, c in sizes)
    yield Case(
        "delimiter", "inches.csv", f"size;pieces;place\n{lines}".encode(), 24, ("size", "pieces", "place"),
        types={"pieces": "number"}, ranges={"pieces": ("15", "84")}, texts={"size": '2.5" pipe'},
    )  # fmt: skip
    lines = "".join(f'{n},"O\\"Neil, {n} \\"the tall\\"",{n * 7}\n' for n in range(1, 21))
    yield Case(
        "delimiter", "backslash-quotes.csv", f"id,name,points\n{lines}".encode(), 20, ("id", "name", "points"),
        types={"points": "number"}, ranges={"points": ("7", "140")}, texts={"name": "Neil"},
    )  # fmt: skip
    lines = "".join(f"d'Arc {n},l'eau,{n * 2}\n" for n in range(1, 34))
    yield Case(
        "delimiter", "apostrophes.csv", f"nom,objet,total\n{lines}".encode(), 33, ("nom", "objet", "total"),
        types={"total": "number"}, ranges={"total": ("2", "66")}, texts={"nom": "d'Arc 1"},
    )  # fmt: skip


def make_columns() -> Iterator[Case]:
    """Yield files of one column, in which no delimiter may be found."""
    for language, name in (("de", "Preis"), ("fr", "Prix"), ("pl", "Cena")):
        count = len(language) * 9 + len(name)
        values = [seeded(f"{name}{n}").randint(100, 99_999) / 100 for n in range(count)]
        cells = [f"{value:.2f}".replace(".", ",") for value in values]
        yield _column(f"{language}-{name}.csv", name, cells, "number", span(values))
    grouped_values = [seeded(f"g{n}").randint(1_000_000, 9_999_999) / 100 for n in range(50)]
    yield _column(
        "Summen.csv", "Summe", [grouped(v, 2, ".", ",") for v in grouped_values], "number", span(grouped_values)
    )
    for count in (8, 40, 300):
        names = [f"{place} Works" for place in LANGUAGES["en"].places] * 40
        names[count // 2] = "Apple, Inc."
        yield _column(f"companies-{count}.csv", "company", names[:count], "text", None, "Leeds Works")
    mails = [f"anna.{n}@example.org" for n in range(1, 31)]
    yield _column("email.csv", "email", mails, "text", None, "anna.1@example.org")
    texts = [
        "likes apples, bananas",
        "x, y, z",
        "nothing to add",
        "late; but friendly",
        "ok",
        "again, please: soon",
    ] * 4
    yield _column("notes.txt", "notes", texts, "text", None, "likes apples, bananas")
    days = [f"2024-{1 + n // 28:02}-{1 + n % 28:02}" for n in range(60)]
    yield _column("days.csv", "day", days, "date", span(days))
    times = [f"2024-05-{1 + n:02} 10:{n:02}:00" for n in range(20)]
    yield _column("times.csv", "measured at", times, ("date", "time"), ("2024-05-01", "2024-05-20"))
    yield _column("count.csv", "count", [str(n * 3) for n in range(1, 11)], "number", ("3", "30"))
    streets = [f"Main Street {n}, 2nd floor" if n % 5 else f"Old Road {n}" for n in range(1, 41)]
    yield _column("streets.csv", "street", streets, "text", None, "Main Street 1, 2nd floor")


def _column(
    file: str, name: str, cells: list[str], type_: str | tuple[str, ...], values: tuple[str, str] | None, text: str = ""
) -> Case:
    return Case(
        kind="one column",
        name=file,
        data="\n".join([name, *cells, ""]).encode(),
        rows=len(cells),
        names=(name,),
        types={name: type_},
        ranges={name: values} if values else {},
        texts={name: text} if text else {},
    )
