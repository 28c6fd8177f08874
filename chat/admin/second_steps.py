"""The admin of two-step logins. Superusers can only remove one, for a person who has lost phone and recovery codes."""

from __future__ import annotations

from allauth.mfa.models import Authenticator
from django.contrib import admin
from django.db.models import Model
from django.http import HttpRequest

from chat.admin.base import ReadOnlyAdmin

# allauth's own admin shows the secrets.
admin.site.unregister(Authenticator)


@admin.register(Authenticator)
class SecondStepAdmin(ReadOnlyAdmin[Authenticator]):
    """The app or the recovery codes of a person, without their secrets."""

    list_display = ("user", "type", "created_at", "last_used_at")
    list_filter = ("type",)
    list_select_related = ("user",)
    search_fields = ("=user__username",)
    ordering = ("-pk",)
    fields = (("user", "type"), ("created_at", "last_used_at"))

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """Return whether the user may turn off the two-step login of others."""
        return bool(request.user.has_perm("mfa.delete_authenticator"))
