"""Readers that the corpus measures. Each returns a reading as `tests.tables.compare` describes it."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from pathlib import Path

from tests.tables.compare import ColumnReading, Reading

Reader = Callable[[Path, bytes], Reading]


def describe_file(path: Path, data: bytes) -> Reading:
    """Return the product's reading of a file. `path` holds the same bytes as `data`.

    This is the only place that knows where the product's reader is. Raise `ModuleNotFoundError` while there is none.
    """
    reading: Reading = importlib.import_module("chat.python.table_readings").describe_file(path, data)
    return reading


def read_with_pandas(path: Path, data: bytes) -> Reading:
    """Return how pandas reads a file by its suffix, with the defaults of its functions."""
    pandas = importlib.import_module("pandas")
    suffix = path.suffix.lower()
    functions = {
        ".json": pandas.read_json,
        ".geojson": pandas.read_json,
        ".xlsx": pandas.read_excel,
        ".xlsm": pandas.read_excel,
        ".xls": pandas.read_excel,
        ".ods": pandas.read_excel,
        ".parquet": pandas.read_parquet,
        ".feather": pandas.read_feather,
    }
    if suffix in (".jsonl", ".ndjson"):
        frame = pandas.read_json(path, lines=True)
    elif suffix in (".tsv", ".txt"):
        frame = pandas.read_csv(path, sep="\t")
    else:
        frame = functions.get(suffix, pandas.read_csv)(path)
    columns = [_describe_series(str(name), frame.iloc[:, n]) for n, name in enumerate(frame.columns)]
    return {"state": "read", "rows": len(frame), "columns": columns}


def _describe_series(name: str, series: object) -> ColumnReading:
    pandas = importlib.import_module("pandas")
    kinds = pandas.api.types
    values = series.dropna()  # type: ignore[attr-defined]
    if kinds.is_bool_dtype(values):
        type_ = "boolean"
    elif kinds.is_numeric_dtype(values):
        type_ = "number"
    else:
        type_ = "date" if kinds.is_datetime64_any_dtype(values) else "text"
    found: ColumnReading = {"name": name, "type": type_, "missing": int(series.isna().sum())}  # type: ignore[attr-defined]
    if type_ in ("number", "date") and len(values):
        found["summary"] = f"{values.min()} to {values.max()}"
    else:
        found["summary"] = ", ".join(map(str, values.astype(str).value_counts().index[:5]))
    return {**found, "sample": [str(value) for value in values[:5]]}


def read_with_duckdb(path: Path, data: bytes) -> Reading:
    """Return how DuckDB reads a file by its suffix with its automatic functions."""
    duckdb = importlib.import_module("duckdb")
    suffix = path.suffix.lower()
    function = "read_json_auto" if suffix in (".json", ".jsonl", ".ndjson", ".geojson") else "read_csv_auto"
    function = {".parquet": "read_parquet", ".xlsx": "read_xlsx"}.get(suffix, function)
    place = str(path).replace("'", "''")
    with duckdb.connect() as connection:
        connection.execute(f"CREATE TABLE found AS SELECT * FROM {function}('{place}')")
        (rows,) = connection.execute("SELECT count(*) FROM found").fetchone()
        described = connection.execute("DESCRIBE found").fetchall()
        columns = [_describe_column(connection, name, kind) for name, kind, *_ in described]
    return {"state": "read", "rows": rows, "columns": columns}


def _describe_column(connection: object, name: str, kind: str) -> ColumnReading:
    quoted = '"' + name.replace('"', '""') + '"'
    query = (
        f"SELECT count(*) - count({quoted}), min({quoted})::VARCHAR, max({quoted})::VARCHAR, "
        f"list({quoted}::VARCHAR) FILTER ({quoted} IS NOT NULL) FROM found"
    )
    missing, least, greatest, values = connection.execute(query).fetchone()  # type: ignore[attr-defined]
    return {
        "name": name,
        "type": _duckdb_type(kind),
        "missing": missing,
        "summary": f"{least} to {greatest}",
        "sample": (values or [])[:5],
    }


def _duckdb_type(kind: str) -> str:
    if kind == "BOOLEAN":
        return "boolean"
    if any(word in kind for word in ("INT", "DOUBLE", "FLOAT", "DECIMAL")) and "[" not in kind and "STRUCT" not in kind:
        return "number"
    if kind == "DATE" or kind.startswith("TIMESTAMP"):
        return "date"
    return "time" if kind.startswith("TIME") else "text"


def _refusing(read: Reader) -> Reader:
    """Return a reader that makes a reading of every error, because libraries raise many classes of errors."""

    def describe(path: Path, data: bytes) -> Reading:
        try:
            return read(path, data)
        except Exception as error:  # noqa: BLE001
            return {"state": "refused", "detail": f"{type(error).__name__}: {error}"}

    return describe


READERS: dict[str, Reader] = {
    "ours": describe_file,
    "pandas": _refusing(read_with_pandas),
    "duckdb": _refusing(read_with_duckdb),
}
