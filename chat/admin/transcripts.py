"""What a reviewer sees of a conversation: the transcript as its owner saw it, other versions, and parts as sent.

The number of queries does not grow with messages or turns.
"""

from __future__ import annotations

import json
import uuid
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from django.urls import reverse

from chat.exports.reading import Told, told
from chat.fragments import AttachmentView, MessageView
from chat.models import Conversation, Feedback, Message, Turn
from chat.parts import Part, Role
from chat.turns.about import USAGE_WORDS, dollars
from chat.turns.branches import versions_among
from chat.turns.transcript import attachment_view, message_views, model_message_view, user_message_view

SHOWN_CHARS = 20_000
"""Of one part as sent; the rest is in exports."""


@dataclass(frozen=True, slots=True)
class Node:
    """A message in the tree of its conversation."""

    pk: uuid.UUID
    parent_id: uuid.UUID | None
    index: int
    is_shown: bool
    role: str
    created_at: datetime
    last_shown: int


@dataclass(frozen=True, slots=True)
class Other:
    """A version out of view."""

    message_id: uuid.UUID
    role: str
    index: int
    number: int
    """Among its versions, from 1, by age."""
    total: int
    is_open: bool


@dataclass(frozen=True, slots=True)
class SentPart:
    """A part in the words of the wire."""

    index: int
    kind: str
    text: str | None
    cut_chars: int
    """How much of its text is not shown."""
    facts: tuple[tuple[str, str], ...]
    fields: str
    """JSON; empty for none."""


@dataclass(frozen=True, slots=True)
class Sent:
    """A message as it was sent."""

    message: Message
    parts: tuple[SentPart, ...]
    raw: tuple[tuple[str, str], ...]
    """Of an answer: its turn's parameters and what else the provider said, as JSON."""


@dataclass(frozen=True, slots=True)
class TurnFacts:
    """How one generation went."""

    turn: Turn
    number: int
    is_shown: bool
    first_part_s: float | None
    duration_s: float | None
    usage: tuple[tuple[str, int], ...]
    total: int | None
    cost: str
    feedback: Feedback | None


def tree(conversation_id: uuid.UUID) -> dict[uuid.UUID, Node]:
    """All messages, oldest first on each level; one query."""
    rows = Message.objects.filter(conversation_id=conversation_id).order_by("index", "created_at", "pk")
    columns = rows.values_list("pk", "parent_id", "index", "is_shown", "role", "created_at", "last_shown")
    return {row[0]: Node(*row) for row in columns}


def families(nodes: Mapping[uuid.UUID, Node]) -> dict[uuid.UUID | None, list[uuid.UUID]]:
    """The versions that follow each message, oldest first."""
    found: dict[uuid.UUID | None, list[uuid.UUID]] = defaultdict(list)
    for node in sorted(nodes.values(), key=lambda node: (node.created_at, node.pk)):
        found[node.parent_id].append(node.pk)
    return found


def path_through(version_id: uuid.UUID | None, nodes: Mapping[uuid.UUID, Node]) -> list[uuid.UUID]:
    """The path in view; or from the first message through a version down to the end that was last seen there."""
    if version_id is None or version_id not in nodes or nodes[version_id].is_shown:
        return [node.pk for node in nodes.values() if node.is_shown]
    path: list[uuid.UUID] = []
    above: uuid.UUID | None = version_id
    while above is not None:
        path.append(above)
        above = nodes[above].parent_id
    path.reverse()
    below = families(nodes)
    while children := below.get(path[-1]):
        path.append(max(children, key=lambda pk: nodes[pk].last_shown))
    return path


def others(nodes: Mapping[uuid.UUID, Node], path: Iterable[uuid.UUID]) -> list[Other]:
    """Every message that is not on this path, in the order of the tree, but for those that only follow such a one."""
    on_path = set(path)
    listed = []
    for versions in families(nodes).values():
        if len(versions) > 1:
            for number, pk in enumerate(versions, start=1):
                node = nodes[pk]
                listed.append(Other(pk, node.role, node.index, number, len(versions), pk in on_path))
    return sorted(
        listed, key=lambda other: (other.index, nodes[other.message_id].parent_id or other.message_id, other.number)
    )


def transcript(conversation: Conversation, path: list[uuid.UUID], nodes: Mapping[uuid.UUID, Node]) -> list[MessageView]:
    """The messages of a path; files come through the reviewers' own door."""
    if all(nodes[pk].is_shown for pk in path):
        views = message_views(conversation)
    else:
        kin = families(nodes)
        views = [_view(each, kin[nodes[each.message.pk].parent_id]) for each in told(path)]
    return [_through_door(conversation.pk, view) for view in views]


def _view(each: Told, versions: list[uuid.UUID]) -> MessageView:
    message = each.message
    among = versions_among(message.pk, versions)
    if message.role == Role.USER or each.turn is None:
        files = [attachment_view(placed.attachment, placed.index) for placed in each.attachments]
        return user_message_view(message, files, among)
    shown: dict[int | None, list[AttachmentView]] = defaultdict(list)
    for placed in each.attachments:
        shown[placed.part_index].append(attachment_view(placed.attachment, placed.index))
    return model_message_view(message, each.turn, each.parts, shown, among, left_out=each.left_out)


def _through_door(conversation_id: uuid.UUID, view: MessageView) -> MessageView:
    def moved(attachments: Iterable[AttachmentView]) -> tuple[AttachmentView, ...]:
        return tuple(replace(each, url=file_url(conversation_id, each.attachment_id)) for each in attachments)

    parts = tuple(replace(part, attachments=moved(part.attachments)) for part in view.parts)
    # What its owner thinks of an answer stands among the facts: here are no buttons for it.
    return replace(view, parts=parts, attachments=moved(view.attachments), rating=None)


def file_url(conversation_id: uuid.UUID, attachment_id: uuid.UUID) -> str:
    """Where a reviewer reads a file of a conversation."""
    return reverse("admin:chat_conversation_file", args=[conversation_id, attachment_id])


def as_sent(path: list[uuid.UUID]) -> list[Sent]:
    """The same messages in the words of the wire."""
    return [
        Sent(
            message=each.message,
            parts=tuple(_sent(index, part, each.part_attachments.get(index)) for index, part in enumerate(each.parts)),
            raw=_raw(each.turn) if each.turn else (),
        )
        for each in told(path)
    ]


def _sent(index: int, part: Part, attachment: int | None) -> SentPart:
    facts = {
        "language": part.language,
        "outcome": part.outcome,
        "id": part.call_id,
        "type": part.mime_type,
        "bytes": "" if attachment is None else f"attachment {attachment}",
        "signature": "" if part.thought_signature is None else f"{len(part.thought_signature):,} bytes",
    }
    text = part.text
    return SentPart(
        index=index,
        kind=part.kind.value,
        text=text if text is None else text[:SHOWN_CHARS],
        cut_chars=max(0, len(text or "") - SHOWN_CHARS),
        facts=tuple((name, value) for name, value in facts.items() if value),
        fields=_json(part.fields) if part.fields else "",
    )


def _raw(turn: Turn) -> tuple[tuple[str, str], ...]:
    said: dict[str, Any] = {
        "parameters": turn.parameters,
        "chosen": turn.chosen,
        "usage": turn.usage,
        "metadata": turn.metadata,
        "response": {"id": turn.response_id, "model_version": turn.model_version} if turn.response_id else {},
    }
    return tuple((name, _json(value)) for name, value in said.items() if value)


def _json(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False, indent=2, default=str)
    return text if len(text) <= SHOWN_CHARS else f"{text[:SHOWN_CHARS]}\n…"


def turn_facts(conversation: Conversation, nodes: Mapping[uuid.UUID, Node]) -> list[TurnFacts]:
    """Every generation, those out of view too; two queries."""
    rated = {said.message_id: said for said in Feedback.objects.filter(message__conversation=conversation)}
    turns = Turn.objects.filter(conversation=conversation).order_by("created_at", "pk").defer("metadata", "parameters")
    return [_facts(number, turn, nodes, rated) for number, turn in enumerate(turns, start=1)]


def _facts(number: int, turn: Turn, nodes: Mapping[uuid.UUID, Node], rated: Mapping[uuid.UUID, Feedback]) -> TurnFacts:
    node = nodes.get(turn.message_id)
    return TurnFacts(
        turn=turn,
        number=number,
        is_shown=node is not None and node.is_shown,
        first_part_s=seconds_between(turn.created_at, turn.first_part_at),
        duration_s=seconds_between(turn.created_at, turn.ended_at),
        usage=tuple((words, turn.usage[name]) for name, words in USAGE_WORDS.items() if turn.usage.get(name)),
        total=turn.usage.get("total"),
        cost=dollars(turn.cost),
        feedback=rated.get(turn.message_id),
    )


def seconds_between(start: datetime, end: datetime | None) -> float | None:
    """To a hundredth; None while there is no end."""
    return None if end is None else round((end - start).total_seconds(), 2)
