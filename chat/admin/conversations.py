"""The admin of conversations: a review queue, a review page for each conversation, and bulk actions.

Staff who may view conversations can read them, and the owner sees every read. Staff who may change reviews can write
verdicts. What users and models wrote cannot be changed here. Superusers can delete whole conversations. `read_access`
describes the checks before content is shown.
"""

from __future__ import annotations

import uuid
from collections.abc import Sequence

from django.contrib import admin
from django.contrib.admin.models import LogEntry
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext

from chat.admin.base import WholeDeletionAdmin
from chat.admin.bulk_actions import BulkActionsAdmin
from chat.admin.read_access import get_visible_title, shorten_id
from chat.admin.review_page import ReviewPageAdmin
from chat.answering.turns.deletions import delete_in_background
from chat.models import Conversation
from chat.models.deletion_counts import count_messages_and_files


@admin.register(Conversation)
class ConversationAdmin(WholeDeletionAdmin[Conversation], ReviewPageAdmin, BulkActionsAdmin):
    """The list is the review queue; a row's page is the review page."""

    actions = (*BulkActionsAdmin.actions, "delete_selected")
    view_on_site = False  # Only the owner may open the conversation's own page.

    def get_row_name(self, request: HttpRequest, row: Conversation) -> str:
        """Return the title, or the short id if the user may not see the title."""
        return get_visible_title(request, row)

    def log_deletions(self, request: HttpRequest, queryset: QuerySet[Conversation]) -> list[LogEntry]:
        """Log deletions under short ids, so that no title of a deleted conversation remains in the admin's log."""
        for row in queryset:
            row.title = f"Conversation {shorten_id(row.pk)}"
        return super().log_deletions(request, queryset)

    def delete_model(self, request: HttpRequest, obj: Conversation) -> None:
        """Delete a conversation as its owner would, with all attachments that no other conversation shows."""
        delete_in_background([obj.pk])

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[Conversation]) -> None:
        """Hide all of the conversations at once."""
        delete_in_background([row.pk for row in queryset])

    def count_dependent(self, ids: Sequence[uuid.UUID]) -> dict[str, int]:
        """Return how many messages and files are deleted together with the conversations."""
        message_count, files = count_messages_and_files(Conversation.objects.filter(pk__in=ids))
        return {gettext("messages"): message_count, gettext("files"): files}
