"""Renders fragments of the page: messages, parts, titles, ratings, usage and entries of the sidebar.

A page's first load and its live updates render the same templates with the same views. A view holds what its template
needs and nothing else. Each fragment has one root element with an id, and a live turn replaces fragments by id. After
all updates, the message equals the whole message rendered at once, byte for byte.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import assert_never

from django.utils.html import escape
from django.utils.safestring import SafeString

from chat.models import Conversation
from chat.models.list_states import ListState, list_state
from chat.page.attachment_views import AttachmentView
from chat.page.message_views import (
    NO_CONTEXT,
    CodeContext,
    CodeEnd,
    ConversationUsage,
    MessageView,
    PartView,
    Rating,
    RenderedText,
    RerunView,
    ThoughtLine,
)
from chat.page.readers import GroupPlace, Reader
from chat.page.rendering.displays import display_blocks
from chat.page.rendering.documents import MarkdownOptions
from chat.page.rendering.file_links import NO_FILE_LINKS, FileLinks
from chat.page.rendering.groups import HeldGroups
from chat.page.rendering.highlight import highlight_code
from chat.page.rendering.jinja import render
from chat.page.rendering.output_text import split_output
from chat.page.rendering.provider_tools import tool_work
from chat.page.rendering.stream import TextUpdate, split_markdown
from chat.page.rendering.text_tables import split_table
from chat.vocabulary import parts
from chat.vocabulary.code_outcomes import NO_RESULT, RUNNING, outcome_word
from chat.vocabulary.parts import OUTCOME_OK, CodeExecutionResult, Engine, ExecutableCode, Part, Text, Thought

EMPTY = SafeString("")


def part_view(
    message_id: uuid.UUID,
    index: int,
    part: Part,
    attachments: Sequence[AttachmentView] = (),
    *,
    reader: Reader,
    rendered: RenderedText | None = None,
    context: CodeContext = NO_CONTEXT,
) -> PartView:
    """Return the view of a part. `rendered`: the HTML of its text or output, if it is rendered already."""
    view = PartView(
        part_element_id(message_id, index),
        part,
        rendered,
        code=EMPTY,
        outcome="",
        attachments=tuple(attachments),
        reader=reader,
        has_code=context.has_code,
        is_hidden=context.is_hidden,
        place=context.place,
    )
    return _with_content(view, message_id, index, context)


def _with_content(view: PartView, message_id: uuid.UUID, index: int, context: CodeContext) -> PartView:
    """Return the view with the fields that show the content of its kind of part."""
    part, rendered = view.part, view.text
    match part:
        case Text() | Thought():
            options = text_options(message_id, index, view.reader, context.file_links, may_grow=context.is_live)
            held = held_groups(message_id, index, view.reader)
            text = rendered or RenderedText(*split_markdown(part.text, options, held))
            line = thought_line(message_id, index, part.duration_ms) if isinstance(part, Thought) else None
            return replace(view, text=text, thought_line=line)
        case ExecutableCode():
            end = code_end_view(message_id, index, context.result, is_without_result=context.is_without_result)
            return replace(view, code=highlight_code(part.code, part.language.lower() or "python"), code_end=end)
        case CodeExecutionResult():
            outcome = RUNNING if context.is_earlier_result else outcome_word(part)
            return replace(_with_output(view, part), outcome=outcome)
        case parts.Display():
            has_attachments, has_buttons = bool(view.attachments), view.reader.has_scripts
            blocks = display_blocks(part.bundle, has_attachments=has_attachments, has_buttons=has_buttons)
            return replace(view, display=blocks)
        case parts.ToolCall() | parts.ToolResponse():
            return replace(view, tool_work=tool_work(part))
        case parts.InlineData() | parts.FileData() | parts.FunctionCall() | parts.FunctionResponse():
            return view
        case parts.Unsupported():
            return view
        case _:
            assert_never(part)


def _with_output(view: PartView, part: CodeExecutionResult) -> PartView:
    """Return the view with what code printed. A table that the provider's engine printed as text becomes a display."""
    if part.engine is Engine.NATIVE and part.outcome == OUTCOME_OK:
        text, table = split_table(part.output or "")
        if table is not None:
            return replace(view, text=RenderedText(*split_output(text)), display=(table,))
    return replace(view, text=view.text or RenderedText(*split_output(part.output or "")))


def code_end_view(
    message_id: uuid.UUID, index: int, result: CodeExecutionResult | None, *, is_without_result: bool = False
) -> CodeEnd:
    """Return how the code with this index ended. `result`: `None` if the code still runs, or has no result."""
    element_id = f"{part_element_id(message_id, index)}-end"
    if result is None:
        return CodeEnd(element_id, NO_RESULT if is_without_result else "")
    return CodeEnd(element_id, outcome_word(result), result.duration_ms)


def thought_line(message_id: uuid.UUID, index: int, duration_ms: int | None) -> ThoughtLine:
    """Return the line above the thought with this index. `duration_ms`: `None` if the thought has not ended."""
    return ThoughtLine(f"{part_element_id(message_id, index)}-line", duration_ms)


def part_element_id(message_id: uuid.UUID, index: int) -> str:
    """Return the id of a part's root element."""
    return f"part-{message_id}-{index}"


def rerun_element_id(message_id: uuid.UUID, index: int) -> str:
    """Return the id of the element with the buttons that run the code of a part again."""
    return f"{part_element_id(message_id, index)}-rerun"


def text_options(
    message_id: uuid.UUID, index: int, reader: Reader, file_links: FileLinks = NO_FILE_LINKS, *, may_grow: bool = False
) -> MarkdownOptions:
    """Return options for the text of a part, with ids that are unique on the page. `may_grow`: see MarkdownOptions."""
    root, has_buttons = part_element_id(message_id, index), reader.has_scripts
    return MarkdownOptions(root, has_buttons=has_buttons, file_links=file_links, may_grow=may_grow)


def held_groups(message_id: uuid.UUID, index: int, reader: Reader) -> HeldGroups | None:
    """Return which groups of blocks (`rendering.groups`) of a text the page holds when it opens; `None`: all groups."""
    group_url, near = reader.group_url, reader.near
    if group_url is None:
        return None
    is_near = near is not None and (near.message_id, near.part) == (message_id, index)
    return HeldGroups(
        lambda number: group_url(GroupPlace(message_id, index, number)), near.number if near and is_near else None
    )


def message_html(view: MessageView) -> SafeString:
    """Render a whole message: one `article`."""
    return render("chat/_message", {"message": view})


def part_html(view: PartView) -> SafeString:
    """Render a part's root element and its attachments."""
    return render("chat/_part", {"part": view})


def growth_swaps(root: str, update: TextUpdate) -> list[SafeString]:
    """Return the swaps of a text or output that has grown. `root`: the id of its part."""
    swaps = []
    if update.group:
        method = "innerHTML" if update.group.is_reset else "beforeend"
        swaps.append(partial(f"{root}-b{update.group.number}", method, update.group.html))
    if update.closed_html:
        swaps.append(partial(f"{root}-tail", "beforebegin", update.closed_html))
    return [*swaps, partial(f"{root}-tail", "innerMorph", update.tail_html)]


def part_pieces(view: PartView) -> list[SafeString]:
    """Render a part's root element, and each of its attachments. Joined, they are `part_html`."""
    element = render(f"chat/parts/_{view.part.kind.value}", {"part": view})
    ids = (figure_element_id(view.element_id, number) for number in range(len(view.attachments)))
    figures = zip(view.attachments, ids, strict=True)
    return [element, *(render("chat/_attachment", {"attachment": one, "figure_id": pk}) for one, pk in figures)]


def figure_element_id(part_id: str, number: int) -> str:
    """Return the id of the element that shows a part's attachment with this number, counted from 0."""
    return f"{part_id}-f{number}"


def code_end_swap(end: CodeEnd) -> SafeString:
    """Return the swap that shows how code ended."""
    return partial(end.element_id, "outerMorph", render("chat/_code_end", {"end": end}))


def thought_line_swap(line: ThoughtLine) -> SafeString:
    """Return the swap that shows how long the model thought."""
    return partial(line.element_id, "outerMorph", render("chat/_thought_line", {"line": line}))


def rerun_swap(view: RerunView) -> SafeString:
    """Return the swap that shows a block of code that runs again."""
    return partial(view.element_id, "outerMorph", render("chat/_rerun", {"rerun": view}))


def status_html(view: MessageView) -> SafeString:
    """Render the status of a message's turn."""
    return render("chat/_status", {"message": view})


def transcript_html(views: Iterable[MessageView]) -> SafeString:
    """Render the inner HTML of `#transcript`."""
    return join_html(map(message_html, views))


def earlier_html(first: int, message_id: uuid.UUID | None) -> SafeString:
    """Render the link to the messages before a range: `#earlier`. `first`, `message_id`: the range's first message."""
    return render("chat/_earlier", {"first": first, "before": message_id})


def later_html(last: int | None, message_id: uuid.UUID | None) -> SafeString:
    """Render the links to the messages after a range: `#later`.

    `last`: the index after the last message of the range; `None` if no message follows.
    """
    return render("chat/_later", {"last": last, "after": message_id})


def title_html(conversation: Conversation) -> SafeString:
    """Render the title above the transcript: `#conversation-title`."""
    return render("chat/_title", {"conversation": conversation})


def entry_html(entry: Conversation, *, is_open: bool) -> SafeString:
    """Render a conversation in the sidebar: `#entry-<id>`. `is_open`: its page is open, so it shows no state."""
    state = ListState.NONE if is_open else list_state(entry)
    context = {"entry": entry, "url": entry.get_absolute_url(), "is_open": is_open, "state": state}
    return render("chat/_sidebar_entry", context)


def title_swaps(conversation: Conversation) -> SafeString:
    """Return the swaps that show a new title, above the transcript and in the sidebar."""
    return partial("conversation-title", "outerMorph", title_html(conversation)) + partial(
        f"entry-{conversation.pk}", "outerMorph", entry_html(conversation, is_open=True)
    )


def entry_swap(entry: Conversation) -> SafeString:
    """Return the swap that shows the present state of a conversation in the sidebars of other conversations' pages."""
    return partial(f"entry-{entry.pk}", "outerMorph", entry_html(entry, is_open=False))


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
