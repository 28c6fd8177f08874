"""Parquet and Feather files, and packed CSV files.

PyArrow is a package of the kernels' environment. Where this Python has none, that environment writes the files.
"""

from __future__ import annotations

import base64
import gzip
import io
import json
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from dataclasses import replace
from datetime import date, time, timedelta
from decimal import Decimal
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

from tests.tables.corpus.case import Case, Value, csv_case, label
from tests.tables.corpus.values import header_of, rows_of

KIND = "parquet and packed"
PROJECT = Path(__file__).resolve().parents[3]
COUNTS = (5, 60, 300)
FEATHER = ("ids", "money", "dictionary", "zones")
# By form: the names and PyArrow's types of its columns. A type ends with `>` and another one if it is cast to that.
FORMS = {
    "ids": {"id": "int64", "unsigned": "uint64", "n": "int64"},
    "money": {"item": "string", "price": "string>decimal"},
    "far-dates": {"contract": "string", "valid_until": "int32>date32", "amount": "double"},
    "durations": {"run": "string", "took": "int64>duration"},
    "nested": {"id": "int64", "tags": "", "place": ""},
    "dictionary": {"town": "string>dictionary", "n": "int64"},
    "zones": {"at": "int64>zone", "n": "int64"},
    "times": {"day": "int32>date32", "clock": "int32>time32", "done": "bool"},
    "missing": {"name": "string", "level": "double"},
}


def make_columnar() -> Iterator[Case]:
    """Yield columnar files with types that Python or a double cannot hold, and packed CSV files."""
    for name, data in _columnar_files().items():
        form, count, suffix = name.rsplit("-", 2)
        rows = [_labelled(form, n) for n in range(int(count))]
        case = label(KIND, f"{form}-{count}.{suffix}", data, tuple(FORMS[form]), rows)
        if form == "ids":
            case = replace(case, types={"n": "number"}, roles={"id": ("identifier", "code")})
        elif form == "nested":
            case = replace(case.without("tags", "place"), names=None, width=None)
        elif form == "zones":
            # A reader may show these times in UTC or in their zone.
            case = case.without("at").changed({"at": ("date", "time")})
        yield case.without({"far-dates": "valid_until", "durations": "took"}.get(form, ""))
    yield from _packed()


def _labelled(form: str, n: int) -> list[Value]:
    """Return one row as a reader shows it. Values that are not labelled are given as they are stored."""
    values = _stored(form, n)
    if form == "money":
        return [str(values[0]), Decimal(str(values[1]))]
    if form == "times":
        return [date(1970, 1, 1) + timedelta(int(str(values[0]))), time(n // 30, n % 30 * 2), n % 2 == 0]
    return [value if isinstance(value, str | int | float | bool | None) else str(value) for value in values]


def _stored(form: str, n: int) -> list[object]:
    rows: dict[str, list[object]] = {
        "ids": [1_234_567_890_123_456_700 + n, 2**64 - 400 + n, n],
        "money": [f"item {n}", f"{12345678901234 + n}.56"],
        "far-dates": [f"C{n}", (19_000 + n, 4_000_000, -1_000_000)[n % 3], n / 2],
        "durations": [f"run {n}", n * 3_600_000 + 10**15 * (n % 3 == 1)],
        "nested": [n, ["a", f"t{n}"], {"town": "Bath", "no": n}],
        "dictionary": [("Köln", "Ulm", "Bonn")[n % 3], n],
        "zones": [1_700_000_000_000 + n * 60_000, n],
        "times": [19_500 + n, n * 120, n % 2 == 0],
        "missing": [f"n{n}", None if n % 3 == 0 else n / 8],
    }
    return rows[form]


@cache
def _columnar_files() -> dict[str, bytes]:
    if find_spec("pyarrow"):
        return write_files()
    command = [str(PROJECT / ".venv-kernel/bin/python"), "-m", "tests.tables.corpus.columnar"]
    result = subprocess.run(command, cwd=PROJECT, capture_output=True, check=True, timeout=120)
    return {name: base64.b64decode(data) for name, data in json.loads(result.stdout).items()}


def write_files() -> dict[str, bytes]:
    """Return the Parquet and Feather files by `form-count-suffix`. PyArrow is needed."""
    arrow, files = import_module("pyarrow"), {}
    casts = {
        "decimal": arrow.decimal128(20, 2),
        "date32": arrow.date32(),
        "duration": arrow.duration("ms"),
        "dictionary": arrow.dictionary(arrow.int32(), arrow.string()),
        "zone": arrow.timestamp("ms", "Europe/Berlin"),
        "time32": arrow.time32("s"),
    }
    for form, types in FORMS.items():
        for count in COUNTS:
            columns = {}
            for position, (name, type_) in enumerate(types.items()):
                first, _, cast = type_.partition(">")
                values = [_stored(form, n)[position] for n in range(count)]
                column = arrow.array(
                    values,
                    getattr(arrow, {"double": "float64", "bool": "bool_"}.get(first, first))() if first else None,
                )
                columns[name] = column.cast(casts[cast]) if cast else column
            table = arrow.table(columns)
            sink = io.BytesIO()
            import_module("pyarrow.parquet").write_table(table, sink)
            files[f"{form}-{count}-parquet"] = sink.getvalue()
            if form in FEATHER and count == 60:
                sink = io.BytesIO()
                import_module("pyarrow.feather").write_feather(table, sink, compression="lz4")
                files[f"{form}-{count}-feather"] = sink.getvalue()
    return files


def _packed() -> Iterator[Case]:
    for language, count in (("en", 12), ("de", 150)):
        case = csv_case(KIND, "", header_of(language, True), rows_of(language, count, True))
        archive = io.BytesIO()
        with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as target:
            target.writestr(zipfile.ZipInfo(f"export-{count}.csv"), case.data)
        # To say in a sentence that the file must be unpacked is right, too.
        case = replace(case, refusal=None)
        yield replace(case, name=f"packed-{count}.csv.gz", data=gzip.compress(case.data, mtime=0))
        yield replace(case, name=f"packed-{count}.zip", data=archive.getvalue())


if __name__ == "__main__":
    json.dump({name: base64.b64encode(data).decode() for name, data in write_files().items()}, sys.stdout)
