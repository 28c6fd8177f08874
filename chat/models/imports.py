"""Imports of files: the conversations that were imported, and the jobs that import large files in the background."""

from __future__ import annotations

import uuid
from typing import ClassVar

from django.conf import settings
from django.db import models
from django.urls import reverse

from attachments.models import Attachment
from chat.models.conversation import Conversation


class ImportJob(models.Model):
    """A large file that its owner uploads in pieces, and its import by a worker.

    The row is the queue: a worker claims it with a conditional UPDATE that increments `attempts`, and renews the claim.
    If the worker dies, the claim expires and another worker imports the file again. That does not change conversations
    that were already imported.
    """

    class State(models.TextChoices):
        """The progress of the file."""

        UPLOADING = "uploading", "pieces are missing"
        QUEUED = "queued", "waiting for a worker"
        RUNNING = "running", "being imported"
        DONE = "done", "imported"
        REFUSED = "refused", "refused, stopped or cancelled"

    OPEN: ClassVar[tuple[str, ...]] = (State.UPLOADING, State.QUEUED, State.RUNNING)

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    name = models.CharField(max_length=255, help_text="A label, never a path.")
    fingerprint = models.CharField(
        max_length=255, blank=True, help_text="By which the page recognizes the file when it is chosen again."
    )
    size_bytes = models.PositiveBigIntegerField()
    received_bytes = models.PositiveBigIntegerField(default=0)
    state = models.CharField(max_length=10, choices=State.choices, default=State.UPLOADING)
    attempts = models.PositiveIntegerField(default=0)
    claimed_until = models.DateTimeField(null=True, blank=True, help_text="A worker has claimed this job until then.")
    percent = models.PositiveSmallIntegerField(default=0, help_text="How much of the file has been read.")
    created = models.PositiveIntegerField(default=0, help_text="New conversations.")
    continued = models.PositiveIntegerField(default=0, help_text="Conversations of which the file had more.")
    existing = models.PositiveIntegerField(default=0, help_text="Conversations to which the file adds nothing.")
    left_out = models.PositiveIntegerField(default=0, help_text="Conversations that cannot be imported.")
    reasons = models.JSONField(default=list, help_text="Names of the first of these, each with the reason.")
    refusal = models.TextField(blank=True, help_text="Why the import has ended before the end of the file.")
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)
    started_at = models.DateTimeField(null=True, blank=True, help_text="When a worker has first claimed this job.")

    class Meta:
        ordering: ClassVar[list[str]] = ["-created_at"]

    def __str__(self) -> str:
        return self.name

    def get_absolute_url(self) -> str:
        """Return the path of the page with its progress and result."""
        return reverse("import-job", args=[self.pk])

    @property
    def received_percent(self) -> int:
        """Percentage of the file that has been uploaded."""
        return self.received_bytes * 100 // self.size_bytes

    @property
    def is_open(self) -> bool:
        """Return whether the upload or the import of the file has not ended."""
        return self.state in self.OPEN


class ImportPiece(models.Model):
    """One piece of an uploaded file. Its attachment is the object in storage, and counts for its owner's quota."""

    job = models.ForeignKey(ImportJob, on_delete=models.CASCADE, related_name="pieces")
    attachment = models.OneToOneField(Attachment, on_delete=models.CASCADE, related_name="import_piece")
    start = models.PositiveBigIntegerField(
        null=True, help_text="Offset in the file, in bytes. Empty until storage has confirmed the piece."
    )

    class Meta:
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["job", "start"], name="one_piece_per_offset"),
        ]

    def __str__(self) -> str:
        return f"piece of {self.job_id} at {self.start}"


class ImportedConversation(models.Model):
    """The origin of one imported conversation.

    It is deleted together with the conversation, which can then be imported again.
    """

    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    conversation = models.OneToOneField(Conversation, on_delete=models.CASCADE, related_name="imported")
    digest = models.CharField(
        max_length=64, help_text="SHA-256 in hex of the unique id in the file, or of the content if there is none."
    )
    content_digest = models.CharField(
        max_length=64,
        default="",
        db_default="",
        blank=True,
        help_text="SHA-256 in hex of all that was read from the file, with its files. Empty: not known.",
    )
    job = models.ForeignKey(
        ImportJob,
        on_delete=models.SET_NULL,
        null=True,
        blank=True,
        related_name="conversations",
        help_text="The last background import that created or continued the conversation.",
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["owner", "digest"], name="one_import_per_owner"),
        ]

    def __str__(self) -> str:
        return f"import {self.digest[:12]}"
