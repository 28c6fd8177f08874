"""The one caller of the partial templates: first load and live update render the same files from the same views.

A view is what a template needs and nothing else. Each fragment has one root element with an id; a live turn
replaces fragments by id, and the sum of its updates equals the whole message rendered at once, byte for byte.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from django.template.loader import render_to_string
from django.utils.html import conditional_escape, format_html, format_html_join
from django.utils.safestring import SafeString

from chat.models import Conversation
from chat.notices import Notice
from chat.parts import OUTCOME_DEADLINE_EXCEEDED, OUTCOME_OK, Part, PartKind
from chat.rendering.highlight import highlight_code
from chat.rendering.stream import split_markdown


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
    notice: Notice | None
    created_at: str
    """ISO 8601."""


EMPTY = SafeString("")
OUTCOMES = {OUTCOME_OK: "success", OUTCOME_DEADLINE_EXCEEDED: "timeout", "": ""}


def part_view(
    message_id: uuid.UUID,
    index: int,
    part: Part,
    attachments: Sequence[AttachmentView] = (),
    *,
    halves: tuple[SafeString, SafeString] | None = None,
) -> PartView:
    """A part as its template needs it; `halves`: its text rendered already, as (closed, tail)."""
    closed = tail = code = EMPTY
    if part.kind in (PartKind.TEXT, PartKind.THOUGHT):
        closed, tail = halves or split_markdown(part.text or "")
    elif part.kind is PartKind.EXECUTABLE_CODE:
        code = highlight_code(part.text or "", part.language.lower() or "python")
    is_result = part.kind is PartKind.CODE_EXECUTION_RESULT
    return PartView(
        element_id=part_element_id(message_id, index),
        part=part,
        closed=closed,
        tail=tail,
        code=code,
        outcome=OUTCOMES.get(part.outcome, "error") if is_result else "",
        attachments=tuple(attachments),
    )


def part_element_id(message_id: uuid.UUID, index: int) -> str:
    """Id of a part's root element."""
    return f"part-{message_id}-{index}"


def message_html(view: MessageView) -> SafeString:
    """One whole `article`."""
    return render_to_string("chat/_message.html", {"message": view})


def part_html(view: PartView) -> SafeString:
    """One part's root element and its figures."""
    return render_to_string("chat/_part.html", {"part": view})


def transcript_html(views: Iterable[MessageView]) -> SafeString:
    """The inner HTML of `#transcript`."""
    return format_html_join("", "{}", ((message_html(view),) for view in views))


def conversations_swaps(conversation: Conversation, listed: Iterable[Conversation]) -> SafeString:
    """A new title: in the head of the open conversation and in the list beside it."""
    context = {"conversation": conversation, "conversations": listed}
    return partial("conversation-title", "outerMorph", render_to_string("chat/_title.html", context)) + partial(
        "conversations", "outerMorph", render_to_string("chat/_sidebar.html", context)
    )


def error_html(sentence: str) -> SafeString:
    """The inner HTML of `#composer-error`."""
    return render_to_string("chat/_error.html", {"sentence": sentence})


def partial(target: str, swap: str, html: SafeString) -> SafeString:
    """One swap of a frame, in htmx's words; `target` is an element's id."""
    return format_html(
        '<hx-partial hx-target="#{}" hx-swap="{}">{}</hx-partial>', target, swap, conditional_escape(html)
    )


def frame(content: SafeString, **fields: str | int) -> str:
    """The text of one socket message: what hx-ws swaps, and fields that it leaves alone."""
    return json.dumps({**fields, "content": content}, ensure_ascii=False, separators=(",", ":"))
