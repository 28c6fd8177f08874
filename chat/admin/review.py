"""Review of conversations: a queue, a page for each with its verdicts, and what is done with many at once.

Reading is for staff with the permission to view conversations, and leaves a line that the owner sees; deciding is for
those who may change reviews. What the product has written stays as it was written; superusers delete whole
conversations. See `guard` for what is asked before anything is shown.
"""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest

from chat.admin import guard
from chat.admin.bulk import BulkAdmin
from chat.admin.page import PageAdmin
from chat.admin.queue import QueueAdmin
from chat.admin.read_only import DeletesWhole, ModelAdmin, ReadOnly
from chat.models import Conversation


@admin.register(Conversation)
class ConversationAdmin(PageAdmin, BulkAdmin, QueueAdmin, DeletesWhole[Conversation], ReadOnly, ModelAdmin):
    """Its list is the queue; its page shows the transcript as its owner saw it."""

    view_on_site = False  # its page is its owner's

    def name_of(self, request: HttpRequest, row: Conversation) -> str:
        """As the queue names it."""
        return guard.shown_title(request, row)

    def log_deletions(self, request: HttpRequest, queryset: QuerySet[Conversation]) -> Any:  # noqa: ANN401
        """By their ids: of what is deleted no title stays in the admin's log."""
        for row in queryset:
            row.title = f"Conversation {guard.short_id(row.pk)}"
        return super().log_deletions(request, queryset)

    def delete_model(self, request: HttpRequest, obj: Conversation) -> None:
        """Delete it as its owner would."""
        obj.delete_with_attachments()
