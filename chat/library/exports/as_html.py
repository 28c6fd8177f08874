"""The format `html`: the shown messages as the page shows them, in one file that sends no requests.

The page's own templates render the messages. Styles and images are embedded, and a content security policy allows
only these styles, by their hash, and `data:` images. Files are `data:` URIs of a type that no browser opens.
"""

from __future__ import annotations

import base64
import hashlib
import re
import secrets
import uuid
from collections.abc import Generator, Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path

from django.contrib.staticfiles import finders
from django.template.loader import render_to_string
from django.utils.safestring import SafeString

from attachments.models import Attachment
from attachments.validation import BINARY, RASTER_TYPES
from chat.library.exports.download import Download
from chat.library.exports.encoding import encode_base64
from chat.library.exports.export_format import ExportFormat
from chat.library.exports.file_names import file_stem
from chat.library.exports.sentences import LIVE_SENTENCE, notice_sentence
from chat.library.exports.source import ExportSource, load_bytes
from chat.messages.notices import Notice
from chat.messages.records import MessageRecord
from chat.models import Turn
from chat.page.fragments import message_html
from chat.page.message_views import MessageView
from chat.page.number_list import numbers_html
from chat.page.readers import Reader, export_reader
from chat.page.transcript.views import message_view

STYLE_SHEETS = tuple(
    f"css/{name}.css"
    for name in (
        *("tokens", "forms", "transcript", "text", "answers"),
        *("code", "files", "displays", "export", "print"),
    )
)


def export(source: ExportSource) -> Download:
    """Export one file."""
    return Download(f"{file_stem(source.conversation.title)}.html", "text/html; charset=utf-8", chunks(source))


FORMAT = ExportFormat(
    "html", "Web page", "One file to read, print or send", ("text/html",), export, has_single_messages=True
)


def chunks(source: ExportSource) -> Generator[bytes]:
    """Yield the document."""
    # The nonce marks where styles, messages and bytes are inserted. It is random, so no text of a message contains it.
    nonce = secrets.token_hex(16)
    context = {
        "conversation": source.conversation,
        "exported_at": source.exported_at,
        "live_sentence": LIVE_SENTENCE if source.is_live() else "",
        "style_hash": _content_hash(styles()),
        "nonce": nonce,
    }
    before_styles, before_messages, end = render_to_string("exports/conversation.html", context).split(nonce)
    yield before_styles.encode()
    yield styles().encode()
    yield before_messages.encode()
    reader = export_reader(lambda attachment_id: f"{nonce}:{attachment_id}")
    for record in source.messages(shown_only=True):
        yield from _insert_bytes(message_html(_message_view(record, reader)), nonce, record)
    yield end.encode()


def _message_view(record: MessageRecord, reader: Reader) -> MessageView:
    """Return the view of a message. An unfinished answer is shown as interrupted."""
    view = message_view(record, reader)
    if record.numbers:
        view = replace(view, numbers_html=numbers_html(record.message.text, record.numbers))
    if record.is_live:
        return replace(view, status=Turn.Status.INTERRUPTED, notice=Notice("info", notice_sentence(record)))
    return view


def _insert_bytes(html: SafeString, nonce: str, record: MessageRecord) -> Iterator[bytes]:
    """Yield the HTML of a message with a `data:` URI in place of each placeholder."""
    attachments = {placed.attachment.pk: placed.attachment for placed in record.attachments}
    end = 0
    for match in re.finditer(rf"{nonce}:([0-9a-f-]{{36}})", html):
        yield html[end : match.start()].encode()
        yield from _data_uri(attachments[uuid.UUID(match[1])])
        end = match.end()
    yield html[end:].encode()


def _data_uri(attachment: Attachment) -> Iterator[bytes]:
    mime_type = attachment.mime_type if attachment.mime_type in RASTER_TYPES else BINARY
    yield f"data:{mime_type};base64,".encode()
    yield from encode_base64(load_bytes(attachment) or b"")


@cache
def styles() -> str:
    """Return the style sheets of the transcript and of printed exports, joined."""
    paths = [finders.find(name) for name in STYLE_SHEETS]
    return "\n".join(Path(path).read_text() for path in paths if path)


def _content_hash(text: str) -> str:
    """Return the hash of a style sheet as a content security policy names it."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode("ascii")
