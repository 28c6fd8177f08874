"""Reads messages with their turns, parts and attachments. The number of queries does not depend on the number of
messages.

The message of a live turn is read from the turn's log.
"""

from __future__ import annotations

import uuid
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from django.db.models import Exists, OuterRef, Q, QuerySet, Sum, TextField
from django.db.models.functions import Cast, Coalesce, Length

from attachments.models import Attachment
from chat.messages.answer import Answer
from chat.messages.approval import Approval, awaited_approval
from chat.messages.changes import AnswerAttachment
from chat.messages.code_results import codes_without_result
from chat.messages.log import fold
from chat.messages.markers_in_text import find_markers, text_pieces
from chat.messages.numbers.as_json import NumberJSON
from chat.messages.text_runs import PartRun, part_runs
from chat.models import CLEARED_INDEX, CallDecision, Feedback, Message, MessageAttachment, NumberLedger, Round, Turn
from chat.models import Part as PartRow
from chat.vocabulary.markers import Marker, MarkerSpan
from chat.vocabulary.parts import FunctionResponse, Part, Role


@dataclass(frozen=True, slots=True)
class PlacedAttachment:
    """An attachment in a message."""

    attachment: Attachment
    index: int
    """The number n of the attachment's marker."""
    part_index: int | None
    """The index of the part after which it is shown. `None` if it is shown at the message's end."""

    @property
    def marker(self) -> Marker | None:
        """The marker of the attachment in the message's text; `None` for a file that is not an image."""
        if not self.attachment.is_image:
            return None
        return Marker("GRAPH" if self.attachment.is_graph else "IMAGE", self.index)


@dataclass(slots=True)
class MessageRecord:
    """One message with everything that belongs to it."""

    message: Message
    turn: Turn | None = None
    """The turn that wrote the answer; `None` for a question."""
    parts: list[Part] = field(default_factory=list)
    """The parts in order, without the bytes of their attachments."""
    part_attachments: dict[int, int] = field(default_factory=dict)
    """Part index -> index of the attachment that holds the part's bytes."""
    attachments: list[PlacedAttachment] = field(default_factory=list)
    """The attachments in order of their index."""
    cleared: list[PlacedAttachment] = field(default_factory=list)
    """Graphs that the code of an answer has shown and cleared. Only the details of the answer, and its JSON export,
    have them.
    """
    rounds: list[Round] = field(default_factory=list)
    """The rounds of an answer that has ended. Only `records_in_order` reads them."""
    decisions: list[CallDecision] = field(default_factory=list)
    """The decisions about function calls. Only `records_in_order` reads them."""
    numbers: list[NumberJSON] | None = None
    """The numbers of an answer with their sources; `None` if they were not traced. Only exports read them."""
    is_traced: bool = False
    """True if the numbers of the answer were traced."""
    feedback: Feedback | None = None
    is_live: bool = False
    """True if the answer was still being written when it was read."""
    left_out: int = 0
    """Number of the oldest messages that were not sent to the model."""
    move_reason: str = ""
    """The reason why code moved to the Python session, or was turned off; empty if neither."""
    retry_notice: str = ""
    """The sentence that is shown while the provider of a live turn does not answer."""
    approval: Approval | None = None
    """The question that a waiting turn asks a person."""
    earlier_readings: tuple[str, ...] = ()
    """Names of tables whose reading was changed after the answer began. Only `path_records` sets it."""
    seq: int = 0
    """The `seq` of the last log row that was read; 0 unless the turn is live."""

    def runs(self) -> Iterator[PartRun]:
        """Yield the parts as they are shown: adjoining texts are one."""
        return part_runs(self.parts, {placed.part_index for placed in self.attachments})

    def attachments_by_part(self) -> Mapping[int | None, list[PlacedAttachment]]:
        """Return the attachments that are shown after each part. A part without any has an empty list."""
        by_part: dict[int | None, list[PlacedAttachment]] = defaultdict(list)
        for placed in self.attachments:
            by_part[placed.part_index].append(placed)
        return by_part

    @property
    def unplaced(self) -> list[PlacedAttachment]:
        """The attachments that are shown at the message's end."""
        return [
            placed
            for placed in self.attachments
            if placed.part_index is None or not 0 <= placed.part_index < len(self.parts)
        ]

    def marker_spans(self) -> list[MarkerSpan]:
        """Return the positions of the markers in the message's text. A question has none: a user typed what looks like
        one.
        """
        if self.turn is None:
            return []
        return find_markers(self.message.text, text_pieces(self.parts, self.attachments))

    def codes_without_result(self) -> set[int]:
        """Return the indexes of the code that has no result and will get none."""
        return set() if self.is_live else codes_without_result(self.parts)

    def calls_with_parts(self) -> set[str]:
        """Return the ids of the function calls whose tool made parts for the reader: they show arguments and result."""
        return {part.made_by for part in self.parts if part.made_by and not isinstance(part, FunctionResponse)}

    @property
    def kept_files(self) -> list[Attachment]:
        """The files that the code of an answer wrote and a person has kept. All other files are shown after a part."""
        if self.turn is None:
            return []
        return [placed.attachment for placed in self.attachments if placed.part_index is None]

    def attachments_by_index(self) -> dict[int, Attachment]:
        """Return the attachments by the n of their markers."""
        return {placed.index: placed.attachment for placed in self.attachments}

    def attachments_of_parts(self) -> dict[int, Attachment]:
        """Return the attachments that hold the bytes of parts, by the index of the part."""
        by_index = self.attachments_by_index()
        return {part: by_index[number] for part, number in self.part_attachments.items() if number in by_index}


def path_records(conversation_id: uuid.UUID, condition: Q | None = None) -> list[MessageRecord]:
    """Read the shown messages of a conversation in order. `condition`: read only the messages that meet it."""
    rows = Message.objects.filter(conversation_id=conversation_id, is_shown=True)
    records = _records(rows if condition is None else rows.filter(condition))
    _find_earlier_readings(conversation_id, records)
    return records


def _find_earlier_readings(conversation_id: uuid.UUID, records: Collection[MessageRecord]) -> None:
    """Set `earlier_readings` of the records of answers: the tables before them whose reading was chosen later."""
    links = MessageAttachment.objects.filter(
        message__conversation=conversation_id,
        message__is_shown=True,
        message__role=Role.USER,
        attachment__preview__chosen_at__isnull=False,
    ).order_by("message__index", "index")
    chosen = list(links.values_list("message__index", "attachment__name", "attachment__preview__chosen_at"))
    for record in records:
        if record.turn is not None and not record.is_live:
            began_at = record.turn.created_at
            names = [name for index, name, at in chosen if index < record.message.index and at and at > began_at]
            record.earlier_readings = tuple(dict.fromkeys(names))


def records_of_conversations(
    conversation_ids: Collection[uuid.UUID], *, without: Collection[uuid.UUID] = ()
) -> dict[uuid.UUID, list[MessageRecord]]:
    """Read the shown messages of conversations in order, except those in `without`. Returns lists by conversation."""
    rows = Message.objects.filter(conversation__in=conversation_ids, is_shown=True).exclude(pk__in=without)
    records: dict[uuid.UUID, list[MessageRecord]] = {conversation_id: [] for conversation_id in conversation_ids}
    for record in _records(rows):
        records[record.message.conversation_id].append(record)
    return records


def message_chars(messages: QuerySet[Message]) -> dict[uuid.UUID, int]:
    """Return the number of characters of each message by its id, in the order of their indexes. Runs one query.

    The number is that of the text, or that of the parts with their fields as JSON if that is higher. A live answer
    counts as 0, because its parts are in its log.
    """
    of_part = Coalesce(Length("parts__text"), 0) + Length(Cast("parts__data", TextField()))
    sizes = messages.annotate(in_text=Length("text"), in_parts=Coalesce(Sum(of_part), 0)).order_by("index")
    return {pk: max(in_text, in_parts) for pk, in_text, in_parts in sizes.values_list("pk", "in_text", "in_parts")}


def records_by_id(message_ids: Collection[uuid.UUID]) -> dict[uuid.UUID, MessageRecord]:
    """Read messages by their ids. Those that do not exist are missing from the result."""
    return {record.message.pk: record for record in _records(Message.objects.filter(pk__in=message_ids))}


def _records(rows: QuerySet[Message]) -> list[MessageRecord]:
    is_traced = Exists(NumberLedger.objects.filter(message=OuterRef("pk")))
    messages = rows.select_related("turn", "feedback").annotate(is_traced=is_traced)
    records = [_record(message) for message in messages.order_by("index")]
    # A subquery is used, because a long conversation has more messages than a query can have parameters. A single
    # message is selected by its id.
    condition = {"message__in": rows.order_by() if len(records) != 1 else [records[0].message.pk]}
    parts: dict[uuid.UUID, list[PartRow]] = defaultdict(list)
    for part in PartRow.objects.filter(**condition).order_by("message_id", "index"):
        parts[part.message_id].append(part)
    places = attachments_by_message(condition)
    for record in records:
        if record.is_live:
            _read_log(record)
            continue
        for placed in places[record.message.pk]:
            (record.cleared if placed.index >= CLEARED_INDEX else record.attachments).append(placed)
        record.parts = [row.value for row in parts[record.message.pk]]
        numbers = {placed.attachment.pk: placed.index for placed in reversed(record.attachments)}
        record.part_attachments = {
            row.index: numbers[row.attachment_id] for row in parts[record.message.pk] if row.attachment_id in numbers
        }
    return records


def attachments_by_message(condition: Mapping[str, object]) -> defaultdict[uuid.UUID, list[PlacedAttachment]]:
    """Read attachments in order of their index, by message. `condition`: a filter for rows of `MessageAttachment`."""
    places: defaultdict[uuid.UUID, list[PlacedAttachment]] = defaultdict(list)
    links = MessageAttachment.objects.filter(**condition).select_related("attachment").order_by("message_id", "index")
    for link in links:
        places[link.message_id].append(PlacedAttachment(link.attachment, link.index, link.part_index))
    return places


def _record(message: Message) -> MessageRecord:
    turn = message.turn if message.role == Role.MODEL else None
    return MessageRecord(
        message,
        turn,
        feedback=getattr(message, "feedback", None),
        is_traced=getattr(message, "is_traced", False),
        is_live=turn is not None and turn.is_live,
        left_out=turn.left_out if turn else 0,
        move_reason=turn.move_reason if turn else "",
    )


def _read_log(record: MessageRecord) -> None:
    """Fill a record from the log of its live turn."""
    assert record.turn is not None
    rows = list(record.turn.events.order_by("seq").values_list("seq", "name", "data"))
    answer = fold((name, data) for _, name, data in rows)
    record.seq = rows[-1][0] if rows else 0
    record.parts = answer.parts
    record.part_attachments = answer.part_attachments
    record.attachments = placed_attachments(answer.attachments)
    record.cleared = placed_attachments(cleared_attachments(answer))
    record.left_out = answer.messages_left_out
    record.move_reason = answer.move_reason
    record.retry_notice = answer.retry_notice
    record.approval = awaited_approval(answer)
    record.message.text = answer.text


def placed_attachments(attachments: Sequence[AnswerAttachment]) -> list[PlacedAttachment]:
    """Return attachments of a live answer with their rows. Those without a row are left out."""
    ids = [uuid.UUID(one.attachment_id) for one in attachments]
    rows = Attachment.objects.in_bulk(ids)
    pairs = zip(ids, attachments, strict=True)
    return [PlacedAttachment(rows[pk], one.index, one.part_index) for pk, one in pairs if pk in rows]


def cleared_attachments(answer: Answer) -> list[AnswerAttachment]:
    """Return the graphs that the code of an answer has cleared, with the indexes under which they are stored."""
    graphs = enumerate(answer.cleared.graphs)
    return [replace(one, index=CLEARED_INDEX + number, part_index=0) for number, one in graphs]


class Deleted(Exception):
    """The conversation was deleted while it was read."""


def records_in_order(message_ids: list[uuid.UUID]) -> Iterator[MessageRecord]:
    """Yield the messages with rounds and decisions, in the order of the ids. Raises Deleted if one no longer exists.

    If a turn ends while its log is read, its message is read again from its rows.
    """
    records = _with_rounds(records_by_id(message_ids))
    for pk in message_ids:
        record = records.pop(pk, None)
        if record and record.is_live and not Turn.objects.filter(message=pk, status__in=Turn.LIVE).exists():
            record = _with_rounds(records_by_id([pk])).get(pk)
        if record is None:
            raise Deleted
        yield record


def _with_rounds(records: dict[uuid.UUID, MessageRecord]) -> dict[uuid.UUID, MessageRecord]:
    by_turn = {record.turn.pk: record for record in records.values() if record.turn}
    for row in Round.objects.filter(turn__in=by_turn).order_by("turn", "index"):
        by_turn[row.turn_id].rounds.append(row)
    decisions = CallDecision.objects.filter(turn__in=by_turn).select_related("decided_by")
    for decision in decisions.order_by("turn", "decided_at", "pk"):
        by_turn[decision.turn_id].decisions.append(decision)
    return records
