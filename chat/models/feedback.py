"""Feedback: what the owner of a conversation thinks of an answer."""

from __future__ import annotations

from typing import ClassVar

from django.conf import settings
from django.db import models

from chat.models.message import Message
from chat.models.turn import Turn
from chat.vocabulary.parts import Role

REASON_LIMIT = 1000
"""Maximum length of a reason, in characters."""


class FeedbackNotAllowed(Exception):
    """A message cannot be rated, or not yet. The text is a sentence for the user."""


class FeedbackQuerySet(models.QuerySet["Feedback"]):
    """Stores feedback. Callers check permissions with `chat.people.access` first."""

    def give(self, message: Message, user_id: int, *, is_good: bool, reason: str = "") -> Feedback:
        """Rate an answer that has ended. Earlier feedback on it is replaced.

        Raises FeedbackNotAllowed for user messages and live answers.
        """
        if message.role != Role.MODEL:
            raise FeedbackNotAllowed("Only answers can be rated.")
        if message.turn.status in Turn.LIVE:
            raise FeedbackNotAllowed("This answer is still being written. Rate it when it has ended.")
        values = {"user_id": user_id, "is_good": is_good, "reason": reason}
        feedback, _ = self.update_or_create(message=message, defaults=values)
        return feedback


class Feedback(models.Model):
    """Thumbs up or down for one answer. Only the conversation's owner rates it, so an answer has at most one."""

    message = models.OneToOneField(Message, on_delete=models.CASCADE, related_name="feedback")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="feedback")
    is_good = models.BooleanField()
    reason = models.TextField(
        blank=True, max_length=REASON_LIMIT, help_text="In the user's own words; empty if the user gave none."
    )
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    objects = FeedbackQuerySet.as_manager()

    class Meta:
        ordering: ClassVar[list[str]] = ["-updated_at", "-pk"]
        verbose_name_plural = "feedback"

    def __str__(self) -> str:
        return "good answer" if self.is_good else "bad answer"
