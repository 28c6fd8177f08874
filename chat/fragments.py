"""The one caller of the partial templates: first load and live update render the same files from the same views.

A view is what a template needs and nothing else. Each fragment has one root element with an id; a live turn
replaces fragments by id, and the sum of its updates equals the whole message rendered at once, byte for byte.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar

from django.utils.html import escape
from django.utils.safestring import SafeString

from chat.models import Conversation
from chat.notices import Notice
from chat.parts import OUTCOME_DEADLINE_EXCEEDED, OUTCOME_OK, Part, PartKind
from chat.rendering.highlight import highlight_code
from chat.rendering.jinja import render
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
    is_embedded: ClassVar[bool] = False
    """Whether its bytes are in `url`; an export says so."""


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
class Versions:
    """Where a message stands among its versions."""

    number: int
    """From 1, by age."""
    total: int
    previous_id: uuid.UUID | None
    next_id: uuid.UUID | None


@dataclass(frozen=True, slots=True)
class Source:
    """A page that an answer rests on."""

    url: str
    """http or https."""
    title: str
    host: str


@dataclass(frozen=True, slots=True)
class Grounding:
    """What an answer found on the web."""

    sources: tuple[Source, ...]
    queries: tuple[str, ...]
    """What was searched for."""


@dataclass(frozen=True, slots=True)
class About:
    """How an answer was made."""

    model: str
    """Its label."""
    code_execution: bool
    code_reason: str
    usage: tuple[tuple[str, int], ...]
    """Words and tokens, those that the provider said."""
    total: int | None
    cost: str
    """US dollars, written out; empty: not known."""
    duration_s: float | None


@dataclass(frozen=True, slots=True)
class Rating:
    """What the conversation's owner thinks of an answer that can be rated."""

    message_id: uuid.UUID
    is_good: bool | None = None
    """None: nothing was said of it."""
    reason: str = ""


@dataclass(frozen=True, slots=True)
class ConversationUsage:
    """What all answers of a conversation used, those out of view too."""

    tokens: int
    cost: str
    """US dollars, written out; empty: not known."""
    turns: int
    """Of them, those that have ended."""


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
    versions: Versions | None = None
    waiting: str = ""
    """What a reader is told while the provider is not answering."""
    left_out: int = 0
    """How many of the oldest messages the model was not told."""
    grounding: Grounding | None = None
    about: About | None = None
    """Of a model message."""
    rating: Rating | None = None
    """Of an answer that has ended and left something, where its owner reads it; None: it cannot be rated here."""

    @property
    def images(self) -> list[AttachmentView]:
        """Of `attachments`, what stands in the gallery: images, but never a graph."""
        return [view for view in self.attachments if view.width is not None and not view.is_graph]

    @property
    def others(self) -> list[AttachmentView]:
        """Of `attachments`, what stands by itself."""
        return [view for view in self.attachments if view.width is None or view.is_graph]


EMPTY = SafeString("")
_JSON = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))
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
    return render("chat/_message", {"message": view})


def part_html(view: PartView) -> SafeString:
    """One part's root element and its figures."""
    return render("chat/_part", {"part": view})


def status_html(view: MessageView) -> SafeString:
    """How the turn of a message stands, in words."""
    return render("chat/_status", {"message": view})


def transcript_html(views: Iterable[MessageView]) -> SafeString:
    """The inner HTML of `#transcript`."""
    return joined(map(message_html, views))


def title_html(conversation: Conversation) -> SafeString:
    """Its name over its transcript: `#conversation-title`."""
    return render("chat/_title", {"conversation": conversation})


def entry_html(entry: Conversation, *, is_open: bool) -> SafeString:
    """A conversation in the list: `#entry-<id>`; `is_open`: beside its own transcript."""
    return render("chat/_sidebar_entry", {"entry": entry, "url": entry.get_absolute_url(), "is_open": is_open})


def title_swaps(conversation: Conversation) -> SafeString:
    """A new title: over the transcript of the open conversation, and in the list beside it."""
    return partial("conversation-title", "outerMorph", title_html(conversation)) + partial(
        f"entry-{conversation.pk}", "outerMorph", entry_html(conversation, is_open=True)
    )


def rating_html(rating: Rating) -> SafeString:
    """Thumbs under an answer: `#message-<id>-rating`."""
    return render("chat/_rating", {"rating": rating})


def rating_swap(rating: Rating) -> SafeString:
    """The same, in an open page."""
    return partial(f"message-{rating.message_id}-rating", "outerMorph", rating_html(rating))


def usage_html(usage: ConversationUsage) -> SafeString:
    """What the conversation used so far: `#conversation-usage`."""
    return render("chat/_usage", {"usage": usage})


def beside_swaps(conversation: Conversation, usage: ConversationUsage) -> SafeString:
    """What stands beside the transcript of an open conversation: its title, and what it has used."""
    return title_swaps(conversation) + partial("conversation-usage", "outerMorph", usage_html(usage))


def error_html(sentence: str) -> SafeString:
    """The inner HTML of `#composer-error`."""
    return render("chat/_error", {"sentence": sentence})


def partial(target: str, swap: str, html: SafeString) -> SafeString:
    """One swap of a frame, in htmx's words; `target` is an element's id."""
    before, after = _shell(target, swap)
    return joined((before, html, after))


@lru_cache(maxsize=4096)
def _shell(target: str, swap: str) -> tuple[SafeString, SafeString]:
    """What stands around the HTML of a swap; a live part is swapped a thousand times."""
    before = SafeString(f'<hx-partial hx-target="#{escape(target)}" hx-swap="{escape(swap)}">')
    return before, SafeString("</hx-partial>")


def joined(pieces: Iterable[SafeString]) -> SafeString:
    """Pieces of safe HTML, one after the other."""
    return SafeString("".join(pieces))


def delete(target: str) -> SafeString:
    """The swap that takes an element away; `target` is its id."""
    return partial(target, "delete", EMPTY)


def frame(content: SafeString, **fields: str | int) -> str:
    """The text of one socket message: what hx-ws swaps, and fields that it leaves alone."""
    # Value by value, since the encoder has a short way for a string alone; and a number is its digits.
    pairs = [
        f'"{name}":{_JSON.encode(value) if isinstance(value, str) else value}'
        for name, value in {**fields, "content": content}.items()
    ]
    return f"{{{','.join(pairs)}}}"
