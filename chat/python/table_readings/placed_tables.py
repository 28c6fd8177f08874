"""How code reads the tables that were written into a session."""

from __future__ import annotations

from collections.abc import Mapping

from attachments.models import Attachment
from chat.python.sessions.files import attachment_of_version
from chat.python.table_readings.model_notes import read_expression
from chat.python.table_readings.stored_readings import stored_readings


def placed_expressions(placed: Mapping[str, str]) -> dict[str, str]:
    """Return the expression that reads each table whose reading is stored, by the label of its file.

    `placed`: see `place_files`. At most two queries.
    """
    ids = {label: attachment_of_version(version) for label, version in placed.items()}
    readings = stored_readings(ids.values()) if ids else {}
    files = Attachment.objects.in_bulk(list(readings)) if readings else {}
    expressions = {label: read_expression(readings[pk], files[pk], label) for label, pk in ids.items() if pk in files}
    return {label: code for label, code in expressions.items() if code}
