"""Quotas of the people whose turns start in one batch."""

from __future__ import annotations

from collections import Counter

from django.utils import timezone

from chat.people.quotas.resources import QuotaExceeded, Resource, ResourceUsage, day_of
from chat.people.quotas.usage import add_usage, with_estimate
from chat.people.time_zones import zone_of

_READS = (Resource.TURNS, Resource.TOKENS, Resource.KERNEL_TIME)


class StartQuotas:
    """Counts the turns of a batch, and refuses those that exceed a quota of their owner.

    One statement counts all starts in advance, inside the transaction that stores the turns. It also makes other
    processes that start turns of the same people wait for the end of the transaction, so live turns that are read after
    it include theirs. What was not started is subtracted again.
    """

    def __init__(self, starts: Counter[int]) -> None:
        """`starts`: user id -> number of starts in the batch."""
        self._now = timezone.now()
        self._day = day_of(self._now)
        self._not_started = Counter(starts)
        amounts = {user_id: {Resource.TURNS: number} for user_id, number in starts.items()}
        self._usages = add_usage(amounts, day=self._day, reads=_READS)

    def check_turn(self, user_id: int) -> None:
        """Raise QuotaExceeded if the user may start no further turn today."""
        counted = self._usages[user_id][Resource.TURNS]
        self._refuse(user_id, counted.without(self._not_started[user_id]), 1)
        self._refuse(user_id, self._usages[user_id][Resource.TOKENS], 0)

    def check_own_code(self, user_id: int) -> None:
        """Raise QuotaExceeded if the user's code may not run any longer today."""
        self._refuse(user_id, self._usages[user_id][Resource.KERNEL_TIME], 0)

    def add_turn(self, user_id: int) -> None:
        """Record that a turn starts."""
        self._not_started[user_id] -= 1

    def refund(self) -> None:
        """Subtract the turns that were counted in advance and did not start."""
        unused = {user_id: {Resource.TURNS: -number} for user_id, number in self._not_started.items() if number}
        add_usage(unused, day=self._day, reads=())

    def _refuse(self, user_id: int, usage: ResourceUsage, amount: int) -> None:
        if not usage.allows(amount):
            if usage.resource is Resource.TOKENS:
                usage = with_estimate(usage, user_id, self._day)
            raise QuotaExceeded(usage, amount, now=self._now.astimezone(zone_of(user_id)))
