"""Browser sessions in the database, each with its user, so that people see where they are logged in.

`chat.people.login_sessions` is the session engine that writes these rows.
"""

from __future__ import annotations

import hashlib
from typing import ClassVar

from django.conf import settings
from django.contrib.auth import HASH_SESSION_KEY
from django.contrib.sessions.backends.db import SessionStore as DatabaseSessions
from django.contrib.sessions.base_session import AbstractBaseSession, BaseSessionManager
from django.db import models
from django.utils import timezone
from django.utils.crypto import constant_time_compare

from chat.models.user import User

USER_AGENT_LIMIT = 300
"""Maximum length of a stored user agent, in characters."""


class LoginSessionQuerySet(models.QuerySet["LoginSession"]):
    """Queries for browser sessions."""

    def current(self) -> LoginSessionQuerySet:
        """Return the sessions that have not expired."""
        return self.filter(expire_date__gt=timezone.now())

    def usable_by(self, user: User) -> list[LoginSession]:
        """Return the sessions in which this user is logged in, the most recently used first. Runs one query.

        Sessions from before the last change of the password are left out, because Django no longer accepts them.
        """
        rows = self.current().filter(user=user).order_by("-used_at", "-logged_in_at", "pk")
        return [row for row in rows if row.has_password_of(user)]

    def end(self, user: User, *, but: str | None = None) -> None:
        """End all sessions of the user. `but`: the key of a session that stays."""
        self.filter(user=user).exclude(pk=but).delete()


class LoginSession(AbstractBaseSession):
    """One session of a browser. `user` is empty unless somebody is logged in."""

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, null=True, blank=True, related_name="login_sessions"
    )
    user_agent = models.CharField(
        max_length=USER_AGENT_LIMIT, blank=True, help_text="What the browser said of itself at the login."
    )
    logged_in_at = models.DateTimeField(default=timezone.now)
    used_at = models.DateTimeField(default=timezone.now, help_text="Accurate to ten minutes.")

    objects: ClassVar = BaseSessionManager.from_queryset(LoginSessionQuerySet)()

    class Meta:
        ordering: ClassVar[list[str]] = ["-used_at"]

    def __str__(self) -> str:
        # The text must not contain the key, which is a secret.
        return f"session {self.public_id}"

    @property
    def public_id(self) -> str:
        """An id that pages and forms may contain. They must not contain the key, because the key is enough
        to log in.
        """
        return hashlib.sha256(self.session_key.encode()).hexdigest()[:20]

    def has_password_of(self, user: User) -> bool:
        """Return whether the user logged in with the password that is valid now."""
        stored = DatabaseSessions().decode(self.session_data).get(HASH_SESSION_KEY, "")
        return constant_time_compare(stored, user.get_session_auth_hash())
