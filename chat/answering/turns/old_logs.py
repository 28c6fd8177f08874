"""Deletes the logs of ended turns, whose parts are stored as rows.

Every web process does this at each sweep (`recovery`). The turns are found by an index that has only turns with a log,
so the cost does not grow with the number of turns that there ever were.
"""

from __future__ import annotations

import threading

from django.db import transaction
from django.db.models.functions import Now

from chat.models import Turn, TurnEvent

TURNS_AT_ONCE = 50
ROWS_AT_ONCE = 1_000
"""Rows that one transaction deletes, which takes about 10 ms."""
BATCHES_LIMIT = 5
"""Transactions of one sweep. Interrupted turns wait for the next sweep until these have ended."""
PAUSE_S = 0.12
"""Pause between two transactions. In SQLite, a waiting writer tries to begin ten times a second."""


def delete_some_logs(pause: threading.Event) -> int:
    """Delete logs whose time is over, up to BATCHES_LIMIT transactions; return the number of rows."""
    total = 0
    for _ in range(BATCHES_LIMIT):
        number = delete_old_logs()
        total += number
        if number < ROWS_AT_ONCE:
            break
        pause.wait(PAUSE_S)
    return total


def delete_old_logs() -> int:
    """Delete rows of logs whose time is over; return their number. If it is ROWS_AT_ONCE, there may be more."""
    due = Turn.objects.filter(log_kept_until__lt=Now()).order_by("log_kept_until")
    if not due.exists():
        # In SQLite, the transaction below would take the lock of the only writer.
        return 0
    with transaction.atomic():
        # Another process deletes the logs of locked turns.
        turns = list(due.select_for_update(skip_locked=True).values_list("pk", flat=True)[:TURNS_AT_ONCE])
        rows = list(TurnEvent.objects.filter(turn__in=turns).order_by().values_list("pk", flat=True)[:ROWS_AT_ONCE])
        TurnEvent.objects.filter(pk__in=rows).delete()
        if len(rows) < ROWS_AT_ONCE:
            Turn.objects.filter(pk__in=turns).update(log_kept_until=None)
    # A full number of short logs counts as a full batch.
    return ROWS_AT_ONCE if len(turns) == TURNS_AT_ONCE else len(rows)
