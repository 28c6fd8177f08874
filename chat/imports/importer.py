"""Imports a file: recognizes its kind, parses it with the module of its source, and stores its conversations."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import PurePosixPath

from django.conf import settings

from attachments.store import check_quota
from attachments.validation import RefusedUpload
from chat.imports import chatgpt, notebook, plotline
from chat.imports.archives import Archive
from chat.imports.json_document import parse_json
from chat.imports.records import CONVERSATIONS_LIMIT, ParsedConversation
from chat.imports.refusal import RefusedImport
from chat.imports.store import ImportResult, store_conversations

IMPORT_LIMIT_BYTES = 64 * 1024 * 1024
UNKNOWN_KIND = (
    "This file cannot be imported. Choose a JSON or zip export of Plotline, conversations.json of ChatGPT or the zip"
    " that it comes in, or a Jupyter notebook."
)
EMPTY = "There is no conversation in this file."
ONE_AT_A_TIME = "Another file of yours is being imported just now. Wait until it is done, then send this one again."

_ZIP_SIGNATURE = b"PK\x03\x04"
_DOCUMENT_NAMES = (
    re.compile(r"conversation\.json"),
    re.compile(r"conversations(?:-\d+)?\.json"),
    re.compile(r".*\.ipynb", re.DOTALL),
)
"""Names of documents in archives: of Plotline, ChatGPT and notebooks. Only the first source that occurs is imported."""

_importing_users: set[int] = set()
"""Ids of the users who import a file in this process."""
_importing_users_lock = threading.Lock()


def import_file(data: bytes, *, owner_id: int, name: str = "", has_quota: bool = True) -> ImportResult:
    """Store all conversations of a file, except those that were imported before. Raises RefusedImport.

    Either all of them are stored, or none. `name`: the file's name, which is the title of a notebook without one.
    `has_quota`: whether the attachments count towards the daily upload limit.
    """
    if len(data) > IMPORT_LIMIT_BYTES:
        raise RefusedImport(f"This file is too large: at most {IMPORT_LIMIT_BYTES // 1024**2} MB can be imported.")
    with _one_import_per_user(owner_id):
        conversations = list(_parse_file(data, name))
        if not conversations:
            raise RefusedImport(EMPTY)
        if has_quota:
            _check_quota(conversations, owner_id, name)
        return store_conversations(conversations, owner_id=owner_id)


def _check_quota(conversations: list[ParsedConversation], owner_id: int, name: str) -> None:
    size_bytes = sum(len(file.data) for conversation in conversations for file in conversation.attachments)
    try:
        # Graphs count too, because a file can call any image a graph.
        check_quota(owner_id, name or "This file", size_bytes, with_graphs=True)
    except RefusedUpload as error:
        raise RefusedImport(str(error)) from None


@contextmanager
def _one_import_per_user(owner_id: int) -> Iterator[None]:
    """Raise RefusedImport if the user imports another file in this process.

    An import may take a quarter of a gigabyte of memory, and two at once could exceed the upload limit together.
    """
    with _importing_users_lock:
        if owner_id in _importing_users:
            raise RefusedImport(ONE_AT_A_TIME)
        _importing_users.add(owner_id)
    try:
        yield
    finally:
        _importing_users.discard(owner_id)


def _parse_file(data: bytes, name: str) -> Iterator[ParsedConversation]:
    if data.startswith(_ZIP_SIGNATURE):
        yield from _parse_archive(Archive(data))
        return
    if not data.lstrip(b"\xef\xbb\xbf \t\r\n").startswith((b"{", b"[")):
        raise RefusedImport(UNKNOWN_KIND)
    yield from _parse_document(data, PurePosixPath(name).name, _no_file)


def _parse_document(data: bytes, name: str, read_file: Callable[[str], bytes | None]) -> Iterator[ParsedConversation]:
    document = parse_json(data)
    if plotline.is_plotline(document):
        yield plotline.parse_document(document, read_file)
    elif notebook.is_notebook(document):
        yield notebook.parse_notebook(document, name, data)
    elif chatgpt.is_chatgpt(document):
        yield from chatgpt.parse_conversations(document)
    else:
        raise RefusedImport(UNKNOWN_KIND)


def _parse_archive(archive: Archive) -> Iterator[ParsedConversation]:
    """Yield the conversations of all documents of Plotline, else those of ChatGPT, else those of notebooks."""
    names = list(archive.names())
    names_by_source = (
        [name for name in names if pattern.fullmatch(PurePosixPath(name).name)] for pattern in _DOCUMENT_NAMES
    )
    documents = next((names for names in names_by_source if names), [])
    if not documents:
        raise RefusedImport(UNKNOWN_KIND)
    if len(documents) > CONVERSATIONS_LIMIT:
        raise RefusedImport(
            f"There are {len(documents)} conversations in this archive; at most {CONVERSATIONS_LIMIT} are allowed."
        )
    for name in documents:
        path = PurePosixPath(name)
        read_file = partial(_read_file_beside, archive, path)
        try:
            yield from _parse_document(archive.read(name, IMPORT_LIMIT_BYTES), path.name, read_file)
        except RefusedImport as error:
            raise RefusedImport(f"{name[:200]}: {error}") from None


def _read_file_beside(archive: Archive, document: PurePosixPath, path: str) -> bytes | None:
    """Return a file in the folder of a document; `None` if the archive has no entry of exactly this path."""
    try:
        return archive.read(str(document.parent / path), settings.UPLOAD_LIMIT_BYTES)
    except KeyError:
        return None


def _no_file(path: str) -> bytes | None:
    """Return `None`: a document that was sent alone has no files beside it."""
    return None
