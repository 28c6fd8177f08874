"""JSON that holds a table in one of many forms."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from tests.tables.corpus.case import Case
from tests.tables.corpus.values import LANGUAGES, ints, rows_of

KIND = "json"
SIZES = (("en", 5), ("de", 36), ("zh-cn", 130))


def make_json() -> Iterator[Case]:
    """Yield JSON files: rows, columns, lines, pages of an API, single records and damaged files."""
    for language, count in SIZES:
        yield from _whole(language, count)
        yield from _lines(language, count)
    yield from _nested()
    yield from _values()
    yield from _damaged_lines()


def _records(language: str, count: int) -> list[dict[str, object]]:
    header = LANGUAGES[language].header
    rows = rows_of(language, count, f"json{count}")
    return [{header[0]: place, header[1]: int(amount), header[2]: remark} for place, amount, remark in rows]


def _case(name: str, data: str | bytes, language: str, count: int, rows: int | tuple[int, ...] | None = None) -> Case:
    header, table = LANGUAGES[language].header, rows_of(language, count, f"json{count}")
    return Case(
        kind=KIND,
        name=name,
        data=data.encode() if isinstance(data, str) else data,
        rows=count if rows is None else rows,
        names=header,
        types={header[0]: "text", header[1]: "number"},
        ranges={header[1]: ints(table, 1)},
        texts={header[0]: table[0][0]},
    )


def _dump(value: object, indent: int | None = None, ascii_only: bool = False) -> str:
    return json.dumps(value, indent=indent, ensure_ascii=ascii_only)


def _whole(language: str, count: int) -> Iterator[Case]:
    records, header = _records(language, count), LANGUAGES[language].header
    columns = {name: {str(n): row[name] for n, row in enumerate(records)} for name in header}
    lists = {name: [row[name] for row in records] for name in header}
    data = [list(row.values()) for row in records]
    fields = [{"name": "index", "type": "integer"}, *({"name": name, "type": "any"} for name in header)]
    schema = {"schema": {"fields": fields, "primaryKey": ["index"]}}
    forms: Mapping[str, str | bytes] = {
        "records": _dump(records),
        "records-indented": _dump(records, 2, True),
        "columns": _dump(columns, None, True),
        "lists-by-column": _dump(lists),
        "split": _dump({"columns": header, "index": list(range(count)), "data": data}),
        "columns-and-data": _dump({"columns": header, "data": data}, 1),
        "index": _dump({f"r{n}": row for n, row in enumerate(records)}),
        "mark": b"\xef\xbb\xbf" + _dump(records).encode(),
        "utf-16": _dump(records).encode("utf-16"),
    }
    for name, text in forms.items():
        case = _case(f"{name}-{count}.json", text, language, count)
        # The labels of rows are a column too, where a reader keeps them.
        yield _without_names(case) if name in ("index", "split") else case
    table = _dump({**schema, "data": [{"index": n, **row} for n, row in enumerate(records)]})
    yield _without_names(_case(f"table-schema-{count}.json", table, language, count))


def _without_names(case: Case) -> Case:
    return replace(case, names=None)


def _lines(language: str, count: int) -> Iterator[Case]:
    records = _records(language, count)
    lines = [_dump(record) for record in records]
    yield _case(f"lines-{count}.jsonl", "\n".join(lines) + "\n", language, count)
    yield _case(f"lines-{count}.ndjson", "\r\n".join(lines), language, count)
    yield _case(f"lines-{count}.json", "\n\n".join(lines), language, count)
    yield _case(f"objects-{count}.json", "\n".join(_dump(record, 2) for record in records), language, count)
    yield _case(f"objects-without-breaks-{count}.json", "".join(lines), language, count)


def _nested() -> Iterator[Case]:
    for count, path in ((12, ("data", "items")), (40, ("result", "page", "rows")), (7, ("response", "docs"))):
        records = _records("en", count)
        page: object = records
        for number, key in enumerate(reversed(path)):
            page = {"total": 4000, key: page, "next": None} if number == 0 else {key: page, "status": "ok"}
        yield _case(f"page-{path[-1]}.json", _dump(page, 1), "en", count)
    for count in (9, 61):
        lists = {"warnings": [{"code": 7, "text": "slow"}, {"code": 9, "text": "old"}], "orders": _records("en", count)}
        yield replace(_case(f"two-lists-{count}.json", _dump(lists), "en", count), must_note=("warnings",))
    for count in (10, 52):
        features: list[object] = [
            {
                "type": "Feature",
                "geometry": {"type": "Point", "coordinates": [11.5 + n / 1000, 48.1 + n / 1000]},
                "properties": {"name": f"Stop {n}", "lines": n % 6},
            }
            for n in range(count)
        ]
        yield Case(
            KIND, f"stops-{count}.geojson", _dump({"type": "FeatureCollection", "features": features}).encode(), count
        )
    records = [{"id": n, "name": f"n{n}", "tags": ["a", "b"], "address": {"town": "Bath", "no": n}} for n in range(25)]
    yield Case(KIND, "nested-records.json", _dump(records).encode(), 25, types={"id": "number", "name": "text"},
               ranges={"id": ("0", "24")}, texts={"name": "n0"})  # fmt: skip
    uneven = [{"id": n, "a": n * 2} if n % 2 else {"id": n, "b": f"x{n}"} for n in range(20)]
    yield Case(
        KIND, "uneven-records.json", _dump(uneven).encode(), 20, ("id", "b", "a"), types={"id": "number", "b": "text"},
        missing={"a": 10, "b": 10},
    )  # fmt: skip


def _values() -> Iterator[Case]:
    values = [[f"k{n}", n * 3, n % 2 == 0] for n in range(30)]
    yield Case(
        KIND, "values.json", _dump(values).encode(), 30, width=3, types={0: "text", 1: "number", 2: "boolean"},
        ranges={1: ("0", "87")}, texts={0: "k0"},
    )  # fmt: skip
    yield Case(
        KIND, "lines-of-lists.jsonl", "\n".join(map(_dump, values)).encode(), 30, width=3,
        types={0: "text", 1: "number"}, ranges={1: ("0", "87")},
    )  # fmt: skip
    yield Case(
        KIND, "numbers.json", _dump([n * 1.5 for n in range(40)]).encode(), 40, width=1, types={0: "number"},
        ranges={0: ("0", "58.5")},
    )  # fmt: skip
    yield Case(KIND, "words.json", _dump([f"word {n}" for n in range(15)]).encode(), 15, width=1, types={0: "text"})
    for count in (6, 33):
        rows: Sequence[object] = [None if n % 5 == 2 else {"id": n, "town": "York"} for n in range(count)]
        gaps = sum(row is None for row in rows)
        yield Case(
            KIND, f"rows-with-null-{count}.json", _dump(rows).encode(), (count, count - gaps), ("id", "town"),
            types={"id": "number", "town": "text"}, must_note=("null", "empty", "missing", "no record"),
        )  # fmt: skip
    yield Case(
        KIND, "one-record.json", _dump({"name": "Anna", "age": 41, "town": "Ely"}).encode(), 1,
        ("name", "age", "town"), types={"age": "number"}, texts={"name": "Anna"},
    )  # fmt: skip
    yield Case(KIND, "one-line.jsonl", b'{"name": "Anna", "age": 41}\n', 1, ("name", "age"), types={"age": "number"})
    first = 1_734_567_890_123_456_700
    big = [{"id": first + n, "score": n, "amount": 1_234_567.25 + n} for n in range(50)]
    yield Case(
        KIND, "large-ids.json", _dump(big).encode(), 50, ("id", "score", "amount"), types={"amount": "number"},
        ranges={"id": (str(first), str(first + 49)), "amount": ("1234567.25", "1234616.25")},
        roles={"id": ("identifier", "code")},
    )  # fmt: skip
    days = [{"day": f"2024-02-{n:02}", "open": n % 3 == 0, "level": None if n == 4 else n / 4} for n in range(1, 29)]
    yield Case(
        KIND, "days.json", _dump(days).encode(), 28, ("day", "open", "level"),
        types={"day": "date", "open": "boolean", "level": "number"}, missing={"level": 1},
        ranges={"day": ("2024-02-01", "2024-02-28"), "level": ("0.25", "7")},
    )  # fmt: skip


def _damaged_lines() -> Iterator[Case]:
    for mark, name in (("\u2028", "line-separator"), ("\u2029", "paragraph"), ("\u0085", "next-line")):
        posts = [{"id": n, "text": f"first{mark}second {n}", "score": n * 4} for n in range(14)]
        yield Case(
            KIND, f"lines-{name}.jsonl", "\n".join(map(_dump, posts)).encode(), 14, ("id", "text", "score"),
            types={"text": "text", "score": "number"}, ranges={"score": ("0", "52")}, texts={"text": "second 0"},
        )  # fmt: skip
    for line, count in ((5, 10), (33, 60), (2, 4)):
        lines = [_dump({"id": n, "town": "Bath", "level": n * 2}) for n in range(1, count + 1)]
        lines[line - 1] = lines[line - 1][:-9]
        yield Case(
            KIND, f"cut-line-{line}.jsonl", "\n".join(lines).encode(), count - 1, ("id", "town", "level"),
            types={"level": "number"}, must_note=(f"line {line}", f"lines {line}"),
        )  # fmt: skip
    text = _dump(_records("en", 30))
    yield Case(
        KIND,
        "cut-array.json",
        text[: len(text) - 40].encode(),
        (29, 30),
        must_note=("cut", "end", "incomplete", "valid"),
    )
    yield Case(
        KIND, "with-nan.json", b'[{"k": "a", "v": 1.5}, {"k": "b", "v": NaN}, {"k": "c", "v": 2.5}]', 3, ("k", "v"),
        types={"v": "number"}, missing={"v": 1}, ranges={"v": ("1.5", "2.5")},
    )  # fmt: skip
