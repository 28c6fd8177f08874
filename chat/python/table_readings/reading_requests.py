"""Requests the reading of a table. Threads of views under ASGI call these functions."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress

from asgiref.sync import async_to_sync
from django.core.cache import caches

from attachments.code_files import name_in_code
from attachments.models import Attachment
from attachments.store import BytesUnavailable
from chat.models.database_thread import close_connection
from chat.python.kernels.table_reading import TableReading
from chat.python.sessions.places import is_enabled
from chat.python.table_readings import live_readings
from chat.python.table_readings.choices import InvalidChoice, change_choices
from chat.python.table_readings.kernel_reading import read_file
from chat.python.table_readings.live_readings import TooManyPreviews
from chat.python.table_readings.stored_readings import find_reading, load_choices
from chat.python.table_readings.table_files import PROSE_SUFFIXES, can_hold_table, suffix_of
from chat.vocabulary.text_types import is_text

PROSE_LIFETIME_S = 600
"""Time for which the cache holds whether a file is prose."""
CHOICE_LIMIT_S = 20.0
"""Maximum time that a request waits for the effect of a choice. Then the reading goes on in the background."""
TURNED_OFF = "This server cannot read tables: it runs no Python sessions."
NOT_NOW = "This table cannot be read just now. Try again soon."
NO_ENCODING = "This file is not text, so it has no encoding that could be chosen."


class NotATable(Exception):
    """The file holds prose and no table."""


class ReadingUnavailable(Exception):
    """The file cannot be read now. The text is a sentence for the person."""


def find_or_read_table(attachment: Attachment) -> TableReading | None:
    """Return the reading of an attachment; `None` if it is no table, or if it cannot be read now.

    Blocks until the file is read. Raises TooManyPreviews if the person asks for too many.
    """
    if not can_hold_table(attachment):
        return None
    reading = find_reading(attachment.pk)
    if reading is not None or not is_enabled():
        return reading
    # Otherwise this thread would hold its database connection until the kernel has read the file.
    close_connection()
    return async_to_sync(live_readings.join)(attachment)


def find_table(attachment: Attachment) -> TableReading | None:
    """Return the stored reading of an attachment; `None` if it is being read, or the caller must call `begin_reading`.

    A failed reading that may succeed later is returned once. Raises NotATable if the file is prose, and
    ReadingUnavailable if it cannot be read now.
    """
    # Check this first, because a reading is stored before it ends.
    if async_to_sync(live_readings.is_running)(attachment.pk):
        return None
    reading = find_reading(attachment.pk)
    if reading is not None:
        return reading
    _check_prose(attachment)
    if not is_enabled():
        raise ReadingUnavailable(TURNED_OFF)
    key = live_readings.failure_key(attachment.pk)
    failure: dict[str, TableReading | None] | None = caches["process"].get(key)
    if failure is None:
        return None
    caches["process"].delete(key)
    if failure["reading"] is None:
        raise ReadingUnavailable(NOT_NOW)
    return failure["reading"]


def begin_reading(attachment: Attachment) -> None:
    """Begin to read an attachment in the background, unless this is done already.

    Raises TooManyPreviews if the person asks for too many.
    """
    async_to_sync(live_readings.begin)(attachment)


def read_upload(attachment: Attachment) -> None:
    """Begin to read a file that was just uploaded, if it can hold a table and kernels run."""
    if is_enabled() and can_hold_table(attachment):
        # If this fails, the next request for the table begins the reading.
        with suppress(TooManyPreviews):
            begin_reading(attachment)


def choose_reading(attachment: Attachment, changes: Mapping[str, object]) -> TableReading | None:
    """Read a table as its owner chooses, and store the choices. `changes`: see `change_choices`.

    Blocks until the file is read, for at most `CHOICE_LIMIT_S`: then the result is `None`. Raises InvalidChoice if the
    file cannot be read with the choices; the former choices stay. Raises NotATable if the file is prose,
    ReadingUnavailable if it cannot be read now, and TooManyPreviews if the person asks for too many.
    """
    former = load_choices(attachment.pk).choices
    choices = change_choices(former, changes)
    if "encoding" in choices and not is_text(attachment.mime_type):
        raise InvalidChoice("encoding", NO_ENCODING)
    reading = find_reading(attachment.pk)
    # A reading that runs may be about to store another choice.
    if reading is not None and choices == former and not async_to_sync(live_readings.is_running)(attachment.pk):
        return reading
    if reading is None:
        _check_prose(attachment)
    if not is_enabled():
        raise ReadingUnavailable(TURNED_OFF)
    close_connection()
    try:
        reading = async_to_sync(live_readings.choose)(attachment, changes, CHOICE_LIMIT_S)
    except TimeoutError:
        return None
    if reading is None:
        raise ReadingUnavailable(NOT_NOW)
    if not reading.is_lasting:
        raise InvalidChoice("", f"The file could not be read in this way: {reading.error}")
    return reading


def _check_prose(attachment: Attachment) -> None:
    """Raise NotATable if the file is prose. It is read for this only if its name does not decide it.

    Raises ReadingUnavailable if storage does not have the file now.
    """
    if suffix_of(name_in_code(attachment.name, attachment.mime_type)) not in PROSE_SUFFIXES:
        return
    key = f"table-is-prose:{attachment.pk}"
    is_prose: bool | None = caches["process"].get(key)
    if is_prose is None:
        try:
            is_prose = not read_file(attachment).may_be_table
        except BytesUnavailable:
            raise ReadingUnavailable(NOT_NOW) from None
        # Repeated requests must not read the file and find its encoding each time.
        caches["process"].set(key, is_prose, PROSE_LIFETIME_S)
    if is_prose:
        raise NotATable
