"""Selects what of an earlier answer is sent back to a model.

The parts are sent as they were received, except what this model cannot accept: thoughts that it cannot read,
signatures of another model, code without a result, and function calls without a response.
"""

from __future__ import annotations

import logging
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby

from attachments.models import Attachment
from attachments.store import BytesUnavailable, read_bytes
from chat.messages.records import MessageRecord
from chat.providers.base import Capabilities
from chat.providers.requests import Content
from chat.vocabulary.display_text import display_text
from chat.vocabulary.parts import (
    CodeExecutionResult,
    Display,
    ExecutableCode,
    FileData,
    FunctionCall,
    FunctionResponse,
    InlineData,
    Part,
    Refusal,
    Role,
    Text,
    Thought,
    ToolCall,
    ToolResponse,
    Unsupported,
)

logger = logging.getLogger(__name__)

MOVED = (
    "[Note of the server: {reason} Nothing there knows the variables and files of the earlier code. Go on with the"
    " functions that you have now, and run again what is still needed.]"
)
"""The text for the model between the rounds before and after the move of its code to a tool set."""

FILE_LEFT_OUT = "[A file was here; it is not sent again.]"
IMAGES_LEFT_OUT = "[Note of the server: these files of the answer above are not sent again: {names}.]"
NAMES_LIMIT = 20

GRAPH_READ_LIMIT_S = 2.0
"""Maximum number of seconds for which an answer waits for the bytes of one graph. After the first failure, no more
graphs are read.
"""


class ReplayedImages:
    """Bytes of the chosen graphs and images of answers.

    If storage is unavailable, the request is sent without images: code and output still describe the graphs.
    """

    def __init__(self, chosen: Iterable[uuid.UUID], *, are_private: bool = False) -> None:
        """`chosen`: ids of attachments; see `FileChoice.images`.

        `are_private`: whether the names of images that are not sent are private too, because code may choose names.
        """
        self.are_private = are_private
        self._wanted = set(chosen)
        self._sent: set[uuid.UUID] = set()

    def read(self, attachment: Attachment) -> bytes | None:
        """Return the bytes of an image once. Returns `None` if it was not chosen, or after storage failed to deliver
        one in time.
        """
        if attachment.pk not in self._wanted:
            return None
        self._wanted.remove(attachment.pk)
        try:
            data = read_bytes(attachment, limit_s=GRAPH_READ_LIMIT_S)
        except BytesUnavailable as error:
            logger.warning("images are not replayed: %s", error)
            self._wanted.clear()
            return None
        self._sent.add(attachment.pk)
        return data

    def is_sent(self, attachment: Attachment) -> bool:
        """Return whether the request already contains the bytes."""
        return attachment.pk in self._sent


def left_out_contents(images: Iterable[Attachment]) -> list[Content]:
    """Return a note of the user that names images of an answer; an empty list if there are none.

    The note is not part of the answer, because models imitate what they seem to have written before.
    """
    names = list(dict.fromkeys(_described(image) for image in images))
    if not names:
        return []
    more = [f"and {len(names) - NAMES_LIMIT} more"] if len(names) > NAMES_LIMIT else []
    return [Content(Role.USER, (Text(IMAGES_LEFT_OUT.format(names=", ".join([*names[:NAMES_LIMIT], *more]))),))]


def _described(image: Attachment) -> str:
    return f"{image.name} ({image.width} × {image.height} pixels)" if image.is_image else image.name


def answer_contents(
    record: MessageRecord, graphs: ReplayedImages, capabilities: Capabilities, *, is_own: bool
) -> list[Content]:
    """Return the contents of an answer. `is_own`: whether the requested model made it, so that it can read its
    signatures.
    """
    withheld = withheld_calls(record.parts)
    left_out: list[Attachment] = []
    by_index, of_parts = record.attachments_by_index(), record.attachments_of_parts()
    parts = [
        part
        for index, original in enumerate(record.parts)
        if is_sent_back(original, capabilities, is_own=is_own)
        # The images of a result that no person has released are not sent either.
        and not (isinstance(original, InlineData) and original.made_by in withheld)
        for part in _replayed_parts(original, of_parts.get(index), by_index, graphs, left_out)
    ]
    parts = without_unanswered_calls(without_open_code(with_displays_as_output(parts)))
    if not is_own:
        parts = without_provider_data(parts)
    return [*_around_move(record, parts, is_own=is_own), *left_out_contents([] if graphs.are_private else left_out)]


def _around_move(record: MessageRecord, parts: Sequence[Part], *, is_own: bool) -> list[Content]:
    """Return the parts as contents, with a note between the rounds before and after the move of the code."""
    moved_before = record.turn.moved_before_round if record.turn else None
    if not moved_before:
        return by_speaker(parts, is_own=is_own)
    assert record.turn is not None
    # The request for the first round after the move must end with a text of the user.
    move = Content(Role.USER, (Text(MOVED.format(reason=record.turn.move_reason)),))
    before = [part for part in parts if part.round < moved_before]
    after = [part for part in parts if part.round >= moved_before]
    return [*by_speaker(before, is_own=is_own), move, *by_speaker(after, is_own=is_own)]


def by_speaker(parts: Iterable[Part], *, is_own: bool) -> list[Content]:
    """Return the parts of an answer as contents of the model and the user. Responses of functions, and their images,
    are the user's.
    """
    groups = groupby(
        parts, lambda part: Role.USER if isinstance(part, FunctionResponse) or part.made_by else Role.MODEL
    )
    return [Content(role, tuple(group), is_own=is_own or role is Role.USER) for role, group in groups]


def is_sent_back(part: Part, capabilities: Capabilities, *, is_own: bool) -> bool:
    """Return whether this part of an earlier answer is sent to the model."""
    if isinstance(part, Thought):
        return bool(part.provider_data) or (is_own and capabilities.reads_thoughts)
    if part.made_by:
        # The model gets the response of a function. The parts that show the reader how the function ran are not sent.
        is_image = isinstance(part, InlineData) and capabilities.reads_tool_images
        return isinstance(part, FunctionResponse) or is_image
    return True


def withheld_calls(parts: Iterable[Part]) -> set[str]:
    """Return the ids of the function calls whose result no person has released."""
    return {part.call_id for part in parts if isinstance(part, FunctionResponse) and part.refusal is Refusal.WITHHELD}


def _replayed_parts(
    part: Part,
    attachment: Attachment | None,
    by_index: Mapping[int, Attachment],
    graphs: ReplayedImages,
    left_out: list[Attachment],
) -> Iterator[Part]:
    """Yield the part with the bytes of its images. Images that are not sent are added to `left_out`.

    `attachment`: the attachment that holds the part's bytes. `by_index`: the attachments of the message.
    """
    if isinstance(part, InlineData):
        if attachment is not None:
            yield from image_parts(part, attachment, graphs, left_out)
    elif isinstance(part, CodeExecutionResult) and part.images:
        # The output names the images that the code had printed; they follow as images.
        yield replace(part, images=())
        for image in part.images:
            printed = by_index[image.attachment]
            bare = InlineData(printed.mime_type, "", round=part.round)
            yield from image_parts(bare, printed, graphs, left_out)
    else:
        yield part


def image_parts(
    part: InlineData, attachment: Attachment, graphs: ReplayedImages, left_out: list[Attachment]
) -> Iterator[Part]:
    """Yield an image with its bytes, unless the request has them already. An unsent image is added to `left_out`."""
    if graphs.is_sent(attachment):
        return
    data = graphs.read(attachment)
    if data is None:
        left_out.append(attachment)
    else:
        yield replace(part, data=data)


def with_displays_as_output(parts: list[Part]) -> list[Part]:
    """Return the parts with the text of rich outputs in the result before them. Only imported answers have such
    outputs.
    """
    joined: list[Part] = []
    texts: dict[int, list[str]] = {}
    """Index of a result in `joined` -> the texts of its rich outputs."""
    for part in parts:
        if isinstance(part, Display) and joined and isinstance(joined[-1], CodeExecutionResult):
            texts.setdefault(len(joined) - 1, []).append(display_text(part.bundle))
        else:
            joined.append(part)
    for index, displayed in texts.items():
        joined[index] = joined[index].with_long_text("".join([joined[index].long_text, *displayed]))
    return joined


def without_open_code(parts: list[Part]) -> list[Part]:
    """Return the parts without code at the end that has no result. The turn was stopped, and APIs accept only pairs."""
    end = len(parts)
    for index in range(len(parts) - 1, -1, -1):
        if isinstance(parts[index], ExecutableCode):
            end = index
        elif parts[index].is_answer:
            break
    return parts[:end]


def without_unanswered_calls(parts: list[Part]) -> list[Part]:
    """Return the parts with a sentence in place of each function call without a response, because APIs accept only
    pairs.

    A response without a call, which only an import can contain, is left out.
    """
    parts = _without_halves_of_tools(parts)
    answered = {(part.round, part.call_id) for part in parts if isinstance(part, FunctionResponse)}
    called = {(part.round, part.call_id) for part in parts if isinstance(part, FunctionCall)}
    return [
        Text(f"[The function {part.name} was called, but it has no result.]", round=part.round)
        if isinstance(part, FunctionCall) and (part.round, part.call_id) not in answered
        else part
        for part in parts
        if not isinstance(part, FunctionResponse) or (part.round, part.call_id) in called
    ]


def _without_halves_of_tools(parts: list[Part]) -> list[Part]:
    """Return the parts without calls of the provider's tools that have no response, and without responses that have no
    call.
    """
    called = {(part.round, part.call_id) for part in parts if isinstance(part, ToolCall)}
    answered = {(part.round, part.call_id) for part in parts if isinstance(part, ToolResponse)}
    return [
        part
        for part in parts
        if not isinstance(part, ToolCall | ToolResponse) or (part.round, part.call_id) in called & answered
    ]


def without_provider_data(parts: list[Part]) -> list[Part]:
    """Return the parts as another model can read them, without provider data. Parts with nothing else are left out.

    The address of a file becomes a note: only its own account may read the file, and in an imported answer it may be
    any address, which a service would read with this server's rights.
    """
    foreign = Thought | ToolCall | ToolResponse | Unsupported
    bare = [
        Text(FILE_LEFT_OUT, round=part.round) if isinstance(part, FileData) else replace(part, provider_data={})
        for part in parts
        if not isinstance(part, foreign)
    ]
    return [part for part in bare if part != Text("", round=part.round)]
