"""From a conversation's rows to what the model is asked: parts in order, ids and signatures in place.

Only the path in view is told. What an answer held goes back as it came, but for what the model that is asked now could
not take: thoughts, signatures of another model, code that never got its result, calls that nobody answered.
"""

from __future__ import annotations

import logging
import uuid
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, groupby
from typing import Any

from attachments.models import Attachment
from attachments.store import BytesUnavailable, read_bytes
from chat.catalogue.instructions import system_instruction
from chat.catalogue.setups import setup_from
from chat.models import Message, Turn
from chat.models import Part as PartRow
from chat.parts import Content, GenerateRequest, Part, PartKind, Role
from chat.providers import get_provider
from chat.providers.base import Provider
from chat.rendering.data_uris import FoundImage, restore
from chat.turns.answer import DATA_URIS
from chat.turns.attempts import Replay
from chat.turns.budget import fitting
from chat.turns.reading import ReadMessage, read_messages
from chat.turns.sent_files import SentFiles
from chat.turns.starting import StartedTurn
from chat.turns.transcript import row_part

logger = logging.getLogger(__name__)

GRAPH_READ_LIMIT_S = 2.0
"""How long an answer waits for one of them; after the first that does not come, no other is asked for."""


@dataclass(frozen=True, slots=True)
class Prepared:
    """What the engine needs to ask."""

    request: GenerateRequest
    provider: str
    left_out: int
    """How many of the oldest messages are not in it."""
    has_graphs: bool
    """Whether images of earlier answers are in it."""
    to_keep: tuple[Attachment, ...]
    """Files that the provider must keep first; then prepare anew."""


def prepare_at_once(started: StartedTurn) -> Prepared | None:
    """The request of a conversation's first question, where nothing must be read for it; None: `prepare` it."""
    turn = started.turn
    if not started.is_new or turn.user_message.index or started.attachments or not started.asks:
        return None
    try:
        return _request([ReadMessage(turn.user_message)], turn, Replay(graphs=0, images=0))
    except Exception:
        # The turn has begun: whoever runs it tries this again, and ends it where that fails too.
        logger.exception("the request of turn %s could not be prepared at once", turn.pk)
        return None


def prepare(turn: Turn, replay: Replay) -> Prepared:
    """The request of a turn that has its conversation and messages at hand. Raises FilesTooLarge, BytesUnavailable."""
    path = Message.objects.filter(conversation_id=turn.conversation_id, is_shown=True, index__lt=turn.message.index)
    return _request(read_messages(path), turn, replay)


def _request(rows: Sequence[ReadMessage], turn: Turn, replay: Replay) -> Prepared:
    """`rows`: the path to the question, the question last."""
    setup = setup_from(turn.parameters, provider=turn.provider, model=turn.model)
    provider = get_provider(turn.provider)
    graphs = ReplayedImages(rows, replay, provider)
    files = SentFiles(rows, provider)
    model = turn.model if replay.signatures else ""
    told = [
        question_contents(message, files)
        if message.row.role == Role.USER
        else answer_contents(message, graphs, model, provider)
        for message in rows
    ]
    fits = fitting(told, setup.context_tokens, replay.share, files.kept_bytes)
    request = GenerateRequest(
        model=turn.model,
        contents=tuple(merged(chain.from_iterable(fits))),
        system_instruction=system_instruction(
            setup, code_execution=turn.code_execution, own=turn.conversation.system_instruction
        ),
        code_execution=turn.code_execution,
        google_search=setup.google_search,
        url_context=setup.url_context,
        image_output=setup.image_output,
        thinking_level=setup.thinking_level,
        thinking_budget=setup.thinking_budget,
        temperature=setup.temperature,
        max_output_tokens=setup.max_output_tokens,
    )
    return Prepared(request, turn.provider, len(told) - len(fits), graphs.has_any, tuple(files.to_keep))


class ReplayedImages:
    """Bytes of the newest graphs and images of answers.

    An answer need not wait for storage, as code and output say what a graph showed.
    """

    def __init__(self, messages: Iterable[ReadMessage], replay: Replay, provider: Provider) -> None:
        drawn = [
            row.attachment
            for message in messages
            if message.row.role == Role.MODEL
            for row in message.attachments
            # A GIF, say, can be drawn, but not be sent.
            if provider.accepted_type(row.attachment.mime_type)
        ]
        graphs = [attachment.pk for attachment in drawn if attachment.is_graph]
        images = [attachment.pk for attachment in drawn if not attachment.is_graph]
        self._wanted = {*_newest(graphs, replay.graphs), *_newest(images, replay.images)}
        self.has_any = False

    def read(self, attachment: Attachment) -> bytes | None:
        """Its bytes; None for an older graph, and once storage has failed to give one soon."""
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
    """Without empty contents, and with neighbours of one role joined: an answer may have left no part at all."""
    last: Content | None = None
    for content in contents:
        if not content.parts:
            continue
        if last and last.role is content.role:
            last = replace(last, parts=last.parts + content.parts)
            continue
        if last:
            yield last
        last = content
    if last:
        yield last


def question_contents(message: ReadMessage, files: SentFiles) -> list[Content]:
    """A question: its files, then its words."""
    sent = tuple(files.part(message, row.attachment) for row in message.attachments)
    text = (Part(PartKind.TEXT, text=message.row.text),) if message.row.text else ()
    return [Content(Role.USER, sent + text)]


def answer_contents(message: ReadMessage, graphs: ReplayedImages, model: str, provider: Provider) -> list[Content]:
    """An answer; `model` is the one whose signatures go back."""
    attachments = {row.index: row.attachment for row in message.attachments}
    parts = [part for row in message.parts if (part := _replayed_part(row, attachments, graphs)) is not None]
    parts = answerable(without_open_code(parts))
    if message.row.turn.model != model:
        parts = without_signatures(parts, provider.stand_in_signature)
    return by_speaker(parts)


def by_speaker(parts: Iterable[Part]) -> list[Content]:
    """An answer as the API wants it: what a function gave back is the user's say."""
    spoken = groupby(parts, lambda part: Role.USER if part.kind is PartKind.FUNCTION_RESPONSE else Role.MODEL)
    return [Content(role, tuple(said)) for role, said in spoken]


def _replayed_part(row: PartRow, attachments: dict[int, Attachment], graphs: ReplayedImages) -> Part | None:
    part = row_part(row)
    is_blank = part.kind is PartKind.UNSUPPORTED and not part.fields and part.thought_signature is None
    if part.kind is PartKind.THOUGHT or part.fields.get("thought") or is_blank:
        return None
    if part.kind is PartKind.INLINE_DATA:
        data = graphs.read(row.attachment) if row.attachment else None
        return None if data is None else replace(part, data=data)
    if DATA_URIS in part.fields:
        return _restored(part, attachments, graphs)
    return part


def _restored(part: Part, attachments: dict[int, Attachment], graphs: ReplayedImages) -> Part:
    """A result with its images put back into the output, as the model's code had printed them; or all without."""
    fields: dict[str, Any] = dict(part.fields)
    images = []
    for place in fields.pop(DATA_URIS):
        attachment = attachments[place["attachment"]]
        data = graphs.read(attachment)
        if data is None:
            return replace(part, fields=fields)
        images.append(FoundImage(place["offset"], place["header"], attachment.mime_type, data, place["line_chars"]))
    return replace(part, text=restore(part.text or "", images), fields=fields)


def without_open_code(parts: list[Part]) -> list[Part]:
    """Without code at the end that has no result: the turn was stopped while it ran, and the API wants pairs."""
    end = len(parts)
    for place in range(len(parts) - 1, -1, -1):
        if parts[place].kind is PartKind.EXECUTABLE_CODE:
            end = place
        elif parts[place].is_answer:
            break
    return parts[:end]


def answerable(parts: list[Part]) -> list[Part]:
    """With a note in place of each function call that nobody answered: the API wants an answer to each."""
    answered = Counter(_call_key(part) for part in parts if part.kind is PartKind.FUNCTION_RESPONSE)
    result = []
    for part in parts:
        if part.kind is PartKind.FUNCTION_CALL:
            if answered[_call_key(part)] < 1:
                result.append(_call_note(part))
                continue
            answered[_call_key(part)] -= 1
        result.append(part)
    return result


def _call_key(part: Part) -> tuple[str, str]:
    return part.call_id, str(part.fields.get("name", ""))


def _call_note(part: Part) -> Part:
    return Part(PartKind.TEXT, text=f"[The function {part.fields.get('name', '')} was asked for; it was not run.]")


def without_signatures(parts: list[Part], stand_in: bytes | None) -> list[Part]:
    """As another model's: it could not read them. A part that holds nothing else is left out.

    A function call alone may not be without one: it gets the `stand_in` that is documented for foreign history.
    """
    return [
        replace(part, thought_signature=stand_in if part.kind is PartKind.FUNCTION_CALL else None)
        for part in parts
        if part.thought_signature is None or part.text or part.fields or part.data or part.call_id
    ]
