"""Measures how long this process has reached the database without a gap. Pure.

Processes renew leases in the database. During an outage, none of them can. Therefore an expired lease shows the death
of its process only if the database was reachable for the whole length of a lease.
"""

from __future__ import annotations


class Uptime:
    """The time without a gap. All times are monotonic seconds."""

    def __init__(self, lease_s: float, interval_s: float) -> None:
        """Start with a gap, because nothing is known about the time before.

        `lease_s`: length of a lease, in which it is renewed three times. `interval_s`: pause between two queries.
        """
        self._lease_s = lease_s
        self._interval_s = interval_s
        self._began_s: float | None = None
        self._due_s = 0.0

    def note_answer(self, answered_s: float) -> None:
        """Record that a query was answered. If the answer is late by more than half a lease, there was a gap until now.

        A shorter delay is no gap: leases are renewed three times in their length, so none has expired in it.
        """
        if self._began_s is None or answered_s - self._due_s > self._lease_s / 2:
            self._began_s = answered_s

    def note_pause(self, now_s: float) -> None:
        """Record that the next query follows after a pause that begins now."""
        self._due_s = now_s + self._interval_s

    def note_failure(self) -> None:
        """Record that a query failed."""
        self._began_s = None

    def is_long_enough(self, now_s: float) -> bool:
        """Return whether the database was reachable for a whole lease, so that every live process could renew its
        leases.
        """
        return self.has_lasted(self._lease_s, now_s)

    def has_lasted(self, limit_s: float, now_s: float) -> bool:
        """Return whether there was no gap in the last `limit_s` seconds."""
        return self._began_s is not None and now_s - self._began_s >= limit_s
