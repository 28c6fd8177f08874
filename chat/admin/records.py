"""Rows below a conversation as they are stored, and the logs: read-only, and lists without a word that anybody said.

Reviewers need none of these: a conversation's page has it all. Superusers find single rows here; the page of a row
that holds content is a reading of its conversation, see `guard`. Turns show how generations went and hold no content,
so that operators can look into them.
"""

from __future__ import annotations

from typing import ClassVar

from django.contrib import admin
from django.contrib.admin.models import LogEntry
from django.db.models import QuerySet
from django.db.models.functions import Length
from django.http import HttpRequest

from chat.admin.guard import ContentAdmin, DeclaredLookups, short_id
from chat.admin.read_only import ModelAdmin, ReadOnly, TabularInline, count_of
from chat.admin.transcripts import seconds_between
from chat.models import AccessEntry, Conversation, Message, MessageAttachment, Part, Turn, TurnEvent

#: Their names are what people said.
CONTENT_MODELS = frozenset({"conversation", "message", "part", "messageattachment", "attachment"})


class PartInline(ReadOnly, TabularInline):
    """The parts of a message."""

    model = Part
    fields = ("index", "kind", "text", "language", "outcome", "call_id", "mime_type")
    show_change_link = True


class MessageAttachmentInline(ReadOnly, TabularInline):
    """The files of a message."""

    model = MessageAttachment
    fields = ("index", "attachment", "part_index")

    def get_queryset(self, request: HttpRequest) -> QuerySet[MessageAttachment]:
        """With their attachments."""
        return MessageAttachment.objects.select_related("attachment")


@admin.register(Message)
class MessageAdmin(ContentAdmin):
    """One side's say with its parts."""

    list_display = ("id", "role", "conversation_id", "index", "is_shown", "characters", "created_at")
    list_filter = ("role",)
    search_fields = ("=id", "=conversation__id")
    ordering = ("-created_at", "-index")
    readonly_fields = ("id", "created_at")
    inlines = (PartInline, MessageAttachmentInline)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Message]:
        """Without what only a message's own page shows."""
        messages = Message.objects.select_related("conversation").annotate(text_length=Length("text"))
        at_list = request.resolver_match is not None and "object_id" not in request.resolver_match.kwargs
        return messages.defer("text") if at_list else messages

    def conversation_of(self, row: Message) -> Conversation:
        """Where it was said."""
        return row.conversation

    @admin.display(description="characters")
    def characters(self, message: Message) -> int | None:
        """Length of its text."""
        return getattr(message, "text_length", None)


@admin.register(Part)
class PartAdmin(ContentAdmin):
    """One piece of a message, as the provider sent it."""

    list_display = ("__str__", "conversation_id", "message_id", "kind", "characters")
    list_filter = ("kind",)
    search_fields = ("=message__id", "=message__conversation__id")
    ordering = ("-pk",)
    readonly_fields = ("signature_bytes",)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Part]:
        """Without what only a part's own page shows."""
        parts = Part.objects.select_related("message__conversation").annotate(text_length=Length("text"))
        at_list = request.resolver_match is not None and "object_id" not in request.resolver_match.kwargs
        return parts.defer("text", "fields", "thought_signature", "message__text") if at_list else parts

    def conversation_of(self, row: Part) -> Conversation:
        """Where it was said."""
        return row.message.conversation

    @admin.display(description="conversation id")
    def conversation_id(self, part: Part) -> str:
        """Where it was said."""
        return str(part.message.conversation_id)

    @admin.display(description="characters")
    def characters(self, part: Part) -> int | None:
        """Length of its text, code or output."""
        return getattr(part, "text_length", None)

    @admin.display(description="thought signature (bytes)")
    def signature_bytes(self, part: Part) -> int:
        """Size of the signature that goes back to the provider."""
        return len(part.thought_signature or b"")


@admin.register(MessageAttachment)
class MessageAttachmentAdmin(ContentAdmin):
    """Where an attachment stands."""

    list_display = ("attachment_id", "conversation_id", "message_id", "index", "part_index", "status")
    list_filter = ("attachment__is_graph", "attachment__status")
    list_select_related = ("attachment", "message")
    search_fields = ("=attachment__id", "=message__id", "=message__conversation__id")
    ordering = ("-pk",)

    def conversation_of(self, row: MessageAttachment) -> Conversation:
        """Where it is shown."""
        return row.message.conversation

    @admin.display(description="conversation id")
    def conversation_id(self, link: MessageAttachment) -> str:
        """Where it is shown."""
        return str(link.message.conversation_id)

    @admin.display(description="status")
    def status(self, link: MessageAttachment) -> str:
        """Where the bytes are."""
        return link.attachment.status


@admin.register(TurnEvent)
class TurnEventAdmin(ContentAdmin):
    """One stored step of a turn."""

    list_display = ("seq", "name", "turn_id")
    list_filter = ("name",)
    search_fields = ("=turn__id",)
    ordering = ("-pk",)

    def get_queryset(self, request: HttpRequest) -> QuerySet[TurnEvent]:
        """Without their data in lists."""
        at_list = request.resolver_match is not None and "object_id" not in request.resolver_match.kwargs
        return TurnEvent.objects.defer("data") if at_list else TurnEvent.objects.select_related("turn__conversation")

    def conversation_of(self, row: TurnEvent) -> Conversation:
        """Whose answer it belongs to."""
        return row.turn.conversation


@admin.register(Turn)
class TurnAdmin(DeclaredLookups, ReadOnly, ModelAdmin):
    """One generation: how it went, how long it took, what it used; nothing of what was said."""

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
    list_filter = ("status", "error_code", "finish_reason", "provider", "model", "code_execution", "created_at")
    list_select_related = ("conversation__owner",)
    search_fields = ("=id", "=conversation__id", "=conversation__owner__username", "=response_id")
    ordering = ("-created_at",)
    # Named one by one: why code may run, what was searched for and what a preset says quote what people said.
    fields = (
        ("id", "status"),
        ("conversation_short", "owner"),
        ("provider", "model", "model_version"),
        ("code_mode", "code_execution"),
        ("created_at", "started_at", "first_part_at", "ended_at"),
        ("first_part_s", "duration_s", "events_count"),
        ("usage", "cost", "left_out"),
        ("finish_reason", "error_code", "retry_after_s"),
        "error_detail",
        ("lease_owner", "lease_expires_at", "stop_requested"),
        "response_id",
    )
    readonly_fields = ("id", "conversation_short", "owner", "created_at", "first_part_s", "duration_s", "events_count")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Turn]:
        """With the number of stored events."""
        rows = Turn.objects.select_related("conversation__owner").annotate(events_total=count_of(TurnEvent, "turn"))
        return rows.defer("metadata", "parameters", "conversation__title", "conversation__system_instruction")

    @admin.display(description="conversation")
    def conversation_short(self, turn: Turn) -> str:
        """By its id: a title is made of what was said."""
        return short_id(turn.conversation_id)

    @admin.display(description="user")
    def owner(self, turn: Turn) -> str:
        """Who asked."""
        return turn.conversation.owner.get_username()

    @admin.display(description="first part after (s)")
    def first_part_s(self, turn: Turn) -> float | None:
        """From the question to the first part."""
        return seconds_between(turn.created_at, turn.first_part_at)

    @admin.display(description="took (s)")
    def duration_s(self, turn: Turn) -> float | None:
        """From the question to the end."""
        return seconds_between(turn.created_at, turn.ended_at)

    @admin.display(description="tokens")
    def tokens(self, turn: Turn) -> int | None:
        """All that the provider counted."""
        total = turn.usage.get("total")
        return total if isinstance(total, int) else None

    @admin.display(description="events")
    def events_count(self, turn: Turn) -> int:
        """Stored steps of the log."""
        return getattr(turn, "events_total", None) or 0


@admin.register(AccessEntry)
class AccessEntryAdmin(DeclaredLookups, ReadOnly, ModelAdmin):
    """Who of the staff read what. Titles are for the owners, who see theirs on their own page."""

    list_display = ("created_at", "reader_name", "action", "conversation_id", "owner", "reason")
    list_filter = ("action", "created_at")
    list_select_related = ("owner",)
    search_fields = ("=reader_name", "=owner__username", "=conversation__id")
    ordering = ("-pk",)
    fields: ClassVar[tuple[str, ...]] = (
        "created_at",
        "reader_name",
        "action",
        "conversation_id",
        "owner",
        "reason",
    )
    readonly_fields = ("created_at", "conversation_id")

    @admin.display(description="conversation id")
    def conversation_id(self, entry: AccessEntry) -> str:
        """It may be gone."""
        return str(entry.conversation_id)


@admin.register(LogEntry)
class LogEntryAdmin(DeclaredLookups, ReadOnly, ModelAdmin):
    """Who of the staff changed or deleted what in the admin."""

    list_display = ("action_time", "user", "content_type", "what", "get_change_message")
    list_filter = ("action_flag", "action_time")
    list_select_related = ("user", "content_type")
    search_fields = ("=user__username", "=object_id")
    fields = ("action_time", "user", "content_type", "what", "get_change_message")
    readonly_fields = ("action_time", "what", "get_change_message")

    def get_object(self, request: HttpRequest, object_id: str, from_field: str | None = None) -> LogEntry | None:
        """Titles of pages spell it out."""
        entry: LogEntry | None = super().get_object(request, object_id, from_field)
        if entry is not None:
            entry.object_repr = self.what(entry)
        return entry

    @admin.display(description="row")
    def what(self, entry: LogEntry) -> str:
        """Its name, but where that is what somebody said: its id then."""
        is_content = entry.content_type is None or entry.content_type.model in CONTENT_MODELS
        return entry.object_id or "" if is_content else entry.object_repr
