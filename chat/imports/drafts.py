"""Conversations as they are to be stored: checked values without ids of the database. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from chat.parts import Part

MESSAGES_LIMIT = 20_000
"""Of one conversation."""
PARTS_LIMIT = 10_000
"""Of one message."""
CONVERSATIONS_LIMIT = 5_000
"""Of one file."""


@dataclass(frozen=True, slots=True)
class AttachmentDraft:
    """A file that passed the checks of an upload."""

    key: str
    """What its file calls it."""
    name: str
    data: bytes
    sha256: str
    mime_type: str
    width: int | None
    """In pixels, of images."""
    height: int | None
    is_graph: bool
    created_at: datetime


@dataclass(frozen=True, slots=True)
class PlacedDraft:
    """An attachment in a message."""

    key: str
    index: int
    part_index: int | None


@dataclass(frozen=True, slots=True)
class TurnDraft:
    """The generation that made an answer."""

    model: str
    status: str
    created_at: datetime
    provider: str = ""
    columns: Mapping[str, Any] = field(default_factory=dict)
    """Other columns of its row."""


@dataclass(frozen=True, slots=True)
class FeedbackDraft:
    """What the conversation's owner thought of an answer."""

    is_good: bool
    reason: str
    created_at: datetime
    updated_at: datetime


@dataclass(frozen=True, slots=True)
class MessageDraft:
    """A message; its parent is in the list before it."""

    key: str
    parent: str | None
    role: str
    text: str
    created_at: datetime
    is_shown: bool = True
    last_shown: int = 0
    parts: tuple[Part, ...] = ()
    part_attachments: Mapping[int, int] = field(default_factory=dict)
    """Part index -> index of the attachment that holds its bytes."""
    attachments: tuple[PlacedDraft, ...] = ()
    turn: TurnDraft | None = None
    """Of an answer, and only of one."""
    feedback: FeedbackDraft | None = None
    """Of an answer."""


@dataclass(frozen=True, slots=True)
class ConversationDraft:
    """A conversation, parents before children."""

    title: str
    created_at: datetime
    updated_at: datetime
    messages: tuple[MessageDraft, ...]
    attachments: tuple[AttachmentDraft, ...] = ()
    source: str = ""
    """What alone tells it from all others, where its file gives such a thing; empty: what was said in it does."""
    columns: Mapping[str, Any] = field(default_factory=dict)
    """Other columns of its row."""
