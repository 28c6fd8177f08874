"""Which formats there are, and the two calls that every door makes: one conversation, or all of a person's."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime

from chat.exports import as_html, as_json, as_markdown, as_notebook, as_zip
from chat.exports.download import Download
from chat.exports.reading import Source
from chat.models import Conversation, ConversationQuerySet

BATCH_CONVERSATIONS = 100


class UnknownFormat(Exception):
    """There is no such format; the text is a sentence."""


@dataclass(frozen=True, slots=True)
class Format:
    """One way to write a conversation down."""

    name: str
    """As in addresses."""
    label: str
    description: str
    export: Callable[[Source], Download]


FORMATS = {
    found.name: found
    for found in (
        Format("html", "Web page", "One file to read, print or send", as_html.export),
        Format("md", "Markdown", "Text with its graphs", as_markdown.export),
        Format("ipynb", "Notebook", "Runs in Jupyter, with its files", as_notebook.export),
        Format("json", "JSON", "Everything, to import again", as_json.export),
        Format("zip", "Archive", "All of these, and the files", as_zip.export),
    )
}


def export_conversation(conversation: Conversation, format_name: str, *, exported_at: datetime) -> Download:
    """One conversation, which the caller has authorised. Raises UnknownFormat."""
    found = FORMATS.get(format_name)
    if found is None:
        raise UnknownFormat(f"There is no format “{format_name[:20]}”. Known: {', '.join(FORMATS)}.")
    return found.export(Source(conversation, exported_at))


def export_all(conversations: ConversationQuerySet, *, exported_at: datetime) -> Download:
    """All of these, as an archive with a folder for each; those without a message are left out."""
    return as_zip.export_all(_in_order(conversations.filter(messages__isnull=False).distinct()), exported_at)


def _in_order(conversations: ConversationQuerySet) -> Iterator[Conversation]:
    """Newest first, a few at a time; one that is deleted meanwhile is left out."""
    ids: list[uuid.UUID] = list(conversations.order_by("-updated_at", "pk").values_list("pk", flat=True))
    for start in range(0, len(ids), BATCH_CONVERSATIONS):
        batch = ids[start : start + BATCH_CONVERSATIONS]
        found = Conversation.objects.in_bulk(batch)
        yield from (found[pk] for pk in batch if pk in found)
