"""Pauses between the transactions of long jobs, in which others can write: SQLite has one writer at a time."""

from __future__ import annotations

import time

from django.db import connection

WORK_S = 0.1
"""Seconds of work after which a long job pauses."""
PAUSE_S = 0.12
"""Seconds of a pause. In SQLite, a waiting writer tries every 0.1 s to begin its transaction, so at least once in a
pause.
"""


class WritePauses:
    """The pauses of one job that runs many short transactions."""

    def __init__(self) -> None:
        self._resumed_at = time.monotonic()

    def pause_if_due(self) -> None:
        """Pause if the job has worked for `WORK_S`. No pause is made on PostgreSQL, which needs none, or inside a
        transaction.
        """
        is_due = time.monotonic() - self._resumed_at > WORK_S
        if is_due and connection.vendor == "sqlite" and not connection.in_atomic_block:
            time.sleep(PAUSE_S)
            self._resumed_at = time.monotonic()
