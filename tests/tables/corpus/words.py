"""Words for missing values, and booleans."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from tests.tables.corpus.case import Case, Rows, Value, csv_case
from tests.tables.corpus.values import seeded

KIND = "missing and boolean"
MISSING = ("-", "n/a", "k.A.", "NULL", "", "NA", "N/A", "--", "nan", "None", "#N/A", "k. A.", "\\N")
# The word for yes, the word for no, and the types that are right.
BOOLEANS: dict[str, tuple[str, str, str | tuple[str, ...]]] = {
    "lower": ("true", "false", "boolean"),
    "python": ("True", "False", "boolean"),
    "capitals": ("TRUE", "FALSE", "boolean"),
    "excel-german": ("WAHR", "FALSCH", ("boolean", "text")),
    "yes-no": ("yes", "no", ("boolean", "text")),
    "ja-nein": ("ja", "nein", ("boolean", "text")),
    "y-n": ("Y", "N", ("boolean", "text")),
    "zero-one": ("1", "0", ("boolean", "number")),
    "x": ("x", "", ("boolean", "text")),
}


def make_words() -> Iterator[Case]:
    """Yield numbers and dates with a word for missing values among them, and columns of two words."""
    for number, word in enumerate(MISSING):
        for count in (8 if number % 2 else 55, 140):
            levels: Rows = [
                [f"s{n}", None if n % 5 == 2 else seeded(f"{word}{n}").randint(10, 5000) / 10, n] for n in range(count)
            ]
            write = {1: lambda value, word=word: word if value is None else str(value)}
            yield csv_case(KIND, f"missing-{number}-{count}.csv", ("sample", "level", "position"), levels, write)
    rows: list[list[Value]] = [[f"s{n}", 999 if n % 9 == 4 else n * 10, n] for n in range(40)]
    yield csv_case(KIND, "nine-nine-nine.csv", ("sample", "score", "n"), rows)
    rows = [[f"s{n}", ("North", "none", "South", "None of these", "East")[n % 5], n] for n in range(25)]
    yield replace(csv_case(KIND, "none-as-answer.csv", ("id", "direction", "n"), rows), missing={})
    rows = [[("DE", "NA", "FR", "IT", "ZA", "BW")[n % 6], n * 2] for n in range(36)]
    # NA is Namibia here: to read it as missing is defensible with a note, so its count is not labelled.
    yield replace(csv_case(KIND, "namibia.csv", ("country_code", "visitors"), rows), missing={})
    rows = [[f"s{n}", None if n % 4 else f"remark {n}", None] for n in range(30)]
    yield csv_case(KIND, "empty-column.csv", ("id", "remark", "checked"), rows)
    for name, (yes, no, type_) in BOOLEANS.items():
        for count in (9, 62):
            rows = [[f"t{n}", yes if seeded(f"{name}{n}").random() < 0.6 else no, n] for n in range(count)]
            rows[0][1], rows[1][1] = yes, no
            case = csv_case(KIND, f"boolean-{name}-{count}.csv", ("task", "done", "n"), rows)
            yield case.without("done").changed({"done": type_})
