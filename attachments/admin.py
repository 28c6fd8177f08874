"""Attachments for staff: what waits for storage, why, and a button to try again. Nothing else can be changed.

Nothing of what is in a file is shown, nor the name that a person gave it: who keeps the product running need not know.
Reviewers see files where they stand, in their conversations.
"""

from __future__ import annotations

from typing import Any

from django.contrib import admin, messages
from django.contrib.admin.views.main import ChangeList
from django.db.models import F, Model, QuerySet
from django.http import HttpRequest, HttpResponse

from attachments.models import Attachment, PendingUpload
from attachments.tasks import retry_now


class NamelessList(ChangeList):
    """A page of rows that are called by their ids, for readers of screens too."""

    def get_results(self, request: HttpRequest) -> None:
        """Read the page's rows."""
        super().get_results(request)
        self.result_list = [nameless(row) for row in self.result_list]


def nameless(row: Model) -> Model:
    """The same row, not saved, without the name that a person gave."""
    if isinstance(row, Attachment):
        row.name = f"File {row.pk}"
    return row


class ReadOnlyAdmin(admin.ModelAdmin[Model]):
    """Staff look and retry; files come and go with their conversations."""

    show_facets = admin.ShowFacets.NEVER

    def get_changelist(self, request: HttpRequest, **kwargs: object) -> type[ChangeList]:
        """One without names."""
        return NamelessList

    def get_object(self, request: HttpRequest, object_id: str, from_field: str | None = None) -> Model | None:
        """Without its name."""
        row = super().get_object(request, object_id, from_field)
        return row if row is None else nameless(row)

    def lookup_allowed(self, lookup: str, value: str, request: HttpRequest) -> bool:
        """By the filters that are shown and no other column: names would be found by guessing."""
        return any(lookup == str(name) or lookup.startswith(f"{name}__") for name in self.get_list_filter(request))

    def has_add_permission(self, request: HttpRequest) -> bool:
        """Never."""
        return False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """Never."""
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """Never."""
        return False

    def has_retry_permission(self, request: HttpRequest) -> bool:
        """Named by the retry actions."""
        return bool(request.user.has_perm("attachments.change_pendingupload"))

    def render_change_form(
        self,
        request: HttpRequest,
        context: dict[str, Any],
        add: bool = False,
        change: bool = False,
        form_url: str = "",
        obj: Model | None = None,
    ) -> HttpResponse:
        """Note the reader, then show the page."""
        if obj is not None:
            self.log_change(request, obj, "Read.")
        return super().render_change_form(request, context, add, change, form_url, obj)


@admin.register(Attachment)
class AttachmentAdmin(ReadOnlyAdmin):
    """All files, those that wait for storage first."""

    list_display = ("id", "owner", "status", "is_graph", "mime_type", "size_bytes", "created_at")
    list_filter = ("status", "is_graph", "pending_upload__is_permanent", "created_at")
    list_select_related = ("owner",)
    list_per_page = 50
    search_fields = ("=id", "=owner__username", "=sha256")
    ordering = (F("stored_at").desc(nulls_first=True), "-created_at")
    show_full_result_count = False
    actions = ("try_storage_again",)
    readonly_fields = ("id", "created_at", "last_error")
    exclude = ("name",)

    @admin.display(description="Last error of storage")
    def last_error(self, attachment: Attachment) -> str:
        """Why it is not in storage yet."""
        pending = PendingUpload.objects.filter(pk=attachment.pk).values_list("last_error", flat=True).first()
        return pending or ""

    @admin.action(description="Try storage again now", permissions=["retry"])
    def try_storage_again(self, request: HttpRequest, attachments: QuerySet[Attachment]) -> None:
        """Make the uploads of these due at once."""
        # The list is ordered by an expression that a subquery need not carry along.
        ids = attachments.order_by().values("pk")
        self.message_user(request, _told(retry_now(PendingUpload.objects.filter(pk__in=ids))), messages.SUCCESS)


@admin.register(PendingUpload)
class PendingUploadAdmin(ReadOnlyAdmin):
    """The backlog: what storage has not confirmed, refusals first."""

    list_display = ("pk", "owner", "size_bytes", "attempts", "is_permanent", "next_attempt_at", "last_error")
    list_filter = ("is_permanent", "attachment__is_graph")
    list_per_page = 50
    search_fields = ("=attachment__id", "=attachment__owner__username", "last_error")
    ordering = ("-is_permanent", "next_attempt_at")
    show_full_result_count = False
    actions = ("try_storage_again",)
    exclude = ("attachment", "data")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        """Without the bytes: a list page must not load the files."""
        return PendingUpload.objects.defer("data").select_related("attachment__owner").order_by(*self.ordering)

    @admin.display(ordering="attachment__owner")
    def owner(self, pending: PendingUpload) -> str:
        """Of the attachment."""
        return str(pending.attachment.owner)

    @admin.display(ordering="attachment__size_bytes")
    def size_bytes(self, pending: PendingUpload) -> int:
        """Of the attachment."""
        return pending.attachment.size_bytes

    @admin.action(description="Try storage again now", permissions=["retry"])
    def try_storage_again(self, request: HttpRequest, pending: QuerySet[PendingUpload]) -> None:
        """Make these due at once."""
        self.message_user(request, _told(retry_now(pending)), messages.SUCCESS)


def _told(count: int) -> str:
    return f"{count} {'upload is' if count == 1 else 'uploads are'} tried again now."
