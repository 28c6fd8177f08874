"""Deletes the logs of ended turns, whose parts are stored as rows.

Every web process does this at each sweep (`recovery`). An index that has only turns with a log finds them, so the cost
does not grow with the number of all turns.
"""

from __future__ import annotations

import threading

from django.db import transaction
from django.db.models.functions import Now

from chat.models import Turn, TurnEvent

TURNS_AT_ONCE = 50
ROWS_AT_ONCE = 1_000
"""Maximum number of rows that one transaction deletes, which takes about 10 ms."""
BATCHES_LIMIT = 5
"""Maximum number of transactions of one sweep, because interrupted turns wait for the next sweep meanwhile."""
PAUSE_S = 0.12
"""Seconds between two transactions. In SQLite, a waiting writer tries to begin every 0.1 s, so once in a pause."""


def delete_some_logs(pause: threading.Event) -> int:
    """Delete logs whose lifetime is over, in up to BATCHES_LIMIT transactions. Return the number of rows."""
    total = 0
    for _ in range(BATCHES_LIMIT):
        number = delete_old_logs()
        total += number
        if number < ROWS_AT_ONCE:
            break
        pause.wait(PAUSE_S)
    return total


def delete_old_logs() -> int:
    """Delete rows of logs whose lifetime is over. Return their number. If it is ROWS_AT_ONCE, there may be more."""
    due = Turn.objects.filter(log_kept_until__lt=Now()).order_by("log_kept_until")
    if not due.exists():
        # Without due logs there is no transaction, because in SQLite it would take the lock of the only writer.
        return 0
    with transaction.atomic():
        # Another process is deleting the logs of locked turns, so these are skipped.
        turns = list(due.select_for_update(skip_locked=True).values_list("pk", flat=True)[:TURNS_AT_ONCE])
        rows = list(TurnEvent.objects.filter(turn__in=turns).order_by().values_list("pk", flat=True)[:ROWS_AT_ONCE])
        TurnEvent.objects.filter(pk__in=rows).delete()
        if len(rows) < ROWS_AT_ONCE:
            Turn.objects.filter(pk__in=turns).update(log_kept_until=None)
    # If the number of turns has reached its limit, there may be more logs, although fewer rows were deleted.
    return ROWS_AT_ONCE if len(turns) == TURNS_AT_ONCE else len(rows)
