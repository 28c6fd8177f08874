"""Renders the preview of a table: `chat/_table_preview.jinja`."""

from __future__ import annotations

from dataclasses import dataclass

from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from chat.page.rendering.jinja import render
from chat.python.kernels.table_reading import TableColumn, TableReading
from chat.python.table_readings.suggestions import suggest_questions
from chat.python.table_readings.summaries import summarize


@dataclass(frozen=True, slots=True)
class ColumnView:
    """A row of the preview: one column of the table."""

    name: str
    has_name: bool
    type: str
    missing: str
    """Number of missing values with their share; empty if there is none."""
    values: str
    """The range, or the most frequent values."""


def preview_html(name: str, preview: TableReading) -> SafeString:
    """Render the preview of a file with this name."""
    context = {
        "name": name,
        "preview": preview,
        "size": _size(preview),
        "columns": [_column_view(number, column, preview) for number, column in enumerate(preview.columns, 1)],
        "suggestions": suggest_questions(preview),
    }
    return render("chat/_table_preview", context)


def _size(preview: TableReading) -> str:
    rows, columns = preview.row_count, preview.column_count
    return f"{rows:,} row{'' if rows == 1 else 's'} × {columns:,} column{'' if columns == 1 else 's'}"


def _column_view(number: int, column: TableColumn, preview: TableReading) -> ColumnView:
    share = f" ({column.missing / preview.row_count:.0%})" if preview.row_count >= column.missing > 0 else ""
    return ColumnView(
        name=column.name or _("Column %(number)s") % {"number": number},
        has_name=bool(column.name),
        type=column.type,
        missing=f"{column.missing:,}{share}" if column.missing else "",
        values=summarize(column),
    )
