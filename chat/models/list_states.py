"""The state that an entry of the conversation list shows.

An answer is being written, waits, or is unread, or the code of the conversation has other results now.
"""

from __future__ import annotations

import uuid
from enum import StrEnum

from django.db.models import F, Q
from django.db.models.expressions import RawSQL
from django.db.models.fields import CharField

from chat.models.conversation import Conversation
from chat.models.conversation_queries import ConversationQuerySet
from chat.models.message import Message
from chat.models.turn import Turn

_LIVE_STATUS = f"""
    (SELECT live.status FROM chat_turn live
     WHERE live.conversation_id = chat_conversation.id AND live.status IN ({Turn.live_literals()}))
"""


class ListState(StrEnum):
    """The state of a conversation in the list."""

    RUNNING = "running"
    WAITING = "waiting"
    UNREAD = "unread"
    DIFFERS = "differs"
    """Code of the last nightly run had another result, or failed."""
    NONE = ""


def with_live_status(conversations: ConversationQuerySet) -> ConversationQuerySet:
    """Add `live_status`, the status of the live turn, in the same query. Each row costs one look-up in a small index.

    The instruction is not read, because it can be long and pages ask for states again and again.
    """
    return conversations.defer("system_instruction").annotate(
        live_status=RawSQL(_LIVE_STATUS, (), CharField(null=True))
    )


def list_state(conversation: Conversation) -> ListState:
    """Return the state of a row of `with_live_status`."""
    live_status: str | None = getattr(conversation, "live_status", None)
    if live_status == Turn.Status.WAITING:
        return ListState.WAITING
    if live_status:
        return ListState.RUNNING
    if conversation.is_unread:
        return ListState.UNREAD
    outcome = conversation.nightly_outcome
    return ListState.DIFFERS if outcome and outcome["verdict"] in ("differs", "failed") else ListState.NONE


def mark_read(conversation: Conversation) -> None:
    """Record that the owner gets a page with the newest answer. Nothing is written if the conversation is
    already read.
    """
    if not conversation.is_unread:
        return
    # `read_at` is the end of the answer and not the present time, because the clocks of servers differ.
    Conversation.objects.filter(_is_unread(), pk=conversation.pk).update(read_at=F("answered_at"))


def mark_answer_read(conversation: Conversation, message_id: uuid.UUID) -> None:
    """Record that the owner has seen the end of an answer. If another answer came after it, nothing is written."""
    if not conversation.is_unread:
        return
    newest = Message.objects.filter(conversation=conversation, is_shown=True).order_by("-index").values_list("pk")[:1]
    # `conversation` was read before this query, so its `answered_at` is not the end of a later answer.
    if list(newest) == [(message_id,)]:
        Conversation.objects.filter(_is_unread(), pk=conversation.pk).update(read_at=conversation.answered_at)


def _is_unread() -> Q:
    return Q(read_at__isnull=True) | Q(read_at__lt=F("answered_at"))
