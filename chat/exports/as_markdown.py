"""`md`: what is in view, as CommonMark; graphs as data URIs, or in an archive as files beside it.

What a person typed stands as typed; a model's text is Markdown already, and each of its texts is closed, so that none
can pass for the next message; raw HTML and images in it are text, as on the page.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from urllib.parse import quote

from attachments.models import Attachment
from attachments.validation import RASTER_TYPES
from chat.exports.commonmark import fenced, in_line, plain, quoted, tame
from chat.exports.download import Download, base64_slices, kept_bytes
from chat.exports.names import stem
from chat.exports.reading import Placed, Source, Told
from chat.exports.words import function_words, heading_of, live_words, notice_words, outcome_words
from chat.parts import Part, PartKind, Role
from chat.turns.about import grounding_of

IN_ADDRESSES = ":/?#[]@!$&()*+,;=%~"
PathOf = Callable[[Attachment], str | None]


def export(source: Source) -> Download:
    """One file."""
    return Download(f"{stem(source.conversation.title)}.md", "text/markdown; charset=utf-8", chunks(source))


def chunks(source: Source, path_of: PathOf | None = None) -> Iterator[bytes]:
    """The document; `path_of`: where an attachment lies beside it."""
    yield f"# {in_line(str(source.conversation))}\n".encode()
    if source.is_live():
        yield f"\n*{in_line(live_words())}*\n".encode()
    for told in source.messages(shown_only=True):
        for block in _message(told, path_of):
            yield b"\n"
            yield from block
            yield b"\n"


def _message(told: Told, path_of: PathOf | None) -> Iterator[Iterator[bytes]]:
    """Its blocks, to be parted by blank lines."""
    yield _block(f"## {in_line(heading_of(told))}")
    if told.message.role == Role.USER and told.message.text:
        yield _block(plain(told.message.text))
    if told.message.role == Role.MODEL:
        for index, part in enumerate(told.parts):
            if text := _part(part):
                yield _block(text)
            for placed in told.drawn_by(index):
                yield _attachment(placed, path_of)
    for placed in told.homeless:
        yield _attachment(placed, path_of)
    if told.turn is not None and (text := _end(told)):
        yield _block(text)


def _block(text: str) -> Iterator[bytes]:
    yield text.encode()


def _part(part: Part) -> str:
    text = part.text or ""
    match part.kind:
        case PartKind.TEXT:
            return tame(text) if text.strip() else ""
        case PartKind.THOUGHT:
            return quoted(f"**Thoughts**\n\n{tame(text.strip())}") if text.strip() else ""
        case PartKind.EXECUTABLE_CODE:
            return fenced(text, "python" if part.language in ("PYTHON", "") else "")
        case PartKind.CODE_EXECUTION_RESULT:
            words = f"*{outcome_words(part)}*"
            return f"{words}\n\n{fenced(text, 'text')}" if text else words
        case PartKind.FUNCTION_CALL | PartKind.FUNCTION_RESPONSE:
            return f"*{in_line(function_words(part))}*"
        case _:
            return ""


def _attachment(placed: Placed, path_of: PathOf | None) -> Iterator[bytes]:
    attachment = placed.attachment
    label = in_line(attachment.name)
    is_image = attachment.mime_type in RASTER_TYPES
    path = path_of(attachment) if path_of else None
    if path is not None:
        yield f"{'!' if is_image else ''}[{label}](<{quote(path)}>)".encode()
        return
    data = kept_bytes(attachment) if is_image and path_of is None else None
    if data is None:
        yield f"*File: {label}, {attachment.size_bytes} bytes*".encode()
        return
    yield f"![{label}](data:{attachment.mime_type};base64,".encode()
    yield from base64_slices(data)
    yield b")"


def _end(told: Told) -> str:
    """How the answer ended, where that is worth a word, and the pages it rests on."""
    assert told.turn is not None
    blocks = []
    if words := notice_words(told):
        blocks.append(f"*{in_line(words)}*")
    grounding = None if told.is_live else grounding_of(told.turn.metadata)
    if grounding is not None and grounding.sources:
        links = [
            f"- [{in_line(page.title)}](<{quote(page.url, safe=':/?#[]@!$&()*+,;=%~')}>)" for page in grounding.sources
        ]
        blocks.append("Sources:\n\n" + "\n".join(links))
    return "\n\n".join(blocks)
