"""Builds a request from a conversation's rows: parts in order, with their ids and signatures.

Only shown messages are sent. The parts of an answer are sent back as they were received, except what this model cannot
accept: thoughts without provider data, signatures of another model, code without a result, and function calls without
a response.
"""

from __future__ import annotations

import logging
import uuid
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, groupby

from attachments.models import Attachment
from attachments.store import BytesUnavailable, read_bytes
from chat.answers.answer import Answer
from chat.catalogue.setups import Setup, restore_setup
from chat.models import Turn
from chat.parts import (
    CodeExecutionResult,
    ExecutableCode,
    FunctionCall,
    FunctionResponse,
    InlineData,
    Part,
    Role,
    Text,
    Thought,
    Unsupported,
)
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
from chat.rendering.data_uris import ExtractedImage, restore_images
from chat.transcript.records import MessageRecord, PlacedAttachment

logger = logging.getLogger(__name__)

GRAPH_READ_LIMIT_S = 2.0
"""How long an answer waits for the bytes of one graph. After the first that is not read in time, no more are read."""


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
        else answer_contents(record, graphs, is_own=replay.has_signatures and _is_own(record.turn, turn))
        for record in records
    ]
    fitting_contents = fitting(contents, setup.context_tokens, replay.context_share, files.sizes_bytes)
    later = answer_contents(own_rounds, graphs, is_own=replay.has_signatures) if own_rounds else []
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


class ReplayedImages:
    """Bytes of the newest graphs and images of answers.

    If storage is unavailable, the request is sent without images: code and output still describe the graphs.
    """

    def __init__(self, records: Iterable[MessageRecord], replay: Replay, capabilities: Capabilities) -> None:
        sendable = [
            placed.attachment
            for record in records
            if record.turn is not None
            for placed in record.attachments
            # A GIF, for example, can be drawn but not be sent.
            if capabilities.accepted_type(placed.attachment.mime_type)
        ]
        graphs = [attachment.pk for attachment in sendable if attachment.is_graph]
        images = [attachment.pk for attachment in sendable if not attachment.is_graph]
        self._wanted = {*_newest(graphs, replay.graphs), *_newest(images, replay.images)}
        self.has_any = False
        """Whether the bytes of any image were read."""

    def read(self, attachment: Attachment) -> bytes | None:
        """Return the bytes; `None` for an older graph, and after storage has failed to give one in time."""
        if attachment.pk not in self._wanted:
            return None
        try:
            data = read_bytes(attachment, limit_s=GRAPH_READ_LIMIT_S)
        except BytesUnavailable as error:
            logger.warning("images are not replayed: %s", error)
            self._wanted.clear()
            return None
        self.has_any = True
        return data


def _newest(ids: list[uuid.UUID], number: int) -> list[uuid.UUID]:
    return ids[-number:] if number else []


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


def answer_contents(record: MessageRecord, graphs: ReplayedImages, *, is_own: bool) -> list[Content]:
    """Return an answer. `is_own`: whether the model that is asked made it, so that it can read its signatures."""
    parts = [
        part
        for index, original in enumerate(record.parts)
        if is_sent_back(original) and (part := _replayed_part(original, index, record, graphs)) is not None
    ]
    parts = without_unanswered_calls(without_open_code(parts))
    if not is_own:
        parts = without_provider_data(parts)
    return by_speaker(parts, is_own=is_own)


def by_speaker(parts: Iterable[Part], *, is_own: bool) -> list[Content]:
    """Return an answer as contents. The response of a function is in the user's content."""
    groups = groupby(parts, lambda part: Role.USER if isinstance(part, FunctionResponse) else Role.MODEL)
    return [Content(role, tuple(group), is_own=is_own or role is Role.USER) for role, group in groups]


def is_sent_back(part: Part) -> bool:
    """Return whether a model is sent this part of an earlier answer, whatever model made it."""
    if isinstance(part, Thought):
        return bool(part.provider_data)
    # The model gets the response of a function, not the parts that show the reader how its tool ran.
    return not part.made_by or isinstance(part, FunctionResponse)


def _replayed_part(part: Part, index: int, record: MessageRecord, graphs: ReplayedImages) -> Part | None:
    """Return the part with the bytes of its images; `None` if they are not sent again."""
    if isinstance(part, InlineData):
        attachment = record.attachment_of(index)
        data = graphs.read(attachment) if attachment else None
        return None if data is None else replace(part, data=data)
    if isinstance(part, CodeExecutionResult) and part.images:
        return _with_printed_images(part, record, graphs)
    return part


def _with_printed_images(part: CodeExecutionResult, record: MessageRecord, graphs: ReplayedImages) -> Part:
    """Return a result with its images put back into the output, as the code had printed them; or with none of them."""
    attachments = {placed.index: placed.attachment for placed in record.attachments}
    images = []
    for image in part.images:
        attachment = attachments[image.attachment]
        data = graphs.read(attachment)
        if data is None:
            return replace(part, images=())
        images.append(ExtractedImage(image.offset, image.header, attachment.mime_type, data, image.line_chars))
    return replace(part, output=restore_images(part.output or "", images), images=())


def without_open_code(parts: list[Part]) -> list[Part]:
    """Return the parts without code at the end that has no result: the turn was stopped, and the API wants pairs."""
    end = len(parts)
    for index in range(len(parts) - 1, -1, -1):
        if isinstance(parts[index], ExecutableCode):
            end = index
        elif parts[index].is_answer:
            break
    return parts[:end]


def without_unanswered_calls(parts: list[Part]) -> list[Part]:
    """Return the parts with a sentence in place of each function call that has no response: the API wants pairs."""
    answered = {(part.round, part.call_id) for part in parts if isinstance(part, FunctionResponse)}
    return [
        Text(f"[The function {part.name} was called, but it has no result.]", round=part.round)
        if isinstance(part, FunctionCall) and (part.round, part.call_id) not in answered
        else part
        for part in parts
    ]


def without_provider_data(parts: list[Part]) -> list[Part]:
    """Return the parts as another model's. A part that holds nothing else is left out."""
    bare = [replace(part, provider_data={}) for part in parts if not isinstance(part, Thought | Unsupported)]
    return [part for part in bare if part != Text("", round=part.round)]
