"""Runs inside a kernel: reads CSV, TSV and similar texts in UTF-8, with any delimiter."""

from __future__ import annotations

import csv
from array import array
from codecs import BOM_UTF8
from collections.abc import Sequence

from chat.python.kernels.in_kernel.table_delimiters import DELIMITERS, find_dialect, find_named
from chat.python.kernels.in_kernel.table_grid import excerpt
from chat.python.kernels.in_kernel.table_layout import Layout, find_layout
from chat.python.kernels.in_kernel.table_pandas import read_csv_code
from chat.python.kernels.in_kernel.table_records import Dialect, Records, TextRows
from chat.python.kernels.in_kernel.table_source import (
    CELLS_LIMIT,
    COLUMNS_LIMIT,
    Choices,
    Source,
    Unreadable,
    columns_of,
    duplicates_in,
)
from chat.python.kernels.in_kernel.table_words import is_rule

COMMENTS_SHOWN = 4
RULE_STARTS = "-=+|:*_ "
WIDTH_LIMIT = 100_000
"""Maximum number of cells in a row, because of memory."""
OTHER_FORMATS = {
    b"%pdf": "it is a PDF document and no table.",
    **dict.fromkeys(
        (b"<!doctype html", b"<html", b"<table", b"<head>", b"<body", b"<meta ", b"<style"),
        "it is a web page (HTML) and no table. Download the file itself, or save the table as CSV.",
    ),
    **dict.fromkeys(
        (b"id;pwxl", b"id;pcalc"), "it is a file of the format SYLK. Open it in Excel and save it as .xlsx or CSV."
    ),
    b"mime-version:": "it is a web archive (MHTML) and no table. Open it in Excel and save it as .xlsx or CSV.",
    b"<?xml": "it is XML and no table. Save the table as CSV.",
    b"{\\rtf": "it is a text document (RTF) and no table. Save the table as CSV.",
}
"""Errors for files of other formats, by the first characters of their content in lower case."""


def read_text_file(data: bytes, name: str, choices: Choices) -> Source:
    """Return the table in a file of delimited text. Raises Unreadable if there is none."""
    # Concatenated files have several byte order marks.
    data = data.replace(b"\n" + BOM_UTF8, b"\n").removeprefix(BOM_UTF8)
    check_text(data)
    if b"\r" in data:
        data = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    csv.field_size_limit(max(csv.field_size_limit(), len(data) + 1))
    named = find_named(data)
    skipped_lines = 1 if named else 0
    content = data[data.index(b"\n") + 1 :] if named else data
    is_tabular = name.lower().endswith((".tsv", ".tab", ".txt"))
    dialect, usual, others = find_dialect(content, choices.get("delimiter", "") or named, prefers_tabs=is_tabular)
    records = Records(content, dialect, usual)
    found = read_rows(records, usual, skipped_lines, has_rules=dialect.delimiter in "| ")
    if not found.rows:
        raise Unreadable("it has no cell with a value.")
    layout = find_layout(found.rows, choices.get("header_rows"), is_whole=not found.further_count, gaps=found.gaps)
    if f'\n"1"{dialect.delimiter}'.encode() in content:
        layout = with_row_numbers(layout)
    body = layout.body
    width = used_width(layout.names, body)
    names = (layout.names + [""] * (width - len(layout.names)))[:width]
    notes = describe_delimiter(dialect, usual, is_tabular=is_tabular) + layout.notes
    notes += describe_unclosed(records.unclosed, skipped_lines) + describe_comments(found)
    return Source(
        format="TSV" if dialect.delimiter == "\t" and usual > 1 else "CSV",
        names=names[:COLUMNS_LIMIT],
        columns=columns_of(body, width, ""),
        row_count=len(body) + found.further_count,
        column_count=width,
        reading=describe_reading(dialect, layout, usual, choices),
        candidates=describe_doubts(others, layout, choices),
        code=read_csv_code(dialect, layout, found, names, has_broken_quotes=bool(records.unclosed)),
        duplicate_rows=duplicates_in(body) if width > 1 else 0,
        notes=notes + describe_ragged(layout, found),
        is_text=True,
        column_notes=layout.column_notes,
    )


def with_row_numbers(layout: Layout) -> Layout:
    """Return the layout with an empty name added for a first column of row numbers, which R writes without a name."""
    width = len(layout.names) + 1
    is_counted = all(len(row) == width and row[0] == str(number) for number, row in enumerate(layout.body, 1))
    return layout._replace(names=["", *layout.names]) if layout.header_rows and is_counted else layout


def describe_reading(dialect: Dialect, layout: Layout, width: int, choices: Choices) -> Choices:
    """Return how the text was read. A text with one column has no delimiter."""
    reading = Choices(header_rows=layout.header_rows)
    if width > 1 or choices.get("delimiter"):
        reading["delimiter"] = dialect.delimiter
    return reading


def describe_doubts(delimiters: Sequence[str], layout: Layout, choices: Choices) -> dict[str, Sequence[object]]:
    """Return other values that fit, for choices that no person has made."""
    found = {"delimiter": delimiters, "header_rows": layout.other_header_rows}
    return {key: values for key, values in found.items() if values and key not in choices}


def check_text(data: bytes) -> None:
    """Raise Unreadable if the data is not delimited text."""
    start = data[:1000].lstrip().lower()
    if not start and not data.strip():
        raise Unreadable("it is empty.")
    for beginning, reason in OTHER_FORMATS.items():
        if start.startswith(beginning):
            raise Unreadable(reason)
    if b"\0" in data:
        raise Unreadable("it is not text.")
    if not data.strip(b' \t\r\n",;|'):
        raise Unreadable("it has no cell with a value.")


def read_rows(records: Records, width: int, skipped_lines: int, *, has_rules: bool = False) -> TextRows:
    """Return the first rows, and the number of further rows. Raises Unreadable if a row is too wide.

    `skipped_lines`: lines above the records. They count as lines and as records. `has_rules`: whether ruled lines such
    as `----+----` are left out.
    """
    rows: list[list[str]] = []
    positions, lines, skipped = array("l"), array("l"), array("l")
    comments: list[list[str]] = []
    cells = further = comment_count = 0
    for position, (line, row) in enumerate(records, skipped_lines):
        if not row:
            continue
        first = row[0]
        is_blank = not first.strip() and not "".join(row).strip()
        can_be_rule = first[:1] in RULE_STARTS and len(first.strip()) > 2 and (has_rules or len(row) == 1 < width)
        if is_blank or (can_be_rule and is_rule("".join(row))):
            if rows:
                skipped.append(position)
        elif first[:1] == "#" and len(row) != width and rows and sum(cell[:1] == "#" for cell in row) < 2:
            skipped.append(position)
            comment_count += 1
            if comment_count <= COMMENTS_SHOWN:
                comments.append(row[:8])
        elif further or (cells + len(row) > CELLS_LIMIT and rows):
            further += 1
        else:
            if len(row) >= WIDTH_LIMIT:
                raise Unreadable(f"it has more than {WIDTH_LIMIT:,} columns.")
            cells += len(row)
            rows.append(row)
            positions.append(position)
            lines.append(line + skipped_lines)
    return TextRows(rows, positions, lines, skipped, comments, comment_count, further)


def used_width(names: Sequence[str], body: Sequence[Sequence[object]]) -> int:
    """Return the number of columns, without the last ones that have neither a name nor a value."""
    width = max(len(names), max(map(len, body), default=0))
    while width > max(1, len(names)) and not any(len(row) >= width and row[width - 1] for row in body):
        width -= 1
    return width


def describe_delimiter(dialect: Dialect, width: int, *, is_tabular: bool) -> list[str]:
    """Return a list with a note about an unusual delimiter; else an empty list."""
    delimiter = dialect.delimiter
    if width < 2 or delimiter == "," or (delimiter == "\t" and is_tabular):
        return []
    return [
        f"The cells are separated by {DELIMITERS.get(delimiter, 'spaces' if delimiter == ' ' else f'“{delimiter}”')}."
    ]


def describe_unclosed(lines: Sequence[int], skipped_lines: int) -> list[str]:
    """Return a note about quotes that are never closed."""
    if not lines:
        return []
    numbers = ", ".join(str(line + skipped_lines) for line in lines[:5]) + (", …" if len(lines) > 5 else "")
    if len(lines) == 1:
        return [f"A quote in line {numbers} is never closed, so it is read as part of its cell."]
    return [f"Quotes in lines {numbers} are never closed, so they are read as part of their cells."]


def describe_comments(found: TextRows) -> list[str]:
    """Return a note about comments between the rows."""
    count = found.comment_count
    if not count:
        return []
    subject = "A line that begins with # is" if count == 1 else f"{count:,} lines that begin with # are"
    return [f"{subject} left out: {excerpt(found.comments)}."]


def describe_ragged(layout: Layout, found: TextRows) -> list[str]:
    """Return notes about rows whose number of cells differs from the header's."""
    lines, names_end = found.lines, layout.first + layout.header_rows
    usual = max([len(layout.names), *map(len, found.rows[layout.first : names_end])])
    shorter = longer = first_shorter = first_longer = 0
    if set(map(len, layout.body)) - {usual}:
        for at, row in zip(layout.body_positions, layout.body, strict=False):
            if len(row) < usual:
                shorter, first_shorter = shorter + 1, first_shorter or lines[at]
            elif len(row) > usual and any(row[usual:]):
                longer, first_longer = longer + 1, first_longer or lines[at]
    notes = []
    for count, word, line in ((shorter, "fewer", first_shorter), (longer, "more", first_longer)):
        if count:
            where = f": line {line}" if count == 1 else f", the first of them in line {line}"
            notes.append(f"{count:,} row{' has' if count == 1 else 's have'} {word} cells than the header{where}.")
    return notes
