"""JSON that holds a table in one of many forms."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import date

from tests.tables.corpus.case import Case, Rows, label
from tests.tables.corpus.values import header_of, rows_of

KIND = "json"


def make_json() -> Iterator[Case]:
    """Yield JSON files: rows, columns, lines, pages of an API, single records and damaged files."""
    for language, count, wide in (("en", 5, False), ("de", 36, True), ("zh-cn", 130, False)):
        header, rows = header_of(language, wide), rows_of(language, count, wide)
        for name, text in {**_whole_forms(header, rows), **_line_forms(header, rows)}.items():
            data = text.encode() if isinstance(text, str) else text
            form, _, suffix = name.rpartition(".")
            case = label(KIND, f"{form}-{count}.{suffix}", data, header, rows)
            # The labels of rows are a column too, where a reader keeps them.
            yield replace(case, names=None, width=None) if form in ("index", "split", "table-schema") else case
    yield from _nested()
    yield from _values()
    yield from _damaged()


def _dump(value: object, indent: int | None = None, ascii_only: bool = False) -> str:
    return json.dumps(value, indent=indent, ensure_ascii=ascii_only)


def _records(header: tuple[str, ...], rows: Rows) -> list[dict[str, object]]:
    return [dict(zip(header, row, strict=True)) for row in rows]


def _whole_forms(header: tuple[str, ...], rows: Rows) -> Mapping[str, str | bytes]:
    records, places = _records(header, rows), range(len(rows))
    fields = [{"name": "index", "type": "integer"}, *({"name": name, "type": "any"} for name in header)]
    schema = {"fields": fields, "primaryKey": ["index"]}
    return {
        "records.json": _dump(records),
        "indented.json": _dump(records, 2, True),
        "columns.json": _dump({name: {str(n): records[n][name] for n in places} for name in header}, None, True),
        "lists-by-column.json": _dump({name: [row[name] for row in records] for name in header}),
        "split.json": _dump({"columns": header, "index": list(places), "data": rows}),
        "columns-and-data.json": _dump({"columns": header, "data": rows}, 1),
        "index.json": _dump({f"r{n}": row for n, row in enumerate(records)}),
        "table-schema.json": _dump({"schema": schema, "data": [{"index": n, **records[n]} for n in places]}),
        "mark.json": b"\xef\xbb\xbf" + _dump(records).encode(),
        "utf-16.json": _dump(records).encode("utf-16"),
    }


def _line_forms(header: tuple[str, ...], rows: Rows) -> Mapping[str, str]:
    records = _records(header, rows)
    lines = [_dump(record) for record in records]
    return {
        "lines.jsonl": "\n".join(lines) + "\n",
        "lines.ndjson": "\r\n".join(lines),
        "lines.json": "\n\n".join(lines),
        "objects.json": "\n".join(_dump(record, 2) for record in records),
        "objects-without-breaks.json": "".join(lines),
    }


def _nested() -> Iterator[Case]:
    header = header_of("en")
    for count, path in ((12, ("data", "items")), (40, ("result", "page", "rows")), (7, ("response", "docs"))):
        rows = rows_of("en", count)
        page: object = _records(header, rows)
        for number, key in enumerate(reversed(path)):
            page = {"total": 4000, key: page, "next": None} if number == 0 else {key: page, "status": "ok"}
        yield label(KIND, f"page-{path[-1]}.json", _dump(page, 1).encode(), header, rows)
    for count in (9, 61):
        rows = rows_of("en", count)
        warnings = [{"code": 7, "text": "slow"}, {"code": 9, "text": "old"}]
        data = _dump({"warnings": warnings, "orders": _records(header, rows)}).encode()
        yield replace(label(KIND, f"two-lists-{count}.json", data, header, rows), must_note=("warnings",))
    for count in (10, 52):
        features = [
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
    case = label(
        KIND, "nested-records.json", _dump(records).encode(), ("id", "name"), [[n, f"n{n}"] for n in range(25)]
    )
    yield replace(case, names=None, width=None)
    uneven = [{"id": n, "a": n * 2} if n % 2 else {"id": n, "b": f"x{n}"} for n in range(20)]
    rows = [[n, None if n % 2 else f"x{n}", n * 2 if n % 2 else None] for n in range(20)]
    yield replace(
        label(KIND, "uneven-records.json", _dump(uneven).encode(), ("id", "b", "a"), rows), names=None, width=3
    )


def _values() -> Iterator[Case]:
    rows: Rows = [[f"k{n}", n * 3, n % 2 == 0] for n in range(30)]
    # Lists without names may be read, or a sentence says that they are lists.
    yield label(KIND, "values.json", _dump(rows).encode(), None, rows)
    lines = "\n".join(map(_dump, rows)).encode()
    yield replace(
        label(KIND, "lines-of-lists.jsonl", lines, None, rows), refusal=None, must_note=("list", "name", "header")
    )
    rows = [[n * 1.5] for n in range(40)]
    yield label(KIND, "numbers.json", _dump([row[0] for row in rows]).encode(), None, rows)
    rows = [[f"word {n}"] for n in range(15)]
    yield label(KIND, "words.json", _dump([row[0] for row in rows]).encode(), None, rows)
    for count in (6, 33):
        records = [None if n % 5 == 2 else {"id": n, "town": "York"} for n in range(count)]
        rows = [[n, "York"] for n in range(count) if n % 5 != 2]
        case = label(KIND, f"rows-with-null-{count}.json", _dump(records).encode(), ("id", "town"), rows)
        words = ("null", "empty", "missing", "no record")
        yield replace(case, rows=(count, len(rows)), missing={}, must_note=words)
    # One record is one row, or a sentence says that it is one record.
    case = label(KIND, "one-record.json", b'{"name": "Anna", "age": 41}', ("name", "age"), [["Anna", 41]])
    yield replace(case, refusal=None)
    yield label(KIND, "one-line.jsonl", b'{"name": "Anna", "age": 41}\n', ("name", "age"), [["Anna", 41]])
    first, header = 1_734_567_890_123_456_700, ("id", "score", "amount")
    rows = [[first + n, n, 1_234_567.25 + n] for n in range(50)]
    case = label(KIND, "large-ids.json", _dump(_records(header, rows)).encode(), header, rows)
    yield replace(case, types={"score": "number", "amount": "number"}, roles={"id": ("identifier", "code")})
    header = ("day", "open", "level")
    rows = [[date(2024, 2, n), n % 3 == 0, None if n == 4 else n / 4] for n in range(1, 29)]
    data = _dump([{**record, "day": str(record["day"])} for record in _records(header, rows)]).encode()
    yield label(KIND, "days.json", data, header, rows)


def _damaged() -> Iterator[Case]:
    header: tuple[str, ...] = ("id", "text", "score")
    for mark, name in (("\u2028", "line-separator"), ("\u2029", "paragraph"), ("\u0085", "next-line")):
        rows: Rows = [[n, f"first{mark}second {n}", n * 4] for n in range(14)]
        data = "\n".join(map(_dump, _records(header, rows))).encode()
        yield replace(label(KIND, f"lines-{name}.jsonl", data, header, rows), texts={"text": "second"})
    for line, count in ((5, 10), (33, 60), (2, 4)):
        rows = [[n, "Bath", n * 2] for n in range(1, count + 1)]
        lines = [_dump(record) for record in _records(header, rows)]
        lines[line - 1] = lines[line - 1][:-9]
        kept = [*rows[: line - 1], *rows[line:]]
        case = label(KIND, f"cut-line-{line}.jsonl", "\n".join(lines).encode(), header, kept)
        yield replace(case, must_note=(f"line {line}", f"lines {line}"), refusal=None)
    header, rows = header_of("en"), rows_of("en", 30)
    words = ("cut", "end", "incomplete", "valid")
    yield Case(
        KIND, "cut-array.json", _dump(_records(header, rows)).encode()[:-40], (29, 30), must_note=words, refusal=None
    )
    rows = [["a", 1.5], ["b", None], ["c", 2.5]]
    data = b'[{"k": "a", "v": 1.5}, {"k": "b", "v": NaN}, {"k": "c", "v": 2.5}]'
    yield label(KIND, "with-nan.json", data, ("k", "v"), rows)
    yield Case(KIND, "empty-list.json", b"[]", 0, must_note=("empty", "no "), refusal=None)
