"""Reads the cells of attached workbooks as text, in a new kernel. Numbers of answers may come from them."""

from __future__ import annotations

import logging
import uuid
from functools import lru_cache

from asgiref.sync import async_to_sync

from attachments.code_files import name_in_code
from attachments.models import Attachment
from attachments.store import BytesUnavailable
from chat.python.kernels.errors import KernelGone, KernelsUnavailable
from chat.python.sessions.places import is_enabled
from chat.python.table_readings.kernel_reading import read_workbook
from chat.python.table_readings.table_files import suffix_of

logger = logging.getLogger(__name__)

WORKBOOKS = ("xlsx", "xlsm", "xlsb", "xls", "ods")
_KEPT = 16
"""Number of texts that this process caches, because each answer about a workbook needs its cells again."""


def workbook_text(attachment: Attachment) -> str | None:
    """Return the visible cells, with a line for each row and tabs between cells.

    Return `None` if the file is no workbook, has no or too many cells, or cannot be read now. Blocks until a kernel has
    read the file, so call it on a thread.
    """
    if not is_enabled() or suffix_of(name_in_code(attachment.name, attachment.mime_type)) not in WORKBOOKS:
        return None
    try:
        return _read(attachment.pk) or None
    except (BytesUnavailable, KernelGone, KernelsUnavailable, ValueError) as error:
        logger.warning("The cells of attachment %s cannot be read: %s", attachment.pk, error)
        return None


@lru_cache(maxsize=_KEPT)
def _read(attachment_id: uuid.UUID) -> str:
    return async_to_sync(read_workbook)(Attachment.objects.get(pk=attachment_id))
