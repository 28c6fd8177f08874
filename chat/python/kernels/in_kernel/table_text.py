"""Runs inside a kernel: read CSV, TSV and similar texts in UTF-8, whatever their delimiter."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice

from chat.python.kernels.in_kernel.table_layout import find_layout
from chat.python.kernels.in_kernel.table_source import (
    CELLS_LIMIT,
    COLUMNS_LIMIT,
    Choices,
    Source,
    Unreadable,
    columns_of,
    duplicates_in,
)

SAMPLE_CHARS = 64_000
SAMPLE_ROWS = 100
WIDTH_LIMIT = 100_000
"""A line with more cells takes too much memory."""
DELIMITERS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "vertical bars"}


def open_text(data: bytes) -> io.TextIOWrapper:
    """Return a reader of the text, which never holds all of it. Line ends stay as they are."""
    return io.TextIOWrapper(io.BytesIO(data), "utf-8", errors="replace", newline="")


def read_text_file(data: bytes, name: str, choices: Choices) -> Source:
    """Return the table in a file of delimited text. Raises Unreadable."""
    if not data.strip():
        raise Unreadable("it is empty.")
    if b"\0" in data:
        raise Unreadable("it is not text.")
    csv.field_size_limit(max(csv.field_size_limit(), len(data) + 1))
    is_tabular = name.lower().endswith((".tsv", ".tab", ".txt"))
    delimiter = find_delimiter(open_text(data), prefers_tabs=is_tabular)
    notes: list[str] = []
    if delimiter not in (",", "") and not (delimiter == "\t" and is_tabular):
        notes.append(f"The cells are separated by {DELIMITERS[delimiter]}.")
    if any(line.count(delimiter or ",") >= WIDTH_LIMIT for line in open_text(data)):
        raise Unreadable(f"it has more than {WIDTH_LIMIT:,} columns.")
    rows, further_rows = read_rows(parse(open_text(data), delimiter or ","))
    if not rows:
        raise Unreadable("it has no cell with a value.")
    layout = find_layout(rows)
    names, body = layout.names, layout.body
    width = max(len(names), max(map(len, body), default=0))
    notes += layout.notes + describe_ragged(names, body)
    return Source(
        format="TSV" if delimiter == "\t" else "CSV",
        names=(names + [""] * (width - len(names)))[:COLUMNS_LIMIT],
        columns=columns_of(body, width, ""),
        row_count=len(body) + further_rows,
        column_count=width,
        examined_rows=len(body),
        reading={},
        candidates={},
        code="",
        duplicate_rows=duplicates_in(body) if width > 1 else 0,
        notes=notes,
        is_text=True,
    )


def find_delimiter(text: io.TextIOWrapper, *, prefers_tabs: bool) -> str:
    """Return the delimiter that gives most of the first rows the same number of cells; empty for a single column."""
    best = (0.0, 0, "")
    sample = text.read(SAMPLE_CHARS)
    if len(sample) == SAMPLE_CHARS:
        # The last line is cut.
        sample = sample[: sample.rfind("\n") + 1] or sample
    for delimiter in DELIMITERS:
        rows = list(islice(parse(io.StringIO(sample, newline=""), delimiter), SAMPLE_ROWS))
        widths = Counter(map(len, rows))
        width, count = max(widths.items(), key=lambda item: (item[1], item[0]), default=(0, 0))
        if width > 1:
            share = 1.0 if prefers_tabs and delimiter == "\t" else count / len(rows)
            best = max(best, (round(share, 2), width, delimiter))
    return best[2]


def parse(lines: Iterable[str], delimiter: str) -> Iterator[list[str]]:
    """Yield the rows that hold a value. Raises Unreadable."""
    try:
        for row in csv.reader(lines, delimiter=delimiter):
            if "".join(row).strip():
                yield row
    except csv.Error as error:
        raise Unreadable(f"it is not valid CSV ({error}).") from None


def read_rows(reader: Iterator[list[str]]) -> tuple[list[list[str]], int]:
    """Return the first rows, and how many follow. Raises Unreadable."""
    rows: list[list[str]] = []
    cells = 0
    for row in reader:
        cells += len(row)
        if cells > CELLS_LIMIT and rows:
            return rows, sum(1 for _ in chain([row], reader))
        rows.append(row)
    return rows, 0


def describe_ragged(names: Sequence[str], rows: Sequence[Sequence[object]]) -> list[str]:
    """Return notes about rows that have another number of cells than the header."""
    widths = Counter(map(len, rows))
    shorter = sum(count for width, count in widths.items() if width < len(names))
    longer = sum(count for width, count in widths.items() if width > len(names))
    notes = []
    for count, word in ((shorter, "fewer"), (longer, "more")):
        if count:
            notes.append(f"{count:,} row{' has' if count == 1 else 's have'} {word} cells than the header.")
    return notes
