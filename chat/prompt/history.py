"""Builds a request from a conversation's rows: parts in order, with their ids and signatures.

Only shown messages are sent. `answers` says what of an earlier answer goes back.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain

from attachments.models import Attachment
from chat.answers.answer import Answer
from chat.catalogue.setups import Setup, restore_setup
from chat.models import Turn
from chat.parts import Role, Text
from chat.prompt.answers import ReplayedImages, answer_contents
from chat.prompt.context_window import fitting
from chat.prompt.instructions import system_instruction
from chat.prompt.provider_files import RequestFiles
from chat.prompt.replay import Replay
from chat.prompt.rows import PromptRows
from chat.providers import get_provider
from chat.providers.base import Capabilities
from chat.providers.requests import (
    CODE_EXECUTION,
    URL_CONTEXT,
    WEB_SEARCH,
    BuiltInTool,
    Content,
    FunctionTool,
    GenerateRequest,
    Thinking,
    ThinkingLevel,
    Tool,
)
from chat.transcript.records import MessageRecord, PlacedAttachment


@dataclass(frozen=True, slots=True)
class Prepared:
    """A request that is ready to be sent."""

    request: GenerateRequest
    left_out: int
    """How many of the oldest messages it does not hold."""
    has_graphs: bool
    """Whether it holds images of earlier answers."""
    to_upload: tuple[Attachment, ...]
    """Files that the provider must store first. Then the request is to be prepared again."""


def prepare(
    turn: Turn,
    rows: PromptRows,
    replay: Replay,
    answer: Answer | None = None,
    functions: Sequence[FunctionTool] = (),
    state: str = "",
) -> Prepared:
    """Return the next request of a turn. Raises FilesTooLarge, BytesUnavailable.

    `turn`: with its conversation and messages loaded. `answer`: its earlier rounds. `functions`: those that the model
    may call. `state`: what the tools add to the system instruction.
    """
    setup = restore_setup(turn.parameters, provider=turn.provider, endpoint=turn.endpoint, model=turn.model)
    provider = get_provider(turn.provider, turn.endpoint)
    capabilities = provider.capabilities(turn.model)
    records = rows.records
    files = RequestFiles(records, capabilities, provider.account)
    own_rounds = _own_record(turn, answer) if answer and answer.round_number else None
    graphs = ReplayedImages([*records, own_rounds] if own_rounds else records, replay, capabilities)
    contents = [
        question_contents(record, files)
        if record.turn is None
        else answer_contents(record, graphs, capabilities, is_own=replay.has_signatures and _is_own(record.turn, turn))
        for record in records
    ]
    fitting_contents = fitting(contents, setup.context_tokens, replay.context_share, files.sizes_bytes)
    later = answer_contents(own_rounds, graphs, capabilities, is_own=replay.has_signatures) if own_rounds else []
    tools = requested_tools(turn, setup, functions, capabilities)
    instruction = system_instruction(
        setup, rows.instruction, code_execution=turn.code_execution, own=turn.conversation.system_instruction
    )
    request = GenerateRequest(
        model=turn.model,
        contents=tuple(merged(chain(chain.from_iterable(fitting_contents), later))),
        system_instruction="\n\n".join(text for text in (instruction, state) if text),
        tools=tools,
        thinking=Thinking(ThinkingLevel(setup.thinking_level) if setup.thinking_level else None, setup.thinking_budget),
        temperature=setup.temperature,
        max_output_tokens=setup.max_output_tokens,
        image_output=setup.image_output,
    )
    return Prepared(request, len(contents) - len(fitting_contents), graphs.has_any, tuple(files.to_upload))


def _is_own(earlier: Turn, turn: Turn) -> bool:
    """Return whether the model of a turn can read what the model of an earlier turn signed."""
    signers = [(one.provider, one.endpoint, one.account, one.model) for one in (earlier, turn)]
    return signers[0] == signers[1]


def requested_tools(
    turn: Turn, setup: Setup, functions: Sequence[FunctionTool], capabilities: Capabilities
) -> tuple[Tool, ...]:
    """Return the tools of a request.

    Functions are left out where the model does not take them beside built-in tools.
    """
    wanted = {
        CODE_EXECUTION: turn.code_execution,
        WEB_SEARCH: setup.web_search,
        URL_CONTEXT: setup.url_context,
    }
    built_in = [BuiltInTool(name) for name, is_wanted in wanted.items() if is_wanted]
    takes_functions = capabilities.functions_beside_built_in if built_in else capabilities.functions
    return (*built_in, *(functions if takes_functions else ()))


def _own_record(turn: Turn, answer: Answer) -> MessageRecord:
    """Return the rounds of a live answer as a record, as far as the provider has not been sent them."""
    ids = [uuid.UUID(one.attachment_id) for one in answer.attachments]
    attachments = Attachment.objects.in_bulk(ids) if ids else {}
    return MessageRecord(
        turn.message,
        turn,
        parts=list(answer.parts),
        part_attachments=dict(answer.part_attachments),
        attachments=[
            PlacedAttachment(attachments[pk], one.index, one.part_index)
            for pk, one in zip(ids, answer.attachments, strict=True)
            if pk in attachments
        ],
    )


def merged(contents: Iterable[Content]) -> Iterator[Content]:
    """Yield the contents without empty ones, and with neighbours of one role joined: an answer may have no part at
    all.
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


def question_contents(record: MessageRecord, files: RequestFiles) -> list[Content]:
    """Return a question: its files, then its text."""
    sent = tuple(files.part(record, placed.attachment) for placed in record.attachments)
    text = (Text(record.message.text),) if record.message.text else ()
    return [Content(Role.USER, sent + text)]
