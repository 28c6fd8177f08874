"""`html`: what is in view as one file, as the page shows it, that asks nothing of anybody.

Messages are rendered by the page's own templates; styles stand in it with their hash in a policy that allows these,
pictures in it, and nothing else. Files are in it as `data:` addresses of no type that a browser would open.
"""

from __future__ import annotations

import base64
import hashlib
import re
import secrets
import uuid
from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from functools import cache
from pathlib import Path
from typing import ClassVar

from django.contrib.staticfiles import finders
from django.template.loader import render_to_string
from django.utils.safestring import SafeString

from attachments.models import Attachment
from attachments.validation import BINARY, RASTER_TYPES
from chat.exports.download import Download, base64_slices, kept_bytes
from chat.exports.names import stem
from chat.exports.reading import Placed, Source, Told
from chat.exports.words import live_words, notice_words
from chat.fragments import AttachmentView, MessageView, message_html
from chat.models import Turn
from chat.notices import Notice
from chat.parts import Role
from chat.turns.transcript import attachment_view, model_message_view, user_message_view

STYLES = ("css/tokens.css", "css/forms.css", "css/transcript.css", "css/code.css", "css/export.css")


@dataclass(frozen=True, slots=True)
class EmbeddedView(AttachmentView):
    """An attachment whose bytes stand in the page: templates then offer no second copy of them."""

    is_embedded: ClassVar[bool] = True


def export(source: Source) -> Download:
    """One file."""
    return Download(f"{stem(source.conversation.title)}.html", "text/html; charset=utf-8", chunks(source))


def chunks(source: Source) -> Iterator[bytes]:
    """The document."""
    # Nobody who wrote in the conversation can know it, so what looks like it stands where we put it.
    nonce = secrets.token_hex(16)
    context = {
        "conversation": source.conversation,
        "exported_at": source.exported_at,
        "live_words": live_words() if source.is_live() else "",
        "style_hash": _hash(styles()),
        "place": nonce,
    }
    head, above, tail = render_to_string("exports/conversation.html", context).split(nonce)
    yield head.encode()
    yield styles().encode()
    yield above.encode()
    for told in source.messages(shown_only=True):
        yield from _with_bytes(message_html(_view(told, nonce)), nonce, told)
    yield tail.encode()


def _view(told: Told, nonce: str) -> MessageView:
    """As the page has it, without what can be pressed."""
    if told.message.role == Role.USER:
        return user_message_view(told.message, [_embedded(placed, nonce) for placed in told.attachments])
    assert told.turn is not None
    shown: dict[int | None, list[AttachmentView]] = {}
    for placed in told.attachments:
        shown.setdefault(placed.part_index, []).append(_embedded(placed, nonce))
    view = model_message_view(told.message, told.turn, told.parts, shown, left_out=told.left_out)
    if told.is_live:
        return replace(view, status=Turn.Status.INTERRUPTED, notice=Notice("info", notice_words(told)))
    return replace(view, notice=replace(view.notice, action="")) if view.notice else view


def _embedded(placed: Placed, nonce: str) -> AttachmentView:
    view = attachment_view(placed.attachment, placed.index)
    known = {field.name: getattr(view, field.name) for field in fields(view)}
    return EmbeddedView(**{**known, "url": f"{nonce}:{placed.attachment.pk}"})


def _with_bytes(html: SafeString, nonce: str, told: Told) -> Iterator[bytes]:
    """The message with bytes where its attachments are named."""
    rows = {placed.attachment.pk: placed.attachment for placed in told.attachments}
    end = 0
    for found in re.finditer(rf"{nonce}:([0-9a-f-]{{36}})", html):
        yield html[end : found.start()].encode()
        yield from _data_uri(rows[uuid.UUID(found[1])])
        end = found.end()
    yield html[end:].encode()


def _data_uri(attachment: Attachment) -> Iterator[bytes]:
    mime_type = attachment.mime_type if attachment.mime_type in RASTER_TYPES else BINARY
    yield f"data:{mime_type};base64,".encode()
    yield from base64_slices(kept_bytes(attachment) or b"")


@cache
def styles() -> str:
    """The page's own sheets and what a document on paper needs besides."""
    paths = [finders.find(name) for name in STYLES]
    return "\n".join(Path(path).read_text() for path in paths if path)


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode("ascii")
