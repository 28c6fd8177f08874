"""Plans a turn: makes the rows of a question, an empty answer and a turn, without writing anything."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

from attachments.models import Attachment
from chat.answering.code_tools import has_other_tools
from chat.answering.turns.start_context import StartContext
from chat.answering.turns.start_rules import (
    CodeChoice,
    TurnChoices,
    check_files,
    chosen_setup,
    decide_code,
    without_tools,
)
from chat.models import Conversation, Message, Turn
from chat.page.message_views import Versions
from chat.page.transcript.turn_notices import turn_notice
from chat.providers.base import Capabilities
from chat.providers.catalogue.refused_tools import TOOLS_KNOWN_OFF, refuses_tools
from chat.providers.catalogue.setups import Setup
from chat.vocabulary.parts import Role


@dataclass(slots=True)
class PlannedTurn:
    """A turn to run, with its conversation and messages loaded. A known turn (`is_new` is False) has only its row."""

    turn: Turn
    setup: Setup
    capabilities: Capabilities | None = None
    """The capabilities of its model, if the start has read them. `None`: they are read when a request is made."""
    attachments: tuple[Attachment, ...] = ()
    """The files of a new question."""
    is_new: bool = True
    """False if this `client_id` has already started the turn."""
    has_question: bool = True
    """False if there is no new question, because the last one is answered again."""
    names_conversation: bool = False
    """True if this question gives the conversation its title."""
    replaced: Message | None = None
    """The shown message that the first new message replaces."""
    hidden: tuple[uuid.UUID, ...] = ()
    """Ids of messages that are not shown any more."""
    question_versions: Versions | None = None
    answer_versions: Versions | None = None


def plan_question(
    context: StartContext,
    question: Message,
    chosen: TurnChoices,
    files: Sequence[Attachment] = (),
    *,
    before: Turn | None = None,
    replaced: Message | None = None,
) -> PlannedTurn:
    """Return the turn of a new question. `before`: the turn that it continues. Raises the errors of `Start.plan`."""
    conversation = question.conversation
    context.check_may_start(conversation)
    setup = chosen_setup(conversation, chosen, context.setup)
    turn = new_turn(context, conversation, question, chosen, setup, files, before=before)
    # A new version of the first question gives the conversation a new title, unless a person or a model has written the
    # title.
    is_first = replaced is not None and replaced.parent_id is None
    is_unnamed = not conversation.title or (is_first and conversation.title_source == conversation.TitleSource.WORDS)
    return PlannedTurn(
        turn,
        setup,
        context.capabilities(setup),
        attachments=tuple(files),
        names_conversation=is_unnamed,
        replaced=replaced,
    )


def new_question(conversation: Conversation, text: str, parent: Message | None) -> Message:
    """Return an unsaved question that follows `parent`."""
    return Message(
        conversation=conversation,
        parent=parent,
        index=0 if parent is None else parent.index + 1,
        role=Role.USER,
        text=text,
        last_shown=conversation.revision + 1,
    )


def new_turn(
    context: StartContext,
    conversation: Conversation,
    question: Message,
    chosen: TurnChoices,
    setup: Setup,
    files: Sequence[Attachment],
    *,
    before: Turn | None,
) -> Turn:
    """Return a turn with an empty answer. `before`: the turn that is continued or answered again.

    Raises StartRefused if the model is not set up, or does not accept the files.
    """
    find_capabilities = context.capabilities
    capabilities = find_capabilities(setup)
    has_state = partial(context.has_code_state, conversation)
    project = context.project_files(conversation)
    decision = decide_code(conversation, question, files, chosen, setup, before, has_state, project, find_capabilities)
    setup, decision = _without_refused_tools(setup, decision, capabilities.account)
    check_files(setup, files, decision, capabilities, is_private=conversation.is_private)
    return Turn(
        conversation=conversation,
        user_message=question,
        message=_empty_answer(conversation, question),
        status=Turn.Status.RUNNING,
        provider=setup.provider,
        endpoint=setup.endpoint,
        account=capabilities.account,
        model=setup.model,
        chosen=chosen.as_json(),
        parameters=setup.parameters(),
        time_zone=conversation.owner.time_zone,
        code_mode=decision.mode,
        code_execution=decision.engine is not None,
        code_reason=decision.reason,
        engine=decision.engine or "",
        offers_session=decision.offers_session,
        private_data=conversation.is_private,
    )


def _without_refused_tools(setup: Setup, decision: CodeChoice, account: str) -> tuple[Setup, CodeChoice]:
    """Return the setup and the decision, without tools if the model accepts none. Runs at most two queries."""
    may_offer_tools = decision.engine or setup.web_search or setup.url_context or has_other_tools()
    if not (may_offer_tools and refuses_tools(setup.provider, setup.endpoint, setup.model, account)):
        return setup, decision
    if decision.engine:
        decision = CodeChoice(decision.mode, None, TOOLS_KNOWN_OFF.format(label=setup.label))
    return replace(without_tools(setup), takes_tools=False), decision


def _empty_answer(conversation: Conversation, question: Message) -> Message:
    """Return the unsaved message into which the answer is written."""
    return Message(
        conversation=conversation,
        parent=question,
        index=question.index + 1,
        role=Role.MODEL,
        last_shown=conversation.revision + 1,
    )


def shown_message(conversation: Conversation, message_id: uuid.UUID) -> Message | None:
    """Return a shown message of the conversation."""
    return conversation.messages.filter(pk=message_id, is_shown=True).select_related("parent").first()


def files_of(question: Message) -> list[Attachment]:
    """Return the files of a question."""
    return [row.attachment for row in question.message_attachments.select_related("attachment")]


def turn_of(answer: Message | None) -> Turn | None:
    """Return the turn that wrote an answer; `None` for anything else."""
    if answer is None or answer.role != Role.MODEL:
        return None
    return Turn.objects.select_related("message", "user_message").get(message=answer)


def offered_action(turn: Turn) -> str:
    """Return the action that the notice of an answer offers."""
    notice = turn_notice(turn, [row.value for row in turn.message.parts.all()])
    return notice.action if notice else ""
