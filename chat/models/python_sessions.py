"""Python sessions: which kernel holds the variables of a conversation, and what is in it.

    stopped ──> starting ──> running ──> stopping ──> stopped
       ▲ ▲         │ │          │
       │ └─────────┘ ▼          │ the kernel has died
       ├────────── error        │
       └────────────────────────┘

From `starting`, a session goes to `stopping` if the process that started its kernel has died meanwhile. From `error`,
it may also go to `starting`.
There is one row for each conversation that has ever run code in a session. `chat.python.sessions` changes the rows.
"""

from __future__ import annotations

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


class PythonSessionQuerySet(models.QuerySet["PythonSession"]):
    """Queries for Python sessions."""

    def alive(self) -> PythonSessionQuerySet:
        """Return the sessions that have a kernel, or are about to have one. Limits count these sessions.

        The states are literals of the statement. With parameters instead, SQLite would not use the partial index and
        would read all sessions, also ended ones.
        """
        states = ", ".join(f"'{state.value}'" for state in PythonSession.ALIVE)
        return self.filter(RawSQL(f'"chat_pythonsession"."state" IN ({states})', (), BooleanField()))

    def change_state(self, state: PythonSession.State, **columns: object) -> bool:
        """Change the state and other columns of one session. Return whether this was done.

        Nothing is changed if `PythonSession.TRANSITIONS` does not allow the change, or if the conditions of this query
        set are no longer met. If two processes change a state at the same time, only one of them succeeds.
        """
        allowed = [before for before, following in PythonSession.TRANSITIONS.items() if state in following]
        return self.filter(state__in=allowed).update(state=state, **columns) == 1


class PythonSession(models.Model):
    """The Python session of a conversation, and its present kernel."""

    class State(models.TextChoices):
        """The states of a session. `TRANSITIONS` says how they follow each other."""

        STOPPED = "stopped", "stopped"
        STARTING = "starting", "starting"
        RUNNING = "running", "running"
        STOPPING = "stopping", "stopping"
        ERROR = "error", "could not be started"

    ALIVE = (State.STARTING, State.RUNNING, State.STOPPING)
    """States in which there may be a kernel."""

    TRANSITIONS: Mapping[str, tuple[str, ...]] = {
        State.STOPPED: (State.STARTING,),
        State.STARTING: (State.RUNNING, State.STOPPING, State.STOPPED, State.ERROR),
        State.RUNNING: (State.STOPPING, State.STOPPED),
        State.STOPPING: (State.STOPPED,),
        State.ERROR: (State.STARTING, State.STOPPED),
    }

    conversation = models.OneToOneField(
        Conversation,
        on_delete=models.SET_NULL,
        null=True,
        blank=True,
        related_name="python_session",
        help_text="Empty: it was deleted, and the kernel is about to be ended.",
    )
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, blank=True, related_name="python_sessions"
    )
    state = models.CharField(max_length=8, choices=State.choices, default=State.STOPPED)
    kernel_id = models.CharField(max_length=100, blank=True, help_text="The kernel's id at its place.")
    place = models.CharField(max_length=500, blank=True, help_text="Address of the server that runs the kernel.")
    generation = models.PositiveIntegerField(default=0, help_text="Counts the kernels that the session has had.")
    execution_count = models.PositiveIntegerField(default=0, help_text="Cells that this kernel has run.")
    variables = models.JSONField(default=list, blank=True, help_text="As they were after the last cell.")
    files = models.JSONField(default=list, blank=True, help_text="The working directory after the last cell.")
    placed_files = models.JSONField(
        default=dict, blank=True, help_text="Attachments that were written into the working directory: label -> id."
    )
    message_ids = models.JSONField(
        default=list, blank=True, help_text="Ids of the messages whose code this kernel has run, in order."
    )
    last_message = models.ForeignKey(
        Message, on_delete=models.SET_NULL, null=True, blank=True, related_name="+", help_text="Whose code ran last."
    )
    note = models.TextField(blank=True, help_text="Why the variables were lost, or why the start failed.")
    busy_until = models.DateTimeField(
        null=True,
        blank=True,
        help_text="End of the lease of the process that runs a cell, starts or ends the kernel, or waits for a place.",
    )
    queued_at = models.DateTimeField(null=True, blank=True, help_text="Since when it waits for a free kernel.")
    started_at = models.DateTimeField(null=True, blank=True, help_text="When the kernel was started.")
    last_used_at = models.DateTimeField(null=True, blank=True)
    kept_until = models.DateTimeField(
        null=True, blank=True, help_text="Until when it lives without use. Empty: its owner does not keep it."
    )

    objects = PythonSessionQuerySet.as_manager()

    class Meta:
        verbose_name = "Python session"
        ordering: ClassVar[list[str]] = ["pk"]
        permissions = (("end_pythonsession", "Can end Python sessions"),)
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.CheckConstraint(
                condition=~Q(state__in=["running", "stopping"]) | ~Q(kernel_id=""),
                name="running_sessions_have_a_kernel",
            ),
        ]
        indexes: ClassVar[list[models.Index]] = [
            # Most sessions have ended. The limits and the reaper read only the others.
            models.Index(
                fields=["state"],
                condition=Q(state__in=["starting", "running", "stopping"]),
                name="alive_python_sessions",
            ),
            models.Index(fields=["queued_at"], condition=Q(queued_at__isnull=False), name="queued_python_sessions"),
        ]

    def __str__(self) -> str:
        return gettext("%(state)s Python session %(id)s") % {"state": gettext(self.state), "id": self.pk}

    @property
    def is_busy(self) -> bool:
        """Return whether code runs in the session now."""
        return self.state == self.State.RUNNING and self.busy_until is not None and self.busy_until > timezone.now()

    @property
    def is_kept(self) -> bool:
        """Return whether the owner keeps the session now."""
        return self.kept_until is not None and self.kept_until > timezone.now()

    @property
    def has_lost_variables(self) -> bool:
        """Return whether the session had variables that are lost: in its present kernel, if any, no code of a
        message has run.
        """
        is_settled = self.state in (self.State.STOPPED, self.State.ERROR, self.State.RUNNING) and not self.is_busy
        return self.generation > 0 and is_settled and not self.message_ids
