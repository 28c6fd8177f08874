"""Logins with the names that accounts had before the upgrade to 1.0 renamed them."""

from __future__ import annotations

from django.contrib.auth.backends import ModelBackend
from django.http import HttpRequest

from chat.models import User

SESSION_KEY = "logged_in_by_former_name"
"""Set in the session of a login with a former name, until the person is told the new one.

The backend sets an attribute of the request with this name. `AccountAdapter` puts it into the session when it has
accepted the login: a cookie in the response to a refused one would tell that the password was right.
"""


class FormerNamesBackend(ModelBackend):
    """Authenticates by the former name of an account and its password."""

    def authenticate(
        self, request: HttpRequest | None, username: str | None = None, password: str | None = None, **_: object
    ) -> User | None:
        """Return the account that had this name, or `None`."""
        if not username or not password or not User.objects.exclude(former_username="").exists():
            return None
        user = User.objects.filter(former_username=username).first()
        if user is None:
            # Hashing a password here makes the response to an unknown name take as long as that to a known one.
            User().set_password(password)
            return None
        if not (user.check_password(password) and self.user_can_authenticate(user)):
            return None
        if request is not None:
            setattr(request, SESSION_KEY, True)
        return user
