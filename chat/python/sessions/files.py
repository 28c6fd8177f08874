"""Files of a conversation in the working directory of its session, where code finds them.

These are the files of questions and of the project, and files that code wrote and a person has kept.
"""

from __future__ import annotations

import logging
import time
import uuid
import weakref
from collections.abc import AsyncIterator, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from channels.db import database_sync_to_async

from attachments.chosen_readings import chosen_encodings
from attachments.code_files import as_code_reads, name_in_code
from attachments.images import is_image_type
from attachments.models import Attachment
from attachments.store import BytesUnavailable, read_bytes
from chat.models import MessageAttachment, ProjectFile
from chat.models.plain_sql import select_rows
from chat.python.kernels.client import KernelClient
from chat.vocabulary.file_labels import file_labels
from chat.vocabulary.parts import Role
from chat.vocabulary.text_types import is_text

logger = logging.getLogger(__name__)

SENT_LIMIT_BYTES = 64 * 1024
"""Maximum size of a text file that is also sent to the model. A larger one is only put into the session."""
PIECE_BYTES = 512 * 1024
"""Size of the pieces in which a file is written."""
READ_BY_MODELS = ("application/pdf", "audio/", "video/")
"""Beginnings of the MIME types of files that models read themselves. Models also read images."""
NOT_PLACED = "The file “{label}” could not be put into the session: {error}"
RETRY_AFTER_S = 60.0
"""Pause after a file could not be written into a kernel. Slow storage would otherwise delay each cell."""

_failures: weakref.WeakKeyDictionary[KernelClient, dict[uuid.UUID, tuple[str, float]]] = weakref.WeakKeyDictionary()
"""For each connection, the files that could not be written: a sentence, and the time of the next attempt."""


@dataclass(frozen=True, slots=True)
class SessionFile:
    """A file of the conversation, and its name in the working directory."""

    attachment: Attachment
    label: str
    is_kept: bool
    """Whether code wrote the file. It then never replaces a newer file of its name in the kernel."""
    encoding: str | None = None
    """Name of the encoding that the owner chose; `None` if the owner chose none."""

    @property
    def version(self) -> str:
        """Identifies the bytes that code gets: the id of the attachment, and the chosen encoding if there is one."""
        return f"{self.attachment.pk} {self.encoding or ''}".strip()

    def is_placed(self, placed: Mapping[str, str]) -> bool:
        """Return whether this version of the file was written into the kernel. `placed`: see `place_files`."""
        return placed.get(self.label) == self.version


def attachment_of_version(version: str) -> uuid.UUID:
    """Return the id of the attachment in a `SessionFile.version`."""
    return uuid.UUID(version.partition(" ")[0])


def is_kept_in_session(file: Attachment) -> bool:
    """Return whether a file is only put into the session, and not also sent to the model."""
    if is_image_type(file.mime_type) or file.mime_type.startswith(READ_BY_MODELS):
        return False
    if name_in_code(file.name, file.mime_type) != file.name:
        return True
    return file.size_bytes > SENT_LIMIT_BYTES or not is_text(file.mime_type)


def labels_of(files: Iterable[Attachment]) -> dict[uuid.UUID, str]:
    """Return the names of files in the working directory, by the ids of the attachments.

    `files`: the files of all shown questions and of the project, in order. The same files have the same labels each
    time.
    """
    names = {file.pk: name_in_code(file.name, file.mime_type) for file in files}
    return dict(zip(names, file_labels(names.values()), strict=True))


def session_files(conversation_id: uuid.UUID, *, in_project: bool = True) -> list[SessionFile]:
    """Return the files that the session gets, each once: of shown questions, of the project, then kept ones.

    Kept files come last, so that keeping one does not change the name of another file. `in_project`: False if the
    conversation is known to be in no project, which saves a query.
    """
    links = select_rows(
        MessageAttachment,
        "conversation_id = %s AND is_shown AND (role = %s OR part_index IS NULL)"
        ' ORDER BY chat_message."index", chat_messageattachment."index"',
        conversation_id,
        Role.USER.value,
        columns="chat_messageattachment.*, role",
        joined="JOIN chat_message ON chat_message.id = message_id",
    )
    linked = {file.pk: file for file in select_rows(Attachment, "id IN %s", {link.attachment_id for link in links})}
    # A file may have been deleted since the links were read.
    links = [link for link in links if link.attachment_id in linked]
    asked = [linked[link.attachment_id] for link in links if vars(link)["role"] == Role.USER]
    kept = [(link.pk, linked[link.attachment_id]) for link in links if vars(link)["role"] == Role.MODEL]
    kept.sort(key=lambda one: (one[1].created_at, one[0]))
    of_project = ProjectFile.objects.filter(project__conversations=conversation_id).select_related("attachment")
    project_files = [link.attachment for link in of_project.order_by("pk")] if in_project else []
    given = {file.pk: file for file in (*asked, *project_files)}
    files = given | {file.pk: file for _, file in kept}
    labels = labels_of(files.values())
    encodings = chosen_encodings(given.values())
    return [SessionFile(file, labels[pk], pk not in given, encodings.get(pk)) for pk, file in files.items()]


def files_to_place(
    files: Iterable[SessionFile], placed: Mapping[str, str], present: Collection[str]
) -> list[SessionFile]:
    """Return the files that the kernel does not have yet. `placed`, `present`: see `place_files`."""
    # A kept file may still be in the folder where code wrote it.
    names = {path.rpartition("/")[2] for path in present}
    return [file for file in files if not file.is_placed(placed) and not (file.is_kept and file.label in names)]


async def place_files(
    kernel: KernelClient, files: Sequence[SessionFile], placed: Mapping[str, str], present: Collection[str]
) -> tuple[dict[str, str], list[str]]:
    """Write the files that are not there yet into the working directory.

    `placed`: label -> `SessionFile.version` of the files that were written. `present`: the names of all files that are
    there. Return `placed` with the new files, and a sentence for each file that could not be written. Raises KernelGone
    if the kernel has ended.
    """
    missing = files_to_place(files, placed, present)
    # A kept file that is still there counts as written. Otherwise it would be written again after code has removed it.
    now_placed = dict(placed) | {file.label: file.version for file in files if file not in missing}
    problems = []
    failures = _failures.setdefault(kernel, {})
    for file in missing:
        problem, retry_at = failures.pop(file.attachment.pk, ("", 0.0))
        if time.monotonic() >= retry_at:
            problem, retry_at = await _place_file(kernel, file), time.monotonic() + RETRY_AFTER_S
        if problem:
            failures[file.attachment.pk] = problem, retry_at
            problems.append(problem)
        else:
            now_placed[file.label] = file.version
    return now_placed, problems


async def _place_file(kernel: KernelClient, file: SessionFile) -> str:
    """Write a file into the working directory; return a sentence if that fails, else an empty text."""
    try:
        # Storage may be slow, and must not delay the thread that renews the leases of all sessions.
        data = await database_sync_to_async(_read_file, thread_sensitive=False)(file)
        await kernel.write_file(file.label, _pieces(data))
    except (BytesUnavailable, ValueError) as error:
        logger.warning("attachment %s was not put into a session: %s", file.attachment.pk, error)
        return NOT_PLACED.format(label=file.label, error=error)
    return ""


def _read_file(file: SessionFile) -> bytes:
    """Return the bytes that code gets: attached files are unpacked, and text is UTF-8 (see `code_files`).

    Kept files stay as code wrote them. Raises BytesUnavailable if storage does not have the file now.
    """
    data = read_bytes(file.attachment)
    return data if file.is_kept else as_code_reads(file.attachment.name, data, file.encoding)


async def _pieces(data: bytes) -> AsyncIterator[bytes]:
    view = memoryview(data)
    for start in range(0, len(data), PIECE_BYTES):
        yield bytes(view[start : start + PIECE_BYTES])
