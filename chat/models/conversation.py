"""Conversations and their settings."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from datetime import datetime
from typing import ClassVar, TypeAlias

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext

from chat.models import settings_choices
from chat.models.conversation_queries import ConversationQuerySet, ExistingConversations


class Conversation(models.Model):
    """One conversation with its settings."""

    CodeExecution: TypeAlias = settings_choices.CodeExecution
    Engine: TypeAlias = settings_choices.Engine
    Approval: TypeAlias = settings_choices.Approval
    Release: TypeAlias = settings_choices.Release
    WebSearch: TypeAlias = settings_choices.WebSearch

    TitleSource: TypeAlias = settings_choices.TitleSource

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="conversations")
    project = models.ForeignKey(
        "chat.Project",
        on_delete=models.SET_NULL,
        null=True,
        blank=True,
        related_name="conversations",
        db_index=False,
        help_text="The folder that it is in. Empty: none.",
    )
    title = models.CharField(max_length=200, blank=True)
    title_source = models.CharField(
        max_length=5,
        choices=TitleSource.choices,
        default=TitleSource.WORDS,
        help_text="A title made of the first words may be replaced by a model's.",
    )
    model = models.CharField(max_length=200, blank=True, help_text="Empty: the server's default model.")
    code_execution = models.CharField(max_length=4, choices=CodeExecution.choices, default=CodeExecution.AUTO)
    engine = models.CharField(
        db_default=Engine.AUTO,
        max_length=7,
        choices=Engine.choices,
        default=Engine.AUTO,
        help_text="Where the code of answers runs.",
    )
    approval = models.CharField(
        db_default=Approval.AUTO,
        max_length=6,
        choices=Approval.choices,
        default=Approval.AUTO,
        help_text="Whether code runs in the Python session without asking.",
    )
    release = models.CharField(
        db_default=Release.AUTO,
        max_length=4,
        choices=Release.choices,
        default=Release.AUTO,
        help_text="Whether models get results without asking.",
    )
    web_search = models.CharField(
        db_default=WebSearch.AUTO,
        max_length=4,
        choices=WebSearch.choices,
        default=WebSearch.AUTO,
        help_text="Whether answers may search the web and read web pages, if their model can.",
    )
    # Null is allowed here and below, because SQLite can then add the column without rebuilding the table. A rebuilt
    # table loses its triggers.
    private_data = models.BooleanField(
        null=True, blank=True, help_text="Whether models get schemas and computed results, no rows, cells or files."
    )
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
    nightly = models.BooleanField(
        null=True, blank=True, help_text="Whether all its code runs again each night, while it is pinned."
    )
    nightly_at = models.DateTimeField(null=True, blank=True, help_text="When the last nightly run began.")
    nightly_result = models.JSONField(null=True, blank=True, help_text="What it has shown: `verdict` and `detail`.")
    deleted_at = models.DateTimeField(
        null=True, blank=True, help_text="When its owner deleted it. It can be restored for a short time."
    )
    temporary_seen_at = models.DateTimeField(
        null=True,
        blank=True,
        help_text="When a page of this temporary conversation was open last. Empty: it is not temporary.",
    )
    # `answered_at` is null without an answer, and if the newest one ended before this column existed. Such an answer
    # counts as read.
    answered_at = models.DateTimeField(null=True, blank=True, help_text="When its newest answer ended.")
    read_at = models.DateTimeField(
        null=True, blank=True, help_text="The end of the newest answer that its owner had on the screen."
    )
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    # All code that shows conversations to people reads them through this manager, so a deleted one is hidden everywhere
    # at once.
    objects = ExistingConversations()
    with_deleted = ConversationQuerySet.as_manager()

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
            models.Index(fields=["deleted_at"], condition=Q(deleted_at__isnull=False), name="deleted_conversations"),
            models.Index(
                fields=["temporary_seen_at"],
                condition=Q(temporary_seen_at__isnull=False),
                name="temporary_conversations",
            ),
            # This index serves the foreign key, too.
            models.Index(
                fields=["project", "-updated_at"], condition=Q(project__isnull=False), name="project_conversations"
            ),
        ]

    def __str__(self) -> str:
        return self.title or gettext("New conversation")

    def get_absolute_url(self) -> str:
        return reverse("conversation", args=[self.pk])

    @property
    def is_private(self) -> bool:
        """Return whether the data of the conversation are private, by its own setting or by its project's."""
        return bool(self.private_data) or (self.project is not None and self.project.private_data)

    @property
    def is_unread(self) -> bool:
        """Return whether an answer has ended that the owner has not seen on the screen."""
        return self.answered_at is not None and (self.read_at is None or self.read_at < self.answered_at)

    @property
    def nightly_outcome(self) -> Mapping[str, str] | None:
        """The result of the last nightly run: `verdict` and `detail`. `None` if nightly runs are off, the conversation
        is not pinned, or no run has ended.
        """
        return self.nightly_result if self.nightly and self.pinned_at else None

    @staticmethod
    def is_sharing_allowed() -> bool:
        """Return whether the operator allows links to conversations."""
        return bool(settings.ALLOW_SHARING)

    @property
    def can_be_shared(self) -> bool:
        """Return whether links to the conversation can be created."""
        return self.is_sharing_allowed() and not self.is_temporary

    @staticmethod
    def temporary_limit_min() -> int:
        """Return the number of minutes without an open page after which a temporary conversation is deleted."""
        return int(settings.TEMPORARY_LIMIT_MIN)

    @property
    def is_temporary(self) -> bool:
        """Return whether it is deleted soon after its last page was closed; see `models.temporary_conversations`."""
        return self.temporary_seen_at is not None

    @staticmethod
    def setting_choices() -> dict[str, list[tuple[str, str]]]:
        """Return the values and labels of the settings that are choices, by the names that templates use."""
        return {
            "code_execution_choices": Conversation.CodeExecution.choices,
            "engine_choices": Conversation.Engine.choices,
            "approval_choices": Conversation.Approval.choices,
            "release_choices": Conversation.Release.choices,
            "web_search_choices": Conversation.WebSearch.choices,
        }

    def change_settings(self, changes: Mapping[str, str | bool]) -> None:
        """Save only these columns, because a live turn may increase `revision` at the same time.

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
