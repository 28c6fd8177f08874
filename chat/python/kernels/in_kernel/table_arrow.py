"""Runs inside a kernel: reads Parquet, Feather (Arrow IPC) and Stata files."""

from __future__ import annotations

import struct
import warnings
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from chat.python.kernels.in_kernel.table_arrow_cells import ArrowCells
from chat.python.kernels.in_kernel.table_json_forms import key_literal, literal_of
from chat.python.kernels.in_kernel.table_source import CELLS_LIMIT, COLUMNS_LIMIT, Source, Unreadable, duplicates_in

if TYPE_CHECKING:
    import pyarrow
    import pyarrow.parquet

BATCH_ROWS = 50_000
FILE_ERRORS = (OSError, ValueError, LookupError, TypeError, OverflowError, EOFError)
"""Errors that the libraries raise for broken files, beside their own classes of errors."""
INT96_UNIT = "us"
"""Unit for the 96-bit times of Spark, Hive and Impala. In nanoseconds, the year 9999 would become 1816."""
STATA_FIRST_BYTES = range(102, 116)
"""First bytes of Stata files of formats before 117, the first format that begins with a tag."""
FORMATS = {"Parquet": "a Parquet", "Feather": "a Feather (Arrow IPC)", "Stata": "a Stata"}
BINARY_SUFFIXES = ("parquet", "feather", "arrow", "dta")


class ArrowFile(NamedTuple):
    """A file whose rows are read in parts."""

    names: Sequence[str]
    """Names of all columns."""
    row_count: int | None
    """Number of rows; `None` if they must be counted."""
    batches: Iterator[pyarrow.RecordBatch]
    """Batches of rows, with the first `COLUMNS_LIMIT` columns."""
    index_names: Sequence[str] = ()
    """Names of columns that pandas reads as row labels. `__index_level_0__` means labels without a name."""
    option: str = ""
    """An argument that pandas needs to read the file."""


def read_binary_file(path: str, head: bytes, suffix: str) -> Source | None:
    """Return the table in a Parquet, Feather or Stata file; `None` for another format. `head`: the file's first bytes.

    Raises Unreadable if the file cannot be read, ImportError if a library is missing.
    """
    if head.startswith(b"PAR1"):
        return read_arrow_file(path, "Parquet")
    if head.startswith(b"ARROW1"):
        return read_arrow_file(path, "Feather")
    if head.startswith(b"<stata_dta>") or (suffix == "dta" and head[:1] and head[0] in STATA_FIRST_BYTES):
        return read_arrow_file(path, "Stata")
    if head.startswith(b"FEA1"):
        raise Unreadable("it is a Feather file of version 1, which cannot be read here. Save it as Parquet.")
    if head.startswith(b"$FL2"):
        raise Unreadable("it is an SPSS file, which cannot be read here. Save it as CSV or Excel, and attach that.")
    return None


def read_arrow_file(path: str, format_name: str) -> Source:
    """Return the table in a file of this format. Raises Unreadable and ImportError as `read_binary_file` does."""
    import pyarrow  # only these files need it

    try:
        file, columns, row_count, broken = read_columns(path, format_name)
    except (pyarrow.ArrowException, struct.error, *FILE_ERRORS) as error:
        reason = " ".join(str(error).split())[:100]
        raise Unreadable(f"it is not {FORMATS[format_name]} file that can be read ({reason}).") from None
    if not file.names:
        raise Unreadable("it has no columns.")
    width = len(file.names)
    named = list(zip(file.names, columns, strict=False))
    # Row labels come first, as `reset_index` orders them.
    named.sort(key=lambda pair: pair[0] not in file.index_names)
    cells = [column.cells for _, column in named]
    return Source(
        format=format_name,
        names=["index" if name == "__index_level_0__" else name for name, _ in named],
        columns=cells,
        row_count=row_count,
        column_count=width,
        reading={},
        candidates={},
        code=find_arrow_code(format_name, file, columns, broken),
        duplicate_rows=duplicates_in(zip(*cells, strict=True)) if 1 < width <= COLUMNS_LIMIT else 0,
        notes=[*describe_broken(broken), *describe_lost(file.names, columns)],
    )


def read_columns(path: str, format_name: str) -> tuple[ArrowFile, list[ArrowCells], int, list[str]]:
    """Return the file, its columns in the first rows, the number of all rows, and the names of broken columns.

    Raises many kinds of errors of libraries if the file is broken.
    """
    import pyarrow

    file = {"Parquet": open_parquet, "Feather": open_feather, "Stata": open_stata}[format_name](path)
    limit = max(1, CELLS_LIMIT // max(1, min(len(file.names), COLUMNS_LIMIT)))
    try:
        return file, *collect_cells(file, limit), []
    except (pyarrow.ArrowException, OSError):
        if format_name != "Parquet":
            raise
    return file, *collect_whole_columns(path, file, limit)


def open_parquet(path: str) -> ArrowFile:
    """Open a Parquet file."""
    import pyarrow.parquet

    schema = pyarrow.parquet.read_schema(path)
    names = list(schema.names)
    # Keep a repeated text once: otherwise, a text of 1 MB that is stored once for 50,000 rows would take 50 GB.
    texts = [field.name for field in schema if pyarrow.types.is_string(field.type)]
    file = pyarrow.parquet.ParquetFile(path, read_dictionary=texts, coerce_int96_timestamp_unit=INT96_UNIT)
    has_int96 = any(file.schema.column(number).physical_type == "INT96" for number in range(len(file.schema)))
    option = f', coerce_int96_timestamp_unit="{INT96_UNIT}"' if has_int96 else ""
    batches = parquet_batches(file, names[:COLUMNS_LIMIT], len(names))
    return ArrowFile(names, file.metadata.num_rows, batches, index_names(schema), option)


def parquet_batches(
    file: pyarrow.parquet.ParquetFile, names: Sequence[str], width: int
) -> Iterator[pyarrow.RecordBatch]:
    """Yield batches of rows of a Parquet file with these columns."""
    if len(names) == width:
        yield from file.iter_batches(batch_size=BATCH_ROWS)
        return
    for batch in file.iter_batches(batch_size=BATCH_ROWS, columns=list(names)):
        # Select by name again: a name with a point can also match a field inside another column.
        yield batch.select(names)


def open_feather(path: str) -> ArrowFile:
    """Open a Feather file of version 2, which is an Arrow IPC file."""
    import pyarrow

    reader = pyarrow.ipc.open_file(pyarrow.memory_map(path))
    return ArrowFile(reader.schema.names, None, ipc_batches(reader), index_names(reader.schema))


def index_names(schema: pyarrow.Schema) -> list[str]:
    """Return the names of columns that pandas reads as row labels. Labels that only count the rows have no column."""
    try:
        found = (schema.pandas_metadata or {}).get("index_columns", [])
    except (ValueError, AttributeError):
        return []
    return [name for name in found if name in schema.names[:COLUMNS_LIMIT]] if isinstance(found, list) else []


def ipc_batches(reader: pyarrow.RecordBatchFileReader) -> Iterator[pyarrow.RecordBatch]:
    """Yield the batches of an Arrow IPC file. Raises ArrowException for an invalid batch."""
    for number in range(reader.num_record_batches):
        batch = reader.get_batch(number)
        batch = batch.select(range(min(batch.num_columns, COLUMNS_LIMIT)))
        batch.validate()
        yield batch


def open_stata(path: str) -> ArrowFile:
    """Open a Stata file. Values are replaced by their labels, unless two values have the same label."""
    import pandas  # only these files need it

    warnings.simplefilter("ignore")  # pandas warns about dates that it reads as other types
    with pandas.read_stata(path, chunksize=1) as reader:
        names = [str(name) for name in reader.variable_labels()]
    return ArrowFile(names, None, stata_batches(path))


def stata_batches(path: str) -> Iterator[pyarrow.RecordBatch]:
    """Yield the rows of a Stata file."""
    import pandas  # as above
    import pyarrow

    has_yielded = False
    try:
        for frame in pandas.read_stata(path, chunksize=BATCH_ROWS):
            yield pyarrow.RecordBatch.from_pandas(frame.iloc[:, :COLUMNS_LIMIT], preserve_index=False)
            has_yielded = True
    except ValueError:
        # If no rows were yielded yet, try again without labels, because two labels may be equal.
        if has_yielded:
            raise
        for frame in pandas.read_stata(path, chunksize=BATCH_ROWS, convert_categoricals=False):
            yield pyarrow.RecordBatch.from_pandas(frame.iloc[:, :COLUMNS_LIMIT], preserve_index=False)


def collect_cells(file: ArrowFile, limit: int) -> tuple[list[ArrowCells], int]:
    """Return the columns in the first `limit` rows, and the row count. Raises ArrowException or OSError if broken."""
    columns = [ArrowCells() for _ in file.names[:COLUMNS_LIMIT]]
    row_count = examined = 0
    for batch in file.batches:
        row_count += batch.num_rows
        for start in range(0, min(batch.num_rows, limit - examined), BATCH_ROWS):
            part = batch.slice(start, min(BATCH_ROWS, limit - examined))
            for column, array in zip(columns, part.columns, strict=True):
                column.add(array)
            examined += part.num_rows
        if examined >= limit and file.row_count is not None:
            break
    return columns, row_count if file.row_count is None else file.row_count


def collect_whole_columns(path: str, file: ArrowFile, limit: int) -> tuple[list[ArrowCells], int, list[str]]:
    """Read each column of a Parquet file by itself. Return columns, row count, and names of broken, empty columns."""
    import pyarrow.parquet

    row_count = file.row_count or 0
    broken: list[str] = []
    columns: list[ArrowCells] = []
    parquet = pyarrow.parquet.ParquetFile(path, coerce_int96_timestamp_unit=INT96_UNIT)
    for name in file.names[:COLUMNS_LIMIT]:
        try:
            found, _ = collect_cells(ArrowFile([name], row_count, parquet_batches(parquet, [name], 0)), limit)
        except (pyarrow.ArrowException, OSError):
            broken.append(name)
            if len(broken) == len(file.names[:COLUMNS_LIMIT]):
                raise
            found = [ArrowCells()]
            found[0].cells = [None] * min(limit, row_count)
        columns += found
    return columns, row_count, broken


def describe_broken(names: Sequence[str]) -> list[str]:
    """Return a list with a note about damaged columns; an empty list if there are none."""
    listed = ", ".join(f"“{name[:40]}”" for name in names[:3]) + (", …" if len(names) > 3 else "")
    return [f"The file is damaged: {listed} cannot be read, and the other columns are."] if names else []


def describe_lost(names: Sequence[str], columns: Sequence[ArrowCells]) -> list[str]:
    """Return a note for each column with values that are left out, or are in UTC."""
    notes = []
    for name, column in zip(names, columns, strict=False):
        if column.lost:
            values = "1 value" if column.lost == 1 else f"{column.lost:,} values"
            example = f", such as “{column.example}”" if column.example else ""
            notes.append(
                f"“{name[:40]}” has {values} outside the years 1 to 9999 or the range of times{example}: "
                "counted as missing here."
            )
        if column.is_utc:
            notes.append(f"The time zone of “{name[:40]}” is not known: its times are in UTC.")
    return notes


def find_arrow_code(format_name: str, file: ArrowFile, columns: Sequence[ArrowCells], broken: Sequence[str]) -> str:
    """Return the expression that reads the table with pandas; empty if the names around damaged columns are too long.

    Values that Python cannot represent are read as texts.
    """
    if format_name == "Stata":
        return "pd.read_stata(NAME)"
    lost = [name for name, column in zip(file.names, columns, strict=False) if column.lost]
    code = f"pd.read_parquet(NAME{file.option}" if format_name == "Parquet" else "pd.read_feather(NAME"
    names = literal_of(file.names)
    if broken and not names:
        return ""
    if broken:
        code += f", columns={literal_of(name for name in file.names if name not in broken)}"
    code += ', dtype_backend="pyarrow")' if lost else ")"
    if file.index_names:
        code += ".reset_index()"
    if lost:
        # Columns without an example have such values only inside lists or objects, which are not read as texts.
        dated = [name for name, column in zip(file.names, columns, strict=False) if column.example]
        types = ", ".join(f'{key_literal(name)}: "large_string[pyarrow]"' for name in dated[:20])
        code += f".astype({{{types}}})" if types else ""
    if broken:
        code += f".reindex(columns={names})"
    return code
