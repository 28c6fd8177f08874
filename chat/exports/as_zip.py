"""`zip`: all formats of a conversation and its attachments as files.

conversation.json   all versions; its attachments are the files below
conversation.md     what is in view, its pictures the files below
conversation.html   what is in view, in one file
notebook/           the notebook, and the files that its code opens
attachments/        each once, its name preceded by its id's first digits
"""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Iterator
from datetime import datetime

from attachments.models import Attachment
from attachments.validation import RASTER_TYPES
from chat.exports import as_html, as_json, as_markdown, as_notebook
from chat.exports.download import Download, kept_bytes, slices
from chat.exports.names import file_label, stem
from chat.exports.reading import Source, attachments_of
from chat.exports.sandbox_files import SandboxFiles
from chat.exports.zipping import Entry, zipped
from chat.models import Conversation

ID_DIGITS = 12


def export(source: Source) -> Download:
    """One conversation."""
    name = stem(source.conversation.title)
    return Download(f"{name}.zip", "application/zip", zipped(entries(source, f"{folder_of(source.conversation)}/")))


def export_all(conversations: Iterable[Conversation], exported_at: datetime) -> Download:
    """Many conversations, a folder each; they are read one after another."""
    found = (
        entry
        for conversation in conversations
        for entry in entries(Source(conversation, exported_at), f"{folder_of(conversation)}/")
    )
    return Download(f"plotline-{exported_at:%Y-%m-%d}.zip", "application/zip", zipped(found))


def folder_of(conversation: Conversation) -> str:
    """A folder's name that no other conversation's folder has."""
    return f"{stem(conversation.title)}-{conversation.pk.hex[:ID_DIGITS]}"


def entries(source: Source, folder: str) -> Iterator[Entry]:
    """The files of one conversation; `folder` ends with `/`."""
    paths: dict[uuid.UUID, str] = {}
    # First, so that the documents name those alone whose bytes could be had.
    for attachment in _attachments(source):
        data = kept_bytes(attachment)
        if data is not None:
            paths[attachment.pk] = path_of(attachment)
            is_compressed = attachment.mime_type not in RASTER_TYPES
            yield Entry(f"{folder}{paths[attachment.pk]}", slices(data), is_compressed)

    def kept_path(attachment: Attachment) -> str | None:
        return paths.get(attachment.pk)

    yield Entry(f"{folder}conversation.json", as_json.chunks(source, kept_path))
    yield Entry(f"{folder}conversation.md", as_markdown.chunks(source, kept_path))
    yield Entry(f"{folder}conversation.html", as_html.chunks(source))
    files = SandboxFiles(source.sent_files())
    yield from as_notebook.entries(source, files, f"{folder}notebook/", "conversation")


def path_of(attachment: Attachment) -> str:
    """Where its bytes lie in the conversation's folder."""
    return f"attachments/{attachment.pk.hex[:ID_DIGITS]}-{file_label(attachment.name)}"


def _attachments(source: Source) -> Iterator[Attachment]:
    used: dict[uuid.UUID, None] = {}
    for told in source.messages(shown_only=False):
        used.update({placed.attachment.pk: None for placed in told.attachments})
    return attachments_of(list(used))
