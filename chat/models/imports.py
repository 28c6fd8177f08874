"""Records which conversations were imported from files, so that the same conversation is not imported twice."""

from __future__ import annotations

from typing import ClassVar

from django.conf import settings
from django.db import models

from chat.models.conversation import Conversation


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
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["owner", "digest"], name="one_import_per_owner"),
        ]

    def __str__(self) -> str:
        return f"import {self.digest[:12]}"
