"""What a conversation's owner thinks of an answer."""

from __future__ import annotations

from typing import ClassVar

from django.conf import settings
from django.db import models

from chat.models.conversation import Message, Turn
from chat.parts import Role

REASON_LIMIT = 1000
"""Longest reason, in characters."""


class NoFeedbackHere(Exception):
    """This message cannot be rated, or not yet; the text is a sentence."""


class FeedbackQuerySet(models.QuerySet["Feedback"]):
    """Rating answers; who may is `access`'s matter."""

    def give(self, message: Message, user_id: int, *, is_good: bool, reason: str = "") -> Feedback:
        """Rate an answer that has ended, in place of what was said of it before. Raises NoFeedbackHere."""
        if message.role != Role.MODEL:
            raise NoFeedbackHere("Only answers can be rated.")
        if message.turn.status in Turn.LIVE:
            raise NoFeedbackHere("This answer is still being written. Rate it when it has ended.")
        said = {"user_id": user_id, "is_good": is_good, "reason": reason}
        feedback, _ = self.update_or_create(message=message, defaults=said)
        return feedback


class Feedback(models.Model):
    """Thumbs up or down for one answer; only the conversation's owner rates it, so that each has at most one."""

    message = models.OneToOneField(Message, on_delete=models.CASCADE, related_name="feedback")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="feedback")
    is_good = models.BooleanField()
    reason = models.TextField(blank=True, max_length=REASON_LIMIT, help_text="In its user's words; empty: none given.")
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    objects = FeedbackQuerySet.as_manager()

    class Meta:
        ordering: ClassVar[list[str]] = ["-updated_at", "-pk"]
        verbose_name_plural = "feedback"

    def __str__(self) -> str:
        return "good answer" if self.is_good else "bad answer"
