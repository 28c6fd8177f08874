"""Renders fragments of the page: messages, parts, titles, ratings, usage and entries of the sidebar.

A page's first load and its live updates render the same templates with the same views. A view holds what its template
needs and nothing else. Each fragment has one root element with an id, and a live turn replaces fragments by id. After
all updates, the message equals the whole message rendered at once, byte for byte.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple, assert_never

from django.utils.html import escape
from django.utils.safestring import SafeString

from chat import parts
from chat.models import Conversation
from chat.notices import Notice
from chat.parts import OUTCOME_DEADLINE_EXCEEDED, OUTCOME_OK, CodeExecutionResult, ExecutableCode, Part, Text, Thought
from chat.rendering.highlight import highlight_code
from chat.rendering.jinja import render
from chat.rendering.stream import split_markdown


class RenderedText(NamedTuple):
    """The HTML of a text that may still grow."""

    closed: SafeString
    """The blocks that no later text can change."""
    tail: SafeString
    """The open block at the end."""


@dataclass(frozen=True, slots=True)
class AttachmentView:
    """An attachment in a message: a figure for graphs and images, a link for other files."""

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
    """Whether `url` holds the bytes, as in an export."""


@dataclass(frozen=True, slots=True)
class PartView:
    """One part, and the attachments that are shown right after it."""

    element_id: str
    """`part-<message id>-<index>`. The open tail of a text or thought has the id `<element_id>-tail`."""
    part: Part
    text: RenderedText | None
    """The rendered text of a text or thought."""
    code: SafeString
    """The highlighted code of executable code."""
    outcome: str
    """Of a code execution result: `success`, `error` or `timeout`."""
    attachments: tuple[AttachmentView, ...]


@dataclass(frozen=True, slots=True)
class Versions:
    """The position of a message among its versions."""

    number: int
    """From 1, oldest first."""
    total: int
    previous_id: uuid.UUID | None
    next_id: uuid.UUID | None


@dataclass(frozen=True, slots=True)
class SourceView:
    """A web page that the provider names as a source of an answer."""

    url: str
    """http or https."""
    title: str
    host: str


@dataclass(frozen=True, slots=True)
class Grounding:
    """The sources of an answer, and the searches that found them."""

    sources: tuple[SourceView, ...]
    queries: tuple[str, ...]
    """The search queries."""


@dataclass(frozen=True, slots=True)
class AnswerDetails:
    """How an answer was made."""

    model: str
    """The model's label."""
    code_execution: bool
    code_reason: str
    usage: tuple[tuple[str, int], ...]
    """(label, tokens) of each count that the provider reported."""
    total: int | None
    cost: str
    """US dollars as text. Empty: not known."""
    duration_s: float | None
    rounds: int
    """Number of requests to the provider; 0 while the turn is live."""


@dataclass(frozen=True, slots=True)
class Rating:
    """The owner's feedback on an answer."""

    message_id: uuid.UUID
    is_good: bool | None = None
    """`None`: the answer is not rated."""
    reason: str = ""


@dataclass(frozen=True, slots=True)
class ConversationUsage:
    """The usage of all answers of a conversation, hidden versions included."""

    tokens: int
    cost: str
    """US dollars as text. Empty: not known."""
    turns: int
    """Number of turns that have ended."""


@dataclass(frozen=True, slots=True)
class MessageView:
    """One message of the transcript."""

    message_id: uuid.UUID
    role: str
    status: str
    """The status of an answer's turn; `done` for a user's message."""
    text: str
    """A user's text, shown as typed."""
    parts: tuple[PartView, ...]
    """The parts of an answer."""
    attachments: tuple[AttachmentView, ...]
    """All attachments of a user's message; of an answer, those that are shown at its end."""
    notice: Notice | None
    created_at: str
    """ISO 8601."""
    versions: Versions | None = None
    waiting: str = ""
    """The sentence that is shown while the provider does not answer."""
    left_out: int = 0
    """How many of the oldest messages the model was not sent."""
    grounding: Grounding | None = None
    details: AnswerDetails | None = None
    """How an answer was made."""
    rating: Rating | None = None
    """`None`: the message cannot be rated here."""

    @property
    def images(self) -> list[AttachmentView]:
        """The attachments that are shown in the gallery: images that are not graphs."""
        return [view for view in self.attachments if view.width is not None and not view.is_graph]

    @property
    def other_attachments(self) -> list[AttachmentView]:
        """The attachments that are not shown in the gallery: graphs and files."""
        return [view for view in self.attachments if view.width is None or view.is_graph]


EMPTY = SafeString("")
OUTCOMES = {OUTCOME_OK: "success", OUTCOME_DEADLINE_EXCEEDED: "timeout", "": ""}


def part_view(
    message_id: uuid.UUID,
    index: int,
    part: Part,
    attachments: Sequence[AttachmentView] = (),
    *,
    rendered: RenderedText | None = None,
) -> PartView:
    """Return the view of a part. `rendered`: the HTML of its text, if it is known already."""
    code, outcome = EMPTY, ""
    match part:
        case Text() | Thought():
            rendered = rendered or RenderedText(*split_markdown(part.text))
        case ExecutableCode():
            code = highlight_code(part.code, part.language.lower() or "python")
        case CodeExecutionResult():
            outcome = OUTCOMES.get(part.outcome, "error")
        case parts.InlineData() | parts.FileData() | parts.FunctionCall() | parts.FunctionResponse():
            pass
        case parts.Display() | parts.Unsupported():
            pass
        case _:
            assert_never(part)
    return PartView(part_element_id(message_id, index), part, rendered, code, outcome, tuple(attachments))


def part_element_id(message_id: uuid.UUID, index: int) -> str:
    """Return the id of a part's root element."""
    return f"part-{message_id}-{index}"


def message_html(view: MessageView) -> SafeString:
    """Render a whole message: one `article`."""
    return render("chat/_message", {"message": view})


def part_html(view: PartView) -> SafeString:
    """Render a part's root element and its attachments."""
    return render("chat/_part", {"part": view})


def status_html(view: MessageView) -> SafeString:
    """Render the status of a message's turn."""
    return render("chat/_status", {"message": view})


def transcript_html(views: Iterable[MessageView]) -> SafeString:
    """Render the inner HTML of `#transcript`."""
    return join_html(map(message_html, views))


def title_html(conversation: Conversation) -> SafeString:
    """Render the title above the transcript: `#conversation-title`."""
    return render("chat/_title", {"conversation": conversation})


def entry_html(entry: Conversation, *, is_open: bool) -> SafeString:
    """Render a conversation in the sidebar: `#entry-<id>`. `is_open`: its own page is shown."""
    return render("chat/_sidebar_entry", {"entry": entry, "url": entry.get_absolute_url(), "is_open": is_open})


def title_swaps(conversation: Conversation) -> SafeString:
    """Return the swaps that show a new title, above the transcript and in the sidebar."""
    return partial("conversation-title", "outerMorph", title_html(conversation)) + partial(
        f"entry-{conversation.pk}", "outerMorph", entry_html(conversation, is_open=True)
    )


def rating_html(rating: Rating) -> SafeString:
    """Render the thumbs below an answer: `#message-<id>-rating`."""
    return render("chat/_rating", {"rating": rating})


def rating_swap(rating: Rating) -> SafeString:
    """Return the swap that shows a new rating."""
    return partial(f"message-{rating.message_id}-rating", "outerMorph", rating_html(rating))


def usage_html(usage: ConversationUsage) -> SafeString:
    """Render the usage of a conversation: `#conversation-usage`."""
    return render("chat/_usage", {"usage": usage})


def header_swaps(conversation: Conversation, usage: ConversationUsage) -> SafeString:
    """Return the swaps that show a conversation's title and usage."""
    return title_swaps(conversation) + partial("conversation-usage", "outerMorph", usage_html(usage))


def error_html(sentence: str) -> SafeString:
    """Render the inner HTML of `#composer-error`."""
    return render("chat/_error", {"sentence": sentence})


def partial(target: str, swap: str, html: SafeString) -> SafeString:
    """Return one swap of a frame, in htmx's terms. `target`: the id of an element."""
    return SafeString(f'<hx-partial hx-target="#{escape(target)}" hx-swap="{escape(swap)}">{html}</hx-partial>')


def join_html(pieces: Iterable[SafeString]) -> SafeString:
    """Concatenate pieces of safe HTML."""
    return SafeString("".join(pieces))


def delete_swap(target: str) -> SafeString:
    """Return the swap that removes an element. `target`: its id."""
    return partial(target, "delete", EMPTY)


def socket_message(content: SafeString, **fields: str | int) -> str:
    """Return the JSON text of one socket message: HTML that hx-ws swaps, and fields for the page's scripts."""
    return json.dumps({**fields, "content": content}, ensure_ascii=False, separators=(",", ":"))
