"""Runs inside a kernel: read Parquet files."""

from __future__ import annotations

from chat.python.kernels.in_kernel.table_source import CELLS_LIMIT, COLUMNS_LIMIT, Source, Unreadable, duplicates_in


def read_arrow_file(path: str) -> Source:
    """Return the table in a Parquet file. Raises Unreadable, ImportError."""
    import pyarrow  # only these files need it
    import pyarrow.parquet  # as above

    try:
        file = pyarrow.parquet.ParquetFile(path)
        names = list(file.schema_arrow.names)
        width, row_count = len(names), file.metadata.num_rows
        limit = max(1, CELLS_LIMIT // max(1, min(width, COLUMNS_LIMIT)))
        columns: list[list[object]] = [[] for _ in names[:COLUMNS_LIMIT]]
        wanted = names[:COLUMNS_LIMIT] if width > COLUMNS_LIMIT else None
        for batch in file.iter_batches(batch_size=min(limit, 50_000), columns=wanted):
            for cells, column in zip(columns, batch.columns, strict=True):
                cells.extend(column.to_pylist())
            if len(columns[0]) >= limit:
                break
    except (pyarrow.ArrowException, OSError, ValueError) as error:
        raise Unreadable(f"it is not a valid Parquet file ({str(error)[:100]}).") from None
    if not names:
        raise Unreadable("it has no columns.")
    return Source(
        format="Parquet",
        names=names[:COLUMNS_LIMIT],
        columns=columns,
        row_count=row_count,
        column_count=width,
        examined_rows=len(columns[0]),
        reading={},
        candidates={},
        code="",
        duplicate_rows=duplicates_in(zip(*columns, strict=True)) if 1 < width <= COLUMNS_LIMIT else 0,
        notes=[],
    )
