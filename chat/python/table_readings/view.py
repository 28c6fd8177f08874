"""Renders the preview of a table: `chat/_table_preview.jinja`."""

from __future__ import annotations

from dataclasses import dataclass

from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from attachments.code_files import name_in_code
from attachments.models import Attachment
from chat.page.rendering.jinja import render
from chat.python.kernels.in_kernel.table_source import Choices
from chat.python.kernels.table_reading import TableColumn, TableReading
from chat.python.table_readings.controls import controls_of
from chat.python.table_readings.suggestions import suggest_questions
from chat.python.table_readings.summaries import summarize
from chat.python.table_readings.table_json import REFUSED, type_of


@dataclass(frozen=True, slots=True)
class ColumnView:
    """A row of the preview: one column of the table."""

    name: str
    own_name: str
    """The name in the file, which may be empty."""
    type: str
    api_type: str
    role: str
    missing: str
    """Number of missing values with their share; empty if there is none."""
    values: str
    """The range of the values, or the most frequent ones."""
    note: str


@dataclass(frozen=True, slots=True)
class ReadingState:
    """The state of the controls with which a person chooses how the table is read."""

    choices: Choices
    error: str = ""
    """Sentence that says why the last choice was refused; empty if it was not."""
    is_open: bool = False
    """Whether the controls were just used, so the page shows them open."""


def preview_html(attachment: Attachment, preview: TableReading, state: ReadingState) -> SafeString:
    """Render the preview of a file."""
    context = {
        "id": attachment.pk,
        "name": attachment.name,
        "preview": preview,
        "refusal": f"{REFUSED} {preview.error}",
        "size": _size(preview),
        "columns": [_column_view(number, column, preview) for number, column in enumerate(preview.columns, 1)],
        "has_missing": any(column.missing for column in preview.columns),
        "suggestions": suggest_questions(preview),
        "state": state,
        "controls": controls_of(name_in_code(attachment.name, attachment.mime_type), preview, state.choices),
    }
    return render("chat/_table_preview", context)


def _size(preview: TableReading) -> str:
    rows, columns = preview.row_count, preview.column_count
    return f"{rows:,} row{'' if rows == 1 else 's'} × {columns:,} column{'' if columns == 1 else 's'}"


def _column_view(number: int, column: TableColumn, preview: TableReading) -> ColumnView:
    share = f" ({column.missing / preview.row_count:.0%})" if preview.row_count >= column.missing > 0 else ""
    return ColumnView(
        name=column.name or _("Column %(number)s") % {"number": number},
        own_name=column.name,
        type=column.type,
        api_type=type_of(column),
        role=column.role,
        missing=f"{column.missing:,}{share}" if column.missing else "",
        values=summarize(column),
        note=column.note,
    )
