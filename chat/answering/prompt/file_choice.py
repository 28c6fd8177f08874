"""Chooses the files and images of a conversation that a request contains, so that it stays within its limit.

The newest are chosen first. The files of the question come before everything else.
"""

from __future__ import annotations

import uuid
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TypeAlias

from django.conf import settings

from attachments.code_files import as_utf8, unpacked
from attachments.models import Attachment
from attachments.store import BytesUnavailable, read_bytes
from chat.answering.prompt.context_window import IMAGE_TOKENS
from chat.answering.prompt.request_size import base64_bytes, json_bytes
from chat.messages.records import MessageRecord
from chat.messages.tool_sets import results_need_release
from chat.models import Turn
from chat.providers.base import Capabilities

Place: TypeAlias = tuple[uuid.UUID, uuid.UUID]
"""Ids of a message and of an attachment."""

IMAGES_SHARE = 0.25
"""The share of the context window that images of answers may fill, so that they do not displace the conversation."""


class FilesTooLarge(Exception):
    """Files of the question, or tables for code of the model's service, do not fit into a request."""


@dataclass(slots=True)
class RequestBudget:
    """The number of bytes and images that can still be added to a request."""

    size_bytes: int
    """Remaining bytes of JSON."""
    images: float
    """Remaining number of images of answers; infinite if the context window is not known."""

    @classmethod
    def of(cls, size_bytes: int, context_tokens: int | None) -> RequestBudget:
        """Return the budget of a request. `context_tokens`: size of the context window; `None`: not known."""
        images = float("inf") if context_tokens is None else context_tokens * IMAGES_SHARE / IMAGE_TOKENS
        return cls(size_bytes, max(images, 1))

    def take(self, size_bytes: int, images: int = 0) -> bool:
        """Reserve a part of the budget, and return whether there was enough."""
        if size_bytes > self.size_bytes or images > self.images:
            return False
        self.size_bytes -= size_bytes
        self.images -= images
        return True


class FileChoice:
    """The files and images that a request holds, and in which form."""

    def __init__(
        self,
        question: MessageRecord,
        earlier: Sequence[MessageRecord],
        budget: RequestBudget,
        capabilities: Capabilities,
        excluded: Container[uuid.UUID],
        encodings: Mapping[uuid.UUID, str] = MappingProxyType({}),
    ) -> None:
        """`earlier`: other records with files; the last gets room first. `excluded`: ids of attachments not to send.

        `encodings`: names of encodings that owners chose, by the files' ids.

        Raises FilesTooLarge if the question's files do not fit, BytesUnavailable if one of them cannot be read.
        """
        self.inline: set[Place] = set()
        self.by_reference: dict[Place, Attachment] = {}
        """Files that the provider stores, or must store first."""
        self.images: set[uuid.UUID] = set()
        """Graphs and images of answers."""
        self.texts: dict[uuid.UUID, bytes] = {}
        """The bytes of text files, in the form for the model. They were read to measure their size."""
        self._budget = budget
        self._files_room_bytes: int = settings.REQUEST_FILES_LIMIT_BYTES
        self._capabilities = capabilities
        self._excluded = excluded
        self._encodings = encodings
        self._chosen: set[uuid.UUID] = set()
        for file in sent_files(question):
            self._choose_file(question, file, is_question=True)
        self.of_question = frozenset(self._chosen)
        for record in reversed(earlier):
            for image in reversed(list(answer_images(record))):
                self._choose_image(image)
            for file in sent_files(record):
                self._choose_file(record, file)
        self.of_earlier = frozenset(self._chosen - self.of_question)
        """Ids of the files and images of earlier messages that are sent."""

    def has(self, file: Attachment) -> bool:
        """Return whether the request contains the file."""
        return file.pk in self._chosen

    def encoded(self, file: Attachment) -> bytes:
        """Return the bytes of a file in the form for the model. Raises BytesUnavailable if they cannot be read."""
        mime_type = self._capabilities.accepted_type(file.mime_type)
        return encoded_for_model(read_bytes(file), mime_type, self._encodings.get(file.pk))

    def _may_be_sent(self, file: Attachment) -> bool:
        is_new = file.pk not in self._chosen and file.pk not in self._excluded
        # Code can draw a GIF, for example, that the model does not accept.
        return is_new and bool(self._capabilities.accepted_type(file.mime_type))

    def _choose_image(self, image: Attachment) -> None:
        if self._may_be_sent(image) and self._budget.take(base64_bytes(image.size_bytes), images=1):
            self._chosen.add(image.pk)
            self.images.add(image.pk)

    def _choose_file(self, record: MessageRecord, file: Attachment, *, is_question: bool = False) -> None:
        if not self._may_be_sent(file):
            return
        place = (record.message.pk, file.pk)
        fits = file.size_bytes <= self._files_room_bytes
        if fits and self._takes_inline(file, is_question=is_question):
            self._files_room_bytes -= self._sent_bytes(file)
            self.inline.add(place)
        elif self._capabilities.stores_files:
            self.by_reference[place] = file
        elif is_question:
            raise FilesTooLarge(f"{file.name} does not fit into the request")
        else:
            return
        self._chosen.add(file.pk)

    def _takes_inline(self, file: Attachment, *, is_question: bool) -> bool:
        """Return whether the file can be sent as bytes; reserve its room. A question's file may exceed the budget."""
        if file.size_bytes > self._budget.size_bytes and not is_question:
            return False
        try:
            size_bytes = self._size_of(file)
        except BytesUnavailable:
            if is_question:
                raise
            # The file cannot be read now. The request has a sentence in its place, which needs no room.
            return True
        if self._sent_bytes(file) > self._files_room_bytes:
            return False
        if is_question:
            self._budget.size_bytes -= size_bytes
            return True
        return self._budget.take(size_bytes)

    def _sent_bytes(self, file: Attachment) -> int:
        """Return the number of bytes that are sent for a file. A packed text is larger than its stored form."""
        return len(self.texts[file.pk]) if file.pk in self.texts else file.size_bytes

    def _size_of(self, file: Attachment) -> int:
        """Return a file's size in a request.

        A text is read for this. Raises BytesUnavailable if that fails.
        """
        mime_type = self._capabilities.accepted_type(file.mime_type)
        if not mime_type.startswith("text/"):
            return base64_bytes(file.size_bytes)
        data = self.texts[file.pk] = self.encoded(file)
        return max(base64_bytes(len(data)), json_bytes(data.decode()))


def answer_images(record: MessageRecord) -> Iterator[Attachment]:
    """Yield the graphs and images of an answer, in order. Kept files are sent as files of the user."""
    if record.turn is not None:
        shown = (placed.attachment for placed in record.attachments if placed.part_index is not None)
        yield from (file for file in shown if file.is_image)


def sent_files(record: MessageRecord) -> list[Attachment]:
    """Return the files that go with a message."""
    if record.turn is None:
        return [placed.attachment for placed in record.attachments]
    return record.kept_files


def released_records(turn: Turn, records: Sequence[MessageRecord]) -> list[MessageRecord]:
    """Return the records without kept files that the turn's model may not get: to keep a file is not to release it.

    Code wrote these files, so they are data in a private conversation, and so are their names.
    """
    if not (results_need_release(turn.conversation) or turn.private_data):
        return [*records]
    return [
        replace(record, attachments=[placed for placed in record.attachments if placed.part_index is not None])
        if record.kept_files
        else record
        for record in records
    ]


def attachment_ids(records: Iterable[MessageRecord]) -> set[uuid.UUID]:
    """Return the ids of all attachments of some messages."""
    return {placed.attachment.pk for record in records for placed in record.attachments}


def encoded_for_model(data: bytes, mime_type: str, encoding: str | None = None) -> bytes:
    """Return text as UTF-8, the only encoding that models read, and other files unchanged. Packed text is unpacked.

    `encoding`: the encoding that the file's owner chose, by its name for people.
    """
    return as_utf8(unpacked(data), encoding) if mime_type.startswith("text/") else data
