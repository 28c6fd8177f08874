"""Starting a turn: the question, an empty answer and the live turn, in one transaction on the store's thread."""

from __future__ import annotations

import re
import uuid
from collections.abc import Sequence
from dataclasses import dataclass, replace

from django.conf import settings
from django.db import transaction
from django.db.models import F
from django.db.models.expressions import RawSQL
from django.utils import timezone

from attachments.models import Attachment
from chat.catalogue.setups import Setup
from chat.forms import ATTACHMENTS_LIMIT
from chat.fragments import Versions
from chat.models import Conversation, Message, MessageAttachment, Part, Turn
from chat.parts import PartKind, Role
from chat.statements import Insert, Select, Update, given
from chat.turns import branches
from chat.turns.deciding import Chosen, StartRefused, chosen_setup, decided_on
from chat.turns.store import GIVEN_LEASE, lease_end, lease_length
from chat.turns.transcript import row_part, turn_notice

TITLE_LENGTH = 60
CONTINUE = "Continue."
ANSWER_NOW = "Answer now with what you have, without running more code."
FENCE = re.compile(r"```\w*")

# What every start asks and writes; see `chat.statements`.
_LOCKED = Select(lambda: Conversation.objects.select_for_update().filter(pk=given(Conversation, "id")).order_by())
_LAST = Select(
    lambda: Message.objects.filter(conversation=given(Message, "conversation_id"), is_shown=True).order_by("-index")[:1]
)
_KNOWN = Select(
    lambda: Turn.objects.filter(
        conversation=given(Turn, "conversation_id"), client_id=given(Turn, "client_id")
    ).order_by()
)
_LIVE = Select(
    lambda: (
        # From the index of live turns, which is short: SQLite takes it only where the statuses stand in the statement,
        # and by the owner's own index it would go through all that they ever asked.
        Turn.objects.filter(status__in=[RawSQL(f"'{status.value}'", ()) for status in Turn.LIVE])
        .annotate(owner_id=F("conversation__owner") + 0)
        .filter(owner_id=given(Conversation, "owner_id"))
        .order_by()
        .values_list("conversation_id")
    )
)
_NEW_MESSAGE = Insert(Message)
_NEW_PART = Insert(Part)
_NEW_TURN = Insert(Turn, lease_expires_at=lease_end(GIVEN_LEASE))
_BEGUN = Update(
    lambda: Conversation.objects.filter(pk=given(Conversation, "id")),
    revision=given(Conversation, "revision"),
    title=given(Conversation, "title"),
    updated_at=given(Conversation, "updated_at"),
    # Whoever asks in it uses it again.
    archived_at=None,
)


@dataclass(frozen=True, slots=True)
class Asked:
    """What a user sends; the attachments are theirs already."""

    text: str
    attachments: Sequence[Attachment] = ()
    client_id: str = ""
    code_mode: str = ""
    """`auto`, `on` or `off` for this message alone; empty: as the conversation has it."""
    model: str = ""
    """For this message alone; empty: the conversation's."""


@dataclass(frozen=True, slots=True)
class StartedTurn:
    """A turn with its conversation and messages at hand, so that nothing need be read again to run it."""

    turn: Turn
    setup: Setup
    attachments: tuple[Attachment, ...]
    """Of a new question."""
    is_new: bool
    """False: this `client_id` has started it before."""
    question_versions: Versions | None = None
    answer_versions: Versions | None = None
    asks: bool = True
    """False: no new question; the last one is answered again."""
    hidden: tuple[uuid.UUID, ...] = ()
    """Messages that another version has replaced on the page."""
    names: bool = False
    """Whether this question has given the conversation its title."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a message goes: after what, and in whose stead."""

    parent: Message | None
    index: int
    replaces: Message | None = None


def create_turn(conversation_id: uuid.UUID, asked: Asked, *, lease_owner: str) -> StartedTurn:
    """Store the user's message, an empty answer and a running turn.

    Raises StartRefused while a turn is live, and Conversation.DoesNotExist; a transaction of the caller's must be
    undone then, as for all that begin a turn.
    """
    with transaction.atomic(savepoint=False):
        conversation = _locked(conversation_id)
        return _known_turn(conversation, asked) or _ask(conversation, asked, _end_of(conversation), lease_owner)


def create_continuation(conversation_id: uuid.UUID, *, lease_owner: str, without_tools: bool = False) -> StartedTurn:
    """Go on after an answer that offers it; raises StartRefused after any other.

    The API takes no request that ends with a model's turn, so going on needs a word of the user's. `without_tools`:
    the answer is wanted from what is there already.
    """
    with transaction.atomic(savepoint=False):
        conversation = _locked(conversation_id)
        place = _end_of(conversation)
        last = _turn_of(place.parent)
        if last is None or _offer(last) not in ("continue", "answer"):
            raise StartRefused("There is nothing to continue here.")
        chosen = Chosen(model=last.chosen.get("model", ""), continues=True, without_tools=without_tools)
        words = ANSWER_NOW if without_tools else CONTINUE
        return _ask(conversation, Asked(words), place, lease_owner, chosen, last)


def create_version(conversation_id: uuid.UUID, message_id: uuid.UUID | None, *, lease_owner: str) -> StartedTurn:
    """Answer a question once more; the old answer stays as a version, and what follows it with it.

    `message_id`: the answer, by default the last. Raises StartRefused where there is no such answer in view.
    """
    with transaction.atomic(savepoint=False):
        conversation = _locked(conversation_id)
        _refuse_live(conversation)
        answer = _shown(conversation, message_id) if message_id else _end_of(conversation).parent
        turn = _turn_of(answer)
        if answer is None or turn is None:
            raise StartRefused("There is no answer here that could be written anew.")
        place = Place(answer.parent, answer.index, replaces=answer)
        chosen = Chosen(**turn.chosen)
        files = [row.attachment for row in turn.user_message.message_attachments.select_related("attachment")]
        setup = chosen_setup(conversation, chosen, files)
        started = _begin(conversation, turn.user_message, place, chosen, setup, lease_owner, files=files, before=turn)
        return replace(started, asks=False)


def create_edit(conversation_id: uuid.UUID, message_id: uuid.UUID, asked: Asked, *, lease_owner: str) -> StartedTurn:
    """Ask an earlier question in other words; the old one stays as a version, with all that followed it.

    Its files go with it. Raises StartRefused where there is no such question in view.
    """
    with transaction.atomic(savepoint=False):
        conversation = _locked(conversation_id)
        if known := _known_turn(conversation, asked):
            return known
        question = _shown(conversation, message_id)
        if question is None or question.role != Role.USER:
            raise StartRefused("Only a message of yours that is in view can be changed.")
        files = [row.attachment for row in question.message_attachments.select_related("attachment")]
        files += [attachment for attachment in asked.attachments if attachment not in files]
        if len(files) > ATTACHMENTS_LIMIT:
            raise StartRefused(f"The message has files already: at most {ATTACHMENTS_LIMIT} can be attached to one.")
        place = Place(question.parent, question.index, replaces=question)
        return _ask(conversation, replace(asked, attachments=files), place, lease_owner)


def _locked(conversation_id: uuid.UUID) -> Conversation:
    """The conversation as it is now. The lock orders two tabs that send at once: the second sees the first's turn."""
    conversation = _LOCKED.first(id=conversation_id)
    if conversation is None:
        raise Conversation.DoesNotExist
    return conversation


def _end_of(conversation: Conversation) -> Place:
    last = _LAST.first(conversation_id=conversation.pk)
    return Place(last, 0 if last is None else last.index + 1)


def _shown(conversation: Conversation, message_id: uuid.UUID) -> Message | None:
    return conversation.messages.filter(pk=message_id, is_shown=True).select_related("parent").first()


def _turn_of(answer: Message | None) -> Turn | None:
    if answer is None or answer.role != Role.MODEL:
        return None
    return Turn.objects.select_related("message", "user_message").get(message=answer)


def _offer(turn: Turn) -> str:
    """What the notice of an answer offers to do."""
    notice = turn_notice(turn, map(row_part, turn.message.parts.all()))
    return notice.action if notice else ""


def _known_turn(conversation: Conversation, asked: Asked) -> StartedTurn | None:
    if not asked.client_id:
        return None
    turn = _KNOWN.first(conversation_id=conversation.pk, client_id=asked.client_id)
    return StartedTurn(turn, Setup(turn.provider, turn.model, turn.model), (), is_new=False) if turn else None


def _refuse_live(conversation: Conversation) -> None:
    places = [place for (place,) in _LIVE.rows(owner_id=conversation.owner_id)]
    if conversation.pk in places:
        raise StartRefused("An answer is still being written here. Stop it, or wait until it is done.")
    if len(places) >= settings.LIVE_TURNS_LIMIT:
        raise StartRefused(f"{len(places)} answers are being written for you already. Wait for one, or stop one.")


def _ask(
    conversation: Conversation,
    asked: Asked,
    place: Place,
    lease_owner: str,
    chosen: Chosen | None = None,
    before: Turn | None = None,
) -> StartedTurn:
    """Store a question at its place, and begin to answer it; `before`: the turn that it continues."""
    _refuse_live(conversation)
    chosen = chosen or Chosen(asked.code_mode, asked.model)
    setup = chosen_setup(conversation, chosen, asked.attachments)
    hidden = branches.hide(place.replaces)
    question = _NEW_MESSAGE.one(
        Message(
            conversation=conversation,
            parent=place.parent,
            index=place.index,
            role=Role.USER,
            text=asked.text,
            last_shown=conversation.revision + 1,
        )
    )
    _NEW_PART.one(Part(message=question, index=0, kind=PartKind.TEXT, text=asked.text))
    if asked.attachments:
        MessageAttachment.objects.bulk_create(
            MessageAttachment(message=question, attachment=attachment, index=number)
            for number, attachment in enumerate(asked.attachments)
        )
    is_untitled = not conversation.title
    if is_untitled:
        conversation.title = title_of(asked.text or asked.attachments[0].name)
    answer_place = Place(question, place.index + 1)
    started = _begin(
        conversation,
        question,
        answer_place,
        chosen,
        setup,
        lease_owner,
        files=asked.attachments,
        before=before,
        client_id=asked.client_id,
    )
    return replace(
        started,
        attachments=tuple(asked.attachments),
        question_versions=branches.versions_of(question) if place.replaces else None,
        hidden=hidden,
        names=is_untitled,
    )


def _begin(
    conversation: Conversation,
    question: Message,
    place: Place,
    chosen: Chosen,
    setup: Setup,
    lease_owner: str,
    *,
    files: Sequence[Attachment],
    before: Turn | None = None,
    client_id: str = "",
) -> StartedTurn:
    """Store an empty answer and its running turn; `files`: of the question."""
    now = timezone.now()
    decided = decided_on(conversation, question, files, chosen, setup, before)
    hidden = branches.hide(place.replaces)
    answer = _NEW_MESSAGE.one(
        Message(
            conversation=conversation,
            parent=place.parent,
            index=place.index,
            role=Role.MODEL,
            last_shown=conversation.revision + 1,
        )
    )
    turn = Turn(
        conversation=conversation,
        user_message=question,
        message=answer,
        status=Turn.Status.RUNNING,
        client_id=client_id,
        provider=setup.provider,
        model=setup.model,
        chosen=chosen.as_json(),
        parameters=setup.parameters(),
        code_mode=decided.mode,
        code_execution=decided.is_offered,
        code_reason=decided.reason,
        lease_owner=lease_owner,
        started_at=now,
    )
    _NEW_TURN.one(turn, lease=lease_length())
    # Its row is locked: nobody else counts its revision up meanwhile.
    conversation.revision += 1
    conversation.updated_at = now
    conversation.archived_at = None
    _BEGUN.run(id=conversation.pk, revision=conversation.revision, title=conversation.title, updated_at=now)
    versions = branches.versions_of(answer) if place.replaces else None
    return StartedTurn(turn, setup, (), is_new=True, answer_versions=versions, hidden=hidden)


def title_of(text: str) -> str:
    """A title made of a question's first words."""
    # A question that is a block of code is named by its first words, not by its fence.
    words = " ".join(FENCE.sub(" ", text).split()) or "Code"
    return words if len(words) <= TITLE_LENGTH else words[: TITLE_LENGTH - 1].rstrip() + "…"
