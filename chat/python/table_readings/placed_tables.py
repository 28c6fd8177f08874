"""Finds the code that reads the tables in a session."""

from __future__ import annotations

from collections.abc import Mapping

from attachments.models import Attachment
from chat.python.sessions.files import attachment_of_version
from chat.python.table_readings.model_notes import read_expression
from chat.python.table_readings.stored_readings import stored_readings


def placed_expressions(placed: Mapping[str, str]) -> dict[str, str]:
    """Return the expressions that read the tables among placed files, by the labels of the files.

    Only tables whose reading is stored are included. `placed`: see `place_files`. Runs at most two queries.
    """
    ids = {label: attachment_of_version(version) for label, version in placed.items()}
    readings = stored_readings(ids.values()) if ids else {}
    files = Attachment.objects.in_bulk(list(readings)) if readings else {}
    expressions = {label: read_expression(readings[pk], files[pk], label) for label, pk in ids.items() if pk in files}
    return {label: code for label, code in expressions.items() if code}
