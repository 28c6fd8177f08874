"""Runs of a conversation's code with a newer file in place of one of its files."""

from __future__ import annotations

import uuid
from datetime import datetime
from typing import ClassVar

from django.db import models
from django.urls import reverse

from attachments.models import Attachment
from chat.models.conversation import Conversation


class NewerFileRun(models.Model):
    """One run of the code of the shown messages with a newer file. The messages and their results are not changed."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    conversation = models.ForeignKey(Conversation, on_delete=models.CASCADE, related_name="newer_file_runs")
    replaced = models.ForeignKey(Attachment, on_delete=models.CASCADE, related_name="+")
    newer = models.ForeignKey(Attachment, on_delete=models.CASCADE, related_name="newer_file_runs")
    until = models.DateTimeField(
        null=True, blank=True, help_text="End of the lease of the process that runs the code. Empty: it has ended."
    )
    error = models.TextField(blank=True, help_text="A sentence that says why not all code ran; empty: it did.")
    blocks = models.JSONField(default=list, help_text="Verdicts: message_id, index, verdict and detail, in order.")
    numbers = models.JSONField(default=list, help_text="Numbers of answers that are not in the new results.")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering: ClassVar[list[str]] = ["-created_at"]

    def __str__(self) -> str:
        return f"{self.replaced_id} replaced by {self.newer_id}"

    def get_absolute_url(self) -> str:
        return reverse("newer-file-run", args=[self.pk])

    def is_running(self, now: datetime) -> bool:
        """Return whether a process runs the code now. `now`: the time on the database's clock."""
        return self.until is not None and self.until > now
