"""Which files of the questions go into a request: inline, as a file that the provider keeps, or as a word."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Sequence
from datetime import timedelta

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from attachments.models import Attachment
from attachments.store import BytesUnavailable, read_bytes
from chat.models import Message, ProviderFile
from chat.parts import Part, PartKind, Role
from chat.providers.base import KeptFile, Provider
from chat.turns.reading import ReadMessage

RENEW_BEFORE = timedelta(hours=1)
"""A kept file that expires sooner is sent anew: an answer may take long."""


class FilesTooLarge(Exception):
    """The files of the question itself pass the size of a request."""


class SentFiles:
    """Each file is sent once, where it came last; the newest inline up to a size, older ones as kept files."""

    def __init__(self, messages: Sequence[ReadMessage], provider: Provider) -> None:
        """Raises FilesTooLarge where the provider keeps no files and the question's own do not fit."""
        self._provider = provider
        self._question = messages[-1]
        self._inline: set[tuple[uuid.UUID, uuid.UUID]] = set()
        self._kept: dict[tuple[uuid.UUID, uuid.UUID], Attachment] = {}
        self.to_keep: list[Attachment] = []
        """Files that the provider does not keep yet."""
        self._choose(messages)
        self._rows = _kept_rows(provider.account, self._kept.values()) if self._kept else {}
        self.to_keep += [file for file in self._kept.values() if file.pk not in self._rows]

    def _choose(self, messages: Sequence[ReadMessage]) -> None:
        seen: set[uuid.UUID] = set()
        room_bytes = settings.REQUEST_FILES_LIMIT_BYTES
        for message in reversed([message for message in messages if message.row.role == Role.USER]):
            for row in message.attachments:
                if row.attachment_id in seen or not self._provider.accepted_type(row.attachment.mime_type):
                    continue
                seen.add(row.attachment_id)
                place = (message.row.pk, row.attachment_id)
                if row.attachment.size_bytes <= room_bytes:
                    room_bytes -= row.attachment.size_bytes
                    self._inline.add(place)
                elif self._provider.keeps_files:
                    self._kept[place] = row.attachment
                elif message is messages[-1]:
                    raise FilesTooLarge(f"{row.attachment.name} does not fit into the request")

    @property
    def kept_bytes(self) -> dict[str, int]:
        """Sizes of files that the provider keeps, by their address."""
        return {self._rows[file.pk].uri: file.size_bytes for file in self._kept.values() if file.pk in self._rows}

    def part(self, message: ReadMessage, attachment: Attachment) -> Part:
        """The file, or a word in its place. Raises BytesUnavailable for a file of the question itself."""
        place = (message.row.pk, attachment.pk)
        if place in self._inline:
            mime_type = self._provider.accepted_type(attachment.mime_type)
            try:
                data = as_sent(read_bytes(attachment), mime_type)
            except BytesUnavailable:
                if message is self._question:
                    raise
                return Part(PartKind.TEXT, text=f"[The file {attachment.name} stood here; it cannot be read just now.]")
            return Part(PartKind.INLINE_DATA, mime_type=mime_type, data=data, fields={"displayName": attachment.name})
        kept = self._rows.get(attachment.pk) if place in self._kept else None
        if kept is not None:
            return Part(PartKind.FILE_DATA, mime_type=kept.mime_type, fields={"fileUri": kept.uri})
        return Part(PartKind.TEXT, text=f"[The file {attachment.name} stood here; it is not sent again.]")


def as_sent(data: bytes, mime_type: str) -> bytes:
    """Text in UTF-8, which is all that a model reads: what is in no Unicode is taken for Latin-1."""
    if not mime_type.startswith("text/"):
        return data
    for encoding in ("utf-8-sig", "utf-16") if data[:2] in (b"\xff\xfe", b"\xfe\xff") else ("utf-8-sig",):
        try:
            return data.decode(encoding).encode()
        except UnicodeDecodeError:
            continue
    return data.decode("latin-1").encode()


def _kept_rows(account: str, attachments: Iterable[Attachment]) -> dict[uuid.UUID, ProviderFile]:
    rows = ProviderFile.objects.filter(
        attachment__in=list(attachments), account=account, expires_at__gt=timezone.now() + RENEW_BEFORE
    )
    return {row.attachment_id: row for row in rows}


def remember(attachment: Attachment, account: str, kept: KeptFile) -> None:
    """Note that the provider keeps a file, in place of what it kept before."""
    with transaction.atomic():
        ProviderFile.objects.update_or_create(
            attachment=attachment,
            account=account,
            defaults={"uri": kept.uri, "mime_type": kept.mime_type, "expires_at": kept.expires_at},
        )


def forget(conversation_id: uuid.UUID, account: str) -> None:
    """The provider lost a file of this conversation, and does not say which: all of them are sent anew."""
    links = Message.objects.filter(conversation_id=conversation_id).values("message_attachments__attachment")
    ProviderFile.objects.filter(attachment__in=links, account=account).delete()
