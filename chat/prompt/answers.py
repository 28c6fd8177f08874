"""What of an earlier answer is sent back to a model.

The parts are sent as they were received, except what this model cannot accept: thoughts without provider data,
signatures of another model, code without a result, and function calls without a response.
"""

from __future__ import annotations

import logging
import uuid
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import groupby

from attachments.models import Attachment
from attachments.store import BytesUnavailable, read_bytes
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
from chat.prompt.replay import Replay
from chat.providers.base import Capabilities
from chat.providers.requests import Content
from chat.rendering.data_uris import ExtractedImage, restore_images
from chat.transcript.records import MessageRecord

logger = logging.getLogger(__name__)

GRAPH_READ_LIMIT_S = 2.0
"""How long an answer waits for the bytes of one graph. After the first that is not read in time, no more are read."""


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


def answer_contents(
    record: MessageRecord, graphs: ReplayedImages, capabilities: Capabilities, *, is_own: bool
) -> list[Content]:
    """Return an answer. `is_own`: whether the model that is asked made it, so that it can read its signatures."""
    parts = [
        part
        for index, original in enumerate(record.parts)
        if is_sent_back(original, capabilities, is_own=is_own)
        for part in _replayed_parts(original, index, record, graphs, is_own=is_own)
    ]
    parts = without_unanswered_calls(without_open_code(parts))
    if not is_own:
        parts = without_provider_data(parts)
    return by_speaker(parts, is_own=is_own)


def by_speaker(parts: Iterable[Part], *, is_own: bool) -> list[Content]:
    """Return an answer as contents. The response of a function, and its images, are in the user's content."""
    groups = groupby(
        parts, lambda part: Role.USER if isinstance(part, FunctionResponse) or part.made_by else Role.MODEL
    )
    return [Content(role, tuple(group), is_own=is_own or role is Role.USER) for role, group in groups]


def is_sent_back(part: Part, capabilities: Capabilities, *, is_own: bool) -> bool:
    """Return whether a model is sent this part of an earlier answer."""
    if isinstance(part, Thought):
        return bool(part.provider_data) or (is_own and capabilities.reads_thoughts)
    if part.made_by:
        # The model gets the response of a function, not the parts that show the reader how its tool ran.
        is_image = isinstance(part, InlineData) and capabilities.reads_tool_images
        return isinstance(part, FunctionResponse) or is_image
    return True


def _replayed_parts(
    part: Part, index: int, record: MessageRecord, graphs: ReplayedImages, *, is_own: bool
) -> Iterator[Part]:
    """Yield the part with the bytes of its images, or nothing if they are not sent again."""
    if isinstance(part, InlineData):
        attachment = record.attachment_of(index)
        data = graphs.read(attachment) if attachment else None
        if data is not None:
            yield replace(part, data=data)
    elif isinstance(part, CodeExecutionResult) and part.images:
        yield from _printed_images(part, record, graphs, is_own=is_own)
    else:
        yield part


def _printed_images(
    part: CodeExecutionResult, record: MessageRecord, graphs: ReplayedImages, *, is_own: bool
) -> Iterator[Part]:
    """Yield a result with the images that the code had printed; without them if one of them is not sent again.

    The model that ran the code gets its output as it was. Another one gets each image as an image, not as text.
    """
    attachments = {placed.index: placed.attachment for placed in record.attachments}
    images = []
    for image in part.images:
        attachment = attachments[image.attachment]
        data = graphs.read(attachment)
        if data is None:
            yield replace(part, images=())
            return
        images.append(ExtractedImage(image.offset, image.header, attachment.mime_type, data, image.line_chars))
    if is_own:
        yield replace(part, output=restore_images(part.output or "", images), images=())
        return
    yield replace(part, images=())
    for one in images:
        yield InlineData(one.mime_type, "", one.data, round=part.round)


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
    """Return the parts with a sentence in place of each function call that has no response, as APIs want pairs.

    A response without a call, which only an import can hold, is left out.
    """
    answered = {(part.round, part.call_id) for part in parts if isinstance(part, FunctionResponse)}
    called = {(part.round, part.call_id) for part in parts if isinstance(part, FunctionCall)}
    return [
        Text(f"[The function {part.name} was called, but it has no result.]", round=part.round)
        if isinstance(part, FunctionCall) and (part.round, part.call_id) not in answered
        else part
        for part in parts
        if not isinstance(part, FunctionResponse) or (part.round, part.call_id) in called
    ]


def without_provider_data(parts: list[Part]) -> list[Part]:
    """Return the parts as another model's. A part that holds nothing else is left out."""
    bare = [replace(part, provider_data={}) for part in parts if not isinstance(part, Thought | Unsupported)]
    return [part for part in bare if part != Text("", round=part.round)]
