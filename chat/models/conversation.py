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
<<<<<<< HEAD
from chat.models.conversation_queries import ConversationQuerySet, ExistingConversations
=======
from chat.models.full_text.query import Term
from chat.models.nightly_runs import NightlyRuns
from chat.models.search import ContainsTerm


@dataclass(frozen=True, slots=True)
class ListPosition:
    """A position in `newest_first`: after the conversation with this time and id."""

    updated_at: datetime
    conversation_id: uuid.UUID
    rank: int = 0
    """In the results of a search: the rank of this conversation, as in `chat.models.ranked_search`."""


@dataclass(frozen=True, slots=True)
class Page:
    """A page of conversations, newest first, or a page of results."""

    conversations: list[Conversation]
    end: ListPosition | None
    """Where the next page begins; `None` on the last page."""
    ranks: Sequence[int] = ()
    """Of results: the rank of each conversation, as in `chat.models.ranked_search`."""


class ConversationQuerySet(models.QuerySet["Conversation"]):
    """Queries for conversations."""

    def owned_by(self, user_id: int) -> ConversationQuerySet:
        """Return the conversations of one user."""
        return self.filter(owner_id=user_id)

    def in_use(self) -> ConversationQuerySet:
        """Return the conversations that are not archived."""
        return self.filter(archived_at__isnull=True)

    def kept(self) -> ConversationQuerySet:
        """Return the conversations that are not temporary: those of lists, searches, galleries, exports and reviews."""
        return self.filter(temporary_seen_at__isnull=True)

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
        conversations = list(self.after(after)[: size + 1])
        last = conversations[size - 1] if len(conversations) > size else None
        return Page(conversations[:size], ListPosition(last.updated_at, last.pk) if last else None)

    def after(self, position: ListPosition | None) -> ConversationQuerySet:
        """Return the conversations after a position, or all, newest first."""
        rows = self.newest_first()
        if position is None:
            return rows
        # The last condition follows from the other one, and lets the database use an index.
        is_later = Q(updated_at__lt=position.updated_at) | Q(pk__lt=position.conversation_id)
        return rows.filter(is_later, updated_at__lte=position.updated_at)

    def holding(self, terms: Sequence[Term], owner_id: int | None = None) -> ConversationQuerySet:
        """Return the conversations whose title and shown messages contain every term. Without terms, return none.

        `owner_id`: whose conversations are searched. `None`: those of all users, which reads their texts.
        """
        return self.filter(*(ContainsTerm(term, owner_id) for term in terms)) if terms else self.none()

    def untouched(self, settings: Mapping[str, str], project_id: uuid.UUID | None = None) -> ConversationQuerySet:
        """Return the conversations of a project, or of none, without messages, with these and the default settings."""
        defaults: dict[str, str | None] = {
            "title": "",
            "system_instruction": "",
            "web_search": Conversation.WebSearch.AUTO,
            "archived_at": None,
            "pinned_at": None,
            "temporary_seen_at": None,
        }
        untouched = self.exclude(private_data=True).filter(messages__isnull=True, project=project_id)
        return untouched.filter(**defaults, **settings)


ConversationManager = models.Manager.from_queryset(ConversationQuerySet)


class ExistingConversations(ConversationManager["Conversation"]):
    """The conversations that their owners have not deleted."""

    def get_queryset(self) -> ConversationQuerySet:
        """Leave out the deleted conversations that can still be restored."""
        return ConversationQuerySet(self.model, using=self._db).filter(deleted_at__isnull=True)
>>>>>>> m_trust


class Conversation(NightlyRuns):
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
    # Null is allowed here and below, because SQLite adds such a column in place. A table made anew loses its triggers.
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
    deleted_at = models.DateTimeField(
        null=True, blank=True, help_text="When its owner deleted it. It can be restored for a short time."
    )
    temporary_seen_at = models.DateTimeField(
        null=True,
        blank=True,
        help_text="When a page of this temporary conversation was open last. Empty: it is not temporary.",
    )
    # Answers that ended before the columns existed count as read.
    answered_at = models.DateTimeField(null=True, blank=True, help_text="When its newest answer ended.")
    read_at = models.DateTimeField(
        null=True, blank=True, help_text="The end of the newest answer that its owner had on the screen."
    )
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    # Everything that people see is read through this manager, so a deleted conversation is hidden everywhere at once.
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
            # It serves the foreign key, too.
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
        """Whether its data are private, by its own setting or its project's."""
        return bool(self.private_data) or (self.project is not None and self.project.private_data)

    @property
    def is_unread(self) -> bool:
        """Whether an answer has ended that its owner did not have on the screen."""
        return self.answered_at is not None and (self.read_at is None or self.read_at < self.answered_at)

    @staticmethod
    def is_sharing_allowed() -> bool:
        """Return whether the operator allows links to conversations."""
        return bool(settings.ALLOW_SHARING)

    @property
    def can_be_shared(self) -> bool:
        """Whether links to it can be made."""
        return self.is_sharing_allowed() and not self.is_temporary

    @staticmethod
    def temporary_limit_min() -> int:
        """Return after how many minutes without an open page a temporary conversation is deleted."""
        return int(settings.TEMPORARY_LIMIT_MIN)

    @property
    def is_temporary(self) -> bool:
        """Whether it is deleted some time after its last page was closed; see `models.temporary_conversations`."""
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
