"""Formats numbers and Markdown tables. Pure functions."""

from __future__ import annotations

from collections.abc import Sequence


def format_number(value: float | None, digits: int) -> str:
    """Format a number with `digits` decimal places; None becomes a dash."""
    return "-" if value is None else f"{value:,.{digits}f}"


def format_markdown_table(rows: Sequence[tuple[str, ...]]) -> str:
    """Format rows of equal length as a table. The first row is the header, and the first column is aligned left."""
    columns = range(len(rows[0]))
    widths = [max(len(row[column]) for row in rows) for column in columns]
    lines = ["| " + " | ".join(_pad_cells(row, widths)) + " |" for row in rows]
    rule = "|" + "|".join("-" * (widths[column] + 1) + (":" if column else "-") for column in columns) + "|"
    return "\n".join([lines[0], rule, *lines[1:]])


def _pad_cells(row: tuple[str, ...], widths: list[int]) -> list[str]:
    return [row[0].ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True))]
