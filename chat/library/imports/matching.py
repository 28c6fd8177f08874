"""Finds the messages of a file among the stored messages, by their parent, role, time and text. Pure."""

from __future__ import annotations

import uuid
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TypeAlias

from chat.library.imports.records import ParsedMessage
from chat.models import Message
from chat.vocabulary.parts import Role

COMPARISONS_LIMIT = 10_000
"""Maximum number of pairs of different texts at one `_Place` that are compared. With more, these texts match nothing,
and an import adds them as versions.
"""

_Place: TypeAlias = tuple[uuid.UUID | None, str, datetime]
"""Parent, role and time of a message. Versions that branch within one answer have the same values."""


@dataclass(frozen=True, slots=True)
class Match:
    """The stored message that matches a message of the file."""

    row: Message
    is_sure: bool
    """True if the text matches, if the row is an empty answer, or if no other message could match."""
    has_grown: bool = False
    """True if the file has the same text with an addition at its end."""


def match_messages(
    messages: Sequence[ParsedMessage], rows: Sequence[Message], empty_answers: Mapping[uuid.UUID | None, Message]
) -> dict[str, Match]:
    """Return the matches of a file's messages, by their key. Each row matches at most one message.

    `empty_answers`: id of a question -> the empty answer that an import has added to it. It matches any answer of the
    file.
    """
    places: dict[_Place, list[Message]] = defaultdict(list)
    for row in rows:
        places[row.parent_id, row.role, row.created_at].append(row)
    groups: dict[tuple[str | None, str, datetime], list[ParsedMessage]] = defaultdict(list)
    for message in messages:
        groups[message.parent, message.role, message.created_at].append(message)
    known: dict[str, Match] = {}
    free = dict(empty_answers)
    # In the file, each message comes after its parent, so its group comes after the group of its parent.
    for (parent, role, created_at), group in groups.items():
        if parent is not None and parent not in known:
            continue
        parent_id = known[parent].row.pk if parent is not None else None
        found = places.get((parent_id, role, created_at), [])
        known |= {message.key: match for message, match in _pairs(group, found)}
        used = {known[message.key].row.pk for message in group if message.key in known}
        if (empty := free.get(parent_id)) is None or empty.pk in used:
            free.pop(parent_id, None)
            continue
        answer = next((one for one in group if one.key not in known and role == Role.MODEL and one.parts), None)
        if answer is not None:
            known[answer.key] = Match(free.pop(parent_id), is_sure=True)
    return known


def _pairs(messages: Sequence[ParsedMessage], rows: Sequence[Message]) -> Iterator[tuple[ParsedMessage, Match]]:
    """Yield the matches at one `_Place`: first messages with the same text, then those with more, then the others."""
    by_text: dict[str, list[Message]] = defaultdict(list)
    for row in reversed(rows):
        by_text[row.text].append(row)
    free = {row.pk: row for row in rows}
    left: list[ParsedMessage] = []
    for message in messages:
        if same := by_text.get(message.text):
            row = free.pop(same.pop().pk)
            yield message, Match(row, is_sure=True)
        else:
            left.append(message)
    if len(left) * len(free) > COMPARISONS_LIMIT:
        return
    for message in tuple(left):
        beginnings = (row for row in free.values() if row.text and message.text.startswith(row.text))
        if grown := next(beginnings, None):
            left.remove(message)
            del free[grown.pk]
            yield message, Match(grown, is_sure=True, has_grown=True)
    is_only_one = len(messages) == len(rows) == 1
    for message, row in zip(left, free.values(), strict=False):
        yield message, Match(row, is_sure=is_only_one)
