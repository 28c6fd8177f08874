"""Counts attempts for an account: wrong passwords, wrong codes, mails with a link.

Each account has a count of the attempts of all browsers, which limits unknown browsers. A known browser
(`config.known_browsers`) also has a count of its own, and is limited by this one alone. So strangers who use up an
account's limit do not lock out the person, and a stolen cookie allows only few attempts. The limits are in
`ACCOUNT_RATE_LIMITS`, and allauth counts them.
"""

from __future__ import annotations

import unicodedata

from allauth.core.internal.ratelimit import RateLimitUsage, consume
from django.core.cache.backends.base import DEFAULT_TIMEOUT
from django.core.cache.backends.db import DatabaseCache
from django.http import HttpRequest
from django.utils.crypto import salted_hmac

from attachments.database_connection import close_connection
from chat.models import User
from config.known_browsers import find_browser


class SharedCounts(DatabaseCache):
    """Django's cache in the database. A request that waits for a lock holds no connection meanwhile."""

    def add(self, key: str, value: object, timeout: float | None = DEFAULT_TIMEOUT, version: int | None = None) -> bool:
        """Store a value if there is none, and return whether it was stored.

        allauth uses this as a lock, and retries after a pause.
        """
        is_added = super().add(key, value, timeout, version)
        if not is_added:
            close_connection()
        return is_added


def hash_key(key: str, prefix: str, version: int) -> str:
    """Return the key of a cache entry in the database: a hash, which reveals no address and no name."""
    return salted_hmac("plotline cache", f"{prefix}:{version}:{key}", algorithm="sha256").hexdigest()


def normalize_name(name: str) -> str:
    """Return the same text for all spellings that the database takes for one user name.

    It is also the same for some names that are different, such as `straße` and `strasse`. Their logins share a limit.
    """
    return unicodedata.normalize("NFKC", name).upper().casefold().strip()


def count_attempt(request: HttpRequest, action: str, account: str, user: User | None) -> RateLimitUsage | None:
    """Count an attempt for an account. Return `None` if this browser has reached its limit.

    The result has a method `rollback` for attempts that succeed. `account`: the key of the count for all browsers.
    `user`: the account, to find out whether it knows the browser; `None` if it does not exist.
    """
    usage = consume(request, app="allauth.account", action=action, key=account)
    browser = find_browser(request, user)
    if browser is None:
        return usage
    own = consume(request, app="allauth.account", action=action, key=f"{account} {browser}")
    return own and RateLimitUsage([*(usage.usage if usage else []), *own.usage])


def count_code(request: HttpRequest, user: User) -> RateLimitUsage | None:
    """Count a code of the second step. Return `None` if the limit is reached, see `count_attempt`."""
    return count_attempt(request, "second_step", f"user {user.pk}", user)
