"""Admin pages for attachments: uploads and deletions that wait for storage, their errors, and actions that retry them.

The pages are read-only except for these actions. They show neither the contents nor the names of files, because
operators do not need them. Reviewers see files inside the conversations.
"""

from __future__ import annotations

from django.contrib import admin, messages
from django.contrib.admin.views.main import ChangeList
from django.db.models import F, Model, QuerySet
from django.db.models.functions import Now
from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext, gettext_lazy, ngettext

from attachments.models import Attachment, ObjectDeletion, PendingUpload
from attachments.tasks import retry_now


class HiddenNameChangeList(ChangeList):
    """A list page whose rows are labelled by their ids, also for screen readers."""

    def get_results(self, request: HttpRequest) -> None:
        """Load the page's rows and hide their names."""
        super().get_results(request)
        self.result_list = [hide_name(row) for row in self.result_list]


def hide_name(row: Model) -> Model:
    """Replace the file name of an attachment in memory, and return the row. The row must not be saved afterwards."""
    if isinstance(row, Attachment):
        row.name = gettext("File %(id)s") % {"id": row.pk}
    return row


class ReadOnlyAdmin(admin.ModelAdmin[Model]):
    """A page on which staff can view rows and retry them, and cannot add, change or delete rows."""

    show_facets = admin.ShowFacets.NEVER
    show_full_result_count = False
    list_per_page = 50
    actions = ("try_storage_again",)
    retry_permission = "attachments.change_pendingupload"

    def get_changelist(self, request: HttpRequest, **kwargs: object) -> type[ChangeList]:
        """Return the list class that hides file names."""
        return HiddenNameChangeList

    def get_object(self, request: HttpRequest, object_id: str, from_field: str | None = None) -> Model | None:
        """Return the row with its file name hidden."""
        row = super().get_object(request, object_id, from_field)
        return row if row is None else hide_name(row)

    def lookup_allowed(self, lookup: str, value: str, request: HttpRequest) -> bool:
        """Allow only the filters of the page. Lookups on other columns would allow file names to be guessed."""
        return any(lookup == str(name) or lookup.startswith(f"{name}__") for name in self.get_list_filter(request))

    def has_add_permission(self, request: HttpRequest) -> bool:
        """Return False for every user."""
        return False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """Return False for every user."""
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """Return False for every user."""
        return False

    def has_retry_permission(self, request: HttpRequest) -> bool:
        """Return whether the user may run the actions that declare the permission `retry`."""
        return bool(request.user.has_perm(self.retry_permission))

    def render_change_form(
        self,
        request: HttpRequest,
        context: dict[str, object],
        add: bool = False,
        change: bool = False,
        form_url: str = "",
        obj: Model | None = None,
    ) -> HttpResponse:
        """Write the access to the admin log, then render the page."""
        if obj is not None:
            self.log_change(request, obj, "Read.")
        return super().render_change_form(request, context, add, change, form_url, obj)


@admin.register(Attachment)
class AttachmentAdmin(ReadOnlyAdmin):
    """The pages of all files. The list begins with the files that wait for storage."""

    list_display = ("id", "owner", "status", "is_graph", "mime_type", "size_bytes", "created_at")
    list_filter = ("status", "is_graph", "pending_upload__is_permanent", "created_at")
    list_select_related = ("owner",)
    search_fields = ("=id", "=owner__username", "=sha256")
    ordering = (F("stored_at").desc(nulls_first=True), "-created_at")
    readonly_fields = ("id", "created_at", "last_error")
    exclude = ("name",)

    @admin.display(description=gettext_lazy("Last error of storage"))
    def last_error(self, attachment: Attachment) -> str:
        """Return the error of the last upload attempt, or an empty text."""
        error = PendingUpload.objects.filter(pk=attachment.pk).values_list("last_error", flat=True).first()
        return error or ""

    @admin.action(description=gettext_lazy("Try storage again now"), permissions=["retry"])
    def try_storage_again(self, request: HttpRequest, attachments: QuerySet[Attachment]) -> None:
        """Make the pending uploads of the selected attachments due immediately."""
        # order_by() drops the list's ordering, which a subquery does not need.
        ids = attachments.order_by().values("pk")
        self.message_user(
            request, _uploads_message(retry_now(PendingUpload.objects.filter(pk__in=ids))), messages.SUCCESS
        )


@admin.register(PendingUpload)
class PendingUploadAdmin(ReadOnlyAdmin):
    """The pages of the pending uploads. The list begins with the uploads that storage refuses."""

    list_display = ("pk", "owner", "size_bytes", "attempts", "is_permanent", "next_attempt_at", "last_error")
    list_filter = ("is_permanent", "attachment__is_graph")
    search_fields = ("=attachment__id", "=attachment__owner__username", "last_error")
    ordering = ("-is_permanent", "next_attempt_at")
    exclude = ("attachment", "data")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Model]:
        """Return all rows without their bytes, because a list page must not load the files."""
        return PendingUpload.objects.defer("data").select_related("attachment__owner").order_by(*self.ordering)

    @admin.display(description=gettext_lazy("owner"), ordering="attachment__owner")
    def owner(self, pending: PendingUpload) -> str:
        """Return the name of the attachment's owner."""
        return str(pending.attachment.owner)

    @admin.display(description=gettext_lazy("size bytes"), ordering="attachment__size_bytes")
    def size_bytes(self, pending: PendingUpload) -> int:
        """Return the size of the attachment."""
        return pending.attachment.size_bytes

    @admin.action(description=gettext_lazy("Try storage again now"), permissions=["retry"])
    def try_storage_again(self, request: HttpRequest, pending: QuerySet[PendingUpload]) -> None:
        """Make the selected uploads due immediately."""
        self.message_user(request, _uploads_message(retry_now(pending)), messages.SUCCESS)


@admin.register(ObjectDeletion)
class ObjectDeletionAdmin(ReadOnlyAdmin):
    """The queue of objects that are to be deleted from storage. The list begins with those that storage refuses."""

    list_display = ("pk", "owner_id", "size_bytes", "attempts", "is_permanent", "next_attempt_at", "last_error")
    list_filter = ("is_permanent", "created_at")
    search_fields = ("=owner_id", "=sha256", "last_error")
    ordering = ("-is_permanent", "next_attempt_at")
    retry_permission = "attachments.change_objectdeletion"

    @admin.action(description=gettext_lazy("Try storage again now"), permissions=["retry"])
    def try_storage_again(self, request: HttpRequest, deletions: QuerySet[ObjectDeletion]) -> None:
        """Make the selected deletions due immediately."""
        count = deletions.order_by().update(next_attempt_at=Now())
        self.message_user(request, _deletions_message(count), messages.SUCCESS)


def _uploads_message(count: int) -> str:
    text = ngettext("%(number)s upload is tried again now.", "%(number)s uploads are tried again now.", count)
    return text % {"number": count}


def _deletions_message(count: int) -> str:
    text = ngettext("%(number)s deletion is tried again now.", "%(number)s deletions are tried again now.", count)
    return text % {"number": count}
