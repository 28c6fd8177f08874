"""Conversations: their settings, and queries for lists of them."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import ClassVar

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.urls import reverse
from django.utils import timezone

from chat.models.search import ContainsTerm
from chat.search.query import Term


@dataclass(frozen=True, slots=True)
class ListPosition:
    """A position in `newest_first`: after the conversation with this time and id."""

    updated_at: datetime
    conversation_id: uuid.UUID


@dataclass(frozen=True, slots=True)
class Page:
    """A page of conversations, newest first."""

    conversations: list[Conversation]
    end: ListPosition | None
    """Where the next page begins; `None` on the last page."""


class ConversationQuerySet(models.QuerySet["Conversation"]):
    """Queries for conversations."""

    def owned_by(self, user_id: int) -> ConversationQuerySet:
        """Return the conversations of one user."""
        return self.filter(owner_id=user_id)

    def in_use(self) -> ConversationQuerySet:
        """Return the conversations that are not archived."""
        return self.filter(archived_at__isnull=True)

    def archived(self) -> ConversationQuerySet:
        """Return the archived conversations."""
        return self.filter(archived_at__isnull=False)

    def newest_first(self) -> ConversationQuerySet:
        """Order the conversations by their last change."""
        return self.order_by("-updated_at", "-pk")

    def page(self, size: int, after: ListPosition | None = None) -> Page:
        """Return the newest conversations, or those after a position.

        A conversation that has become newer since the earlier pages were read is not repeated.
        """
        rows = self.newest_first()
        if after is not None:
            # The last condition follows from the other one, and lets the database use an index.
            is_later = Q(updated_at__lt=after.updated_at) | Q(pk__lt=after.conversation_id)
            rows = rows.filter(is_later, updated_at__lte=after.updated_at)
        conversations = list(rows[: size + 1])
        last = conversations[size - 1] if len(conversations) > size else None
        return Page(conversations[:size], ListPosition(last.updated_at, last.pk) if last else None)

    def holding(self, terms: Sequence[Term]) -> ConversationQuerySet:
        """Return the conversations whose title and shown messages contain every term. Without terms, return none."""
        return self.filter(*map(ContainsTerm, terms)) if terms else self.none()

    def untouched(self) -> ConversationQuerySet:
        """Return the conversations without messages and with default settings."""
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
        """Return an empty conversation, which becomes the newest.

        An existing untouched conversation is reused.
        """
        conversation = self.owned_by(owner_id).untouched().newest_first().first()
        if conversation is None:
            return self.create(owner_id=owner_id)
        conversation.save(update_fields=["updated_at"])
        return conversation


class Conversation(models.Model):
    """One conversation with its settings."""

    class CodeExecution(models.TextChoices):
        """When answers may run code."""

        AUTO = "auto", "when the question asks for it"
        ON = "on", "always"
        OFF = "off", "never"

    class TitleSource(models.TextChoices):
        """Who wrote the title."""

        WORDS = "words", "its first words"
        MODEL = "model", "a model"
        USER = "user", "its owner"

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="conversations")
    title = models.CharField(max_length=200, blank=True)
    title_source = models.CharField(
        max_length=5,
        choices=TitleSource.choices,
        default=TitleSource.WORDS,
        help_text="A title made of the first words may be replaced by a model's.",
    )
    model = models.CharField(max_length=200, blank=True, help_text="Empty: the server's default model.")
    code_execution = models.CharField(max_length=4, choices=CodeExecution.choices, default=CodeExecution.AUTO)
    system_instruction = models.TextField(blank=True)
    side_tokens = models.PositiveBigIntegerField(
        default=0, help_text="Tokens of requests beside turns: the one for its title."
    )
    side_cost = models.DecimalField(max_digits=14, decimal_places=8, null=True, blank=True, help_text="US dollars.")
    revision = models.PositiveBigIntegerField(
        default=0, help_text="Counts changes of the list of messages, so that a page can tell that it is outdated."
    )
    archived_at = models.DateTimeField(
        null=True, blank=True, help_text="When its owner archived it. Empty: it is in use."
    )
    pinned_at = models.DateTimeField(
        null=True, blank=True, help_text="When its owner pinned it. Empty: it is not pinned."
    )
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    objects = ConversationQuerySet.as_manager()

    class Meta:
        ordering: ClassVar[list[str]] = ["-updated_at"]
        indexes: ClassVar[list[models.Index]] = [
            models.Index(fields=["owner", "-updated_at"]),
            # Few conversations are pinned or archived. Without these indexes, a page of them would read all rows.
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
        return reverse("conversation", args=[self.pk])

    def change_settings(self, changes: Mapping[str, str | bool]) -> None:
        """Save these columns and no others, because a live turn may increase `revision` at the same time.

        `archived` and `pinned` are booleans; a conversation that is already archived or pinned keeps its date.
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
