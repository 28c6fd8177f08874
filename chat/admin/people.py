"""Accounts in the admin: Django's own page, and a deletion that takes with a person what is theirs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from django.contrib import admin
from django.contrib.admin.models import LogEntry
from django.contrib.auth import admin as auth_admin
from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpRequest

from chat.admin.read_only import DeletesWhole

if TYPE_CHECKING:
    UserAdmin = auth_admin.UserAdmin[User]
else:
    UserAdmin = auth_admin.UserAdmin

admin.site.unregister(User)


@admin.register(User)
class PersonAdmin(DeletesWhole[User], UserAdmin):
    """A user, whose conversations and files go with them, and the lines about who of the staff read these.

    What they read as staff themselves stays in the access log of its owners; what they did in the admin goes, and the
    page that asks before a deletion counts it.
    """

    def get_deleted_objects(
        self, objs: Sequence[User] | QuerySet[User], request: HttpRequest
    ) -> tuple[list[Any], dict[str, int], set[str], list[Any]]:
        """Name the users, and count their lines in the log of the admin."""
        names, counts, permissions, protected = super().get_deleted_objects(objs, request)
        if lines := LogEntry.objects.filter(user__in=[user.pk for user in objs]).count():
            counts["lines about what they did in the admin"] = lines
        return names, counts, permissions, protected

    def delete_model(self, request: HttpRequest, obj: User) -> None:
        """Delete what hangs from conversations first: their links protect attachments."""
        with transaction.atomic():
            for conversation in obj.conversations.all():
                conversation.delete_with_attachments()
            obj.delete()
