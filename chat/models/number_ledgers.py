"""Number ledgers: where the numbers of an answer come from."""

from __future__ import annotations

from typing import ClassVar

from django.db import models

from chat.models.message import Message


class NumberLedger(models.Model):
    """The numbers of one answer with their sources, in the form of the API."""

    message = models.OneToOneField(Message, on_delete=models.CASCADE, primary_key=True, related_name="number_ledger")
    version = models.PositiveSmallIntegerField(help_text="Version of the ledger's code that made it.")
    numbers = models.JSONField(help_text="A list of numbers, in the form of the API.")
    without_source = models.PositiveIntegerField(help_text="How many of the numbers have no source.")
    unread_files = models.JSONField(default=list, help_text="Names of attached files that were not looked at.")
    created_at = models.DateTimeField(auto_now=True)

    class Meta:
        ordering: ClassVar[list[str]] = ["message"]

    def __str__(self) -> str:
        return f"numbers of {self.message_id}"
