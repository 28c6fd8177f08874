"""Deleting a conversation with everything that only it shows."""

from __future__ import annotations

import uuid

from django.db import transaction
from django.db.models import Exists, OuterRef

from attachments.models import Attachment
from chat.models.conversation import Conversation
from chat.models.message import MessageAttachment, Part
from chat.models.turn import Turn, TurnEvent


class _TurnStarted(Exception):
    """A turn has started between two locks. Raised to release the locks of the savepoint."""


def delete_conversation(conversation: Conversation) -> list[Attachment]:
    """Delete a conversation, and the rows of those attachments that no other conversation shows.

    Returns these attachments. The bytes of those that storage has confirmed still exist: nothing deletes them yet.
    """
    with transaction.atomic():
        _lock(conversation)
        shown = Attachment.objects.select_for_update().filter(pk__in=_attachment_ids(conversation))
        ids = [attachment.pk for attachment in shown]
        conversation.delete()
        elsewhere = Part.objects.filter(attachment=OuterRef("pk"))
        orphans = Attachment.objects.filter(~Exists(elsewhere), pk__in=ids, message_attachments__isnull=True)
        deleted = list(orphans)
        orphans.delete()
    return deleted


def _lock(conversation: Conversation) -> None:
    """Lock live turns, then the conversation, so that a writer of either comes before the deletion or fails.

    This is the order in which others take these locks; attachments come last. If a turn has started between the first
    two, the locks are released and taken again, so that no two transactions wait for each other.
    """
    live = Turn.objects.filter(conversation=conversation, status__in=Turn.LIVE)
    while True:
        try:
            with transaction.atomic():
                known = {turn.pk for turn in live.select_for_update()}
                list(Conversation.objects.select_for_update().filter(pk=conversation.pk))
                if known >= set(live.values_list("pk", flat=True)):
                    return
                raise _TurnStarted
        except _TurnStarted:
            continue


def _attachment_ids(conversation: Conversation) -> set[uuid.UUID]:
    """Return the attachments of its messages. Those of a live answer are only in its log."""
    links = MessageAttachment.objects.filter(message__conversation=conversation)
    parts = Part.objects.filter(message__conversation=conversation, attachment__isnull=False)
    log = TurnEvent.objects.filter(
        turn__conversation=conversation, turn__status__in=Turn.LIVE, name=TurnEvent.ATTACHMENT
    )
    return {
        *links.values_list("attachment_id", flat=True),
        *parts.values_list("attachment_id", flat=True),
        *(uuid.UUID(data["attachment_id"]) for data in log.values_list("data", flat=True)),
    }
