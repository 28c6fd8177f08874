"""The format `md`: the shown messages as CommonMark. Graphs are data URIs or, in an archive, links to files beside it.

A user's text is escaped, so that it is shown as it was typed. A model's text is Markdown already. Its open blocks are
closed, so that it cannot imitate the next message. HTML and images in it become text, except the tags of elements that
the page shows.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from typing import TypeAlias
from urllib.parse import quote

from attachments.validation import RASTER_TYPES
from chat.library.exports.display_markdown import block_markdown
from chat.library.exports.download import Download
from chat.library.exports.encoding import encode_base64
from chat.library.exports.export_format import ExportFormat
from chat.library.exports.file_names import file_stem
from chat.library.exports.part_markdown import part_markdown
from chat.library.exports.sentences import (
    LIVE_SENTENCE,
    files_sentence,
    message_heading,
    notice_sentence,
    numbers_sentence,
)
from chat.library.exports.source import ExportSource, FindPath, load_bytes
from chat.messages.code_results import earlier_results
from chat.messages.records import MessageRecord, PlacedAttachment
from chat.page.rendering.displays import display_blocks
from chat.page.rendering.svg import Picture
from chat.page.transcript.answer_details import answered_by
from chat.page.transcript.sources import grounding_of
from chat.vocabulary.fences import unfence_code
from chat.vocabulary.markdown_source import escape_label, escape_text, fence_code
from chat.vocabulary.parts import Display, Role

UNQUOTED_IN_URLS = ":/?#[]@!$&()*+,;=%~"

MessageBlock: TypeAlias = str | PlacedAttachment | Picture
"""A block of a message: Markdown, an attachment, or an SVG picture that code showed."""


def export(source: ExportSource) -> Download:
    """Export one file."""
    return Download(f"{file_stem(source.conversation.title)}.md", "text/markdown; charset=utf-8", chunks(source))


FORMAT = ExportFormat("md", "Markdown", "Text with its graphs", ("text/markdown",), export, has_single_messages=True)


def chunks(source: ExportSource, find_path: FindPath | None = None) -> Generator[bytes]:
    """Yield the document. `find_path`: see FindPath; `None`: the document contains the bytes of images."""
    yield f"# {escape_label(str(source.conversation))}\n".encode()
    if source.is_live():
        yield f"\n*{escape_label(LIVE_SENTENCE)}*\n".encode()
    for record in source.messages(shown_only=True):
        for block in message_blocks(record):
            yield b"\n"
            if isinstance(block, PlacedAttachment):
                yield from _attachment_block(block, find_path)
            else:
                yield (block_markdown(block) if isinstance(block, Picture) else block).encode()
            yield b"\n"


def message_blocks(record: MessageRecord) -> Iterator[MessageBlock]:
    """Yield the blocks of a message, which blank lines must separate."""
    yield f"## {escape_label(message_heading(record))}"
    if answered := answered_by(record.turn).sentence:
        yield f"*{escape_label(answered)}*"
    if record.message.role == Role.USER and record.message.text:
        code = unfence_code(record.message.text)
        yield fence_code(code, "python") if code else escape_text(record.message.text)
    yield from answer_blocks(record)


def answer_blocks(record: MessageRecord) -> Iterator[MessageBlock]:
    """Yield the blocks of a message that follow its heading and the text of a question."""
    if record.message.role == Role.MODEL:
        shown_calls, without_result = record.calls_with_parts(), record.codes_without_result()
        earlier, by_part = earlier_results(record.parts), record.attachments_by_part()
        for run in record.runs():
            attachments = by_part[run.last]
            if isinstance(run.part, Display):
                for block in display_blocks(run.part.bundle, has_attachments=bool(attachments)):
                    if shown := block if isinstance(block, Picture) else block_markdown(block):
                        yield shown
            elif text := part_markdown(
                run.part,
                shown_calls,
                has_attachments=bool(attachments),
                is_without_result=run.start in without_result,
                is_earlier_result=run.start in earlier,
            ):
                yield text
            yield from attachments
    if files := files_sentence(record):
        yield f"*{escape_label(files)}*"
    yield from record.unplaced
    for sentence in (numbers_sentence(record), notice_sentence(record)):
        if sentence:
            yield f"*{escape_label(sentence)}*"
    if sources := _source_list(record):
        yield f"Sources:\n\n{sources}"


def _attachment_block(placed: PlacedAttachment, find_path: FindPath | None) -> Iterator[bytes]:
    attachment = placed.attachment
    label = escape_label(attachment.name)
    is_image = attachment.mime_type in RASTER_TYPES
    path = find_path(attachment) if find_path else None
    if path is not None:
        yield f"{'!' if is_image else ''}[{label}](<{quote(path)}>)".encode()
        return
    data = load_bytes(attachment) if is_image and find_path is None else None
    if data is None:
        yield f"*File: {label}, {attachment.size_bytes} bytes*".encode()
        return
    yield f"![{label}](data:{attachment.mime_type};base64,".encode()
    yield from encode_base64(data)
    yield b")"


def _source_list(record: MessageRecord) -> str:
    """Return a list of the web pages that an answer is based on; empty without pages, or for an unfinished answer."""
    if record.turn is None or record.is_live:
        return ""
    grounding = grounding_of(record.turn.sources, record.turn.queries)
    pages = grounding.sources if grounding else ()
    return "\n".join(f"- [{escape_label(page.title)}](<{quote(page.url, safe=UNQUOTED_IN_URLS)}>)" for page in pages)
