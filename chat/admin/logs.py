"""The admins of both logs: what staff read, and what staff changed in the admin. Both are read-only."""

from __future__ import annotations

from django.contrib import admin
from django.contrib.admin.models import LogEntry
from django.http import HttpRequest
from django.utils.translation import gettext_lazy

from chat.admin.base import ReadOnlyAdmin
from chat.models import AccessEntry
from chat.vocabulary.sentences import translate_sentence

CONTENT_MODELS = frozenset({"conversation", "message", "part", "messageattachment", "attachment"})
"""Models whose row names (`str`) contain what users wrote."""


@admin.register(AccessEntry)
class AccessEntryAdmin(ReadOnlyAdmin[AccessEntry]):
    """Which staff read what. Titles are not shown here; owners see them on their own page."""

    list_display = ("created_at", "reader_name", "action", "conversation_uuid", "owner", "reason")
    list_filter = ("action", "created_at")
    list_select_related = ("owner",)
    search_fields = ("=reader_name", "=owner__username", "=conversation__id")
    ordering = ("-pk",)
    fields = list_display
    readonly_fields = ("created_at", "conversation_uuid")

    @admin.display(description=gettext_lazy("conversation id"))
    def conversation_uuid(self, entry: AccessEntry) -> str:
        """Id of the conversation, which may have been deleted."""
        return str(entry.conversation_id)


@admin.register(LogEntry)
class LogEntryAdmin(ReadOnlyAdmin[LogEntry]):
    """Which staff changed or deleted what in the admin."""

    list_display = ("action_time", "user", "content_type", "row_name", "get_change_message")
    list_filter = ("action_flag", "action_time")
    list_select_related = ("user", "content_type")
    search_fields = ("=user__username", "=object_id")
    fields = list_display
    readonly_fields = ("action_time", "row_name", "get_change_message")

    def get_object(self, request: HttpRequest, object_id: str, from_field: str | None = None) -> LogEntry | None:
        """Return the entry with a name that may be shown, because Django uses the name in page titles."""
        entry = super().get_object(request, object_id, from_field)
        if entry is not None:
            entry.object_repr = self.row_name(entry)
        return entry

    @admin.display(description=gettext_lazy("change"))
    def get_change_message(self, entry: LogEntry) -> str:
        """Return the description of the change. Plotline stores its own messages in English; translate them here."""
        return translate_sentence(entry.get_change_message())

    @admin.display(description=gettext_lazy("row"))
    def row_name(self, entry: LogEntry) -> str:
        """Name of the row, or its id if the name is content that a user wrote."""
        is_content = entry.content_type is None or entry.content_type.model in CONTENT_MODELS
        return entry.object_id or "" if is_content else entry.object_repr
