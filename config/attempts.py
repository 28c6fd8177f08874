"""Counts attempts for an account: wrong passwords, wrong codes, mails with a link.

Strangers share one count for each account, and each known browser (`config.known_browsers`) has its own besides. So
strangers who use up an account's limit do not lock out the person, and a stolen cookie allows only few attempts. The
limits are in `ACCOUNT_RATE_LIMITS`, and allauth counts them.
"""

from __future__ import annotations

from allauth.core.internal.ratelimit import RateLimitUsage, consume
from django.http import HttpRequest
from django.utils.crypto import salted_hmac

from config.known_browsers import find_browser, normalize_name


def hash_key(key: str, prefix: str, version: int) -> str:
    """Return the key under which the database keeps an entry of the cache. It reveals no address and no name."""
    return salted_hmac("plotline cache", f"{prefix}:{version}:{key}", algorithm="sha256").hexdigest()


def count_attempt(request: HttpRequest, action: str, name: str, *, generation: str = "") -> RateLimitUsage | None:
    """Count an attempt for an account, which may not exist. Return `None` if it is one too many for this browser.

    The result has `rollback`, for attempts that turn out to be right. `generation`: counting begins anew with another
    text.
    """
    account = f"{normalize_name(name)} {generation}"
    usage = consume(request, app="allauth.account", action=action, key=account)
    browser = find_browser(request, normalize_name(name))
    if browser is None:
        return usage
    own = consume(request, app="allauth.account", action=action, key=f"{account} {browser}")
    return own and RateLimitUsage([*(usage.usage if usage else []), *own.usage])
