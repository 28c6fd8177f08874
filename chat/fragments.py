"""The one caller of the partial templates: first load and live update render the same files from the same views.

A view is what a template needs and nothing else. Each fragment has one root element with an id; a live turn
replaces fragments by id, and the sum of its updates equals the whole message rendered at once, byte for byte.
"""

from __future__ import annotations

import uuid
from dataclasses import dataclass

from django.utils.safestring import SafeString

from chat.parts import Part


@dataclass(frozen=True, slots=True)
class AttachmentView:
    """An attachment in a message, as a figure (graphs, images) or a chip (other files)."""

    index: int
    """The n of its marker."""
    attachment_id: uuid.UUID
    url: str
    name: str
    mime_type: str
    size_bytes: int
    width: int | None
    height: int | None
    is_graph: bool


@dataclass(frozen=True, slots=True)
class PartView:
    """One part and the graphs that are shown right after it."""

    element_id: str
    """`part-<message id>-<index>`; its open tail, for text and thought, is `<element_id>-tail`."""
    part: Part
    closed: SafeString
    """text, thought: the rendered blocks that no later text can change."""
    tail: SafeString
    """text, thought: the rendered open tail."""
    code: SafeString
    """executable_code: highlighted code."""
    outcome: str
    """code_execution_result: success, error or timeout."""
    attachments: tuple[AttachmentView, ...]
    """Graphs and images drawn by this part, to be shown after it."""


@dataclass(frozen=True, slots=True)
class NoticeView:
    """What a person must know about how a turn ended, in words, and what they can do."""

    level: str
    """info, warning or error."""
    sentence: str
    action: str
    """continue, regenerate or empty: the `data-action` of its button."""


@dataclass(frozen=True, slots=True)
class MessageView:
    """One message of the transcript."""

    message_id: uuid.UUID
    role: str
    status: str
    """Of a model message, its turn's status; of a user message, done."""
    text: str
    """What a user typed, shown as typed."""
    parts: tuple[PartView, ...]
    """Of a model message."""
    attachments: tuple[AttachmentView, ...]
    """Of a user message, its files; of a model message, graphs whose place is not known: shown at the end."""
    notice: NoticeView | None
    created_at: str
    """ISO 8601."""
