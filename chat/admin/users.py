"""The admin of user accounts and groups: Django's own pages, with a deletion that includes conversations and files.

Permissions are lists of checkboxes. Django's widget with two boxes names parts of itself in a way that screen readers
do not announce.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from django import forms
from django.contrib import admin, messages
from django.contrib.admin.models import LogEntry
from django.contrib.auth import admin as auth_admin
from django.contrib.auth import forms as auth_forms
from django.contrib.auth.models import Group
from django.db import transaction
from django.db.models import QuerySet
from django.db.models.functions import Now
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext, gettext_lazy

from chat.admin.base import WholeDeletionAdmin
from chat.admin.quotas import usage_text
from chat.answering.turns.deletions import delete_accounts_in_background
from chat.models import User
from chat.models.deletion_counts import count_of_accounts
from chat.models.superusers import is_last_superuser, lock_superusers

admin.site.unregister(Group)


class GroupForm(forms.ModelForm[Group]):
    """A group with its permissions."""

    class Meta:
        model = Group
        fields = ("name", "permissions")
        widgets: ClassVar = {"permissions": forms.CheckboxSelectMultiple}


LAST_SUPERUSER = gettext_lazy(
    "This is the last superuser who can manage this server. Make another account a superuser first."
)


class LastSuperuser(Exception):
    """The request would delete the last superuser. Raised to roll its transaction back."""


class UserForm(auth_forms.UserChangeForm[User]):
    """A user with their groups and permissions."""

    def clean(self) -> dict[str, object]:
        """Return the form's data. Raise ValidationError if the account was the last superuser and is not one any more.

        The admin validates and saves in one transaction, so the lock of the superusers holds until the form is saved.
        """
        data = super().clean() or self.cleaned_data
        if not (data.get("is_superuser") and data.get("is_active")):
            lock_superusers()
            if is_last_superuser(self.instance):
                raise forms.ValidationError(LAST_SUPERUSER, code="last_superuser")
        return data

    class Meta(auth_forms.UserChangeForm.Meta):
        model = User
        widgets: ClassVar = {"groups": forms.CheckboxSelectMultiple, "user_permissions": forms.CheckboxSelectMultiple}


@admin.register(Group)
class GroupAdmin(auth_admin.GroupAdmin):
    """A group of staff. Only superusers change groups, because its members could give themselves every permission."""

    form = GroupForm

    def has_add_permission(self, request: HttpRequest) -> bool:
        """Return whether the user is a superuser."""
        return bool(request.user.is_superuser) and super().has_add_permission(request)

    def has_change_permission(self, request: HttpRequest, obj: Group | None = None) -> bool:
        """Return whether the user is a superuser."""
        return bool(request.user.is_superuser) and super().has_change_permission(request, obj)


@admin.register(User)
class UserAdmin(WholeDeletionAdmin[User], auth_admin.UserAdmin[User]):
    """A user account.

    A deleted account is hidden at once, with its conversations, and what it holds is deleted in the background.
    Deleting a user also deletes their conversations, their files and the access log of these conversations. The access
    log of other people's conversations keeps what the user read as staff. Django's log of the user's actions in the
    admin is deleted, and the confirmation page shows how many entries it has.
    """

    form = UserForm
    actions = ("delete_selected",)
    readonly_fields = ("last_login", "date_joined", "deletion_at", "usage")
    fieldsets = (*(auth_admin.UserAdmin.fieldsets or ()), (gettext_lazy("Usage"), {"fields": ("usage", "deletion_at")}))

    def get_queryset(self, request: HttpRequest) -> QuerySet[User]:
        """Return all accounts except those that are being deleted in the background."""
        return super().get_queryset(request).exclude(is_active=False, deletion_at__lte=Now())

    def has_change_permission(self, request: HttpRequest, obj: User | None = None) -> bool:
        """Return whether the user may change an account. Only superusers may change the account of a superuser."""
        is_allowed = obj is None or not obj.is_superuser or request.user.is_superuser
        return is_allowed and super().has_change_permission(request, obj)

    def get_readonly_fields(self, request: HttpRequest, obj: User | None = None) -> tuple[str, ...]:
        """Return the fields that the user may only read. Only superusers may make others superusers."""
        fields = (*super().get_readonly_fields(request, obj),)
        return fields if request.user.is_superuser else (*fields, "is_superuser", "groups", "user_permissions")

    @admin.display(description=gettext_lazy("used of the limits"))
    def usage(self, user: User) -> str:
        """Return what the person has used today and stores now, of the limits. A row of `Quota` changes the limits."""
        return usage_text(user.pk)

    def get_deleted_objects(
        self, objs: Sequence[User] | QuerySet[User], request: HttpRequest
    ) -> tuple[list[str], dict[str, int], set[str], list[str]]:
        """Return what is deleted, and how many lines of the admin's log these users wrote."""
        names, counts, permissions, protected = super().get_deleted_objects(objs, request)
        if entries := LogEntry.objects.filter(user__in=[user.pk for user in objs]).count():
            counts[gettext("lines about what they did in the admin")] = entries
        return names, counts, permissions, protected

    def delete_model(self, request: HttpRequest, obj: User) -> None:
        """Delete a user with everything of the account. Raise LastSuperuser if no superuser would remain."""
        self._delete([obj])

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[User]) -> None:
        """Delete the accounts. `changelist_view` has begun a transaction."""
        self._delete(list(queryset))

    def _delete(self, users: Sequence[User]) -> None:
        if any(user.is_superuser for user in users) and is_last_superuser(*users):
            raise LastSuperuser
        delete_accounts_in_background([user.pk for user in users])

    def count_dependent(self, ids: Sequence[int]) -> dict[str, int]:
        """Return how many conversations, messages and files are deleted together with the accounts."""
        names = (gettext("conversations"), gettext("messages"), gettext("files"))
        return dict(zip(names, count_of_accounts(ids), strict=True))

    def log_deletions(self, request: HttpRequest, queryset: QuerySet[User]) -> list[LogEntry]:
        """Log what is about to be deleted. If a superuser is among the accounts, lock all superusers first.

        A line of the log refers to the account of the person who deletes. So two superusers who delete each other
        would wait for each other's account. The deletion of other accounts does not need the lock.
        """
        if any(user.is_superuser for user in queryset):
            lock_superusers()
        return super().log_deletions(request, queryset)

    def delete_view(
        self, request: HttpRequest, object_id: str, extra_context: dict[str, object] | None = None
    ) -> HttpResponse:
        """Delete one account, or show why it cannot be deleted."""
        try:
            return super().delete_view(request, object_id, extra_context)
        except LastSuperuser:
            return self._refuse_deletion(request)

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, object] | None = None) -> HttpResponse:
        """Show the list, or carry out an action in one transaction, so that a refused deletion leaves no trace."""
        if request.method != "POST":
            return super().changelist_view(request, extra_context)
        try:
            with transaction.atomic():
                return super().changelist_view(request, extra_context)
        except LastSuperuser:
            return self._refuse_deletion(request)

    def _refuse_deletion(self, request: HttpRequest) -> HttpResponse:
        self.message_user(request, str(LAST_SUPERUSER), messages.ERROR)
        return redirect("admin:chat_user_changelist")
