"""The rule that one superuser must always remain, because otherwise nobody could manage this server."""

from __future__ import annotations

from chat.models.user import User


def lock_superusers() -> None:
    """Lock the accounts of all superusers until the end of the transaction.

    Every transaction that removes a superuser calls this before `is_last_superuser`. If two superusers remove each
    other, the second transaction thus finds only one left. In SQLite, which has one writer, the transaction itself is
    the lock. Rows that refer to these accounts can still be written, because `no_key` does not lock foreign keys.
    """
    superusers = User.objects.select_for_update(no_key=True).filter(is_superuser=True)
    list(superusers.order_by("pk").values_list("pk"))


def is_last_superuser(*users: User) -> bool:
    """Return whether these users include all active superusers whose accounts stay, and at least one."""
    staying = User.objects.filter(is_superuser=True, is_active=True, deletion_at=None).values_list("pk", flat=True)
    return bool(ids := set(staying)) and ids <= {user.pk for user in users}
