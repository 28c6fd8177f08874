"""Refuses requests that exceed a quota, counts usage, and refunds what was not used."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import date

from django.db import IntegrityError, transaction
from django.utils import timezone

from chat.people.quotas.resources import QuotaExceeded, Resource, day_of
from chat.people.quotas.usage import add_usage, read_usage
from chat.people.time_zones import zone_of


@dataclass(frozen=True, slots=True)
class SpentQuota:
    """Amounts of resources that were added to the usage of a person on one day."""

    user_id: int
    day: date
    amounts: Mapping[Resource, int]

    def refund(self) -> None:
        """Subtract the amounts again, from the usage of the day to which they were added."""
        negative = {resource: -amount for resource, amount in self.amounts.items()}
        add_usage({self.user_id: negative}, day=self.day, reads=())


def spend_quota(
    user_id: int, amounts: Mapping[Resource, int], *, subject: str = "", error: type[QuotaExceeded] = QuotaExceeded
) -> SpentQuota:
    """Add amounts to the usage counters of a person, in the units of the counters.

    Raises QuotaExceeded and counts nothing if a quota would be exceeded. `subject`: the file that the error names.
    `error`: the class of the exception. Inside a transaction, the usage is counted only if the transaction is
    committed; other transactions of the same person wait for its end.
    """
    now = timezone.now()
    day = day_of(now)
    with transaction.atomic():
        usages = add_usage({user_id: amounts}, day=day, reads=list(amounts))[user_id]
        for resource, after in usages.items():
            if after.limit is not None and amounts[resource] and after.used > after.limit:
                there = now.astimezone(zone_of(user_id))
                raise error(after.without(amounts[resource]), amounts[resource], now=there, subject=subject)
    return SpentQuota(user_id, day, amounts)


def count_usage(user_id: int, resource: Resource, amount: int) -> None:
    """Add what a person has already used, even if it exceeds a quota. Must not be called in a transaction."""
    # The account may have been deleted meanwhile.
    with suppress(IntegrityError):
        add_usage({user_id: {resource: amount}}, day=day_of(timezone.now()), reads=())


def check_quota(
    user_id: int,
    resource: Resource,
    amount: int = 0,
    *,
    subject: str = "",
    error: type[QuotaExceeded] = QuotaExceeded,
) -> None:
    """Raise QuotaExceeded if the person may not use `amount` more now. With 0, check whether anything is left.

    See `spend_quota` for `subject` and `error`.
    """
    now = timezone.now()
    [usage] = read_usage(user_id, [resource], day=day_of(now)).values()
    if not usage.allows(amount):
        raise error(usage, amount, now=now.astimezone(zone_of(user_id)), subject=subject)


def check_stored(user_id: int, added_bytes: int, *, subject: str) -> None:
    """Raise QuotaExceeded if the files of a person exceed the quota, because other files were stored meanwhile."""
    now = timezone.now()
    after = read_usage(user_id, [Resource.STORAGE], day=day_of(now))[Resource.STORAGE]
    if added_bytes and after.limit is not None and after.used > after.limit:
        raise QuotaExceeded(after.without(added_bytes), added_bytes, now=now, subject=subject)
