"""Browsers in which somebody has logged in completely before, known by a cookie.

A known browser of an account is not subject to the limit of all strangers who try its password. The cookie is no login:
whoever steals it may try a password a few times, in a count of its own (`config.attempts`). It names no account, so the
next user of a shared computer does not read who used it before.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Iterator

from allauth.account.signals import password_reset
from allauth.mfa.utils import is_mfa_enabled
from django.conf import settings
from django.contrib.auth.signals import user_logged_in
from django.dispatch import receiver
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.utils.crypto import constant_time_compare, salted_hmac
from django.utils.deprecation import MiddlewareMixin

from chat.models import User

LIFETIME_S = 400 * 24 * 60 * 60
"""Lifetime of the cookie: the longest that browsers allow."""
ACCOUNTS_LIMIT = 10
"""Maximum number of accounts for which a browser is known: those of the last logins."""
ID_CHARS = 16
ATTRIBUTE = "known_browser_of"
"""Attribute of a request: the id of the account for which its browser is known from now on."""


def cookie_name() -> str:
    """Return the name of the cookie. With HTTPS it has a prefix, so that browsers accept it from this host only."""
    return "__Host-known-browser" if settings.SESSION_COOKIE_SECURE else "known-browser"


def find_browser(request: HttpRequest, user: User | None) -> str | None:
    """Return an id of the browser if it is known for an account, or is logged in to it. `None`: it is unknown.

    The cookie is bound to the id of the account, not to the name: somebody may sign up with a name that looks the same.
    """
    if user is None:
        return None
    current = getattr(request, "user", None)
    if current is not None and current.pk == user.pk:
        return hashlib.sha256(f"session {request.session.session_key}".encode()).hexdigest()
    return next((number for number, signature in _entries(request) if _is_signature(number, signature, user.pk)), None)


class RememberBrowser(MiddlewareMixin):
    """Sets the cookie after a complete login."""

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        """Add the account to the cookie of the response, if somebody has just logged in."""
        user_id = getattr(request, ATTRIBUTE, None)
        if user_id is None:
            return response
        others = [entry for entry in _entries(request) if not _is_signature(*entry, user_id)]
        number = secrets.token_hex(ID_CHARS // 2)
        entries = [(number, _sign(number, user_id)), *others[: ACCOUNTS_LIMIT - 1]]
        response.set_cookie(
            cookie_name(),
            ".".join(f"{number}{signature}" for number, signature in entries),
            max_age=LIFETIME_S,
            secure=settings.SESSION_COOKIE_SECURE,
            httponly=True,
            samesite="Lax",
        )
        return response


@receiver(user_logged_in)
def remember_login(sender: object, request: HttpRequest, user: User, **kwargs: object) -> None:
    """Make the browser known for the account. Django sends this signal after all steps of a login."""
    setattr(request, ATTRIBUTE, user.pk)


@receiver(password_reset)
def remember_reset(sender: object, request: HttpRequest, user: User, **kwargs: object) -> None:
    """Make a browser known in which the person has set a new password by mail, if that is all that a login needs."""
    if not is_mfa_enabled(user):
        setattr(request, ATTRIBUTE, user.pk)


def _entries(request: HttpRequest) -> Iterator[tuple[str, str]]:
    """Yield id and signature of each entry of the cookie, as the browser sent them."""
    for entry in filter(None, request.COOKIES.get(cookie_name(), "").split(".")[:ACCOUNTS_LIMIT]):
        yield entry[:ID_CHARS], entry[ID_CHARS:]


def _sign(number: str, user_id: int) -> str:
    return salted_hmac("plotline known browser", f"{number} {user_id}", algorithm="sha256").hexdigest()


def _is_signature(number: str, signature: str, user_id: int) -> bool:
    return constant_time_compare(signature, _sign(number, user_id))
