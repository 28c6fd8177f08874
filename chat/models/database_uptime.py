"""How long this process has reached the database without a gap. Pure.

Processes renew leases in the database. While it is away, none of them can. So a lease that has expired says that its
process has died only if the database was reachable for the length of a lease.
"""

from __future__ import annotations


class Uptime:
    """Measures how long this process has reached the database without a gap. Times are monotonic seconds."""

    def __init__(self, lease_s: float, interval_s: float) -> None:
        """Begin with a gap: nothing is known about the time before.

        `lease_s`: length of the leases, which are renewed three times in this time. `interval_s`: pause between two
        queries.
        """
        self._lease_s = lease_s
        self._interval_s = interval_s
        self._began_s: float | None = None
        self._due_s = 0.0

    def note_answer(self, answered_s: float) -> None:
        """Record that a query was answered. An answer that is late by half a lease ends a gap.

        Leases are renewed three times in their period. So nobody's lease has expired in a shorter gap.
        """
        if self._began_s is None or answered_s - self._due_s > self._lease_s / 2:
            self._began_s = answered_s

    def note_pause(self, now_s: float) -> None:
        """Record that the next query is to be made after a pause from now on."""
        self._due_s = now_s + self._interval_s

    def note_failure(self) -> None:
        """Record that a query failed."""
        self._began_s = None

    def is_long_enough(self, now_s: float) -> bool:
        """Return whether the database was reachable for a whole lease: every live process could renew its leases."""
        return self.has_lasted(self._lease_s, now_s)

    def has_lasted(self, limit_s: float, now_s: float) -> bool:
        """Return whether there was no gap for this time."""
        return self._began_s is not None and now_s - self._began_s >= limit_s
