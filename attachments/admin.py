"""Attachments for staff: what waits for storage, why, and a button to try again. Nothing else can be changed.

Who opens a file's page is written down in its history, as is who reads its bytes.
"""

from __future__ import annotations

from typing import Any

from django.contrib import admin, messages
from django.db.models import F, Model, QuerySet
from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string
from django.utils.safestring import SafeString

from attachments.models import Attachment, PendingUpload
from attachments.tasks import retry_now
from attachments.validation import RASTER_TYPES


class ReadOnlyAdmin(admin.ModelAdmin[Model]):
    """Staff look and retry; files come and go with their conversations."""

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

    list_display = ("thumbnail", "name", "owner", "status", "is_graph", "mime_type", "size_bytes", "created_at")
    list_display_links = ("name",)
    list_filter = ("status", "is_graph", "pending_upload__is_permanent", "created_at")
    list_select_related = ("owner",)
    list_per_page = 50
    search_fields = ("id", "name", "owner__username", "sha256")
    ordering = (F("stored_at").desc(nulls_first=True), "-created_at")
    show_full_result_count = False
    actions = ("try_storage_again",)
    readonly_fields = ("thumbnail", "last_error")

    @admin.display(description="Image")
    def thumbnail(self, attachment: Attachment) -> SafeString | str:
        """The image through our own address, which checks the right to see it."""
        if attachment.mime_type not in RASTER_TYPES:
            return ""
        return render_to_string("admin/attachments/_thumbnail.html", {"attachment": attachment})

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

    list_display = ("name", "owner", "size_bytes", "attempts", "is_permanent", "next_attempt_at", "last_error")
    list_filter = ("is_permanent", "attachment__is_graph")
    list_per_page = 50
    search_fields = ("attachment__id", "attachment__name", "attachment__owner__username", "last_error")
    ordering = ("-is_permanent", "next_attempt_at")
    show_full_result_count = False
    actions = ("try_storage_again",)
    exclude = ("data",)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        """Without the bytes: a list page must not load the files."""
        return PendingUpload.objects.defer("data").select_related("attachment__owner").order_by(*self.ordering)

    @admin.display(ordering="attachment__name")
    def name(self, pending: PendingUpload) -> str:
        """Of the attachment."""
        return pending.attachment.name

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
