"""Read-only admins of the rows that belong to conversations: messages, parts, attachments, turns and their events.

Lists show no content. Reviewers do not need these pages, because the review page shows everything. Superusers can look
at single rows. Opening the page of a row with content counts as reading its conversation, see `read_access`. Turns hold
no content, so operators may see them too.
"""

from __future__ import annotations

from operator import attrgetter
from typing import Generic

from django.contrib import admin
from django.contrib.admin.utils import unquote
from django.db.models import Model, QuerySet
from django.db.models.functions import Length
from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext_lazy

from chat.admin.base import M, ReadOnlyAdmin, ReadOnlyMixin, count_related, id_column
from chat.admin.read_access import log_read_or_redirect, may_read_conversations, shorten_id
from chat.admin.transcripts import seconds_between
from chat.models import Conversation, Message, MessageAttachment, Part, Turn, TurnEvent

ATTACHMENT_ID = id_column("attachment_id", gettext_lazy("attachment id"))
CONVERSATION_ID = id_column("conversation_id", gettext_lazy("conversation id"))
MESSAGE_ID = id_column("message_id", gettext_lazy("message id"))
TURN_ID = id_column("turn_id", gettext_lazy("turn id"))


@admin.display(description=gettext_lazy("conversation id"))
def conversation_id(row: Part | MessageAttachment) -> str:
    """Return the id of the conversation of the row's message."""
    return str(row.message.conversation_id)


class ContentAdmin(ReadOnlyAdmin[M], Generic[M]):
    """Base class for rows that hold content. The page of a row is logged as a read of its conversation."""

    conversation_path: str
    """Attributes that lead from a row to its conversation, with dots between them."""

    def conversation_of(self, row: M) -> Conversation:
        """Return the conversation to which a row belongs."""
        conversation: Conversation = attrgetter(self.conversation_path)(row)
        return conversation

    def has_view_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """Return whether the user may view this model and may read conversations."""
        return super().has_view_permission(request) and may_read_conversations(request)

    def get_object(self, request: HttpRequest, object_id: str, from_field: str | None = None) -> M | None:
        """Return a row, unless its conversation is temporary or deleted: staff do not read those."""
        row = super().get_object(request, object_id, from_field)
        if row is None:
            return None
        conversation = self.conversation_of(row)
        return None if conversation.is_temporary or conversation.deleted_at else row

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: dict[str, object] | None = None
    ) -> HttpResponse:
        """Log the read and render the page of a row."""
        if request.method != "POST" and (redirection := self._log_read_or_redirect(request, object_id)):
            return redirection
        return super().change_view(request, object_id, form_url, extra_context)

    def history_view(
        self, request: HttpRequest, object_id: str, extra_context: dict[str, object] | None = None
    ) -> HttpResponse:
        """Log the read and render the history of the row: its changes in the admin."""
        redirection = self._log_read_or_redirect(request, object_id)
        return redirection or super().history_view(request, object_id, extra_context)

    def _log_read_or_redirect(self, request: HttpRequest, object_id: str) -> HttpResponse | None:
        row = self.get_object(request, unquote(object_id))
        if row is None or not self.has_view_permission(request, row):
            return None  # The caller then calls Django's view, which responds with an error.
        return log_read_or_redirect(request, self.conversation_of(row), detail=self.opts.verbose_name_raw)


def _is_list(request: HttpRequest) -> bool:
    """Return whether a request is for a list, and not for the page of one row."""
    return request.resolver_match is not None and "object_id" not in request.resolver_match.kwargs


class TextLengthMixin:
    """Adds a column for rows that are annotated with the length of their text."""

    @admin.display(description=gettext_lazy("characters"))
    def characters(self, row: Model) -> int | None:
        """Length of the text, code or output."""
        return getattr(row, "text_length", None)


class PartInline(ReadOnlyMixin, admin.StackedInline[Part, Message]):
    """The parts of a message."""

    model = Part
    fields = ("index", "kind", "text", "data", "attachment")
    show_change_link = True


class MessageAttachmentInline(ReadOnlyMixin, admin.StackedInline[MessageAttachment, Message]):
    """The attachments of a message."""

    model = MessageAttachment
    fields = ("index", "attachment", "part_index")

    def get_queryset(self, request: HttpRequest) -> QuerySet[MessageAttachment]:
        """Load the attachments in the same query."""
        return MessageAttachment.objects.select_related("attachment")


@admin.register(Message)
class MessageAdmin(TextLengthMixin, ContentAdmin[Message]):
    """One message with its parts."""

    conversation_path = "conversation"
    list_display = ("id", "role", CONVERSATION_ID, "index", "is_shown", "characters", "created_at")
    list_filter = ("role",)
    search_fields = ("=id", "=conversation__id")
    ordering = ("-created_at", "-index")
    readonly_fields = ("id", "created_at")
    inlines = (PartInline, MessageAttachmentInline)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Message]:
        """Return the messages with the length of their text; lists do not load the text itself."""
        messages = Message.objects.select_related("conversation").annotate(text_length=Length("text"))
        return messages.defer("text") if _is_list(request) else messages


@admin.register(Part)
class PartAdmin(TextLengthMixin, ContentAdmin[Part]):
    """One part of a message."""

    conversation_path = "message.conversation"
    list_display = ("__str__", conversation_id, MESSAGE_ID, "kind", "characters")
    list_filter = ("kind",)
    search_fields = ("=message__id", "=message__conversation__id")
    ordering = ("-pk",)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Part]:
        """Return the parts with the length of their text; lists do not load the content itself."""
        parts = Part.objects.select_related("message__conversation").annotate(text_length=Length("text"))
        return parts.defer("text", "data", "message__text") if _is_list(request) else parts


@admin.register(MessageAttachment)
class MessageAttachmentAdmin(ContentAdmin[MessageAttachment]):
    """The link between a message and an attachment that it shows."""

    conversation_path = "message.conversation"
    list_display = (ATTACHMENT_ID, conversation_id, MESSAGE_ID, "index", "part_index", "status")
    list_filter = ("attachment__is_graph", "attachment__status")
    list_select_related = ("attachment", "message")
    search_fields = ("=attachment__id", "=message__id", "=message__conversation__id")
    ordering = ("-pk",)

    @admin.display(description=gettext_lazy("status"))
    def status(self, link: MessageAttachment) -> str:
        """Upload status of the attachment."""
        return link.attachment.status


@admin.register(TurnEvent)
class TurnEventAdmin(ContentAdmin[TurnEvent]):
    """One event of a turn's log."""

    conversation_path = "turn.conversation"
    list_display = ("seq", "name", TURN_ID)
    list_filter = ("name",)
    search_fields = ("=turn__id",)
    ordering = ("-pk",)

    def get_queryset(self, request: HttpRequest) -> QuerySet[TurnEvent]:
        """Return the events; lists do not load their data."""
        if _is_list(request):
            return TurnEvent.objects.defer("data")
        return TurnEvent.objects.select_related("turn__conversation")


@admin.register(Turn)
class TurnAdmin(ReadOnlyAdmin[Turn]):
    """One turn: its status, duration, usage and error, without content."""

    list_display = (
        "status",
        "conversation_short",
        "owner",
        "model",
        "error_code",
        "first_part_s",
        "duration_s",
        "tokens",
        "events_count",
        "created_at",
    )
    list_filter = ("status", "error_code", "finish", "provider", "model", "code_execution", "engine", "created_at")
    list_select_related = ("conversation__owner",)
    search_fields = ("=id", "=conversation__id", "=conversation__owner__username", "=response_id")
    ordering = ("-created_at",)
    # An allow-list, because other fields quote content: `code_reason`, `queries`, `parameters` and `error_detail`. A
    # server may write any text to `finish_reason`, `model_version` and `response_id`. The review page shows them.
    fields = (
        ("id", "status"),
        ("conversation_short", "owner"),
        ("provider", "model"),
        ("code_mode", "code_execution", "engine"),
        ("created_at", "started_at", "first_part_at", "ended_at"),
        ("first_part_s", "duration_s", "events_count"),
        ("usage", "cost", "left_out"),
        ("round_count", "finish"),
        ("error_code", "error_status", "retry_after_s"),
        ("lease_owner", "lease_expires_at", "stop_requested"),
    )
    readonly_fields = (
        "id",
        "conversation_short",
        "owner",
        "created_at",
        "first_part_s",
        "duration_s",
        "events_count",
    )

    def get_queryset(self, request: HttpRequest) -> QuerySet[Turn]:
        """Return the turns with the number of their events, and without fields that hold content."""
        rows = Turn.objects.select_related("conversation__owner").annotate(
            events_total=count_related(TurnEvent, "turn")
        )
        return rows.defer("parameters", "sources", "queries", "conversation__title", "conversation__system_instruction")

    @admin.display(description=gettext_lazy("conversation"))
    def conversation_short(self, turn: Turn) -> str:
        """Short id of the conversation. Its title is private content and is not shown."""
        return shorten_id(turn.conversation_id)

    @admin.display(description=gettext_lazy("user"))
    def owner(self, turn: Turn) -> str:
        """Username of the conversation's owner."""
        return turn.conversation.owner.get_username()

    @admin.display(description=gettext_lazy("first part after (s)"))
    def first_part_s(self, turn: Turn) -> float | None:
        """Seconds from the question to the first part."""
        return seconds_between(turn.created_at, turn.first_part_at)

    @admin.display(description=gettext_lazy("took (s)"))
    def duration_s(self, turn: Turn) -> float | None:
        """Seconds from the question to the end."""
        return seconds_between(turn.created_at, turn.ended_at)

    @admin.display(description=gettext_lazy("tokens"))
    def tokens(self, turn: Turn) -> int | None:
        """All tokens, or `None` if the provider did not report them."""
        total = turn.usage.get("total")
        return total if isinstance(total, int) else None

    @admin.display(description=gettext_lazy("events"))
    def events_count(self, turn: Turn) -> int:
        """Number of events in the turn's log."""
        return getattr(turn, "events_total", None) or 0
