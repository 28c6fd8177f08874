"""Parsed conversations: the checked values that `store` writes. They have no ids of the database yet."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal

from chat.models import Conversation, Round, Turn
from chat.parts import Part, Role

CONVERSATIONS_LIMIT = 5_000
"""Conversations of one file."""
MESSAGES_LIMIT = 20_000
"""Messages of one conversation."""
PARTS_LIMIT = 10_000
"""Parts of one message."""


@dataclass(frozen=True, slots=True)
class ParsedAttachment:
    """A file that passed the checks of an upload."""

    key: str
    """Its id in the imported file."""
    name: str
    data: bytes
    sha256: str
    mime_type: str
    width: int | None
    """In pixels; `None` for files that are not images."""
    height: int | None
    is_graph: bool


@dataclass(frozen=True, slots=True)
class ParsedPlacement:
    """The place of an attachment in a message."""

    key: str
    """The attachment's key."""
    index: int
    """The n of its marker."""
    part_index: int | None
    """The part after which it is shown. `None`: at the message's end."""


@dataclass(frozen=True, slots=True)
class ParsedFeedback:
    """What the conversation's owner thought of an answer."""

    is_good: bool
    reason: str
    created_at: datetime
    updated_at: datetime


@dataclass(frozen=True, slots=True)
class ParsedMessage:
    """A message. Its parent precedes it in the list of messages."""

    key: str
    """Its id in the imported file."""
    parent: str | None
    """The key of the message that it follows."""
    role: Role
    text: str
    created_at: datetime
    is_shown: bool = True
    last_shown: int = 0
    parts: tuple[Part, ...] = ()
    part_attachments: Mapping[int, int] = field(default_factory=dict)
    """Part index -> index of the attachment that holds the part's bytes."""
    placements: tuple[ParsedPlacement, ...] = ()
    turn: Turn | None = None
    """Every answer has one, and no question. The row is not saved, and has no conversation and no messages."""
    rounds: tuple[Round, ...] = ()
    """The rounds of the turn. The rows are not saved, and have no turn and no index."""
    feedback: ParsedFeedback | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ParsedConversation:
    """A conversation with its messages and attachments."""

    title: str
    created_at: datetime
    updated_at: datetime
    messages: tuple[ParsedMessage, ...]
    attachments: tuple[ParsedAttachment, ...] = ()
    source_id: str = ""
    """Unique ID from the imported file. If empty, duplicates are detected by their content."""
    title_source: Conversation.TitleSource = Conversation.TitleSource.USER
    model: str = ""
    """Empty: the server's default model."""
    code_execution: str = Conversation.CodeExecution.AUTO
    system_instruction: str = ""
    side_tokens: int = 0
    side_cost: Decimal | None = None
