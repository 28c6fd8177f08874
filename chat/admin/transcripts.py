"""Loads what the review page shows: the transcript as its owner saw it, other versions, parts as sent, and turns.

The number of queries does not depend on the number of messages or turns.
"""

from __future__ import annotations

import uuid
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime

from django.urls import reverse

from chat.messages.records import MessageRecord, records_in_order
from chat.models import Conversation, Feedback, Message, Turn
from chat.page.message_views import MessageView
from chat.page.readers import GroupPlace, GroupUrl, staff_reader
from chat.page.rendering.compact_json import shown_json
from chat.page.transcript.answer_details import USAGE_WORDS, dollars
from chat.page.transcript.snapshot import snapshot
from chat.page.transcript.versions import versions_among
from chat.page.transcript.views import message_view
from chat.page.transcript.window import Window
from chat.vocabulary.part_json import SIGNATURE, part_to_json
from chat.vocabulary.parts import Part

TEXT_LIMIT = 20_000
"""Maximum length of a text on the page, in characters. Exports contain all of it."""


@dataclass(frozen=True, slots=True)
class MessageNode:
    """A message in the tree of its conversation. The fields are columns of `Message`."""

    pk: uuid.UUID
    parent_id: uuid.UUID | None
    index: int
    is_shown: bool
    role: str
    created_at: datetime
    last_shown: int


@dataclass(frozen=True, slots=True)
class VersionEntry:
    """One version of a message that has several."""

    message_id: uuid.UUID
    role: str
    index: int
    number: int
    """Position among the versions, counted from 1, the oldest first."""
    total: int
    is_open: bool
    """Whether the page shows this version."""


@dataclass(frozen=True, slots=True)
class SentPart:
    """A part with the provider's field names and values."""

    index: int
    kind: str
    text: str | None
    """The text, cut after `TEXT_LIMIT` characters."""
    cut_chars: int
    """Number of characters by which `text` was shortened."""
    facts: tuple[tuple[str, str], ...]
    """Names and values of the fields whose values are neither objects nor lists."""
    fields: str
    """The other fields as JSON; empty if there are none."""


@dataclass(frozen=True, slots=True)
class SentMessage:
    """A message with its parts as they were sent."""

    message: Message
    parts: tuple[SentPart, ...]
    raw: tuple[tuple[str, str], ...]
    """Names and JSON values of the turn's parameters and of the provider's metadata; empty for user messages."""


@dataclass(frozen=True, slots=True)
class TurnSummary:
    """A turn with its durations, usage and feedback."""

    turn: Turn
    number: int
    """Counted from 1, the oldest first."""
    is_shown: bool
    """Whether its answer is in the version that the owner sees."""
    first_part_s: float | None
    """Seconds from the question to the first part."""
    duration_s: float | None
    """Seconds from the question to the end."""
    usage: tuple[tuple[str, int], ...]
    """Token counts as (label, tokens)."""
    total: int | None
    """All tokens, or `None` if the provider did not report them."""
    estimated: int | None
    """Estimated number of tokens that the provider did not report."""
    cost: str
    """US dollars; empty if no price is known."""
    feedback: Feedback | None


def load_tree(conversation_id: uuid.UUID) -> dict[uuid.UUID, MessageNode]:
    """Return all messages of a conversation by id, ordered by depth and age; one query."""
    rows = Message.objects.filter(conversation_id=conversation_id).order_by("index", "created_at", "pk")
    columns = rows.values_list("pk", "parent_id", "index", "is_shown", "role", "created_at", "last_shown")
    return {row[0]: MessageNode(*row) for row in columns}


def group_by_parent(nodes: Mapping[uuid.UUID, MessageNode]) -> dict[uuid.UUID | None, list[uuid.UUID]]:
    """Return the ids of all versions that follow each message, the oldest first."""
    children: dict[uuid.UUID | None, list[uuid.UUID]] = defaultdict(list)
    for node in sorted(nodes.values(), key=lambda node: (node.created_at, node.pk)):
        children[node.parent_id].append(node.pk)
    return children


def find_path(version_id: uuid.UUID | None, nodes: Mapping[uuid.UUID, MessageNode]) -> list[uuid.UUID]:
    """Return the ids of all messages of the path through a version, to the end that was last shown after it.

    Without a version, or if the owner sees this version, return the path that the owner sees.
    """
    if version_id is None or version_id not in nodes or nodes[version_id].is_shown:
        return [node.pk for node in nodes.values() if node.is_shown]
    path: list[uuid.UUID] = []
    ancestor_id: uuid.UUID | None = version_id
    while ancestor_id is not None:
        path.append(ancestor_id)
        ancestor_id = nodes[ancestor_id].parent_id
    path.reverse()
    children = group_by_parent(nodes)
    while versions := children.get(path[-1]):
        path.append(max(versions, key=lambda pk: nodes[pk].last_shown))
    return path


def list_versions(nodes: Mapping[uuid.UUID, MessageNode], path: Iterable[uuid.UUID]) -> list[VersionEntry]:
    """Return all versions of every message that has several, in the order of the tree.

    Messages that have only one version are left out, even if they follow a version that is not shown.
    """
    open_ids = set(path)
    entries = []
    for versions in group_by_parent(nodes).values():
        if len(versions) > 1:
            for number, pk in enumerate(versions, start=1):
                node = nodes[pk]
                entries.append(VersionEntry(pk, node.role, node.index, number, len(versions), pk in open_ids))
    return sorted(
        entries, key=lambda entry: (entry.index, nodes[entry.message_id].parent_id or entry.message_id, entry.number)
    )


def load_transcript(
    conversation: Conversation,
    path: list[uuid.UUID],
    nodes: Mapping[uuid.UUID, MessageNode],
    window: Window,
    group_url: GroupUrl,
    near: GroupPlace | None,
) -> list[MessageView]:
    """Return the views of a range of the messages of a path for reviewers."""
    reader = staff_reader(
        lambda pk: reverse("admin:chat_conversation_file", args=[conversation.pk, pk]), group_url, near
    )
    if all(nodes[pk].is_shown for pk in path):
        page = snapshot(conversation.pk, lambda _: window, reader=reader)
        return list(page.messages)
    children = group_by_parent(nodes)
    return [
        message_view(record, reader, versions_among(record.message.pk, children[record.message.parent_id]))
        for record in records_in_order(path[window.first : window.last])
    ]


def load_sent_messages(path: list[uuid.UUID]) -> list[SentMessage]:
    """Return the messages of a path with their parts as they were sent."""
    return [
        SentMessage(
            message=record.message,
            parts=tuple(
                _sent_part(index, part, record.part_attachments.get(index)) for index, part in enumerate(record.parts)
            ),
            raw=_raw_fields(record) if record.turn else (),
        )
        for record in records_in_order(path)
    ]


def _sent_part(index: int, part: Part, attachment: int | None) -> SentPart:
    values = part_to_json(part)
    kind, signature = str(values.pop("kind")), str(values.pop(SIGNATURE, ""))
    text = part.long_text
    values.pop(part.text_field, None)
    if attachment is not None:
        values["bytes"] = f"attachment {attachment}"
    if signature:
        values["signature"] = f"{len(signature):,} characters of base64"
    objects = {name: value for name, value in values.items() if isinstance(value, dict | list)}
    return SentPart(
        index=index,
        kind=kind,
        text=text[:TEXT_LIMIT] if part.text_field else None,
        cut_chars=max(0, len(text) - TEXT_LIMIT),
        facts=tuple((name, str(value)) for name, value in values.items() if name not in objects),
        fields=shown_json(objects) if objects else "",
    )


def _raw_fields(record: MessageRecord) -> tuple[tuple[str, str], ...]:
    turn = record.turn
    assert turn is not None
    fields: dict[str, object] = {
        "parameters": turn.parameters,
        "chosen": turn.chosen,
        "usage": turn.usage,
        "rounds": [
            {
                "finish_reason": one.finish_reason,
                "response_id": one.response_id,
                "model_version": one.model_version,
                "usage": one.provider_usage,
                "metadata": one.metadata,
            }
            for one in record.rounds
        ],
    }
    return tuple((name, shown_json(value)) for name, value in fields.items() if value)


def load_turns(conversation: Conversation, nodes: Mapping[uuid.UUID, MessageNode]) -> list[TurnSummary]:
    """Return all turns, including those of versions that the owner does not see; two queries."""
    feedback = {row.message_id: row for row in Feedback.objects.filter(message__conversation=conversation)}
    turns = Turn.objects.filter(conversation=conversation).order_by("created_at", "pk").defer("parameters")
    return [
        _summarize(number, turn, nodes.get(turn.message_id), feedback.get(turn.message_id))
        for number, turn in enumerate(turns, start=1)
    ]


def _summarize(number: int, turn: Turn, node: MessageNode | None, feedback: Feedback | None) -> TurnSummary:
    return TurnSummary(
        turn=turn,
        number=number,
        is_shown=node is not None and node.is_shown,
        first_part_s=seconds_between(turn.created_at, turn.first_part_at),
        duration_s=seconds_between(turn.created_at, turn.ended_at),
        usage=tuple((words, turn.usage[name]) for name, words in USAGE_WORDS.items() if turn.usage.get(name)),
        total=turn.usage.get("total"),
        estimated=turn.usage.get("estimated"),
        cost=dollars(turn.cost),
        feedback=feedback,
    )


def seconds_between(start: datetime, end: datetime | None) -> float | None:
    """Return the seconds from `start` to `end` with two decimal places, or `None` if there is no end yet."""
    return None if end is None else round((end - start).total_seconds(), 2)
