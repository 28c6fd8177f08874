"""Turns: the generation of one answer, its rounds, and the log of a live turn.

While a turn is live, its log (`TurnEvent`) holds its state; `turns.store`, `turns.resume` and `turns.finish` append to
it. When the turn ends, `Part` and `Round` rows are made from the log, in the transaction that ends the turn. Some
minutes later the log is deleted (`turns.old_logs`).
"""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from typing import ClassVar

from django.conf import settings
from django.db import models
from django.db.models import BooleanField, Q
from django.db.models.expressions import RawSQL
from django.utils import timezone
from django.utils.translation import gettext

from chat.models.conversation import Conversation
from chat.models.message import Message
from chat.vocabulary.parts import Engine


class TurnQuerySet(models.QuerySet["Turn"]):
    """Queries for turns."""

    def live_of_everyone(self) -> TurnQuerySet:
        """Return the live turns of all users."""
        return self.filter(RawSQL(f'"chat_turn"."status" IN ({Turn.live_literals()})', (), BooleanField())).order_by()


class Turn(models.Model):
    """One generation: from a user message to the end of the answer."""

    class Status(models.TextChoices):
        """The states of a turn. `TRANSITIONS` says how they follow each other."""

        QUEUED = "queued", "waiting to start"
        RUNNING = "running", "running"
        WAITING = "waiting", "waiting for a decision"
        DONE = "done", "done"
        STOPPED = "stopped", "stopped by the user"
        FAILED = "failed", "failed"
        INTERRUPTED = "interrupted", "interrupted"

    LIVE = (Status.QUEUED, Status.RUNNING, Status.WAITING)
    """States in which parts may still be added. A conversation has at most one turn in these states."""

    TRANSITIONS: Mapping[str, tuple[str, ...]] = {
        Status.QUEUED: (Status.RUNNING, Status.STOPPED, Status.FAILED, Status.INTERRUPTED),
        Status.RUNNING: (Status.WAITING, Status.DONE, Status.STOPPED, Status.FAILED, Status.INTERRUPTED),
        Status.WAITING: (Status.RUNNING, Status.STOPPED, Status.FAILED, Status.INTERRUPTED),
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
    client_id = models.CharField(
        max_length=64, null=True, blank=True, help_text="Chosen by the client. A repeated one starts no second turn."
    )
    provider = models.CharField(max_length=50)
    endpoint = models.CharField(
        max_length=50, blank=True, help_text="Which server of the provider. Empty: the one that the settings describe."
    )
    account = models.CharField(
        max_length=64, blank=True, help_text="Whose signatures the parts bear; see the provider."
    )
    model = models.CharField(max_length=200)
    code_mode = models.CharField(
        max_length=4,
        choices=Conversation.CodeExecution.choices,
        default=Conversation.CodeExecution.AUTO,
        help_text="What was asked for: the conversation's setting, or this message's own.",
    )
    code_execution = models.BooleanField(default=False, help_text="Whether the model was offered code execution.")
    code_reason = models.TextField(blank=True, help_text="Why, in a sentence.")
    engine = models.CharField(
        db_default="",
        default="",
        max_length=7,
        blank=True,
        choices=[(engine.value, engine.value) for engine in Engine],
        help_text="Where its code runs. Empty: it has none.",
    )
    offers_session = models.BooleanField(
        default=False,
        db_default=False,
        help_text="Whether the Python session is offered beside the engine, and code may move there.",
    )
    private_data = models.BooleanField(
        default=False,
        db_default=False,
        help_text="Whether the conversation's data were private as the turn started: it holds for the whole turn.",
    )
    move_reason = models.TextField(
        db_default="",
        default="",
        blank=True,
        help_text="Why its code moved to the Python session. Empty: it did not move.",
    )
    moved_before_round = models.PositiveIntegerField(
        null=True, blank=True, help_text="The first round after its code moved to the Python session."
    )
    chosen = models.JSONField(
        default=dict,
        blank=True,
        help_text="What was chosen for this turn alone; other versions of the answer use it too.",
    )
    parameters = models.JSONField(default=dict, blank=True, help_text="The settings of the model; see `Setup`.")
    time_zone = models.CharField(
        db_default="",
        default="",
        max_length=64,
        blank=True,
        help_text="Of the person, as the turn started: every round tells the model the same time.",
    )
    left_out = models.PositiveIntegerField(
        default=0, help_text="Oldest messages that were not sent, as the conversation is longer than the model reads."
    )
    lease_owner = models.CharField(max_length=64, blank=True, help_text="The process that runs it.")
    lease_expires_at = models.DateTimeField(null=True, blank=True)
    stop_requested = models.BooleanField(default=False)

    usage = models.JSONField(default=dict, blank=True, help_text="Token counts of all rounds together.")
    cost = models.DecimalField(
        max_digits=14, decimal_places=8, null=True, blank=True, help_text="US dollars. Empty: no price is known."
    )
    round_count = models.PositiveIntegerField(default=0, help_text="Number of rounds, once the turn has ended.")
    finish = models.CharField(max_length=30, blank=True, help_text="Why the last round ended; see `Finish`.")
    finish_reason = models.TextField(blank=True, help_text="The provider's own word for it.")
    finish_message = models.TextField(
        blank=True, help_text="What the provider says about the end, or about a refused request; users see it."
    )
    error_code = models.CharField(max_length=50, blank=True)
    error_detail = models.TextField(blank=True, help_text="The provider's message, for staff.")
    error_status = models.PositiveSmallIntegerField(
        null=True, blank=True, help_text="The HTTP status of the provider's response."
    )
    retry_after_s = models.FloatField(null=True, blank=True, help_text="How long the provider asks to wait.")
    response_id = models.TextField(blank=True, help_text="Of the last round.")
    model_version = models.TextField(blank=True, help_text="Of the last round.")
    model_note = models.TextField(
        db_default="",
        default="",
        blank=True,
        help_text="Which model answered in place of the one that was asked, in a sentence. Its prices count.",
    )
    sources = models.JSONField(default=list, blank=True, help_text="Web pages that the answer rests on: url and title.")
    queries = models.JSONField(default=list, blank=True, help_text="What was searched for.")

    created_at = models.DateTimeField(default=timezone.now, editable=False)
    started_at = models.DateTimeField(null=True, blank=True)
    waiting_since = models.DateTimeField(
        null=True, blank=True, help_text="When it last began to wait for a decision. Empty: it has never waited."
    )
    run_s = models.FloatField(
        default=0, db_default=0, help_text="Seconds that it had run when it last began to wait. Waits do not count."
    )
    first_part_at = models.DateTimeField(null=True, blank=True)
    ended_at = models.DateTimeField(null=True, blank=True)
    log_kept_until = models.DateTimeField(
        null=True,
        blank=True,
        help_text="When the log of the ended turn is deleted. Empty: it has none, or cannot be read.",
    )

    objects = TurnQuerySet.as_manager()

    class Meta:
        ordering: ClassVar[list[str]] = ["created_at"]
        permissions = (("view_overview", "Can view the overview of use"),)
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(
                fields=["conversation"],
                condition=Q(status__in=["queued", "running", "waiting"]),
                name="one_live_turn_per_conversation",
            ),
            models.UniqueConstraint(fields=["conversation", "client_id"], name="one_turn_per_client_id"),
        ]
        indexes: ClassVar[list[models.Index]] = [
            models.Index(
                fields=["lease_expires_at"],
                condition=Q(status__in=["queued", "running", "waiting"]),
                name="live_turns_by_lease",
            ),
            models.Index(
                fields=["log_kept_until"], condition=Q(log_kept_until__isnull=False), name="ended_turns_with_log"
            ),
        ]

    @classmethod
    def live_literals(cls) -> str:
        """Return the states of live turns as SQL literals, separated by commas.

        With parameters instead, SQLite would not use the partial index of live turns and would read all turns.
        """
        return ", ".join(f"'{status.value}'" for status in cls.LIVE)

    def __str__(self) -> str:
        return gettext("%(status)s turn %(id)s") % {"status": gettext(self.status), "id": self.pk}

    @property
    def is_own_code(self) -> bool:
        """Return whether the question is code of the user that runs in the Python session. Then no model is asked."""
        return bool(self.chosen.get("own_code"))

    @property
    def is_live(self) -> bool:
        """Return whether parts may still be added."""
        return self.status in self.LIVE


class Round(models.Model):
    """One request to the provider within a turn, and what the provider reported about its response."""

    turn = models.ForeignKey(Turn, on_delete=models.CASCADE, related_name="rounds", db_index=False)
    index = models.PositiveIntegerField()
    usage = models.JSONField(default=dict, blank=True, help_text="Token counts of all attempts at this round.")
    provider_usage = models.JSONField(default=dict, blank=True, help_text="The provider's own report of them.")
    finish = models.CharField(max_length=30, blank=True, help_text="See `Finish`. Empty: the response was cut.")
    finish_reason = models.TextField(blank=True, help_text="The provider's own word for it.")
    finish_message = models.TextField(blank=True)
    response_id = models.TextField(blank=True)
    model_version = models.TextField(blank=True)
    metadata = models.JSONField(default=dict, blank=True, help_text="Other reports, by the provider's own names.")
    started_calls = models.JSONField(
        default=list, blank=True, help_text="Ids of the function calls whose tool may have run."
    )
    state = models.TextField(
        default="", db_default="", blank=True, help_text="What the request said about the tools: variables and files."
    )

    class Meta:
        ordering: ClassVar[list[str]] = ["turn", "index"]
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["turn", "index"], name="one_round_per_index"),
        ]

    def __str__(self) -> str:
        return f"round {self.index} of {self.turn_id}"


class CallDecision(models.Model):
    """A decision about a function call of a turn, or about its result. It is kept when the turn's log is deleted."""

    turn = models.ForeignKey(Turn, on_delete=models.CASCADE, related_name="decisions")
    call_id = models.TextField()
    is_result = models.BooleanField(help_text="Whether it is about the result of the call, not about the call.")
    is_approved = models.BooleanField()
    code = models.TextField(
        null=True, blank=True, help_text="The code that was to run in place of the call's. Empty: it was not changed."
    )
    decided_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.SET_NULL,
        null=True,
        blank=True,
        related_name="+",
        help_text="Empty: nobody decided in time, the account was deleted, or the answer was imported.",
    )
    is_timeout = models.BooleanField(default=False, help_text="Whether nobody had decided in time.")
    decided_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering: ClassVar[list[str]] = ["turn", "decided_at", "pk"]

    def __str__(self) -> str:
        return f"decision about {self.call_id} of {self.turn_id}"


class TurnEvent(models.Model):
    """One stored step of a turn; `seq` counts from 1 without a gap. Rows are appended in bulk and never changed."""

    ATTACHMENT: ClassVar[str] = "attachment"
    """Name of the step that adds an attachment; its data hold `attachment_id`."""

    # The index of the constraint below begins with this column. A second index would slow down every append.
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
        return gettext("event %(seq)s of %(id)s") % {"seq": self.seq, "id": self.turn_id}
