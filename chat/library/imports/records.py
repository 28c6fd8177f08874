"""Parsed conversations: the checked values that `store` writes. They have no ids of the database yet."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal

from attachments.images import MaybeImage
from chat.models import CallDecision, Conversation, Round, Turn
from chat.vocabulary.part_json import part_to_json
from chat.vocabulary.parts import Part, Role, Text

CONVERSATIONS_LIMIT = 5_000
"""Maximum number of conversations of one file."""
MESSAGES_LIMIT = 20_000
"""Maximum number of messages of one conversation."""
PARTS_LIMIT = 10_000
"""Maximum number of parts of one message."""
TEXT_LIMIT_CHARS = 256 * 1024 * 1024
"""Maximum sum of `ParsedConversation.text_chars` for one file. ChatGPT's versions may have more text than the file."""


@dataclass(frozen=True, slots=True)
class ParsedAttachment(MaybeImage):
    """A file that passed the checks of an upload."""

    key: str
    """The id in the imported file."""
    name: str
    data: bytes
    sha256: str
    mime_type: str
    width: int | None
    """Width in pixels; `None` for files that are not images."""
    height: int | None
    scale: int
    """Pixels of an image for one CSS pixel, in each direction."""
    is_graph: bool


@dataclass(frozen=True, slots=True)
class ParsedPlacement:
    """The position of an attachment in a message."""

    key: str
    """The attachment's key."""
    index: int
    """The n of its marker, as in `[GRAPH:n]`."""
    part_index: int | None
    """Index of the part after which it is shown. `None`: at the message's end."""


@dataclass(frozen=True, slots=True)
class ParsedFeedback:
    """The owner's feedback on an answer."""

    is_good: bool
    reason: str
    created_at: datetime
    updated_at: datetime


@dataclass(frozen=True, slots=True)
class ParsedMessage:
    """A message. Its parent precedes it in the list of messages."""

    key: str
    """The id in the imported file."""
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
    """The turn of an answer; `None` for a question. The row is unsaved, and has no conversation and no messages."""
    rounds: tuple[Round, ...] = ()
    """The rounds of the turn. The rows are not saved, and have no turn and no index."""
    decisions: tuple[CallDecision, ...] = ()
    """The decisions about function calls of the turn. The rows are not saved, and have no turn."""
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
    earlier_source_id: str = ""
    """The `source_id` that earlier versions of Plotline gave to the conversation. Empty: they gave the same one."""
    content_digest: str = ""
    """SHA-256 in hex of all data that are read, with the bytes of files. Empty: the file is never compared with a
    conversation that has the same `source_id`.
    """
    own_id: str = ""
    """The id that the conversation has in an export of Plotline. This server may have made the export."""
    title_source: Conversation.TitleSource = Conversation.TitleSource.USER
    model: str = ""
    """Name of the model. Empty: the server's default model."""
    code_execution: str = Conversation.CodeExecution.AUTO
    engine: str = Conversation.Engine.AUTO
    approval: str = Conversation.Approval.AUTO
    release: str = Conversation.Release.AUTO
    web_search: str = Conversation.WebSearch.AUTO
    private_data: bool = False
    system_instruction: str = ""
    project: str = ""
    """The name of its project. The conversation is put into the new owner's project with this name, if there is one."""
    side_tokens: int = 0
    side_cost: Decimal | None = None
    document_share: float = 1.0
    """Share of its document, from 0 to 1, that is parsed when this conversation is yielded. Shows the progress."""

    @property
    def text_chars(self) -> int:
        """Number of characters in its messages and in their parts. Most of them are counted twice."""
        return sum(len(message.text) + sum(len(part.long_text) for part in message.parts) for message in self.messages)

    @property
    def text_bytes(self) -> int:
        """Size of the text of its messages, with code and results, in bytes of UTF-8."""
        # The text of a message already contains the texts of its text parts.
        others = (part for message in self.messages for part in message.parts if not isinstance(part, Text))
        return sum(len(message.text.encode()) for message in self.messages) + sum(
            len(json.dumps(part_to_json(part), ensure_ascii=False).encode()) for part in others
        )

    @property
    def file_bytes(self) -> int:
        """Total size of its files."""
        return sum(len(file.data) for file in self.attachments)
