"""Starts a run on a newer file. Refuses files that the code cannot read, and reports tables that differ."""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Sequence

from asgiref.sync import async_to_sync

from attachments.code_files import name_in_code
from attachments.models import Attachment
from chat.models import Conversation, NewerFileRun
from chat.python.kernels.table_reading import TableReading
from chat.python.newer_files.rows import NewerFileRefused, begin
from chat.python.newer_files.run import launch
from chat.python.reruns.rerun import NOTHING_RAN
from chat.python.sessions.branch import replay_codes
from chat.python.sessions.files import SessionFile, session_files
from chat.python.sessions.places import TURNED_OFF, is_enabled
from chat.python.table_readings.live_readings import TooManyPreviews
from chat.python.table_readings.reading_requests import find_or_read_table
from chat.python.table_readings.table_files import can_hold_table, suffix_of
from chat.python.table_readings.table_json import REFUSED, type_of

NO_TABLE = "“{name}” holds no table that can be read now."
TOO_MANY = "Too many tables are being read at once. Try again in a minute."
OTHER_KIND = "“{name}” must end with .{suffix} like “{former}”, because the code reads it as such a file."
SAME_CONTENT = "“{name}” has the same content as “{former}”. “Run everything again” runs the code on it."
NO_COLUMN = "“{name}” has no column “{column}”."
OTHER_TYPE = "The type of “{column}” is “{kind}” in “{name}”, and “{what}” in “{former}”."
OTHER_READING = "“{name}” is read in another way than “{former}”: compare their previews."
MORE_DIFFERENCES = "{number} more differences."
DIFFERENCES_LIMIT = 5
"""Maximum number of differences that an error lists."""
_FORM = ("delimiter", "decimal", "header_rows", "sheet", "path", "date_order")
"""Choices of how a table is read that code may contain, too. If they differ, the code may fail."""


def find_replaceable(conversation: Conversation, attachment_id: uuid.UUID) -> SessionFile | None:
    """Return the file with this id if it is of a shown question or the project, and may hold a table; else `None`."""
    files = session_files(conversation.pk)
    found = (file for file in files if file.attachment.pk == attachment_id and not file.is_kept)
    return next((file for file in found if can_hold_table(file.attachment)), None)


class TableDiffers(Exception):
    """The newer table differs from the former one, so a person must decide whether the code runs on it."""

    def __init__(self, sentences: Sequence[str]) -> None:
        super().__init__(" ".join(sentences))
        self.sentences = sentences


def start_run(conversation: Conversation, replaced: Attachment, newer: Attachment, *, anyway: bool) -> NewerFileRun:
    """Start the code of a conversation on a newer file, and return the row with its results.

    Blocks until the files are read. `anyway`: whether to start also if the tables differ. Raises TableDiffers if they
    differ, and NewerFileRefused if the code cannot run with this file.
    """
    differences = check_newer_file(conversation, replaced, newer)
    if differences and not anyway:
        raise TableDiffers(differences)
    run = begin(conversation, replaced, newer)
    async_to_sync(launch)(run.pk)
    return run


def check_newer_file(conversation: Conversation, replaced: Attachment, newer: Attachment) -> list[str]:
    """Return sentences about missing or changed columns of the newer table; none if the code should run on it.

    Blocks until the files are read. Raises NewerFileRefused if the code cannot run with this file.
    """
    if not is_enabled():
        raise NewerFileRefused(TURNED_OFF)
    if not replay_codes(conversation.pk):
        raise NewerFileRefused(NOTHING_RAN)
    names = {"name": newer.name, "former": replaced.name}
    if newer.sha256 == replaced.sha256:
        raise NewerFileRefused(SAME_CONTENT.format(**names))
    suffix = suffix_of(name_in_code(replaced.name, replaced.mime_type))
    if suffix_of(name_in_code(newer.name, newer.mime_type)) != suffix:
        raise NewerFileRefused(OTHER_KIND.format(suffix=suffix, **names))
    before, after = _read(replaced), _read(newer)
    found = list(_differences(before, after, **names))
    more = len(found) - DIFFERENCES_LIMIT
    return found if more <= 0 else [*found[:DIFFERENCES_LIMIT], MORE_DIFFERENCES.format(number=more)]


def _read(file: Attachment) -> TableReading:
    """Return the reading of a table. Raises NewerFileRefused if the file holds no table or cannot be read now."""
    try:
        reading = find_or_read_table(file)
    except TooManyPreviews:
        raise NewerFileRefused(TOO_MANY) from None
    if reading is None:
        raise NewerFileRefused(NO_TABLE.format(name=file.name))
    if reading.error:
        raise NewerFileRefused(f"{REFUSED} {reading.error}")
    return reading


def _differences(before: TableReading, after: TableReading, name: str, former: str) -> Iterator[str]:
    columns = {column.name: column for column in after.columns}
    # Only the first columns of a very wide table are known.
    are_all_known = len(after.columns) == after.column_count
    for column in before.columns:
        other = columns.get(column.name)
        if other is None:
            if are_all_known:
                yield NO_COLUMN.format(name=name, column=column.name)
        elif type_of(column) != type_of(other) and "empty" not in (column.type, other.type):
            types = {"kind": other.type, "what": column.type}
            yield OTHER_TYPE.format(column=column.name, name=name, former=former, **types)
    if any(before.reading.get(key) != after.reading.get(key) for key in _FORM):
        yield OTHER_READING.format(name=name, former=former)
