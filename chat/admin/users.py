"""The admin of user accounts: Django's own pages, and a deletion that includes the user's conversations and files."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.contrib import admin
from django.contrib.admin.models import LogEntry
from django.contrib.auth import admin as auth_admin
from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpRequest

from chat.admin.base import WholeDeletionMixin
from chat.models import User
from chat.models.deletion import delete_conversation


@admin.register(User)
class UserAdmin(WholeDeletionMixin[User], auth_admin.UserAdmin[User]):
    """A user account.

    Deleting a user also deletes their conversations, their files and the access log of these conversations. The access
    log of other people's conversations keeps what the user read as staff. Django's log of the user's actions in the
    admin is deleted, and the confirmation page shows how many entries it has.
    """

    def get_deleted_objects(
        self, objs: Sequence[User] | QuerySet[User], request: HttpRequest
    ) -> tuple[list[Any], dict[str, int], set[str], list[Any]]:
        """Return the names of the users, and the number of their entries in the admin's log."""
        names, counts, permissions, protected = super().get_deleted_objects(objs, request)
        if entries := LogEntry.objects.filter(user__in=[user.pk for user in objs]).count():
            counts["lines about what they did in the admin"] = entries
        return names, counts, permissions, protected

    def delete_model(self, request: HttpRequest, obj: User) -> None:
        """Delete a user. Their conversations are deleted first, because messages protect the attachments they show."""
        with transaction.atomic():
            for conversation in obj.conversations.all():
                delete_conversation(conversation)
            obj.delete()
