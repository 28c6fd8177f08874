"""Sign-up and login: an optional closed sign-up, and an admin login with the rate limits of the normal login."""

from __future__ import annotations

from typing import Any

from allauth.account.adapter import DefaultAccountAdapter, get_adapter
from django.conf import settings
from django.contrib.admin.forms import AdminAuthenticationForm
from django.http import HttpRequest


def is_signup_open() -> bool:
    """Return whether visitors may create an account."""
    return bool(settings.ALLOW_SIGNUP)


class AccountAdapter(DefaultAccountAdapter):  # type: ignore[misc]  # allauth has no types
    """allauth's default adapter, with a sign-up that the operator can close by the setting `ALLOW_SIGNUP`."""

    def is_open_for_signup(self, request: HttpRequest) -> bool:
        """Return whether sign-up is open. allauth calls this before it shows the form and before it accepts it."""
        return is_signup_open()


class AdminLoginForm(AdminAuthenticationForm):
    """The admin's login form, authenticated by allauth.

    allauth counts failed logins for each address and user name, so the admin cannot be used to bypass those limits.
    """

    def clean(self) -> dict[str, Any]:
        """Return the form's data.

        Raise ValidationError for a wrong name or password, for a user who is not staff, and after too many attempts.
        """
        username, password = self.cleaned_data.get("username"), self.cleaned_data.get("password")
        if username and password:
            self.user_cache = get_adapter(self.request).authenticate(self.request, username=username, password=password)
            if self.user_cache is None:
                raise self.get_invalid_login_error()
            self.confirm_login_allowed(self.user_cache)
        return self.cleaned_data
