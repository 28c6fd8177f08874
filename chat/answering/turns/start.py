"""Starts turns. A start stores a running turn with an empty answer, and its question if that is new.

The starts of one batch share their common queries (`start_context`). Each start is then planned or refused, which
writes no row. Finally, all planned turns are stored with one insert for each table.
"""

from __future__ import annotations

import uuid
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime

from django.db import DatabaseError, transaction
from django.utils import timezone

from chat.answering.turns.engine_choice import obstacle_to_own_code
from chat.answering.turns.start_context import StartContext
from chat.answering.turns.start_plan import (
    PlannedTurn,
    files_of,
    new_question,
    new_turn,
    offered_action,
    plan_question,
    shown_message,
    turn_of,
)
from chat.answering.turns.start_rules import StartRefused, TurnChoices, chosen_setup
from chat.answering.turns.store import lease_end
from chat.answering.turns.versions import hide
from chat.models import Conversation, MessageAttachment, Part
from chat.models.plain_sql import insert_rows, update_rows
from chat.page.transcript.versions import versions_of
from chat.people.access import AnyUser, attachments_of
from chat.providers.catalogue.setups import Setup
from chat.vocabulary.fences import fence_code, unfence_code
from chat.vocabulary.parts import Role, Text
from chat.vocabulary.title_words import title_of

CONTINUE = "Continue."
ANSWER_NOW = "Answer now with what you have, without running more code."


@dataclass(frozen=True, slots=True)
class Start(ABC):
    """A user's request that starts a turn: a question, an edit, a continuation, a regeneration, or code to run."""

    user: AnyUser
    conversation_id: uuid.UUID
    client_id: str = field(default="", kw_only=True)
    """An idempotency key, chosen by the client. A repeated key returns the turn that it started before."""

    def plan(self, context: StartContext) -> PlannedTurn:
        """Return the turn to store, or the turn that this `client_id` started before. Writes no row.

        Raises StartRefused or QuotaExceeded if the turn may not start, and NotFound if the user may not write here.
        """
        conversation = context.conversation(self.user, self.conversation_id)
        if known := context.known_turn(conversation, self.client_id):
            setup = Setup(known.provider, known.model, known.model, endpoint=known.endpoint)
            return PlannedTurn(known, setup, is_new=False)
        started = self.plan_new(context, conversation)
        started.turn.client_id = self.client_id or None
        context.add(started.turn)
        return started

    @abstractmethod
    def plan_new(self, context: StartContext, conversation: Conversation) -> PlannedTurn:
        """Return a new turn to store. Raises the errors of `plan`."""


@dataclass(frozen=True, slots=True)
class Ask(Start):
    """Ask a question after the last shown message."""

    text: str
    attachment_ids: Sequence[uuid.UUID] | None = None
    """`None`: no files, but an `Edit` keeps the files of the message that it replaces."""
    code_mode: str = field(default="", kw_only=True)
    """`auto`, `on` or `off` for this message only. If empty, the conversation's setting applies."""
    model: str = field(default="", kw_only=True)
    """A model for this message only. If empty, the conversation's model is used."""

    def plan_new(self, context: StartContext, conversation: Conversation) -> PlannedTurn:
        """Return the turn that answers the question. Raises NotFound also for an attachment that is not the user's."""
        files = attachments_of(self.user, self.attachment_ids or ())
        question = new_question(conversation, self.text, context.last_message(conversation))
        return plan_question(context, question, TurnChoices(self.code_mode, self.model), files)


@dataclass(frozen=True, slots=True)
class RunCode(Start):
    """Run code of the user in the tool set that takes code. No model is asked."""

    code: str

    def plan_new(self, context: StartContext, conversation: Conversation) -> PlannedTurn:
        """Return the turn that runs the code. Its question shows the code."""
        if obstacle := obstacle_to_own_code():
            raise StartRefused(obstacle)
        context.quotas.check_own_code(conversation.owner_id)
        question = new_question(conversation, fence_code(self.code), context.last_message(conversation))
        return plan_question(context, question, TurnChoices(own_code=True))


@dataclass(frozen=True, slots=True)
class Edit(Ask):
    """Replace an earlier question by a new version. The old version and everything that followed it are kept."""

    message_id: uuid.UUID = field(kw_only=True)

    def plan_new(self, context: StartContext, conversation: Conversation) -> PlannedTurn:
        """Return the turn that answers the new version."""
        before = shown_message(conversation, self.message_id)
        if before is None or before.role != Role.USER:
            raise StartRefused("Only a message of yours that is in view can be changed.")
        files = files_of(before)
        if self.attachment_ids is not None:
            known = {file.pk: file for file in files}
            added = attachments_of(self.user, [one for one in self.attachment_ids if one not in known])
            known |= {file.pk: file for file in added}
            files = [known[one] for one in self.attachment_ids]
        question = new_question(conversation, self.text, before.parent)
        # A new version of code that the user ran is run again, unless a question replaces the code.
        is_code = unfence_code(self.text) is not None and before.asked_turns.filter(chosen__own_code=True).exists()
        chosen = TurnChoices(own_code=True) if is_code else TurnChoices(self.code_mode, self.model)
        return plan_question(context, question, chosen, files, replaced=before)


@dataclass(frozen=True, slots=True)
class Continue(Start):
    """Continue after an answer whose notice offers this.

    The APIs reject a request that ends with a message of the model, so a continuation adds a message of the user.
    """

    without_tools: bool = field(default=False, kw_only=True)
    """True if the model must answer without tools, from the results that it already has."""

    def plan_new(self, context: StartContext, conversation: Conversation) -> PlannedTurn:
        """Return the turn that continues the last answer, after a short question that asks for it."""
        answer = context.last_message(conversation)
        last = turn_of(answer)
        if last is None or offered_action(last) not in ("continue", "answer"):
            raise StartRefused("There is nothing to continue here.")
        chosen_model = last.chosen.get("model", "")
        chosen = TurnChoices(model=chosen_model, continues=True, without_tools=self.without_tools)
        question = new_question(conversation, ANSWER_NOW if self.without_tools else CONTINUE, answer)
        return plan_question(context, question, chosen, before=last)


@dataclass(frozen=True, slots=True)
class Regenerate(Start):
    """Answer a question again. The old answer and everything that followed it are kept as a version."""

    message_id: uuid.UUID | None = None
    """The answer to replace. `None`: the last answer of the conversation."""

    def plan_new(self, context: StartContext, conversation: Conversation) -> PlannedTurn:
        """Return the turn that answers the question of the replaced answer again, with the same choices."""
        context.check_may_start(conversation)
        answer = shown_message(conversation, self.message_id) if self.message_id else context.last_message(conversation)
        turn = turn_of(answer)
        if answer is None or turn is None:
            raise StartRefused("There is no answer here that could be written anew.")
        chosen, files = TurnChoices(**turn.chosen), files_of(turn.user_message)
        setup = chosen_setup(conversation, chosen, context.setup)
        new = new_turn(context, conversation, turn.user_message, chosen, setup, files, before=turn)
        return PlannedTurn(new, setup, context.capabilities(setup), has_question=False, replaced=answer)


def create_turns(starts: Sequence[Start], *, lease_owner: str) -> list[PlannedTurn | Exception]:
    """Start all turns in one transaction.

    Return for each start its turn, or the exception that refused only this start. Raises DatabaseError if the
    transaction fails. No turn runs then: if it was stored although that was not confirmed, `recovery` ends its turns.
    """
    outcomes: list[PlannedTurn | Exception] = []
    with transaction.atomic(savepoint=False):
        context = StartContext([(start.conversation_id, start.client_id) for start in starts])
        for start in starts:
            try:
                outcomes.append(start.plan(context))
            except DatabaseError:
                raise
            except Exception as error:  # noqa: BLE001 - a refusal or a defect concerns this start alone
                outcomes.append(error)
        context.quotas.refund()
        _store([one for one in outcomes if isinstance(one, PlannedTurn) and one.is_new], lease_owner)
    return outcomes


def _store(planned: Sequence[PlannedTurn], lease_owner: str) -> None:
    with_question = [one for one in planned if one.has_question]
    for one in planned:
        if one.replaced:
            one.hidden = hide(one.replaced)
    questions = [one.turn.user_message for one in with_question]
    insert_rows([*questions, *(one.turn.message for one in planned)])
    insert_rows([Part.from_value(Text(one.text), index=0, message=one) for one in questions])
    insert_rows(
        [
            MessageAttachment(message=one.turn.user_message, attachment=attachment, index=index)
            for one in with_question
            for index, attachment in enumerate(one.attachments)
        ]
    )
    now, expires_at = timezone.now(), lease_end()
    for one in planned:
        one.turn.lease_owner, one.turn.started_at, one.turn.lease_expires_at = lease_owner, now, expires_at
    insert_rows([one.turn for one in planned])
    _update_conversations(planned, now)
    for one in planned:
        if one.replaced and one.has_question:
            one.question_versions = versions_of(one.turn.user_message)
        elif one.replaced:
            one.answer_versions = versions_of(one.turn.message)


def _update_conversations(planned: Sequence[PlannedTurn], now: datetime) -> None:
    """Update revision, times and title of the conversations. They are locked, so no other transaction changes them."""
    names = ("revision", "title", "updated_at", "archived_at")
    for one in planned:
        conversation = one.turn.conversation
        conversation.revision += 1
        conversation.updated_at = now
        # A new question moves an archived conversation back to the list.
        conversation.archived_at = None
        if one.names_conversation:
            conversation.title = title_of(one.turn.user_message.text or one.attachments[0].name)
    conversations = [one.turn.conversation for one in planned]
    update_rows(Conversation, {row.pk: {name: getattr(row, name) for name in names} for row in conversations})
