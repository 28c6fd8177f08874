"""The session engine: Django's sessions in the database, with a column for the user (`chat.models.LoginSession`).

The facts about a login are in the session's data, and each save copies them into columns. So a login costs no further
query, logins at the page of the admin are listed as well, and a session ends when its user is deleted.
`allauth.usersessions` would need a second table and a write for each request. It would not name browsers, could not
end a single login, and would leave the sessions of deleted users.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from django.contrib.auth import SESSION_KEY
from django.contrib.auth.signals import user_logged_in
from django.contrib.sessions.backends import db
from django.contrib.sessions.backends.base import SessionBase
from django.contrib.sessions.base_session import AbstractBaseSession
from django.contrib.sessions.models import Session
from django.dispatch import receiver
from django.http import HttpRequest
from django.utils import timezone

from chat.models import LoginSession, SharedCount, User
from chat.models.logins import USER_AGENT_LIMIT
from chat.vocabulary.sanitize import sanitize_text

USE_PRECISION = timedelta(minutes=10)
LOGIN_KEY = "plotline_login"
"""Key of the session's data that holds the time and the user agent of the login."""


@receiver(user_logged_in)
def note_login(sender: object, request: HttpRequest, user: User, **kwargs: object) -> None:
    """Store in the session when and with which browser the user has logged in."""
    agent = sanitize_text(request.headers.get("User-Agent", "").replace("\0", ""))[:USER_AGENT_LIMIT]
    request.session[LOGIN_KEY] = {"at": timezone.now().isoformat(), "user_agent": agent}


def is_login_within(session: SessionBase, limit: timedelta) -> bool:
    """Return whether the person logged in with this session less than `limit` ago."""
    login = session.get(LOGIN_KEY)
    return login is not None and timezone.now() - datetime.fromisoformat(login["at"]) < limit


class SessionStore(db.SessionStore):
    """Stores sessions as rows of `LoginSession`. Django signs session data with the class name, so it is Django's."""

    @classmethod
    def get_model_class(cls) -> type[LoginSession]:
        """Return the model of the rows."""
        return LoginSession

    def create_model_instance(self, data: dict[str, object]) -> LoginSession:
        """Return an unsaved row with the data of the session."""
        return _with_login(super().create_model_instance(data), data)

    async def acreate_model_instance(self, data: dict[str, object]) -> LoginSession:
        """Return an unsaved row with the data of the session."""
        return _with_login(await super().acreate_model_instance(data), data)

    @classmethod
    def clear_expired(cls) -> None:
        """Delete expired sessions, also those in the table of Django's own engine, and expired shared counts."""
        super().clear_expired()
        Session.objects.filter(expire_date__lt=timezone.now()).delete()
        SharedCount.objects.filter(expires__lt=timezone.now()).delete()

    def _get_session_from_db(self) -> LoginSession | None:
        row: LoginSession | None = super()._get_session_from_db()  # type: ignore[misc]  # the stubs lack it
        if row is not None and _is_use_due(row):
            LoginSession.objects.filter(pk=row.pk).update(used_at=timezone.now())
        return row

    async def _aget_session_from_db(self) -> LoginSession | None:
        row: LoginSession | None = await super()._aget_session_from_db()  # type: ignore[misc]  # as above
        if row is not None and _is_use_due(row):
            await LoginSession.objects.filter(pk=row.pk).aupdate(used_at=timezone.now())
        return row


def _is_use_due(row: LoginSession) -> bool:
    return row.used_at < timezone.now() - USE_PRECISION


def _with_login(row: AbstractBaseSession, data: dict[str, Any]) -> LoginSession:
    """Copy the login in the session's data into the columns of the row, and return the row."""
    assert isinstance(row, LoginSession)
    user_id = data.get(SESSION_KEY)
    row.user_id = None if user_id is None else int(user_id)
    login = data.get(LOGIN_KEY)
    if login is not None:
        row.logged_in_at, row.user_agent = datetime.fromisoformat(login["at"]), login["user_agent"]
    return row
