"""The access log: which staff read which conversation, when and why. It is append-only.

An entry is deleted only together with the account of the conversation's owner. So owners also see who read
conversations that they have deleted since.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta
from typing import ClassVar

from django.conf import settings
from django.db import models
from django.utils import timezone
from django.utils.translation import gettext

from chat.models.append_only import AppendOnly, AppendOnlyQuerySet
from chat.models.conversation import Conversation
from chat.models.user import User

ACCESS_REASON_LIMIT = 500
"""Maximum length of a reason, in characters."""

REPEAT_INTERVAL = timedelta(minutes=5)
"""If the same access is repeated within this interval, no second entry is added."""


class AccessEntryQuerySet(AppendOnlyQuerySet["AccessEntry"]):
    """Adds entries to the access log."""

    def record(
        self, reader: User, conversations: Iterable[Conversation], action: str, *, reason: str = "", detail: str = ""
    ) -> None:
        """Add an entry for each conversation, unless the same access was recorded within `REPEAT_INTERVAL`.

        An access is the same if reader, action, reason and detail are equal.
        """
        conversations = list(conversations)
        since = timezone.now() - REPEAT_INTERVAL
        same = self.filter(reader=reader, action=action, reason=reason, detail=detail, created_at__gt=since)
        recorded_ids = set(same.filter(conversation__in=conversations).values_list("conversation_id", flat=True))
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
            if conversation.pk not in recorded_ids
        )


class AccessEntry(AppendOnly):
    """One access of a staff member to another user's conversation."""

    class Action(models.TextChoices):
        """What the staff member did."""

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
        help_text="The account may have been deleted since.",
    )
    reader_name = models.CharField(max_length=150, help_text="The reader's name at the time of the access.")
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, db_index=False, related_name="+")
    conversation = models.ForeignKey(
        Conversation,
        on_delete=models.DO_NOTHING,
        null=True,
        db_constraint=False,
        related_name="+",
        help_text="The conversation may have been deleted since.",
    )
    conversation_title = models.CharField(max_length=200, blank=True, help_text="The title at the time of the access.")
    action = models.CharField(max_length=8, choices=Action.choices)
    detail = models.CharField(max_length=255, blank=True, help_text="The name of the file, or the kind of page.")
    reason = models.CharField(max_length=ACCESS_REASON_LIMIT, blank=True, help_text="In the reader's words.")
    created_at = models.DateTimeField(auto_now_add=True)

    objects = AccessEntryQuerySet.as_manager()

    class Meta:
        ordering: ClassVar[list[str]] = ["-pk"]
        indexes: ClassVar[list[models.Index]] = [models.Index(fields=["owner", "-id"])]
        verbose_name = "line of the access log"
        verbose_name_plural = "access log"

    def __str__(self) -> str:
        names = {"name": self.reader_name, "action": self.get_action_display(), "id": self.conversation_id}
        return gettext("%(name)s %(action)s %(id)s") % names
