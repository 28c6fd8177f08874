"""Review: staff look and change nothing; what the product has written stays as it was written.

Reading is for staff with the model's "view" permission, and each reading of a transcript leaves a line in the
conversation's history. Superusers may delete whole conversations. Queries do not grow with the rows of a page.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from django.contrib import admin
from django.contrib.admin.models import LogEntry
from django.contrib.auth import admin as auth_admin
from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Count, Model, OuterRef, QuerySet, Subquery
from django.db.models.functions import Length
from django.http import HttpRequest, HttpResponse
from django.utils.text import Truncator

from chat.models import Conversation, Message, MessageAttachment, Part, Turn, TurnEvent
from chat.turns.transcript import message_views

if TYPE_CHECKING:
    ModelAdmin = admin.ModelAdmin[Any]
    TabularInline = admin.TabularInline[Any, Any]
    UserAdmin = auth_admin.UserAdmin[User]
else:
    ModelAdmin = admin.ModelAdmin
    TabularInline = admin.TabularInline
    UserAdmin = auth_admin.UserAdmin

M = TypeVar("M", bound=Model)


class ReadOnly:
    """No form of the admin writes these rows."""

    def has_add_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """Rows are made by the product."""
        return False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """Rows are changed by the product."""
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """Rows go with their conversation."""
        return False


class ReviewAdmin(ReadOnly, ModelAdmin):
    """Rows that hold what people said: who of the staff opens one is written down in its history."""

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


class DeletesWhole(Generic[M]):
    """Superusers delete these with all that hangs from them, as the product itself would."""

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """Superusers alone."""
        return bool(request.user.is_active and request.user.is_superuser)

    def get_deleted_objects(
        self, objs: Sequence[M] | QuerySet[M], request: HttpRequest
    ) -> tuple[list[Any], dict[str, int], set[str], list[Any]]:
        """Name the rows alone: the thousands of parts and events below them go without being asked for one by one."""
        rows = list(objs)
        return [str(row) for row in rows], {str(row._meta.verbose_name_plural): len(rows) for row in rows}, set(), []

    def delete_model(self, request: HttpRequest, obj: M) -> None:
        """Delete one."""
        raise NotImplementedError

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[M]) -> None:
        """Delete all of them or none."""
        with transaction.atomic():
            for row in queryset:
                self.delete_model(request, row)


def count_of(model: type[Model], foreign_key: str) -> Subquery:
    """How many rows of `model` point to the outer row; null when none does."""
    rows = model._default_manager.filter(**{foreign_key: OuterRef("pk")}).order_by()
    return Subquery(rows.values(foreign_key).annotate(rows=Count("pk")).values("rows"))


class TurnInline(ReadOnly, TabularInline):
    """The generations of a conversation."""

    model = Turn
    fields = ("status", "model", "code_execution", "error_code", "created_at", "ended_at")
    readonly_fields = ("created_at",)
    show_change_link = True


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


@admin.register(Conversation)
class ConversationAdmin(DeletesWhole[Conversation], ReviewAdmin):
    """A conversation's page shows its transcript as its owner saw it."""

    list_display = ("__str__", "owner", "messages_count", "last_status", "model", "code_execution", "updated_at")
    list_filter = ("code_execution", "model", "created_at")
    list_select_related = ("owner",)
    search_fields = ("title", "owner__username", "=id", "messages__text")
    search_help_text = "Title, owner, id, or words of a message."
    date_hierarchy = "created_at"
    ordering = ("-updated_at",)
    view_on_site = False  # its page is its owner's
    readonly_fields = ("id", "created_at", "updated_at")
    inlines = (TurnInline,)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Conversation]:
        """With what the columns show."""
        last = Turn.objects.filter(conversation=OuterRef("pk")).order_by("-created_at")
        return Conversation.objects.annotate(
            messages_total=count_of(Message, "conversation"), last_turn_status=Subquery(last.values("status")[:1])
        )

    @admin.display(description="messages", ordering="messages_total")
    def messages_count(self, conversation: Conversation) -> int:
        """How many messages it has."""
        return getattr(conversation, "messages_total", None) or 0

    @admin.display(description="last turn", ordering="last_turn_status")
    def last_status(self, conversation: Conversation) -> str | None:
        """How its last generation ended, or stands."""
        return getattr(conversation, "last_turn_status", None)

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """Add the transcript."""
        conversation = self.get_object(request, object_id)
        if conversation is not None and self.has_view_permission(request, conversation):
            extra_context = {**(extra_context or {}), "transcript": message_views(conversation)}
        return super().change_view(request, object_id, form_url, extra_context)

    def delete_model(self, request: HttpRequest, obj: Conversation) -> None:
        """Delete it as its owner would."""
        obj.delete_with_attachments()


@admin.register(Message)
class MessageAdmin(ReviewAdmin):
    """One side's say with its parts."""

    list_display = ("excerpt", "role", "conversation", "index", "created_at")
    list_filter = ("role", "created_at")
    list_select_related = ("conversation",)
    search_fields = ("text", "conversation__title", "conversation__owner__username", "=id")
    date_hierarchy = "created_at"
    ordering = ("-created_at", "-index")
    readonly_fields = ("id", "created_at")
    inlines = (PartInline, MessageAttachmentInline)

    @admin.display(description="text")
    def excerpt(self, message: Message) -> str:
        """Its beginning."""
        return Truncator(message.text).chars(80) or "(no text)"


@admin.register(Part)
class PartAdmin(ReviewAdmin):
    """One piece of a message, as the provider sent it."""

    list_display = ("__str__", "conversation", "message", "kind", "language", "outcome", "characters")
    list_filter = ("kind", "outcome", "language")
    list_select_related = ("message__conversation",)
    search_fields = ("text", "call_id", "=message__id", "message__conversation__title")
    ordering = ("-message__created_at", "index")
    readonly_fields = ("signature_bytes",)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Part]:
        """Without what only a part's own page shows."""
        parts = Part.objects.annotate(text_length=Length("text"))
        at_list = request.resolver_match is not None and "object_id" not in request.resolver_match.kwargs
        return parts.defer("text", "fields", "thought_signature") if at_list else parts

    @admin.display(ordering="message__conversation")
    def conversation(self, part: Part) -> Conversation:
        """Where it was said."""
        return part.message.conversation

    @admin.display(ordering="text_length")
    def characters(self, part: Part) -> int | None:
        """Length of its text, code or output."""
        return getattr(part, "text_length", None)

    @admin.display(description="thought signature (bytes)")
    def signature_bytes(self, part: Part) -> int:
        """Size of the signature that goes back to the provider."""
        return len(part.thought_signature or b"")


@admin.register(MessageAttachment)
class MessageAttachmentAdmin(ReviewAdmin):
    """Where an attachment stands."""

    list_display = ("attachment", "conversation", "message", "index", "part_index")
    list_filter = ("attachment__is_graph", "attachment__status")
    list_select_related = ("attachment", "message__conversation")
    search_fields = ("attachment__name", "=attachment__id", "message__conversation__title")
    ordering = ("-message__created_at", "index")

    @admin.display(ordering="message__conversation")
    def conversation(self, link: MessageAttachment) -> Conversation:
        """Where it is shown."""
        return link.message.conversation


@admin.register(Turn)
class TurnAdmin(ReviewAdmin):
    """One generation: how it went, how long it took, what it used."""

    list_display = (
        "status",
        "conversation",
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
    search_fields = ("=id", "conversation__title", "conversation__owner__username", "error_detail", "response_id")
    date_hierarchy = "created_at"
    ordering = ("-created_at",)
    readonly_fields = ("id", "created_at", "first_part_s", "duration_s", "tokens", "events_count")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Turn]:
        """With the number of stored events."""
        return Turn.objects.annotate(events_total=count_of(TurnEvent, "turn"))

    @admin.display(ordering="conversation__owner")
    def owner(self, turn: Turn) -> str:
        """Who asked."""
        return turn.conversation.owner.get_username()

    @admin.display(description="first part after (s)")
    def first_part_s(self, turn: Turn) -> float | None:
        """From the question to the first part."""
        return round((turn.first_part_at - turn.created_at).total_seconds(), 2) if turn.first_part_at else None

    @admin.display(description="took (s)")
    def duration_s(self, turn: Turn) -> float | None:
        """From the question to the end."""
        return round((turn.ended_at - turn.created_at).total_seconds(), 2) if turn.ended_at else None

    @admin.display(description="tokens")
    def tokens(self, turn: Turn) -> int | None:
        """All that the provider counted."""
        total = turn.usage.get("total")
        return total if isinstance(total, int) else None

    @admin.display(description="events", ordering="events_total")
    def events_count(self, turn: Turn) -> int:
        """Stored steps of the log."""
        return getattr(turn, "events_total", None) or 0


@admin.register(TurnEvent)
class TurnEventAdmin(ReviewAdmin):
    """One stored step of a turn."""

    list_display = ("seq", "name", "turn")
    list_filter = ("name",)
    list_select_related = ("turn",)
    search_fields = ("=turn__id",)
    ordering = ("turn", "seq")


@admin.register(LogEntry)
class LogEntryAdmin(ReadOnly, ModelAdmin):
    """Who of the staff read or deleted what."""

    list_display = ("action_time", "user", "content_type", "object_repr", "get_change_message")
    list_filter = ("action_flag", "content_type", "action_time")
    list_select_related = ("user", "content_type")
    search_fields = ("user__username", "object_repr", "=object_id")
    date_hierarchy = "action_time"


admin.site.unregister(User)


@admin.register(User)
class PersonAdmin(DeletesWhole[User], UserAdmin):
    """Django's page of a user, whose conversations and files go with them.

    So do the lines about what they read and deleted as staff; the page that asks before a deletion counts these.
    """

    def get_deleted_objects(
        self, objs: Sequence[User] | QuerySet[User], request: HttpRequest
    ) -> tuple[list[Any], dict[str, int], set[str], list[Any]]:
        """Name the users, and count their lines in the log of the admin."""
        names, counts, permissions, protected = super().get_deleted_objects(objs, request)
        if lines := LogEntry.objects.filter(user__in=[user.pk for user in objs]).count():
            counts["lines about what they read and deleted as staff"] = lines
        return names, counts, permissions, protected

    def delete_model(self, request: HttpRequest, obj: User) -> None:
        """Delete what hangs from conversations first: their links protect attachments."""
        with transaction.atomic():
            for conversation in obj.conversations.all():
                conversation.delete_with_attachments()
            obj.delete()
