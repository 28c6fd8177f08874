"""Builds a request from a conversation's rows: parts in order, with their ids and signatures.

Only shown messages are sent. `sent_messages` chooses among them; `answers` selects what of an answer is sent.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from attachments.models import Attachment
from chat.answering.prompt.context_window import fixed_tokens
from chat.answering.prompt.continuations import RequestSource, find_continuation
from chat.answering.prompt.instructions import system_instruction
from chat.answering.prompt.replay import Replay
from chat.answering.prompt.request_size import fixed_bytes
from chat.answering.prompt.rows import PromptRows
from chat.answering.prompt.sent_messages import Recipient, SentMessages
from chat.messages.answer import Answer
from chat.messages.records import MessageRecord, placed_attachments
from chat.models import Turn
from chat.providers.base import Capabilities
from chat.providers.catalogue.setups import Setup, restore_setup
from chat.providers.provider_errors import NotConfigured
from chat.providers.requests import BuiltInTool, Content, FunctionTool, GenerateRequest, Thinking, Tool
from chat.vocabulary.built_in_tools import CODE_EXECUTION, URL_CONTEXT, WEB_SEARCH
from chat.vocabulary.parts import Engine
from chat.vocabulary.thinking import ThinkingLevel

STATE = "[Note of the server: what the tools hold before this request.]\n{state}"


@dataclass(frozen=True, slots=True)
class PreparedRequest:
    """The next request of a turn, and the files that it contains."""

    request: GenerateRequest
    capabilities: Capabilities
    """The capabilities of the requested model, and its account."""
    left_out: int
    """Number of the oldest messages that the request does not contain."""
    question_files: frozenset[uuid.UUID]
    """Ids of the question's files that the request contains."""
    earlier_files: frozenset[uuid.UUID]
    """Ids of the other files and images that the request contains."""
    to_upload: tuple[Attachment, ...]
    """Files that the provider must store first. The request must be prepared again after that."""
    tokens: int
    """An estimate of the request's tokens, for an answer whose provider reports none."""


def prepare(
    turn: Turn,
    rows: PromptRows,
    replay: Replay,
    answer: Answer | None = None,
    functions: Sequence[FunctionTool] = (),
    state: str = "",
) -> PreparedRequest:
    """Return the next request of a turn. Raises the errors of `_recipient` and of `SentMessages`.

    `turn`: with its conversation, the owner and project of that, and messages loaded. `answer`: its earlier rounds.
    `functions`: those that the model may call. `state`: what the tools hold; it is sent only with functions.
    """
    recipient = _recipient(turn, rows)
    setup = recipient.setup
    takes_both = replay.combines_tools and setup.takes_functions_beside_tools(recipient.capabilities)
    tools = requested_tools(turn, setup, functions, recipient.capabilities, takes_both=takes_both)
    tools = tools if replay.has_tools and setup.takes_tools else ()
    instruction = _instruction(turn, rows, setup, tools)
    source = _request_source(turn, rows, replay, answer, state)
    sent_state = STATE.format(state=source.state) if source.state and _has_functions(tools) else ""
    size_bytes = fixed_bytes(instruction + sent_state, tools)
    messages = SentMessages(source.turn, source.rows, source.rounds, recipient, replay, size_bytes)
    request = GenerateRequest(
        model=turn.model,
        contents=tuple(merged(messages.contents())),
        system_instruction=instruction,
        tools=tools,
        thinking=Thinking(ThinkingLevel(setup.thinking_level) if setup.thinking_level else None, setup.thinking_budget),
        temperature=setup.temperature,
        max_output_tokens=setup.max_output_tokens,
        image_output=setup.image_output,
        state=sent_state,
        continuation_token=source.token,
        protocol=setup.protocol,
        known=recipient.capabilities.known,
    )
    files = messages.choice.of_question, messages.choice.of_earlier, tuple(messages.files.to_upload)
    tokens = messages.tokens + fixed_tokens(instruction + sent_state, tools)
    return PreparedRequest(request, recipient.capabilities, messages.left_out, *files, tokens)


def _request_source(turn: Turn, rows: PromptRows, replay: Replay, answer: Answer | None, state: str) -> RequestSource:
    """Return the source of a request: the turn itself, or an earlier request that is sent again with a token."""
    own_rounds = _own_record(turn, answer) if answer and answer.round_number else None
    again = find_continuation(turn, rows) if replay.has_token and own_rounds is None else None
    if again is None:
        return RequestSource(turn, rows, own_rounds, state)
    again.turn.conversation = turn.conversation
    return replace(again, state=again.state or state)


def _recipient(turn: Turn, rows: PromptRows) -> Recipient:
    """Return the model that a turn asks. Raises NotConfigured if its service cannot be used any more."""
    if rows.capabilities is None:
        raise NotConfigured(
            f"The service {turn.provider}, endpoint “{turn.endpoint}”, is not set up here any more, or is turned off."
        )
    setup = restore_setup(turn.parameters, provider=turn.provider, endpoint=turn.endpoint, model=turn.model)
    return Recipient(setup, rows.capabilities)


def _instruction(turn: Turn, rows: PromptRows, setup: Setup, tools: Sequence[Tool]) -> str:
    """Return the system instruction of a request with these tools."""
    conversation = turn.conversation
    return system_instruction(
        setup,
        rows.instruction,
        engine=Engine(turn.engine) if turn.engine else None,
        both_engines=turn.engine == Engine.NATIVE and turn.offers_session and _has_functions(tools),
        web_search=BuiltInTool(WEB_SEARCH) in tools,
        person=conversation.owner.instruction,
        project=conversation.project.instruction if conversation.project else "",
        own=conversation.system_instruction,
        is_private=turn.private_data,
    )


def _has_functions(tools: Sequence[Tool]) -> bool:
    return any(isinstance(tool, FunctionTool) for tool in tools)


def requested_tools(
    turn: Turn, setup: Setup, functions: Sequence[FunctionTool], capabilities: Capabilities, *, takes_both: bool
) -> tuple[Tool, ...]:
    """Return the tools of a request.

    `takes_both`: whether the model takes functions beside built-in tools. If not, only one kind is offered: functions
    if code runs in a tool set, otherwise the built-in tools.
    """
    wanted = {
        CODE_EXECUTION: turn.engine == Engine.NATIVE,
        WEB_SEARCH: setup.web_search,
        URL_CONTEXT: setup.url_context,
    }
    built_in = [BuiltInTool(name) for name, is_wanted in wanted.items() if is_wanted]
    if turn.engine == Engine.SESSION and not takes_both:
        built_in = []
    takes_functions = takes_both if built_in else capabilities.functions
    return (*built_in, *(functions if takes_functions else ()))


def _own_record(turn: Turn, answer: Answer) -> MessageRecord:
    """Return the earlier rounds of a live answer as a record."""
    return MessageRecord(
        turn.message,
        turn,
        parts=list(answer.parts),
        part_attachments=dict(answer.part_attachments),
        attachments=placed_attachments(answer.attachments),
    )


def merged(contents: Iterable[Content]) -> Iterator[Content]:
    """Yield the contents without empty ones. Successive contents with the same role and `is_own` are joined, because an
    answer may have no part at all.
    """
    last: Content | None = None
    for content in contents:
        if not content.parts:
            continue
        if last and (last.role, last.is_own) == (content.role, content.is_own):
            last = replace(last, parts=last.parts + content.parts)
            continue
        if last:
            yield last
        last = content
    if last:
        yield last
