"""Conversations, their trees of messages and parts, the turns that make answers, and the log of a live turn.

While a turn is live its truth is its `TurnEvent` log, appended to by `turns.store` alone; when it ends, the
log is folded into `Part` rows in the same transaction that ends it.
"""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import ClassVar

from django.conf import settings
from django.db import models, transaction
from django.db.models import Exists, OuterRef, Q
from django.urls import get_script_prefix, reverse
from django.utils import timezone

from attachments.models import Attachment
from chat.models.search import Holds
from chat.parts import PartKind, Role
from chat.search.query import Term
from chat.statements import Given

NO_ID = str(uuid.UUID(int=0))


@lru_cache(maxsize=8)
def _address(script_prefix: str) -> str:
    """Where the conversation of `NO_ID` would be below that path; Django takes 0.04 ms to make one up."""
    return reverse("conversation", args=[NO_ID])


@dataclass(frozen=True, slots=True)
class Place:
    """Where a conversation stands in `newest_first`."""

    updated_at: datetime
    conversation_id: uuid.UUID


@dataclass(frozen=True, slots=True)
class Page:
    """Some conversations, newest first."""

    conversations: list[Conversation]
    end: Place | None
    """Where the next page goes on; None: there are no more."""


class ConversationQuerySet(models.QuerySet["Conversation"]):
    """Reading conversations."""

    def owned_by(self, user_id: int | Given) -> ConversationQuerySet:
        """Those that belong to one person."""
        return self.filter(owner_id=user_id)

    def in_use(self) -> ConversationQuerySet:
        """Those that are not archived."""
        return self.filter(archived_at__isnull=True)

    def archived(self) -> ConversationQuerySet:
        """Those that their owner put away."""
        return self.filter(archived_at__isnull=False)

    def newest_first(self) -> ConversationQuerySet:
        """By the last thing that happened in them."""
        return self.order_by("-updated_at", "-pk")

    def page(self, size: int, after: Place | None = None) -> Page:
        """The newest, or those that stand after a place; what has moved up since then does not come again."""
        rows = self.newest_first()
        if after is not None:
            # The last condition follows from the others, but is one that an index answers.
            is_later = Q(updated_at__lt=after.updated_at) | Q(pk__lt=after.conversation_id)
            rows = rows.filter(is_later, updated_at__lte=after.updated_at)
        found = list(rows[: size + 1])
        last = found[size - 1] if len(found) > size else None
        return Page(found[:size], Place(last.updated_at, last.pk) if last else None)

    def holding(self, terms: Sequence[Term]) -> ConversationQuerySet:
        """Those in whose title and messages in view every one of the terms stands; no terms stand nowhere."""
        return self.filter(*map(Holds, terms)) if terms else self.none()

    def untouched(self) -> ConversationQuerySet:
        """Those without a message, a title or settings of their own."""
        defaults: dict[str, str | None] = {
            "title": "",
            "model": "",
            "system_instruction": "",
            "code_execution": Conversation.CodeExecution.AUTO,
            "archived_at": None,
            "pinned_at": None,
        }
        return self.filter(messages__isnull=True, **defaults)

    def open_new(self, owner_id: int) -> Conversation:
        """A new conversation of theirs, newest of all; an untouched one is used again, so that they never pile up."""
        conversation = self.owned_by(owner_id).untouched().newest_first().first()
        if conversation is None:
            return self.create(owner_id=owner_id)
        conversation.save(update_fields=["updated_at"])
        return conversation


class _Overtaken(Exception):
    """Somebody was faster; the savepoint's locks are given back."""


class Conversation(models.Model):
    """One chat with its settings."""

    class CodeExecution(models.TextChoices):
        """Whether answers may run code."""

        AUTO = "auto", "when the question asks for it"
        ON = "on", "always"
        OFF = "off", "never"

    class TitleSource(models.TextChoices):
        """Who named it."""

        WORDS = "words", "its first words"
        MODEL = "model", "a model"
        USER = "user", "its owner"

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="conversations")
    title = models.CharField(max_length=200, blank=True)
    title_source = models.CharField(
        max_length=5, choices=TitleSource.choices, default=TitleSource.WORDS, help_text="First words may be bettered."
    )
    model = models.CharField(max_length=200, blank=True, help_text="Empty: the server's default model.")
    code_execution = models.CharField(max_length=4, choices=CodeExecution.choices, default=CodeExecution.AUTO)
    system_instruction = models.TextField(blank=True)
    side_tokens = models.PositiveBigIntegerField(default=0, help_text="Of what is asked beside turns: its title.")
    side_cost = models.DecimalField(max_digits=14, decimal_places=8, null=True, blank=True, help_text="US dollars.")
    revision = models.PositiveBigIntegerField(
        default=0, help_text="Counts changes of the transcript's shape, so that a page can tell that it is behind."
    )
    archived_at = models.DateTimeField(null=True, blank=True, help_text="When its owner put it away; none: in use.")
    pinned_at = models.DateTimeField(null=True, blank=True, help_text="When its owner pinned it; none: not pinned.")
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    objects = ConversationQuerySet.as_manager()

    class Meta:
        ordering: ClassVar[list[str]] = ["-updated_at"]
        indexes: ClassVar[list[models.Index]] = [
            models.Index(fields=["owner", "-updated_at"]),
            # Few of many: without these, each page of the list would look for them through all.
            models.Index(
                fields=["owner", "-updated_at"], condition=Q(pinned_at__isnull=False), name="pinned_conversations"
            ),
            models.Index(
                fields=["owner", "-updated_at"], condition=Q(archived_at__isnull=False), name="archived_conversations"
            ),
        ]

    def __str__(self) -> str:
        return self.title or "New conversation"

    def get_absolute_url(self) -> str:
        return _address(get_script_prefix()).replace(NO_ID, str(self.pk))

    def change_settings(self, changes: Mapping[str, str | bool]) -> None:
        """Write these columns and no other: a live turn may be counting `revision` up at the same time.

        `archived` and `pinned` are true or false; since when it is so stays as it is.
        """
        columns: dict[str, str | bool | datetime | None] = dict(changes)
        if "title" in columns:
            columns["title_source"] = self.TitleSource.USER
        for name in ("archived", "pinned"):
            if name in columns:
                since: datetime | None = getattr(self, f"{name}_at")
                columns[f"{name}_at"] = (since or timezone.now()) if columns.pop(name) else None
        for name, value in columns.items():
            setattr(self, name, value)
        self.save(update_fields=list(columns))

    def delete_with_attachments(self) -> list[Attachment]:
        """Delete it with the rows of those attachments that no other conversation shows; returns these.

        The bytes of the returned ones that storage has confirmed are still there: nothing deletes them yet.
        """
        with transaction.atomic():
            self._lock()
            shown = Attachment.objects.select_for_update().filter(pk__in=self._attachment_ids())
            ids = [attachment.pk for attachment in shown]
            self.delete()
            elsewhere = Part.objects.filter(attachment=OuterRef("pk"))
            orphans = Attachment.objects.filter(~Exists(elsewhere), pk__in=ids, message_attachments__isnull=True)
            deleted = list(orphans)
            orphans.delete()
        return deleted

    def _lock(self) -> None:
        """Whoever writes to a live turn, asks something, or sends an attachment just now, comes before this or fails.

        In their order: turns, conversation, and attachments last. A turn that began between the first two is waited for
        by beginning anew, so that no two wait for each other.
        """
        live = Turn.objects.filter(conversation=self, status__in=Turn.LIVE)
        while True:
            try:
                with transaction.atomic():
                    known = {turn.pk for turn in live.select_for_update()}
                    list(Conversation.objects.select_for_update().filter(pk=self.pk))
                    if known >= set(live.values_list("pk", flat=True)):
                        return
                    raise _Overtaken
            except _Overtaken:
                continue

    def _attachment_ids(self) -> set[uuid.UUID]:
        """Attachments of its messages; those of a live answer stand in its log alone until it ends."""
        links = MessageAttachment.objects.filter(message__conversation=self)
        parts = Part.objects.filter(message__conversation=self, attachment__isnull=False)
        drawn = TurnEvent.objects.filter(turn__conversation=self, turn__status__in=Turn.LIVE, name=TurnEvent.ATTACHMENT)
        return {
            *links.values_list("attachment_id", flat=True),
            *parts.values_list("attachment_id", flat=True),
            *(uuid.UUID(data["attachment_id"]) for data in drawn.values_list("data", flat=True)),
        }


class Message(models.Model):
    """What one side said. Messages form a tree: those with the same parent are versions of one another."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    conversation = models.ForeignKey(Conversation, on_delete=models.CASCADE, related_name="messages")
    parent = models.ForeignKey(
        "self", on_delete=models.CASCADE, null=True, blank=True, related_name="versions", help_text="What it follows."
    )
    index = models.PositiveIntegerField(help_text="Place on its path, from 0.")
    is_shown = models.BooleanField(
        default=True, help_text="Whether it stands on the path that is shown and continued; other versions do not."
    )
    last_shown = models.PositiveBigIntegerField(
        default=0, help_text="The conversation's revision when it came into view: of several, the last seen is shown."
    )
    role = models.CharField(max_length=5, choices=[(role.value, role.value) for role in Role])
    text = models.TextField(
        blank=True, help_text="The text parts joined; `[GRAPH:n]` on a line of its own where attachment n was drawn."
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering: ClassVar[list[str]] = ["conversation", "index"]
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(
                fields=["conversation", "index"], condition=Q(is_shown=True), name="one_shown_message_per_index"
            ),
            models.CheckConstraint(
                condition=Q(index=0, parent__isnull=True) | Q(index__gt=0, parent__isnull=False),
                name="first_messages_follow_none",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.role} message {self.index}"


class Part(models.Model):
    """One piece of a message, exactly as it was sent; see `chat.parts.Part` for the fields."""

    message = models.ForeignKey(Message, on_delete=models.CASCADE, related_name="parts", db_index=False)
    index = models.PositiveIntegerField()
    kind = models.CharField(max_length=30, choices=[(kind.value, kind.value) for kind in PartKind])
    text = models.TextField(null=True, blank=True)  # noqa: DJ001 - null is "absent", which the wire tells from ""
    # Without a limit: what a provider sends is kept as it is, and no length of it may cost the answer.
    language = models.TextField(blank=True)
    outcome = models.TextField(blank=True)
    call_id = models.TextField(blank=True)
    mime_type = models.TextField(blank=True)
    attachment = models.ForeignKey(
        Attachment, on_delete=models.PROTECT, null=True, blank=True, related_name="+", help_text="Bytes of inline_data."
    )
    fields = models.JSONField(default=dict, blank=True)
    thought_signature = models.BinaryField(null=True, blank=True)

    class Meta:
        ordering: ClassVar[list[str]] = ["message", "index"]
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["message", "index"], name="one_part_per_index"),
        ]

    def __str__(self) -> str:
        return f"{self.kind} part {self.index}"


class MessageAttachment(models.Model):
    """An attachment's place in a message; `index` is the n of its marker."""

    message = models.ForeignKey(Message, on_delete=models.CASCADE, related_name="message_attachments", db_index=False)
    attachment = models.ForeignKey(Attachment, on_delete=models.PROTECT, related_name="message_attachments")
    index = models.PositiveIntegerField()
    part_index = models.PositiveIntegerField(
        null=True, blank=True, help_text="The part after which it is shown; none: at the message's end."
    )

    class Meta:
        ordering: ClassVar[list[str]] = ["message", "index"]
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["message", "index"], name="one_attachment_per_index"),
        ]

    def __str__(self) -> str:
        return f"attachment {self.index} of {self.message_id}"


class ProviderFile(models.Model):
    """An attachment that a provider keeps for a while, so that it need not be sent with every request."""

    attachment = models.ForeignKey(Attachment, on_delete=models.CASCADE, related_name="provider_files")
    account = models.CharField(max_length=64, help_text="Digest of the provider, address and key that it belongs to.")
    uri = models.TextField()
    mime_type = models.CharField(max_length=100, help_text="As the provider takes it.")
    expires_at = models.DateTimeField()

    class Meta:
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["attachment", "account"], name="one_file_per_account"),
        ]

    def __str__(self) -> str:
        return self.uri


class Turn(models.Model):
    """One generation: from a user message to the end of the answer."""

    class Status(models.TextChoices):
        """States; `TRANSITIONS` says how they follow each other."""

        QUEUED = "queued", "waiting to start"
        RUNNING = "running", "running"
        DONE = "done", "done"
        STOPPED = "stopped", "stopped by the user"
        FAILED = "failed", "failed"
        INTERRUPTED = "interrupted", "interrupted"

    LIVE: ClassVar[tuple[Status, ...]] = (Status.QUEUED, Status.RUNNING)
    TRANSITIONS: ClassVar[dict[Status, tuple[Status, ...]]] = {
        Status.QUEUED: (Status.RUNNING, Status.STOPPED, Status.FAILED, Status.INTERRUPTED),
        Status.RUNNING: (Status.DONE, Status.STOPPED, Status.FAILED, Status.INTERRUPTED),
        Status.DONE: (),
        Status.STOPPED: (),
        Status.FAILED: (),
        Status.INTERRUPTED: (),
    }

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    conversation = models.ForeignKey(Conversation, on_delete=models.CASCADE, related_name="turns")
    user_message = models.ForeignKey(Message, on_delete=models.CASCADE, related_name="asked_turns")
    message = models.OneToOneField(Message, on_delete=models.CASCADE, related_name="turn")
    status = models.CharField(max_length=12, choices=Status.choices, default=Status.QUEUED)
    client_id = models.CharField(max_length=64, blank=True, help_text="Chosen by the client; one turn for each.")
    provider = models.CharField(max_length=50)
    model = models.CharField(max_length=200)
    code_mode = models.CharField(
        max_length=4,
        choices=Conversation.CodeExecution.choices,
        default=Conversation.CodeExecution.AUTO,
        help_text="What was asked for: the conversation's setting, or this message's own.",
    )
    code_execution = models.BooleanField(default=False, help_text="Whether this generation was offered the tool.")
    code_reason = models.TextField(blank=True, help_text="Why, for a person to read.")
    chosen = models.JSONField(
        default=dict, blank=True, help_text="What was chosen for this turn alone; it holds for other versions too."
    )
    parameters = models.JSONField(default=dict, blank=True, help_text="What the model was set to; see `Setup`.")
    left_out = models.PositiveIntegerField(
        default=0, help_text="Oldest messages that were not sent, as the conversation is longer than the model reads."
    )
    cost = models.DecimalField(
        max_digits=14, decimal_places=8, null=True, blank=True, help_text="US dollars; none: no price is known."
    )
    lease_owner = models.CharField(max_length=64, blank=True, help_text="The process that runs it.")
    lease_expires_at = models.DateTimeField(null=True, blank=True)
    stop_requested = models.BooleanField(default=False)
    usage = models.JSONField(default=dict, blank=True)
    finish_reason = models.TextField(blank=True)
    finish_message = models.TextField(blank=True)
    error_code = models.CharField(max_length=50, blank=True)
    error_detail = models.TextField(blank=True, help_text="What the provider said; for staff.")
    retry_after_s = models.FloatField(null=True, blank=True, help_text="How long the provider asks to wait.")
    response_id = models.TextField(blank=True)
    model_version = models.TextField(blank=True)
    metadata = models.JSONField(default=dict, blank=True, help_text="Grounding and the like, by wire name.")
    created_at = models.DateTimeField(auto_now_add=True)
    started_at = models.DateTimeField(null=True, blank=True)
    first_part_at = models.DateTimeField(null=True, blank=True)
    ended_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering: ClassVar[list[str]] = ["created_at"]
        permissions = (("view_overview", "Can view the overview of use"),)
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(
                fields=["conversation"],
                condition=Q(status__in=["queued", "running"]),
                name="one_live_turn_per_conversation",
            ),
            models.UniqueConstraint(
                fields=["conversation", "client_id"], condition=~Q(client_id=""), name="one_turn_per_client_id"
            ),
        ]
        indexes: ClassVar[list[models.Index]] = [
            models.Index(
                fields=["lease_expires_at"], condition=Q(status__in=["queued", "running"]), name="live_turns_by_lease"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.status} turn {self.pk}"

    @property
    def is_live(self) -> bool:
        """Whether parts may still come."""
        return self.status in self.LIVE


class TurnEvent(models.Model):
    """One stored step of a turn; `seq` counts from 1 without a gap. Appended in bulk, never changed."""

    ATTACHMENT: ClassVar[str] = "attachment"
    """The name of a step that brought an attachment; its data hold `attachment_id`."""

    # Without an index of its own: that of the constraint begins with it, and each frame of each answer is a row.
    turn = models.ForeignKey(Turn, on_delete=models.CASCADE, related_name="events", db_index=False)
    seq = models.PositiveIntegerField()
    name = models.CharField(max_length=20)
    data = models.JSONField()

    class Meta:
        ordering: ClassVar[list[str]] = ["turn", "seq"]
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["turn", "seq"], name="one_event_per_seq"),
        ]

    def __str__(self) -> str:
        return f"event {self.seq} of {self.turn_id}"
