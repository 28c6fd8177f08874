"""Readers that the corpus measures. Each returns a reading as `tests.tables.compare` describes it."""

from __future__ import annotations

import importlib
import json
import subprocess
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from subprocess import PIPE
from types import TracebackType
from typing import Protocol, cast

from attachments.validation import RefusedUpload, inspect_upload
from chat.python.kernels.table_reading import parse_table_reading
from chat.python.table_readings.file_for_kernel import file_for_kernel
from chat.python.table_readings.table_json import table_json
from tests.tables.compare import ColumnReading, Reading

Reader = Callable[[Path, bytes], Reading]
ROOT = Path(__file__).parents[2]
READ_FILES = """
import json, os, sys
from chat.python.kernels.in_kernel.tables import main
for line in sys.stdin:
    folder, name = json.loads(line)
    os.chdir(folder)
    try:
        answer = main({}, name, "{}")
    except Exception as error:
        # The client of a real kernel tells the same.
        answer = {"error": "its content is not understood."}
        print(name, repr(error), file=sys.stderr)
    print(json.dumps(answer), flush=True)
"""
PANDAS_FUNCTIONS = {
    ".json": "read_json",
    ".geojson": "read_json",
    **dict.fromkeys((".xlsx", ".xlsm", ".xls", ".ods"), "read_excel"),
    ".parquet": "read_parquet",
    ".feather": "read_feather",
}
DUCKDB_FUNCTIONS = {
    **dict.fromkeys((".json", ".jsonl", ".ndjson", ".geojson"), "read_json_auto"),
    ".parquet": "read_parquet",
    ".xlsx": "read_xlsx",
}


class Series(Protocol):
    """The used methods of a pandas column. The environment of the tests does not have pandas."""

    def __len__(self) -> int: ...
    def __iter__(self) -> Iterator[object]: ...
    def dropna(self) -> Series: ...
    def min(self) -> object: ...
    def max(self) -> object: ...


def describe_file(path: Path, data: bytes) -> Reading:
    """Return the product's reading of a file, as an upload of its bytes gets it."""
    try:
        upload = inspect_upload(path.name, data)
    except RefusedUpload as error:
        return {"state": "refused", "detail": str(error)}
    file = file_for_kernel(upload.name, upload.mime_type, data, chosen_encoding="")
    if not file.may_be_table:
        return {"state": "refused", "detail": ""}
    target = path.with_name(f"kernel-{file.name}")
    target.write_bytes(file.data)
    answer = _kernel_environment().ask(target)
    target.unlink()
    reading = parse_table_reading(answer)
    assert reading.code or not answer.get("code"), f"the code for {path.name} is not believed: {answer['code']}"
    return cast(Reading, table_json(file.with_encoding(reading)))


class _KernelEnvironment:
    """A process with the packages of kernels, which reads files as a kernel does, but outside of the sandbox."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [ROOT / ".venv-kernel/bin/python", "-c", READ_FILES], cwd=ROOT, stdin=PIPE, stdout=PIPE, text=True
        )

    def ask(self, path: Path) -> dict[str, object]:
        assert self._process.stdin
        assert self._process.stdout
        print(json.dumps([str(path.parent), path.name]), file=self._process.stdin, flush=True)
        answer: dict[str, object] = json.loads(self._process.stdout.readline())
        return answer


_kernel_environment = cache(_KernelEnvironment)


def read_with_pandas(path: Path, data: bytes) -> Reading:
    """Return how pandas reads a file by its suffix, with the defaults of its functions."""
    pandas = importlib.import_module("pandas")
    suffix = path.suffix.lower()
    if suffix in (".jsonl", ".ndjson"):
        frame = pandas.read_json(path, lines=True)
    elif suffix in (".tsv", ".txt"):
        frame = pandas.read_csv(path, sep="\t")
    else:
        frame = getattr(pandas, PANDAS_FUNCTIONS.get(suffix, "read_csv"))(path)
    columns = [_describe_series(str(name), pandas.Series(frame.iloc[:, n])) for n, name in enumerate(frame.columns)]
    return {"state": "read", "rows": len(frame), "columns": columns}


def _describe_series(name: str, series: Series) -> ColumnReading:
    kinds = importlib.import_module("pandas.api.types")
    values = series.dropna()
    if kinds.is_bool_dtype(values):
        type_ = "boolean"
    elif kinds.is_numeric_dtype(values):
        type_ = "number"
    else:
        type_ = "date" if kinds.is_datetime64_any_dtype(values) else "text"
    cells = [str(value) for value in values]
    if type_ in ("number", "date") and cells:
        summary = f"{values.min()} to {values.max()}"
    else:
        summary = ", ".join(f"{cell} ({count})" for cell, count in Counter(cells).most_common(5))
    missing = len(series) - len(values)
    return {"name": name, "type": type_, "missing": missing, "summary": summary, "sample": cells[:5]}


def read_with_duckdb(path: Path, data: bytes) -> Reading:
    """Return how DuckDB reads a file by its suffix with its automatic functions."""
    duckdb = importlib.import_module("duckdb")
    function = DUCKDB_FUNCTIONS.get(path.suffix.lower(), "read_csv_auto")
    columns: list[ColumnReading] = []
    with duckdb.connect() as connection:
        connection.execute(f"CREATE TABLE found AS SELECT * FROM {function}(?)", [str(path)])
        (rows,) = connection.execute("SELECT count(*) FROM found").fetchone()
        for name, kind, *_ in connection.execute("DESCRIBE found").fetchall():
            quoted = '"' + name.replace('"', '""') + '"'
            query = (
                f"SELECT count(*) - count({quoted}), min({quoted}) || ' to ' || max({quoted}), "
                f"(list({quoted}::VARCHAR) FILTER ({quoted} IS NOT NULL))[:5] FROM found"
            )
            missing, summary, sample = connection.execute(query).fetchone()
            found: ColumnReading = {"name": name, "type": _duckdb_type(kind), "missing": missing}
            columns.append({**found, "summary": summary or "", "sample": sample or []})
    return {"state": "read", "rows": rows, "columns": columns}


def _duckdb_type(kind: str) -> str:
    if "[" in kind or ("(" in kind and not kind.startswith("DECIMAL")):
        return "text"
    if kind.endswith("INT") or kind.startswith(("DECIMAL", "DOUBLE", "FLOAT", "INTEGER", "UINTEGER")):
        return "number"
    if kind == "DATE" or kind.startswith("TIMESTAMP"):
        return "date"
    return {"BOOLEAN": "boolean", "TIME": "time"}.get(kind, "text")


class _AnyError:
    """Catches every error in its block and keeps it, because libraries raise many classes of errors."""

    error: BaseException | None = None

    def __enter__(self) -> _AnyError:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        self.error = error
        return isinstance(error, Exception)


def _refusing(read: Reader) -> Reader:
    """Return a reader that turns every error, except a missing package, into a refusal."""

    def describe(path: Path, data: bytes) -> Reading:
        reading: Reading | None = None
        with _AnyError() as caught:
            reading = read(path, data)
        if isinstance(caught.error, ModuleNotFoundError):
            raise caught.error
        return reading or {"state": "refused", "detail": f"{type(caught.error).__name__}: {caught.error}"}

    return describe


READERS: dict[str, Reader] = {
    "ours": describe_file,
    "pandas": _refusing(read_with_pandas),
    "duckdb": _refusing(read_with_duckdb),
}
