"""Pauses of long jobs between their transactions, in which others can write: SQLite has one writer at a time."""

from __future__ import annotations

import time

from django.db import connection

WORK_S = 0.1
"""Time of short transactions after which a long job pauses."""
PAUSE_S = 0.12
"""Pause between two transactions in SQLite, which a waiting writer tries to begin ten times a second."""


class WritePauses:
    """The pauses of one job that has many short transactions."""

    def __init__(self) -> None:
        self._resumed_at = time.monotonic()

    def pause_if_due(self) -> None:
        """Pause if the job has worked for `WORK_S`. PostgreSQL needs no pause, and a transaction allows none."""
        is_due = time.monotonic() - self._resumed_at > WORK_S
        if is_due and connection.vendor == "sqlite" and not connection.in_atomic_block:
            time.sleep(PAUSE_S)
            self._resumed_at = time.monotonic()
