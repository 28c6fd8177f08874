"""Parquet and Feather files, and packed CSV files.

PyArrow is a package of the kernels' environment. Where this Python has none, that environment's Python writes the files.
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
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from tests.tables.corpus.case import Case
from tests.tables.corpus.values import LANGUAGES, ints, rows_of, table_text

KIND = "parquet and packed"
PROJECT = Path(__file__).resolve().parents[3]
FIRST_ID = 1_234_567_890_123_456_700
UNSIGNED = 2**64 - 400
COUNTS = (5, 60, 300)
# The names of the files in `write_files`, each written as Parquet and as Feather.
FORMS = ("ids", "money", "far-dates", "durations", "nested", "dictionary", "zones", "times", "missing")


def make_columnar() -> Iterator[Case]:
    """Yield columnar files with types that Python or a double cannot hold, and packed CSV files."""
    files = _columnar_files()
    for name, data in files.items():
        form, count_text, suffix = name.rsplit("-", 2)
        count = int(count_text)
        yield _label(Case(KIND, f"{form}-{count}.{suffix}", data, count), form, count)
    yield from _packed()


def _label(case: Case, form: str, count: int) -> Case:
    last = count - 1
    labels: dict[str, Case] = {
        "ids": replace(
            case, names=("id", "unsigned", "n"), types={"n": "number"}, roles={"id": ("identifier", "code")},
            ranges={
                "id": (str(FIRST_ID), str(FIRST_ID + last)),
                "unsigned": (str(UNSIGNED), str(UNSIGNED + last)),
                "n": ("0", str(last)),
            },
        ),
        "money": replace(
            case, names=("item", "price"), types={"item": "text", "price": "number"},
            ranges={"price": ("12345678901234.56", str(12345678901234 + last) + ".56")}, texts={"item": "item 0"},
        ),
        "far-dates": replace(
            case, names=("contract", "valid_until", "amount"), types={"contract": "text", "amount": "number"},
            ranges={"amount": ("0", str(last / 2))},
        ),
        "durations": replace(case, names=("run", "took"), types={"run": "text"}, texts={"run": "run 0"}),
        "nested": replace(case, types={"id": "number"}, ranges={"id": ("0", str(last))}),
        "dictionary": replace(
            case, names=("town", "n"), types={"town": "text", "n": "number"}, texts={"town": "Köln"}
        ),
        "zones": replace(case, names=("at", "n"), types={"at": ("date", "time"), "n": "number"}),
        "times": replace(
            case, names=("day", "clock", "done"), types={"day": "date", "clock": "time", "done": "boolean"},
        ),
        "missing": replace(
            case, names=("name", "level"), types={"name": "text", "level": "number"},
            missing={"level": len(range(0, count, 3)), "name": 0},
        ),
    }  # fmt: skip
    return labels[form]


@cache
def _columnar_files() -> dict[str, bytes]:
    if find_spec("pyarrow"):
        return write_files()
    command = [PROJECT / ".venv-kernel/bin/python", "-m", "tests.tables.corpus.columnar"]
    result = subprocess.run(command, cwd=PROJECT, capture_output=True, check=True, timeout=120)
    return {name: base64.b64decode(data) for name, data in json.loads(result.stdout).items()}


def write_files() -> dict[str, bytes]:
    """Return the Parquet and Feather files by `form-count-suffix`. PyArrow is needed."""
    import pyarrow as pa
    from pyarrow import feather, parquet

    files = {}
    for form in FORMS:
        for count in COUNTS:
            table = pa.table(_columns(form, count))
            sink = io.BytesIO()
            parquet.write_table(table, sink, compression="snappy" if count == 60 else "zstd")
            files[f"{form}-{count}-parquet"] = sink.getvalue()
            if form in ("ids", "money", "dictionary", "zones") and count == 60:
                sink = io.BytesIO()
                feather.write_feather(table, sink, compression="lz4")
                files[f"{form}-{count}-feather"] = sink.getvalue()
    return files


def _columns(form: str, count: int) -> dict[str, object]:
    import pyarrow as pa

    numbers = range(count)
    days = [1_000_000 * 4 if n % 4 == 1 else -1_000_000 if n % 4 == 2 else 19_000 + n for n in numbers]
    columns: dict[str, dict[str, object]] = {
        "ids": {
            "id": pa.array([FIRST_ID + n for n in numbers], pa.int64()),
            "unsigned": pa.array([UNSIGNED + n for n in numbers], pa.uint64()),
            "n": list(numbers),
        },
        "money": {
            "item": [f"item {n}" for n in numbers],
            "price": pa.array([f"{12345678901234 + n}.56" for n in numbers]).cast(pa.decimal128(20, 2)),
        },
        "far-dates": {
            "contract": [f"C{n}" for n in numbers],
            "valid_until": pa.array(days, pa.int32()).cast(pa.date32()),
            "amount": [n / 2 for n in numbers],
        },
        "durations": {
            "run": [f"run {n}" for n in numbers],
            "took": pa.array([n * 3_600_000 + 10**15 * (n % 3 == 1) for n in numbers], pa.int64()).cast(
                pa.duration("ms")
            ),
        },
        "nested": {
            "id": list(numbers),
            "tags": [["a", f"t{n}"] for n in numbers],
            "place": [{"town": "Bath", "no": n} for n in numbers],
        },
        "dictionary": {
            "town": pa.array([("Köln", "Ulm", "Bonn")[n % 3] for n in numbers]).dictionary_encode(),
            "n": list(numbers),
        },
        "zones": {
            "at": pa.array([1_700_000_000_000 + n * 60_000 for n in numbers], pa.int64()).cast(
                pa.timestamp("ms", "Europe/Berlin")
            ),
            "n": list(numbers),
        },
        "times": {
            "day": pa.array([19_500 + n for n in numbers], pa.int32()).cast(pa.date32()),
            "clock": pa.array([n * 120 for n in numbers], pa.int32()).cast(pa.time32("s")),
            "done": [n % 2 == 0 for n in numbers],
        },
        "missing": {
            "name": [f"n{n}" for n in numbers],
            "level": pa.array([None if n % 3 == 0 else n / 8 for n in numbers], pa.float64()),
        },
    }
    return columns[form]


def _packed() -> Iterator[Case]:
    for language, count in (("en", 12), ("de", 150)):
        rows, header = rows_of(language, count, f"packed{count}"), LANGUAGES[language].header
        text = table_text(header, rows).encode()
        archive = io.BytesIO()
        with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as target:
            target.writestr(zipfile.ZipInfo(f"export-{count}.csv"), text)
        for name, data in (
            (f"packed-{count}.csv.gz", gzip.compress(text, mtime=0)),
            (f"packed-{count}.zip", archive.getvalue()),
        ):
            # To say that the file must be unpacked is defensible, too: that is a refusal with a sentence.
            yield Case(
                KIND, name, data, count, header, types={header[0]: "text", header[1]: "number"},
                ranges={header[1]: ints(rows, 1)}, texts={header[0]: rows[0][0]},
            )  # fmt: skip


if __name__ == "__main__":
    json.dump({name: base64.b64encode(data).decode() for name, data in write_files().items()}, sys.stdout)
