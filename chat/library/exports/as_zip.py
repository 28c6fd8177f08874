"""The format `zip`: a conversation in four formats, and its attachments as files.

conversation.json   all versions; its attachments are the files below
conversation.md     the shown messages; its images are the files below
conversation.html   the shown messages in one file
notebook/           the notebook and the files that its code opens
attachments/        each attachment once, as <first digits of its id>-<name>
"""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Iterator
from contextlib import suppress
from datetime import datetime

from attachments.models import Attachment
from attachments.validation import RASTER_TYPES
from chat.library.exports import as_html, as_json, as_markdown, as_notebook
from chat.library.exports.download import Download
from chat.library.exports.encoding import split_bytes
from chat.library.exports.export_format import ExportFormat
from chat.library.exports.file_names import file_label, file_stem
from chat.library.exports.sandbox_files import sandbox_files
from chat.library.exports.source import ExportSource, attachments_by_id, load_bytes
from chat.library.exports.zip_stream import ZipEntry, stream_zip
from chat.messages.records import Deleted
from chat.models import Conversation

ID_DIGITS = 12
ZIP_TYPE = "application/zip"


def export(source: ExportSource) -> Download:
    """Export one conversation."""
    folder = f"{folder_name(source.conversation)}/"
    return Download(f"{file_stem(source.conversation.title)}.zip", ZIP_TYPE, stream_zip(entries(source, folder)))


FORMAT = ExportFormat("zip", "Archive", "All of these, and the files", (ZIP_TYPE,), export)


def export_all(conversations: Iterable[Conversation], exported_at: datetime) -> Download:
    """Export conversations as one archive with a folder for each. They are read one after another.

    If a conversation is deleted meanwhile, its remaining files are left out.
    """
    all_entries = (
        entry for conversation in conversations for entry in _entries_until_deleted(conversation, exported_at)
    )
    return Download(f"plotline-{exported_at:%Y-%m-%d}.zip", ZIP_TYPE, stream_zip(all_entries, left_out=(Deleted,)))


def _entries_until_deleted(conversation: Conversation, exported_at: datetime) -> Iterator[ZipEntry]:
    with suppress(Deleted):
        yield from entries(ExportSource(conversation, exported_at), f"{folder_name(conversation)}/")


def folder_name(conversation: Conversation) -> str:
    """Return the name of a conversation's folder, which is unique."""
    return f"{file_stem(conversation.title)}-{conversation.pk.hex[:ID_DIGITS]}"


def entries(source: ExportSource, folder: str) -> Iterator[ZipEntry]:
    """Yield the files of one conversation. `folder`: a path that ends with `/`."""
    paths: dict[uuid.UUID, str] = {}
    # The attachments come first, so that the documents refer only to those whose bytes are available.
    for attachment in _all_attachments(source):
        data = load_bytes(attachment)
        if data is not None:
            paths[attachment.pk] = attachment_path(attachment)
            is_compressed = attachment.mime_type not in RASTER_TYPES
            yield ZipEntry(f"{folder}{paths[attachment.pk]}", split_bytes(data), is_compressed)

    def find_path(attachment: Attachment) -> str | None:
        return paths.get(attachment.pk)

    yield ZipEntry(f"{folder}conversation.json", as_json.chunks(source, find_path))
    yield ZipEntry(f"{folder}conversation.md", as_markdown.chunks(source, find_path))
    yield ZipEntry(f"{folder}conversation.html", as_html.chunks(source))
    files = sandbox_files(source)
    yield from as_notebook.entries(source, files, f"{folder}notebook/", "conversation")


def attachment_path(attachment: Attachment) -> str:
    """Return the path of an attachment's file in the conversation's folder."""
    return f"attachments/{attachment.pk.hex[:ID_DIGITS]}-{file_label(attachment.name)}"


def _all_attachments(source: ExportSource) -> Iterator[Attachment]:
    """Yield the attachments of all messages, each once."""
    ids: dict[uuid.UUID, None] = {}
    for record in source.messages(shown_only=False):
        ids.update({placed.attachment.pk: None for placed in (*record.attachments, *record.cleared)})
    return attachments_by_id(list(ids))
