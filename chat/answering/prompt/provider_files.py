"""Puts the chosen files into a request: as bytes, as a file that the provider stores, or as a sentence.

These are the files of questions, and files of answers that a person has kept. `file_choice` chooses them.
"""

from __future__ import annotations

import uuid
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import timedelta

from django.db.models import Q
from django.utils import timezone

from attachments.chosen_readings import chosen_encodings
from attachments.models import Attachment
from attachments.store import BytesUnavailable, read_bytes
from attachments.table_types import is_table_name
from chat.answering.code_tools import code_tools
from chat.answering.prompt.file_choice import FileChoice, encoded_for_model, sent_files
from chat.answering.prompt.table_notes import TableNotes
from chat.messages.records import MessageRecord
from chat.models import Message, ProjectFile, ProviderFile, Turn
from chat.providers.base import Capabilities, UploadedFile
from chat.vocabulary.parts import Engine, FileData, InlineData, Part, Text

RENEW_BEFORE = timedelta(hours=1)
"""A stored file that expires sooner is uploaded again, because an answer may take long."""


ABSENT = "[The file {name} was here; it is not sent again.]"
TOO_LARGE = (
    "[The table {name} was here. It is too large to be sent again, so neither you nor your code sees it here."
    " Where the question needs it, say so; never guess its values.]"
)
PRIVATE = "[The file {name} is private: only the user reads it, and code that runs on this server.]"
NOT_TAKEN = (
    "[The table {name} was here. The service of this model does not take files like it, so neither you nor your code"
    " sees it here. Where the question needs it, say so; never guess its values.]"
)


class RequestFiles:
    """The files of all messages of a request.

    Each is sent once: with the question, with the project, or else with the last message that has it.
    """

    def __init__(
        self,
        choice: FileChoice,
        question: MessageRecord,
        capabilities: Capabilities,
        refused: Collection[uuid.UUID],
        notes: Mapping[uuid.UUID, str],
        tables: TableNotes,
        *,
        explains_tables: bool,
    ) -> None:
        """`refused`: ids of files that the model does not accept. `notes`: see `notes_of_files`.

        `explains_tables`: whether the request says that code cannot read a table that is not sent.
        """
        self._choice = choice
        self._question = question
        self._capabilities = capabilities
        self._refused = refused
        self._notes = notes
        self._tables = tables
        self._explains_tables = explains_tables
        referenced = choice.by_reference.values()
        self._stored = _stored_files(capabilities.account, referenced) if referenced else {}
        self.to_upload = [file for file in referenced if file.pk not in self._stored]
        """Files that the provider must store before the request can refer to them."""

    @property
    def sizes_bytes(self) -> dict[str, int]:
        """Sizes of the files that the provider stores, by their URI."""
        return {
            self._stored[file.pk].uri: file.size_bytes
            for file in self._choice.by_reference.values()
            if file.pk in self._stored
        }

    def is_too_large(self, table: Attachment) -> bool:
        """Return whether a file is a table that the model accepts but that does not fit into the request."""
        is_taken = self._capabilities.accepted_type(table.mime_type) and table.pk not in self._refused
        return is_table_name(table.name) and bool(is_taken) and not self._choice.has(table)

    def part(self, record: MessageRecord, file: Attachment, *, absent: str = ABSENT) -> Part:
        """Return the file as a part, or as a sentence if its content is not sent.

        `absent`: the sentence for a file that `FileChoice` did not choose. Raises BytesUnavailable if the bytes of a
        file of the newest question cannot be read.
        """
        if file.pk in self._notes:
            return Text(self._notes[file.pk])
        place = (record.message.pk, file.pk)
        if place in self._choice.inline:
            mime_type = self._capabilities.accepted_type(file.mime_type)
            try:
                data = self._choice.texts.get(file.pk) or self._choice.encoded(file)
            except BytesUnavailable:
                if record is self._question:
                    raise
                return Text(f"[The file {file.name} was here; it cannot be read just now.]")
            return InlineData(mime_type, self._tables.name(file), data)
        stored = self._stored.get(file.pk) if place in self._choice.by_reference else None
        if stored is not None:
            return FileData(stored.uri, stored.mime_type)
        if file.pk in self._refused:
            return Text(f"[The file {file.name} was here; the model's service could not read it.]")
        if absent is ABSENT and self._explains_tables and is_table_name(file.name) and not self._choice.has(file):
            absent = TOO_LARGE if self._capabilities.accepted_type(file.mime_type) else NOT_TAKEN
        return Text(absent.format(name=file.name))


def notes_of_files(files: Sequence[Attachment], turn: Turn) -> dict[uuid.UUID, str]:
    """Return the sentences for files that only code in a tool set reads. In private conversations, these are all files.

    `files`: see `files_in_order`.
    """
    private = {file.pk: PRIVATE.format(name=file.name) for file in files} if turn.private_data else {}
    tools = code_tools() if turn.engine == Engine.SESSION else None
    return private | (tools.file_notes(files, is_private=turn.private_data) if tools else {})


def files_in_order(records: Sequence[MessageRecord], project_files: Sequence[Attachment]) -> list[Attachment]:
    """Return all files: those of the questions and the project, then kept files, in order of time."""
    files = [file for record in records if record.turn is None for file in sent_files(record)]
    kept = [file for record in records if record.turn is not None for file in sent_files(record)]
    return [*files, *project_files, *sorted(kept, key=lambda file: file.created_at)]


def _stored_files(account: str, attachments: Iterable[Attachment]) -> dict[uuid.UUID, ProviderFile]:
    rows = ProviderFile.objects.filter(
        attachment__in=list(attachments), account=account, expires_at__gt=timezone.now() + RENEW_BEFORE
    )
    return {row.attachment_id: row for row in rows}


def forget_uploads_of(attachment_id: uuid.UUID) -> None:
    """Delete the records of all uploads of a file: its owner chose another encoding, so models get other bytes."""
    ProviderFile.objects.filter(attachment=attachment_id).delete()


def read_for_upload(attachment: Attachment, mime_type: str) -> bytes:
    """Return the bytes of a file that the provider is to store. Raises BytesUnavailable if they cannot be read."""
    return encoded_for_model(read_bytes(attachment), mime_type, chosen_encodings([attachment]).get(attachment.pk))


def save_uploaded(attachment: Attachment, account: str, uploaded: UploadedFile) -> None:
    """Save that the provider stores a file. Replaces the record of an earlier upload."""
    ProviderFile.objects.update_or_create(
        attachment=attachment,
        account=account,
        defaults={"uri": uploaded.uri, "mime_type": uploaded.mime_type, "expires_at": uploaded.expires_at},
    )


def forget_uploaded(conversation_id: uuid.UUID, account: str) -> None:
    """Delete the records of all uploads of a conversation: the provider has lost a file, and does not say which."""
    links = Message.objects.filter(conversation_id=conversation_id).values("message_attachments__attachment")
    of_project = ProjectFile.objects.filter(project__conversations=conversation_id).order_by().values("attachment")
    ProviderFile.objects.filter(Q(attachment__in=links) | Q(attachment__in=of_project), account=account).delete()
