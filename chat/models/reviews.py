"""What staff do with conversations: a review for each that somebody looked into, its history, and who read what.

A conversation without a review is unreviewed. History and access log are written once, see `appended`: a verdict goes
with its conversation, a line of the access log with its owner's account alone, so that they see who read conversations
that they have deleted since.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Sequence
from datetime import timedelta
from typing import ClassVar

from django.conf import settings
from django.contrib.auth.models import User
from django.db import models, transaction
from django.utils import timezone

from chat.models.appended import Appended, AppendedQuerySet
from chat.models.conversation import Conversation

LABEL_LIMIT = 40
"""Longest label, in characters."""

LABELS_LIMIT = 20
"""Most labels of one review."""

NOTE_LIMIT = 5_000
REASON_LIMIT = 500

NOTED_ONCE_WITHIN = timedelta(minutes=5)
"""The same person reads the same again so soon: one line says it."""


class State(models.TextChoices):
    """Where a review stands."""

    UNREVIEWED = "unreviewed", "unreviewed"
    IN_REVIEW = "in_review", "in review"
    APPROVED = "approved", "approved"
    FLAGGED = "flagged", "flagged"


class Decision(models.TextChoices):
    """What a reviewer did."""

    TAKEN = "taken", "took it"
    ASSIGNED = "assigned", "assigned it"
    IN_REVIEW = "in_review", "put it back into review"
    APPROVED = "approved", "approved it"
    FLAGGED = "flagged", "flagged it"
    NOTED = "noted", "wrote a note or labels"


STATE_AFTER = {
    Decision.TAKEN: State.IN_REVIEW,
    Decision.IN_REVIEW: State.IN_REVIEW,
    Decision.APPROVED: State.APPROVED,
    Decision.FLAGGED: State.FLAGGED,
}
"""Others leave the state as it is."""


class Label(models.Model):
    """A free word that reviewers mark conversations with."""

    name = models.CharField(max_length=LABEL_LIMIT, unique=True)

    class Meta:
        ordering: ClassVar[list[str]] = ["name"]

    def __str__(self) -> str:
        return self.name


class ReviewQuerySet(models.QuerySet["Review"]):
    """Deciding on conversations."""

    def decide(
        self,
        conversation_ids: Iterable[uuid.UUID],
        reviewer: User,
        decision: Decision,
        *,
        note: str = "",
        labels: Sequence[str] | None = None,
        assignee: User | None = None,
    ) -> int:
        """Write a decision on each of them and its line of the history, all or none; on how many.

        `labels` replace those there are, None leaves them; `assignee` counts where something is assigned. Whoever takes
        something is its assignee. A conversation that is gone meanwhile is passed over.
        """
        with transaction.atomic():
            ids = list(Conversation.objects.filter(pk__in=conversation_ids).order_by().values_list("pk", flat=True))
            self.bulk_create([Review(conversation_id=pk) for pk in ids], ignore_conflicts=True)
            locked = self.select_for_update(of=("self",)).filter(pk__in=ids).order_by("pk")
            reviews = list(locked.prefetch_related("labels"))
            named = None if labels is None else _labels(labels)
            for review in reviews:
                review.change(decision, reviewer, assignee)
                if named is not None:
                    review.labels.set(named)
            self.bulk_update(reviews, ["state", "assignee", "updated_at"], batch_size=200)
            Verdict.objects.bulk_create(
                Verdict(
                    conversation_id=review.pk,
                    reviewer=reviewer,
                    reviewer_name=reviewer.get_username(),
                    decision=decision,
                    state=review.state,
                    assignee_name=assignee.get_username() if assignee and decision == Decision.ASSIGNED else "",
                    note=note,
                    labels=sorted(label.name for label in (review.labels.all() if named is None else named)),
                )
                for review in reviews
            )
        return len(reviews)


def _labels(names: Sequence[str]) -> list[Label]:
    """Their rows; new words get one."""
    Label.objects.bulk_create([Label(name=name) for name in names], ignore_conflicts=True)
    return list(Label.objects.filter(name__in=names))


class Review(models.Model):
    """How far staff have come with one conversation."""

    conversation = models.OneToOneField(Conversation, on_delete=models.CASCADE, primary_key=True)
    state = models.CharField(max_length=10, choices=State.choices, default=State.UNREVIEWED)
    assignee = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, blank=True, related_name="assigned_reviews"
    )
    labels = models.ManyToManyField(Label, blank=True, related_name="reviews")
    updated_at = models.DateTimeField(auto_now=True)

    objects = ReviewQuerySet.as_manager()

    def __str__(self) -> str:
        return f"review of {self.conversation_id}"

    def change(self, decision: Decision, reviewer: User, assignee: User | None) -> None:
        """What a decision makes of it; not saved."""
        self.state = STATE_AFTER.get(decision, State(self.state))
        if decision == Decision.TAKEN:
            self.assignee = reviewer
        elif decision == Decision.ASSIGNED:
            self.assignee = assignee
        self.updated_at = timezone.now()


class Verdict(Appended):
    """One line of a conversation's review history."""

    conversation = models.ForeignKey(Conversation, on_delete=models.CASCADE, related_name="verdicts")
    reviewer = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.DO_NOTHING,
        null=True,
        db_constraint=False,
        db_index=False,
        related_name="+",
        help_text="May be gone.",
    )
    reviewer_name = models.CharField(max_length=150, help_text="As it was then.")
    decision = models.CharField(max_length=10, choices=Decision.choices)
    state = models.CharField(max_length=10, choices=State.choices, help_text="After it.")
    assignee_name = models.CharField(max_length=150, blank=True, help_text="To whom it was assigned.")
    note = models.TextField(blank=True)
    labels = models.JSONField(default=list, blank=True, help_text="After it.")
    created_at = models.DateTimeField(auto_now_add=True)

    objects = AppendedQuerySet["Verdict"].as_manager()

    class Meta:
        ordering: ClassVar[list[str]] = ["-pk"]

    def __str__(self) -> str:
        return f"{self.reviewer_name} {self.get_decision_display()}"


class AccessEntryQuerySet(AppendedQuerySet["AccessEntry"]):
    """Writing down who read what."""

    def note(
        self, reader: User, conversations: Iterable[Conversation], action: str, *, reason: str = "", detail: str = ""
    ) -> None:
        """One line for each conversation; what the reader did just before with the same reason is there already."""
        conversations = list(conversations)
        since = timezone.now() - NOTED_ONCE_WITHIN
        same = self.filter(reader=reader, action=action, reason=reason, detail=detail, created_at__gt=since)
        noted = set(same.filter(conversation__in=conversations).values_list("conversation_id", flat=True))
        self.bulk_create(
            AccessEntry(
                reader=reader,
                reader_name=reader.get_username(),
                owner_id=conversation.owner_id,
                conversation=conversation,
                conversation_title=conversation.title,
                action=action,
                detail=detail,
                reason=reason,
            )
            for conversation in conversations
            if conversation.pk not in noted
        )


class AccessEntry(Appended):
    """One line of the access log: who of the staff saw what somebody said here."""

    class Action(models.TextChoices):
        """What they did."""

        READ = "read", "read"
        FILE = "file", "opened a file"
        EXPORTED = "exported", "exported"

    reader = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.DO_NOTHING,
        null=True,
        db_constraint=False,
        db_index=False,
        related_name="+",
        help_text="May be gone.",
    )
    reader_name = models.CharField(max_length=150, help_text="As it was then.")
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, db_index=False, related_name="+")
    conversation = models.ForeignKey(
        Conversation,
        on_delete=models.DO_NOTHING,
        null=True,
        db_constraint=False,
        related_name="+",
        help_text="May be gone.",
    )
    conversation_title = models.CharField(max_length=200, blank=True, help_text="As it was then.")
    action = models.CharField(max_length=8, choices=Action.choices)
    detail = models.CharField(max_length=255, blank=True, help_text="Which file, what kind of page.")
    reason = models.CharField(max_length=REASON_LIMIT, blank=True, help_text="In the reader's words.")
    created_at = models.DateTimeField(auto_now_add=True)

    objects = AccessEntryQuerySet.as_manager()

    class Meta:
        ordering: ClassVar[list[str]] = ["-pk"]
        indexes: ClassVar[list[models.Index]] = [models.Index(fields=["owner", "-id"])]
        verbose_name = "line of the access log"
        verbose_name_plural = "access log"

    def __str__(self) -> str:
        return f"{self.reader_name} {self.get_action_display()} {self.conversation_id}"
