"""The admin's own login page, under the limits on failed logins that the accounts page keeps."""

from __future__ import annotations

from typing import Any

from allauth.account.adapter import get_adapter
from django.contrib.admin.forms import AdminAuthenticationForm


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
