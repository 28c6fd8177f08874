"""Starting a turn: the question, an empty answer and the live turn, in one transaction on the store's thread."""

from __future__ import annotations

import re
import uuid
from collections.abc import Sequence
from dataclasses import dataclass, replace

from django.conf import settings
from django.db import transaction
from django.db.models import Max
from django.utils import timezone

from attachments.models import Attachment
from chat.models import Conversation, Message, MessageAttachment, Part, Turn
from chat.parts import PartKind, Role
from chat.turns.store import bump_revision, lease_end
from chat.turns.transcript import row_part, turn_notice

TITLE_LENGTH = 60
CONTINUE = "Continue."
FENCE = re.compile(r"```\w*")


class StartRefused(Exception):
    """A turn cannot start now; `sentence` says why."""

    def __init__(self, sentence: str) -> None:
        super().__init__(sentence)
        self.sentence = sentence


@dataclass(frozen=True, slots=True)
class Asked:
    """What a user sends; the attachments are theirs already."""

    text: str
    attachments: Sequence[Attachment] = ()
    client_id: str = ""


@dataclass(frozen=True, slots=True)
class StartedTurn:
    """A turn with its conversation and messages at hand, so that nothing need be read again to run it."""

    turn: Turn
    attachments: tuple[Attachment, ...]
    """Of a new question."""
    is_new: bool
    """False: this `client_id` has started it before."""
    asks: bool = True
    """False: no new question; the last one is answered again."""
    listed: tuple[Conversation, ...] | None = None
    """The owner's conversations, where this question has given one of them its title."""


def create_turn(conversation_id: uuid.UUID, asked: Asked, *, lease_owner: str) -> StartedTurn:
    """Store the user's message, an empty answer and a running turn.

    Raises StartRefused while a turn is live, and Conversation.DoesNotExist.
    """
    with transaction.atomic():
        conversation = _locked(conversation_id)
        return _known_turn(conversation, asked) or _create(conversation, asked, lease_owner)


def create_continuation(conversation_id: uuid.UUID, *, lease_owner: str) -> StartedTurn:
    """Go on after an answer that offers it; raises StartRefused after any other.

    The API takes no request that ends with a model's turn, so going on needs a word of the user's.
    """
    with transaction.atomic():
        conversation = _locked(conversation_id)
        if _offer(conversation) != "continue":
            raise StartRefused("There is nothing to continue here.")
        return _create(conversation, Asked(CONTINUE), lease_owner)


def create_retry(conversation_id: uuid.UUID, *, lease_owner: str) -> StartedTurn:
    """Answer the last question once more, after a turn that left nothing; raises StartRefused otherwise."""
    with transaction.atomic():
        conversation = _locked(conversation_id)
        if _offer(conversation) != "regenerate":
            raise StartRefused("Only an answer that left nothing can be tried again. Ask in a new message.")
        last = _last_turn(conversation)
        assert last is not None
        started = _begin(conversation, last.user_message, last.message.index + 1, (), lease_owner)
        return replace(started, asks=False)


def _locked(conversation_id: uuid.UUID) -> Conversation:
    """The conversation as it is now. The lock orders two tabs that send at once: the second sees the first's turn."""
    return Conversation.objects.select_for_update().get(pk=conversation_id)


def _last_turn(conversation: Conversation) -> Turn | None:
    turns = Turn.objects.filter(conversation=conversation).select_related("message", "user_message")
    return turns.order_by("-message__index").first()


def _offer(conversation: Conversation) -> str:
    """What the last answer's notice offers to do."""
    last = _last_turn(conversation)
    notice = turn_notice(last, map(row_part, last.message.parts.all())) if last else None
    return notice.action if notice else ""


def _known_turn(conversation: Conversation, asked: Asked) -> StartedTurn | None:
    if not asked.client_id:
        return None
    turn = Turn.objects.filter(conversation=conversation, client_id=asked.client_id).first()
    return StartedTurn(turn, (), is_new=False) if turn else None


def _create(conversation: Conversation, asked: Asked, lease_owner: str) -> StartedTurn:
    if Turn.objects.filter(conversation=conversation, status__in=Turn.LIVE).exists():
        raise StartRefused("An answer is still being written here. Stop it, or wait until it is done.")
    elsewhere = Turn.objects.filter(conversation__owner_id=conversation.owner_id, status__in=Turn.LIVE).count()
    if elsewhere >= settings.LIVE_TURNS_LIMIT:
        raise StartRefused(f"{elsewhere} answers are being written for you already. Wait for one, or stop one.")
    last = conversation.messages.aggregate(last=Max("index"))["last"]
    index = 0 if last is None else last + 1
    question = Message.objects.create(conversation=conversation, index=index, role=Role.USER, text=asked.text)
    Part.objects.create(message=question, index=0, kind=PartKind.TEXT, text=asked.text)
    MessageAttachment.objects.bulk_create(
        MessageAttachment(message=question, attachment=attachment, index=number)
        for number, attachment in enumerate(asked.attachments)
    )
    is_untitled = not conversation.title
    if is_untitled:
        conversation.title = _title_of(asked.text)
        Conversation.objects.filter(pk=conversation.pk).update(title=conversation.title)
    started = _begin(conversation, question, index + 1, asked.attachments, lease_owner, asked.client_id)
    if is_untitled:
        started = replace(started, listed=tuple(Conversation.objects.owned_by(conversation.owner_id).listed()))
    return started


def _begin(
    conversation: Conversation,
    question: Message,
    index: int,
    attachments: Sequence[Attachment],
    lease_owner: str,
    client_id: str = "",
) -> StartedTurn:
    now = timezone.now()
    answer = Message.objects.create(conversation=conversation, index=index, role=Role.MODEL)
    turn = Turn.objects.create(
        conversation=conversation,
        user_message=question,
        message=answer,
        status=Turn.Status.RUNNING,
        client_id=client_id,
        provider=settings.CHAT_PROVIDER,
        model=conversation.model or settings.GEMINI_MODEL,
        code_execution=conversation.code_execution != Conversation.CodeExecution.OFF,
        lease_owner=lease_owner,
        lease_expires_at=lease_end(),
        started_at=now,
    )
    conversation.revision = bump_revision(conversation.pk)
    return StartedTurn(turn, tuple(attachments), is_new=True)


def _title_of(text: str) -> str:
    # A question that is a block of code is named by its first words, not by its fence.
    words = " ".join(FENCE.sub(" ", text).split()) or "Code"
    return words if len(words) <= TITLE_LENGTH else words[: TITLE_LENGTH - 1].rstrip() + "…"
