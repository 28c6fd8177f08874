"""Starting turns: a question, an empty answer and a live turn each, as many as come together in one transaction.

What each start finds is read for all of them (`standing`), then each is planned, or refused, without writing anything;
then all plans are stored. Of fifty at once, each costs half of what it would by itself.
"""

from __future__ import annotations

import re
import uuid
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime

from django.db import DatabaseError, transaction
from django.utils import timezone

from attachments.models import Attachment
from chat.access import AnyUser, attachments_of
from chat.catalogue.setups import Setup
from chat.forms import ATTACHMENTS_LIMIT
from chat.fragments import Versions
from chat.models import Conversation, Message, MessageAttachment, Part, Turn
from chat.parts import PartKind, Role
from chat.statements import Insert, Update, given
from chat.turns import branches
from chat.turns.deciding import Chosen, StartRefused, chosen_setup, decided_on
from chat.turns.standing import Standing
from chat.turns.store import GIVEN_LEASE, lease_end, lease_length
from chat.turns.transcript import row_part, turn_notice

TITLE_LENGTH = 60
CONTINUE = "Continue."
ANSWER_NOW = "Answer now with what you have, without running more code."
FENCE = re.compile(r"```\w*")

# What every start writes; see `chat.statements`.
_NEW_MESSAGE = Insert(Message)
_NEW_PART = Insert(Part)
_NEW_PLACE = Insert(MessageAttachment)
_NEW_TURN = Insert(Turn, lease_expires_at=lease_end(GIVEN_LEASE))
_BEGUN = Update(
    lambda: Conversation.objects.filter(pk=given(Conversation, "id")),
    revision=given(Conversation, "revision"),
    title=given(Conversation, "title"),
    updated_at=given(Conversation, "updated_at"),
    # Whoever asks in it uses it again.
    archived_at=None,
)


@dataclass(slots=True)
class StartedTurn:
    """A turn with its conversation and messages at hand, so that nothing need be read again to run it."""

    turn: Turn
    setup: Setup
    attachments: tuple[Attachment, ...] = ()
    """Of a new question."""
    is_new: bool = True
    """False: this `client_id` has started it before."""
    asks: bool = True
    """False: no new question; the last one is answered again."""
    names: bool = False
    """Whether this question has given the conversation its title."""
    replaces: Message | None = None
    """The version of its question, or of its answer where it asks nothing, that was in view."""
    hidden: tuple[uuid.UUID, ...] = ()
    """Messages that another version has replaced on the page."""
    question_versions: Versions | None = None
    answer_versions: Versions | None = None


@dataclass(frozen=True, slots=True)
class Start(ABC):
    """What somebody does to have an answer written. Planned on the store's thread, in a transaction."""

    user: AnyUser
    conversation_id: uuid.UUID
    client_id: str = field(default="", kw_only=True)
    """A repeated one gives the turn that it started before."""

    def plan(self, standing: Standing) -> StartedTurn:
        """The turn as it is to be stored, or one that is known. Writes nothing.

        Raises StartRefused, and NotFound where the user may not write in the conversation.
        """
        conversation = standing.conversation(self.user, self.conversation_id)
        if known := standing.known(conversation, self.client_id):
            return StartedTurn(known, Setup(known.provider, known.model, known.model), is_new=False)
        started = self.plan_new(standing, conversation)
        started.turn.client_id = self.client_id
        standing.begins(started.turn)
        return started

    @abstractmethod
    def plan_new(self, standing: Standing, conversation: Conversation) -> StartedTurn:
        """The same of one that is not known."""


@dataclass(frozen=True, slots=True)
class Ask(Start):
    """A question at the end of what is in view."""

    text: str
    attachment_ids: Sequence[uuid.UUID] = ()
    code_mode: str = field(default="", kw_only=True)
    """`auto`, `on` or `off` for this message alone; empty: as the conversation has it."""
    model: str = field(default="", kw_only=True)
    """For this message alone; empty: the conversation's."""

    def plan_new(self, standing: Standing, conversation: Conversation) -> StartedTurn:
        """Raises NotFound also for an attachment that is not the user's."""
        files = attachments_of(self.user, self.attachment_ids)
        question = _question(conversation, self.text, standing.end(conversation))
        return _asked(standing, question, Chosen(self.code_mode, self.model), files)


@dataclass(frozen=True, slots=True)
class Edit(Ask):
    """An earlier question in other words; the old one stays as a version, with all that followed it.

    Its files go with it.
    """

    message_id: uuid.UUID = field(kw_only=True)

    def plan_new(self, standing: Standing, conversation: Conversation) -> StartedTurn:
        """Raises StartRefused where there is no such question in view."""
        before = _shown(conversation, self.message_id)
        if before is None or before.role != Role.USER:
            raise StartRefused("Only a message of yours that is in view can be changed.")
        files = _files_of(before)
        files += [file for file in attachments_of(self.user, self.attachment_ids) if file not in files]
        if len(files) > ATTACHMENTS_LIMIT:
            raise StartRefused(f"The message has files already: at most {ATTACHMENTS_LIMIT} can be attached to one.")
        question = _question(conversation, self.text, before.parent)
        return _asked(standing, question, Chosen(self.code_mode, self.model), files, replaces=before)


@dataclass(frozen=True, slots=True)
class Continuation(Start):
    """Going on after an answer that offers it.

    The API takes no request that ends with a model's turn, so going on needs a word of the user's.
    """

    without_tools: bool = field(default=False, kw_only=True)
    """The answer is wanted from what is there already."""

    def plan_new(self, standing: Standing, conversation: Conversation) -> StartedTurn:
        """Raises StartRefused after any other answer."""
        answer = standing.end(conversation)
        last = _turn_of(answer)
        if last is None or _offer(last) not in ("continue", "answer"):
            raise StartRefused("There is nothing to continue here.")
        chosen = Chosen(model=last.chosen.get("model", ""), continues=True, without_tools=self.without_tools)
        question = _question(conversation, ANSWER_NOW if self.without_tools else CONTINUE, answer)
        return _asked(standing, question, chosen, before=last)


@dataclass(frozen=True, slots=True)
class Version(Start):
    """A question's answer once more; the old answer stays as a version, and what follows it with it."""

    message_id: uuid.UUID | None = None
    """The answer; None: the last."""

    def plan_new(self, standing: Standing, conversation: Conversation) -> StartedTurn:
        """Raises StartRefused where there is no such answer in view."""
        standing.refuse_live(conversation)
        answer = _shown(conversation, self.message_id) if self.message_id else standing.end(conversation)
        turn = _turn_of(answer)
        if answer is None or turn is None:
            raise StartRefused("There is no answer here that could be written anew.")
        chosen, files = Chosen(**turn.chosen), _files_of(turn.user_message)
        setup = chosen_setup(conversation, chosen, files, standing.setup)
        new = _turn(conversation, turn.user_message, chosen, setup, files, before=turn)
        return StartedTurn(new, setup, asks=False, replaces=answer)


def create_turns(starts: Sequence[Start], *, lease_owner: str) -> list[StartedTurn | Exception]:
    """Begin all of them in one transaction; of each its turn, or why it was refused, which keeps back no other.

    Raises DatabaseError; then nothing has begun.
    """
    outcomes: list[StartedTurn | Exception] = []
    with transaction.atomic(savepoint=False):
        standing = Standing([(start.conversation_id, start.client_id) for start in starts])
        for start in starts:
            try:
                outcomes.append(start.plan(standing))
            except DatabaseError:
                raise
            except Exception as error:  # noqa: BLE001 - a refusal, or a defect, which is its own
                outcomes.append(error)
        _store([one for one in outcomes if isinstance(one, StartedTurn) and one.is_new], lease_owner)
    return outcomes


def create_turn(start: Start, *, lease_owner: str) -> StartedTurn:
    """Begin one. Raises what `Start.plan` raises."""
    [outcome] = create_turns([start], lease_owner=lease_owner)
    if isinstance(outcome, Exception):
        raise outcome
    return outcome


def _store(begun: Sequence[StartedTurn], lease_owner: str) -> None:
    asking = [one for one in begun if one.asks]
    versions = [one for one in begun if one.replaces]
    for one in versions:
        one.hidden = branches.hide(one.replaces)
    _NEW_MESSAGE.all([*(one.turn.user_message for one in asking), *(one.turn.message for one in begun)])
    _NEW_PART.all(
        [
            Part(message=one.turn.user_message, index=0, kind=PartKind.TEXT, text=one.turn.user_message.text)
            for one in asking
        ]
    )
    _NEW_PLACE.all(
        [
            MessageAttachment(message=one.turn.user_message, attachment=attachment, index=number)
            for one in asking
            for number, attachment in enumerate(one.attachments)
        ]
    )
    now = timezone.now()
    for one in begun:
        one.turn.lease_owner, one.turn.started_at = lease_owner, now
    _NEW_TURN.all([one.turn for one in begun], lease=lease_length())
    _count_up(begun, now)
    for one in versions:
        if one.asks:
            one.question_versions = branches.versions_of(one.turn.user_message)
        else:
            one.answer_versions = branches.versions_of(one.turn.message)


def _count_up(begun: Sequence[StartedTurn], now: datetime) -> None:
    """The conversations' revisions. Their rows are locked: nobody else counts meanwhile."""
    for one in begun:
        conversation = one.turn.conversation
        conversation.revision += 1
        conversation.updated_at = now
        conversation.archived_at = None
        if one.names:
            conversation.title = title_of(one.turn.user_message.text or one.attachments[0].name)
    changed = [one.turn.conversation for one in begun]
    _BEGUN.run_all({"id": row.pk, "revision": row.revision, "title": row.title, "updated_at": now} for row in changed)


def _asked(
    standing: Standing,
    question: Message,
    chosen: Chosen,
    files: Sequence[Attachment] = (),
    *,
    before: Turn | None = None,
    replaces: Message | None = None,
) -> StartedTurn:
    """A new question's turn; `before`: the one that it continues. Raises StartRefused."""
    conversation = question.conversation
    standing.refuse_live(conversation)
    setup = chosen_setup(conversation, chosen, files, standing.setup)
    turn = _turn(conversation, question, chosen, setup, files, before=before)
    return StartedTurn(turn, setup, tuple(files), names=not conversation.title, replaces=replaces)


def _question(conversation: Conversation, text: str, parent: Message | None) -> Message:
    return Message(
        conversation=conversation,
        parent=parent,
        index=0 if parent is None else parent.index + 1,
        role=Role.USER,
        text=text,
        last_shown=conversation.revision + 1,
    )


def _turn(
    conversation: Conversation,
    question: Message,
    chosen: Chosen,
    setup: Setup,
    files: Sequence[Attachment],
    *,
    before: Turn | None,
) -> Turn:
    """With an empty answer; `files`: of the question, `before`: the turn that is continued, or answered anew."""
    decided = decided_on(conversation, question, files, chosen, setup, before)
    answer = Message(
        conversation=conversation,
        parent=question,
        index=question.index + 1,
        role=Role.MODEL,
        last_shown=conversation.revision + 1,
    )
    return Turn(
        conversation=conversation,
        user_message=question,
        message=answer,
        status=Turn.Status.RUNNING,
        provider=setup.provider,
        model=setup.model,
        chosen=chosen.as_json(),
        parameters=setup.parameters(),
        code_mode=decided.mode,
        code_execution=decided.is_offered,
        code_reason=decided.reason,
    )


def _shown(conversation: Conversation, message_id: uuid.UUID) -> Message | None:
    return conversation.messages.filter(pk=message_id, is_shown=True).select_related("parent").first()


def _files_of(question: Message) -> list[Attachment]:
    return [row.attachment for row in question.message_attachments.select_related("attachment")]


def _turn_of(answer: Message | None) -> Turn | None:
    if answer is None or answer.role != Role.MODEL:
        return None
    return Turn.objects.select_related("message", "user_message").get(message=answer)


def _offer(turn: Turn) -> str:
    """What the notice of an answer offers to do."""
    notice = turn_notice(turn, map(row_part, turn.message.parts.all()))
    return notice.action if notice else ""


def title_of(text: str) -> str:
    """A title made of a question's first words."""
    # A question that is a block of code is named by its first words, not by its fence.
    words = " ".join(FENCE.sub(" ", text).split()) or "Code"
    return words if len(words) <= TITLE_LENGTH else words[: TITLE_LENGTH - 1].rstrip() + "…"
