"""Who gets in: whether visitors may sign up, and the admin's login under the limits that the accounts page keeps."""

from __future__ import annotations

from typing import Any

from allauth.account.adapter import DefaultAccountAdapter, get_adapter
from django.conf import settings
from django.contrib.admin.forms import AdminAuthenticationForm
from django.http import HttpRequest


def is_signup_open() -> bool:
    """Whether visitors may make themselves an account."""
    return bool(settings.ALLOW_SIGNUP)


class AccountAdapter(DefaultAccountAdapter):  # type: ignore[misc] # allauth has no types
    """allauth's behaviour, but for the door that the operator may close."""

    def is_open_for_signup(self, request: HttpRequest) -> bool:
        """Asked before the form is shown and before it is taken."""
        return is_signup_open()


class AdminLoginForm(AdminAuthenticationForm):
    """Counts tries per address and per user name, so that this door is no way round the other."""

    def clean(self) -> dict[str, Any]:
        """Raises ValidationError for wrong names and passwords, for who is no staff, and for too many tries."""
        username, password = self.cleaned_data.get("username"), self.cleaned_data.get("password")
        if username and password:
            self.user_cache = get_adapter(self.request).authenticate(self.request, username=username, password=password)
            if self.user_cache is None:
                raise self.get_invalid_login_error()
            self.confirm_login_allowed(self.user_cache)
        return self.cleaned_data
