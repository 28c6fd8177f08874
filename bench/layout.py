"""Tables in Markdown; pure."""

from __future__ import annotations

from collections.abc import Sequence


def number(value: float | None, digits: int) -> str:
    """With so many digits after the point; a dash where there is none."""
    return "-" if value is None else f"{value:,.{digits}f}"


def markdown_table(rows: Sequence[tuple[str, ...]]) -> str:
    """Rows of equal length, the first of them the head; the first column is words, the others stand at the right."""
    columns = range(len(rows[0]))
    widths = [max(len(row[column]) for row in rows) for column in columns]
    lines = ["| " + " | ".join(_padded(row, widths)) + " |" for row in rows]
    rule = "|" + "|".join("-" * (widths[column] + 1) + (":" if column else "-") for column in columns) + "|"
    return "\n".join([lines[0], rule, *lines[1:]])


def _padded(row: tuple[str, ...], widths: list[int]) -> list[str]:
    return [row[0].ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True))]
