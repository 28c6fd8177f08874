"""Reviews: what staff decided about a conversation, and the history of these decisions.

A conversation without a `Review` row is unreviewed. Its history consists of `Verdict` rows, which are append-only and
are deleted together with the conversation.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Sequence
from typing import ClassVar

from django.conf import settings
from django.db import models, transaction
from django.utils import timezone

from chat.models.append_only import AppendOnly, AppendOnlyQuerySet
from chat.models.conversation import Conversation
from chat.models.user import User

LABEL_LIMIT = 40
"""Maximum length of a label, in characters."""

LABELS_LIMIT = 20
"""Maximum number of labels of one review."""

NOTE_LIMIT = 5_000
"""Maximum length of a note, in characters."""

UPDATE_BATCH_ROWS = 200


class ReviewState(models.TextChoices):
    """How far the review of a conversation has come."""

    UNREVIEWED = "unreviewed", "unreviewed"
    IN_REVIEW = "in_review", "in review"
    APPROVED = "approved", "approved"
    FLAGGED = "flagged", "flagged"


class ReviewDecision(models.TextChoices):
    """The kind of a reviewer's decision."""

    TAKEN = "taken", "took it"
    ASSIGNED = "assigned", "assigned it"
    IN_REVIEW = "in_review", "put it back into review"
    APPROVED = "approved", "approved it"
    FLAGGED = "flagged", "flagged it"
    NOTED = "noted", "wrote a note or labels"


STATE_AFTER = {
    ReviewDecision.TAKEN: ReviewState.IN_REVIEW,
    ReviewDecision.IN_REVIEW: ReviewState.IN_REVIEW,
    ReviewDecision.APPROVED: ReviewState.APPROVED,
    ReviewDecision.FLAGGED: ReviewState.FLAGGED,
}
"""Decision -> the state after it. Decisions that are not listed do not change the state."""


class Label(models.Model):
    """A word with which reviewers mark conversations."""

    name = models.CharField(max_length=LABEL_LIMIT, unique=True)

    class Meta:
        ordering: ClassVar[list[str]] = ["name"]

    def __str__(self) -> str:
        return self.name


class NewerVerdict(Exception):
    """Another reviewer has decided about the conversation since this reviewer looked at it. Nothing was stored."""

    def __init__(self, verdict: Verdict) -> None:
        """`verdict`: the newest verdict of other reviewers."""
        super().__init__()
        self.verdict = verdict


class ReviewQuerySet(models.QuerySet["Review"]):
    """Stores the decisions of reviewers."""

    def decide(
        self,
        conversation_ids: Iterable[uuid.UUID],
        reviewer: User,
        decision: ReviewDecision,
        *,
        note: str = "",
        labels: Sequence[str] | None = None,
        assignee: User | None = None,
        seen: int | None = None,
    ) -> int:
        """Apply one decision to all conversations in one transaction, and return how many there were.

        `labels` replaces the present labels; `None` keeps them. `assignee` is only used by `ReviewDecision.ASSIGNED`.
        `seen`: the id of the newest verdict that the reviewer has seen, 0 for none. Raises NewerVerdict if another
        reviewer has decided since. With `None`, this is not checked. Conversations that have been deleted meanwhile are
        skipped.
        """
        with transaction.atomic():
            ids = list(Conversation.objects.filter(pk__in=conversation_ids).order_by().values_list("pk", flat=True))
            self.bulk_create([Review(conversation_id=pk) for pk in ids], ignore_conflicts=True)
            locked = self.select_for_update(of=("self",)).filter(pk__in=ids).order_by("pk")
            reviews = list(locked.prefetch_related("labels"))
            if seen is not None:
                newer = Verdict.objects.filter(conversation__in=ids, pk__gt=seen).exclude(reviewer=reviewer).first()
                if newer is not None:
                    raise NewerVerdict(newer)
            new_labels = None if labels is None else _get_or_create_labels(labels)
            for review in reviews:
                review.apply_decision(decision, reviewer, assignee)
                if new_labels is not None:
                    review.labels.set(new_labels)
            self.bulk_update(reviews, ["state", "assignee", "updated_at"], batch_size=UPDATE_BATCH_ROWS)
            Verdict.objects.bulk_create(
                review.new_verdict(decision, reviewer, assignee, note=note, labels=new_labels) for review in reviews
            )
        return len(reviews)


def _get_or_create_labels(names: Sequence[str]) -> list[Label]:
    Label.objects.bulk_create([Label(name=name) for name in names], ignore_conflicts=True)
    return list(Label.objects.filter(name__in=names))


class Review(models.Model):
    """The current state, assignee and labels of one conversation's review."""

    conversation = models.OneToOneField(Conversation, on_delete=models.CASCADE, primary_key=True)
    state = models.CharField(max_length=10, choices=ReviewState.choices, default=ReviewState.UNREVIEWED)
    assignee = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, blank=True, related_name="assigned_reviews"
    )
    labels = models.ManyToManyField(Label, blank=True, related_name="reviews")
    updated_at = models.DateTimeField(auto_now=True)

    objects = ReviewQuerySet.as_manager()

    def __str__(self) -> str:
        return f"review of {self.conversation_id}"

    def apply_decision(self, decision: ReviewDecision, reviewer: User, assignee: User | None) -> None:
        """Set the state and assignee that a decision leads to, without saving them.

        A reviewer who takes a conversation becomes its assignee.
        """
        self.state = STATE_AFTER.get(decision, ReviewState(self.state))
        if decision == ReviewDecision.TAKEN:
            self.assignee = reviewer
        elif decision == ReviewDecision.ASSIGNED:
            self.assignee = assignee
        self.updated_at = timezone.now()

    def new_verdict(
        self,
        decision: ReviewDecision,
        reviewer: User,
        assignee: User | None,
        *,
        note: str,
        labels: Sequence[Label] | None,
    ) -> Verdict:
        """Return the unsaved history entry for a decision that was applied. `labels`: the new labels;
        `None` if they are kept.
        """
        return Verdict(
            conversation_id=self.pk,
            reviewer=reviewer,
            reviewer_name=reviewer.get_username(),
            decision=decision,
            state=self.state,
            assignee_name=assignee.get_username() if assignee and decision == ReviewDecision.ASSIGNED else "",
            note=note,
            labels=sorted(label.name for label in (self.labels.all() if labels is None else labels)),
        )


class Verdict(AppendOnly):
    """One entry of a conversation's review history."""

    conversation = models.ForeignKey(Conversation, on_delete=models.CASCADE, related_name="verdicts")
    reviewer = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.DO_NOTHING,
        null=True,
        db_constraint=False,
        db_index=False,
        related_name="+",
        help_text="The account may have been deleted since.",
    )
    reviewer_name = models.CharField(max_length=150, help_text="The reviewer's name at the time of the decision.")
    decision = models.CharField(max_length=10, choices=ReviewDecision.choices)
    state = models.CharField(max_length=10, choices=ReviewState.choices, help_text="The state after the decision.")
    assignee_name = models.CharField(
        max_length=150, blank=True, help_text="To whom the conversation was assigned, if it was assigned."
    )
    note = models.TextField(blank=True)
    labels = models.JSONField(default=list, blank=True, help_text="The labels after the decision.")
    created_at = models.DateTimeField(auto_now_add=True)

    objects = AppendOnlyQuerySet["Verdict"].as_manager()

    class Meta:
        ordering: ClassVar[list[str]] = ["-pk"]

    def __str__(self) -> str:
        return f"{self.reviewer_name} {self.get_decision_display()}"
