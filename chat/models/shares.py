"""Shares: links with which anybody can read a conversation as it was when the link was created.

A share stores the id of the last message of the branch that was shown then. Messages do not change after their turn has
ended, and are deleted only with their conversation. Files that a person keeps later are added to messages, but have a
higher id and are not shared.
"""

from __future__ import annotations

import secrets
import uuid
from datetime import datetime
from typing import ClassVar

from django.db import connection, models, transaction
from django.db.models import F, Q
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext

from chat.models.conversation import Conversation
from chat.models.message import CLEARED_INDEX, Message, MessageAttachment
from chat.models.turn import Turn

RANDOM_BYTES = 24
"""192 bits, which is 32 characters of a URL."""
SHARES_LIMIT = 50
"""Maximum number of links of one conversation."""

# Walks from the last message back to the first wanted one. `%s`: the last message, the first index twice, and the index
# after the last wanted one.
_PATH = """
    WITH RECURSIVE path (id, parent_id, place) AS (
        SELECT id, parent_id, "index" FROM chat_message WHERE id = %s
        UNION ALL
        SELECT message.id, message.parent_id, message."index"
        FROM path JOIN chat_message message ON message.id = path.parent_id
        WHERE path.place > %s
    )
    SELECT id FROM path WHERE place >= %s AND place < %s ORDER BY place
"""


class ShareRefused(Exception):
    """A conversation cannot be shared now. The text is a sentence for its owner."""


class ShareQuerySet(models.QuerySet["Share"]):
    """Queries for shares."""

    def usable(self) -> ShareQuerySet:
        """Return the shares whose links work: not expired, of an existing conversation, of an active user without a
        planned deletion.
        """
        is_current = Q(expires_at=None) | Q(expires_at__gt=timezone.now())
        owner_stays = Q(conversation__owner__is_active=True, conversation__owner__deletion_at=None)
        return self.filter(is_current, owner_stays, conversation__deleted_at=None)

    def issue(self, conversation: Conversation, *, expires_at: datetime | None = None) -> Share:
        """Create a share of what the conversation shows now.

        An answer that is being written is left out, with its question. Raises ShareRefused if it cannot be shared, and
        Conversation.DoesNotExist if it was deleted.
        """
        with transaction.atomic():
            # Starts of turns, switches of versions and keeping of files take the same lock.
            locked = Conversation.objects.select_for_update(no_key=True).get(pk=conversation.pk)
            if locked.is_temporary:
                raise ShareRefused("A temporary conversation cannot be shared. Keep it first.")
            if self.filter(conversation=locked).count() >= SHARES_LIMIT:
                raise ShareRefused(f"This conversation has {SHARES_LIMIT} links already. Revoke one of them first.")
            last = _last_complete(locked)
            if last is None:
                raise ShareRefused("There is nothing to share yet. Share the conversation when it has an answer.")
            newest = MessageAttachment.objects.filter(message__conversation=locked).order_by("-pk").first()
            return self.create(
                conversation=locked,
                last_message=last,
                last_attachment=newest.pk if newest else 0,
                title=locked.title,
                token=secrets.token_urlsafe(RANDOM_BYTES),
                expires_at=expires_at,
            )


def _last_complete(conversation: Conversation) -> Message | None:
    """Return the last shown message before the question whose answer is being written. Without such an answer, return
    the last message.
    """
    shown = Message.objects.filter(conversation=conversation, is_shown=True)
    live = Turn.objects.filter(conversation=conversation, status__in=Turn.LIVE).select_related("user_message").first()
    return (shown.filter(index__lt=live.user_message.index) if live else shown).order_by("-index").first()


class Share(models.Model):
    """A link to the messages of one conversation, as they were when it was made."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    conversation = models.ForeignKey(Conversation, on_delete=models.CASCADE, related_name="shares")
    last_message = models.ForeignKey(
        Message, on_delete=models.CASCADE, related_name="+", help_text="The snapshot ends with it."
    )
    last_attachment = models.PositiveBigIntegerField(
        help_text="The newest id of a `MessageAttachment` of the conversation when the link was made; 0 without any."
    )
    title = models.CharField(max_length=200, blank=True, help_text="The conversation's title at that time.")
    token = models.CharField(
        max_length=64, unique=True, help_text="The secret of the link. Stored, so that its owner can copy it again."
    )
    opened_count = models.PositiveBigIntegerField(default=0, help_text="How often others have opened the page.")
    last_opened_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    expires_at = models.DateTimeField(null=True, blank=True, help_text="Empty: the link works until it is revoked.")

    objects = ShareQuerySet.as_manager()

    class Meta:
        ordering: ClassVar[list[str]] = ["-created_at", "-pk"]

    def __str__(self) -> str:
        return self.title or gettext("New conversation")

    def get_absolute_url(self) -> str:
        """Return the path of the page that anybody with the link may read."""
        return reverse("shared", args=[self.token])

    @property
    def is_expired(self) -> bool:
        """Return whether the end date of the link has passed."""
        return self.expires_at is not None and self.expires_at <= timezone.now()

    @property
    def message_count(self) -> int:
        """Number of messages that the share shows: questions and answers."""
        return self.last_message.index + 1

    def message_ids(self, first: int, stop: int) -> list[uuid.UUID]:
        """Return the ids of its messages from index `first` to before `stop`, in order."""
        last_id = self.last_message_id.hex if connection.vendor == "sqlite" else self.last_message_id
        return [message.pk for message in Message.objects.raw(_PATH, [last_id, first, first, stop])]

    def links(self) -> models.QuerySet[MessageAttachment]:
        """Return the attachments that the conversation had when the link was created, in all its versions.

        Cleared outputs of code are not shared, because people clear what others must not see.
        """
        rows = MessageAttachment.objects.filter(message__conversation=self.conversation_id, index__lt=CLEARED_INDEX)
        return rows.filter(pk__lte=self.last_attachment)

    def count_opening(self) -> None:
        """Count one visit of the page. The database increments the number, so that no visit is lost."""
        rows = Share.objects.filter(pk=self.pk)
        rows.update(opened_count=F("opened_count") + 1, last_opened_at=timezone.now())
