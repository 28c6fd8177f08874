"""The export formats, and the two functions that export: one conversation, or all conversations of a user.

To add a format, write a module with a `FORMAT` and add it to `FORMATS`. The menu of the page, the commands and the
documentation of the API read this table.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from datetime import datetime

from django.core.exceptions import ValidationError

from chat.library.exports import as_documents, as_evidence, as_html, as_json, as_markdown, as_notebook, as_zip
from chat.library.exports.download import Download
from chat.library.exports.source import ExportSource
from chat.models import Conversation, ConversationQuerySet

BATCH_CONVERSATIONS = 100

FORMATS = {
    one.name: one
    for one in (
        as_html.FORMAT,
        as_markdown.FORMAT,
        as_notebook.FORMAT,
        as_json.FORMAT,
        as_zip.FORMAT,
        as_documents.PDF,
        as_documents.DOCX,
        as_evidence.FORMAT,
    )
}
"""Name -> format, in the order of the menu."""


class UnknownFormat(Exception):
    """There is no format of this name. The text is a sentence for the user."""


class UnknownMessage(Exception):
    """The conversation has no such message, or the format has only whole conversations."""


def export_conversation(
    conversation: Conversation, format_name: str, *, exported_at: datetime, message_id: str | None = None
) -> Download:
    """Export one conversation, which the caller has authorised, or the message with this id alone.

    Raises UnknownFormat, UnknownMessage, and RefusedExport if a document cannot be made.
    """
    if format_name not in FORMATS:
        raise UnknownFormat(f"There is no format “{format_name[:20]}”. Known: {', '.join(FORMATS)}.")
    export_format = FORMATS[format_name]
    if message_id is None:
        return export_format.export(ExportSource(conversation, exported_at))
    try:
        message = conversation.messages.filter(pk=message_id).first()
    except ValidationError:
        message = None
    if message is None or not export_format.has_single_messages:
        raise UnknownMessage
    return export_format.export(ExportSource(conversation, exported_at, message_id=message.pk))


def export_all(conversations: ConversationQuerySet, *, exported_at: datetime) -> Download:
    """Export conversations as an archive with a folder for each. Empty and temporary conversations are left out."""
    rows = conversations.kept().filter(messages__isnull=False).distinct()
    return as_zip.export_all(_newest_first(rows), exported_at)


def _newest_first(conversations: ConversationQuerySet) -> Iterator[Conversation]:
    """Yield the conversations, and read a few at a time. A conversation that is deleted meanwhile is left out."""
    ids: list[uuid.UUID] = list(conversations.order_by("-updated_at", "pk").values_list("pk", flat=True))
    for start in range(0, len(ids), BATCH_CONVERSATIONS):
        batch = ids[start : start + BATCH_CONVERSATIONS]
        rows = Conversation.objects.in_bulk(batch)
        yield from (rows[pk] for pk in batch if pk in rows)
