"""Words for missing values, and booleans."""

from __future__ import annotations

from collections.abc import Iterator

from tests.tables.corpus.case import Case
from tests.tables.corpus.values import seeded, span, table_text

KIND = "missing and boolean"
MISSING = ("-", "n/a", "k.A.", "NULL", "", "NA", "N/A", "--", "nan", "None", "#N/A", "k. A.", "\\N")


def make_words() -> Iterator[Case]:
    """Yield numbers and dates with a word for missing values among them, and columns of two words."""
    for number, word in enumerate(MISSING):
        yield _missing(word, 8 if number % 2 else 55, number)
        yield _missing(word, 140, number)
    yield from _not_missing()
    yield from _booleans()


def _missing(word: str, count: int, number: int) -> Case:
    numbers = seeded(f"{word}{count}")
    values: list[float | None] = [round(numbers.uniform(1, 500), 1) for _ in range(count)]
    gaps = range(2, count, 5)
    for position in gaps:
        values[position] = None
    rows = [[f"s{n}", word if value is None else str(value), str(n)] for n, value in enumerate(values)]
    return Case(
        kind=KIND,
        name=f"missing-{number}-{count}.csv",
        data=table_text(("sample", "level", "position"), rows).encode(),
        rows=count,
        names=("sample", "level", "position"),
        types={"sample": "text", "level": "number", "position": "number"},
        ranges={"level": span(value for value in values if value is not None)},
        missing={"level": len(gaps), "position": 0},
    )


def _not_missing() -> Iterator[Case]:
    rows = [[f"s{n}", "999" if n % 9 == 4 else str(n * 10), str(n)] for n in range(40)]
    yield Case(
        KIND, "nine-nine-nine.csv", table_text(("sample", "score", "n"), rows).encode(), 40, ("sample", "score", "n"),
        types={"score": "number"}, ranges={"score": ("0", "999")}, missing={"score": 0},
    )  # fmt: skip
    words = ("North", "none", "South", "None of these", "East")
    rows = [[f"s{n}", words[n % 5], str(n)] for n in range(25)]
    yield Case(
        KIND, "none-as-answer.csv", table_text(("id", "direction", "n"), rows).encode(), 25, ("id", "direction", "n"),
        types={"direction": "text", "n": "number"}, texts={"direction": "North"},
    )  # fmt: skip
    codes = ("DE", "NA", "FR", "IT", "ZA", "BW")
    rows = [[codes[n % 6], str(n * 2)] for n in range(36)]
    # NA is Namibia here: to read it as missing is defensible with a note, so its count is not labelled.
    yield Case(
        KIND, "namibia.csv", table_text(("country_code", "visitors"), rows).encode(), 36, ("country_code", "visitors"),
        types={"country_code": "text", "visitors": "number"}, texts={"country_code": "DE"},
    )  # fmt: skip
    rows = [[f"s{n}", "" if n % 4 else f"remark {n}", ""] for n in range(30)]
    yield Case(
        KIND, "empty-column.csv", table_text(("id", "remark", "checked"), rows).encode(), 30, ("id", "remark", "checked"),
        types={"remark": "text"}, missing={"remark": 22, "checked": 30},
    )  # fmt: skip


def _booleans() -> Iterator[Case]:
    for name, yes, no, type_ in (
        ("true-false", "true", "false", "boolean"),
        ("python", "True", "False", "boolean"),
        ("capitals", "TRUE", "FALSE", "boolean"),
        ("excel-german", "WAHR", "FALSCH", ("boolean", "text")),
        ("yes-no", "yes", "no", ("boolean", "text")),
        ("ja-nein", "ja", "nein", ("boolean", "text")),
        ("y-n", "Y", "N", ("boolean", "text")),
        ("zero-one", "1", "0", ("boolean", "number")),
        ("x", "x", "", ("boolean", "text")),
    ):
        for count in (9, 62):
            rows = [[f"t{n}", yes if seeded(f"{name}{n}").random() < 0.6 else no, str(n)] for n in range(count)]
            rows[0][1], rows[1][1] = yes, no
            yield Case(
                KIND, f"boolean-{name}-{count}.csv", table_text(("task", "done", "n"), rows).encode(), count,
                ("task", "done", "n"), types={"task": "text", "done": type_, "n": "number"},
            )  # fmt: skip
