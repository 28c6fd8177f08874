"""How the files of questions go into a request: as bytes, as a file that the provider stores, or as a sentence."""

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
from chat.parts import FileData, InlineData, Part, Text
from chat.providers.base import Capabilities, UploadedFile
from chat.transcript.records import MessageRecord

RENEW_BEFORE = timedelta(hours=1)
"""A stored file that expires sooner is uploaded again, because an answer may take long."""


class FilesTooLarge(Exception):
    """The files of the question itself do not fit into a request."""


class RequestFiles:
    """The files of all questions of a request.

    Each file is sent once, with the last question that has it. The newest files go inline up to a total size, older
    ones as files that the provider stores.
    """

    def __init__(self, records: Sequence[MessageRecord], capabilities: Capabilities, account: str) -> None:
        """`records`: the shown messages, the question last. Raises FilesTooLarge if the question's files do not fit."""
        self._capabilities = capabilities
        self._question = records[-1]
        self._inline: set[tuple[uuid.UUID, uuid.UUID]] = set()
        self._by_reference: dict[tuple[uuid.UUID, uuid.UUID], Attachment] = {}
        self._choose(records)
        referenced = self._by_reference.values()
        self._stored = _stored_files(account, referenced) if referenced else {}
        self.to_upload = [file for file in referenced if file.pk not in self._stored]
        """Files that the provider must store before the request can name them."""

    def _choose(self, records: Sequence[MessageRecord]) -> None:
        chosen: set[uuid.UUID] = set()
        room_bytes: int = settings.REQUEST_FILES_LIMIT_BYTES
        for record in reversed([record for record in records if record.turn is None]):
            for file in (placed.attachment for placed in record.attachments):
                if file.pk in chosen or not self._capabilities.accepted_type(file.mime_type):
                    continue
                chosen.add(file.pk)
                key = (record.message.pk, file.pk)
                if file.size_bytes <= room_bytes:
                    room_bytes -= file.size_bytes
                    self._inline.add(key)
                elif self._capabilities.stores_files:
                    self._by_reference[key] = file
                elif record is self._question:
                    raise FilesTooLarge(f"{file.name} does not fit into the request")

    @property
    def sizes_bytes(self) -> dict[str, int]:
        """Sizes of the files that the provider stores, by their URI."""
        return {
            self._stored[file.pk].uri: file.size_bytes
            for file in self._by_reference.values()
            if file.pk in self._stored
        }

    def part(self, record: MessageRecord, file: Attachment) -> Part:
        """Return the file as a part, or a sentence in its place.

        Raises BytesUnavailable for a file of the question itself.
        """
        key = (record.message.pk, file.pk)
        if key in self._inline:
            mime_type = self._capabilities.accepted_type(file.mime_type)
            try:
                data = encoded_for_model(read_bytes(file), mime_type)
            except BytesUnavailable:
                if record is self._question:
                    raise
                return Text(f"[The file {file.name} was here; it cannot be read just now.]")
            return InlineData(mime_type, file.name, data)
        stored = self._stored.get(file.pk) if key in self._by_reference else None
        if stored is not None:
            return FileData(stored.uri, stored.mime_type)
        return Text(f"[The file {file.name} was here; it is not sent again.]")


def encoded_for_model(data: bytes, mime_type: str) -> bytes:
    """Return text as UTF-8, which is all that a model reads. Text in no Unicode encoding is read as Latin-1."""
    if not mime_type.startswith("text/"):
        return data
    for encoding in ("utf-8-sig", "utf-16") if data[:2] in (b"\xff\xfe", b"\xfe\xff") else ("utf-8-sig",):
        try:
            return data.decode(encoding).encode()
        except UnicodeDecodeError:
            continue
    return data.decode("latin-1").encode()


def _stored_files(account: str, attachments: Iterable[Attachment]) -> dict[uuid.UUID, ProviderFile]:
    rows = ProviderFile.objects.filter(
        attachment__in=list(attachments), account=account, expires_at__gt=timezone.now() + RENEW_BEFORE
    )
    return {row.attachment_id: row for row in rows}


def save_uploaded(attachment: Attachment, account: str, uploaded: UploadedFile) -> None:
    """Save that the provider stores a file, in place of an earlier upload of it."""
    with transaction.atomic():
        ProviderFile.objects.update_or_create(
            attachment=attachment,
            account=account,
            defaults={"uri": uploaded.uri, "mime_type": uploaded.mime_type, "expires_at": uploaded.expires_at},
        )


def forget_uploaded(conversation_id: uuid.UUID, account: str) -> None:
    """Forget all uploads of a conversation: the provider has lost a file, and does not say which."""
    links = Message.objects.filter(conversation_id=conversation_id).values("message_attachments__attachment")
    ProviderFile.objects.filter(attachment__in=links, account=account).delete()
