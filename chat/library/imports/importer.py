"""Imports a file: recognizes its kind, parses it with the module of its source, and stores its conversations."""

from __future__ import annotations

import io
import re
import threading
import uuid
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import PurePosixPath

from django.conf import settings

from chat.library.imports import chatgpt, claude, notebook, plotline, takeout
from chat.library.imports.archives import IN_MEMORY, Archive
from chat.library.imports.chatgpt_files import ArchiveFiles
from chat.library.imports.encodings import to_utf8
from chat.library.imports.json_document import parse_json
from chat.library.imports.json_paths import JSONValue
from chat.library.imports.records import CONVERSATIONS_LIMIT, TEXT_LIMIT_CHARS, ParsedConversation
from chat.library.imports.refusal import RefusedImport
from chat.library.imports.store import (
    ONE_AT_A_TIME,
    ImportResult,
    plan_import,
    store_conversations,
    without_doubles,
)
from chat.people.quotas.enforcement import SpentQuota, check_quota, check_stored, spend_quota
from chat.people.quotas.resources import Resource

IMPORT_LIMIT_BYTES = 64 * 1024 * 1024
UNKNOWN_KIND = (
    "This file cannot be imported. Choose a JSON or zip export of Plotline, conversations.json of ChatGPT or Claude or"
    " the zip that it comes in, the zip of Google Takeout with the activity of Gemini, or a Jupyter notebook."
)
TOO_MUCH_TEXT = "There is too much text in this file. Split it, and import its pieces one after the other."
EMPTY = "There is no conversation in this file."

ZIP_SIGNATURE = b"PK\x03\x04"
_PLOTLINE_NAME = "conversation.json"
CONVERSATIONS_NAME = re.compile(r"conversations ?(?:[-_]?\d+|\(\d+\))?\.json", re.IGNORECASE)
NOTEBOOK_SUFFIX = ".ipynb"

_importing_users: set[int] = set()
"""Ids of the users who import a file in this process."""
_importing_users_lock = threading.Lock()


def import_file(data: bytes, *, owner_id: int, name: str = "", has_quota: bool = True) -> ImportResult:
    """Store all conversations of a file, except those that were imported before.

    Either all of them are stored, or none. `name`: the file's name, which is the title of a notebook without one.
    `has_quota`: whether the import counts for the quotas of its owner. Raises RefusedImport if the file cannot be read,
    and QuotaExceeded.
    """
    if len(data) > IMPORT_LIMIT_BYTES:
        raise RefusedImport(f"This file is too large: at most {IMPORT_LIMIT_BYTES // 1024**2} MB can be imported.")
    return import_document(lambda: data, owner_id=owner_id, name=name, has_quota=has_quota)


def import_document(build: Callable[[], bytes], *, owner_id: int, name: str, has_quota: bool = True) -> ImportResult:
    """Store the conversations of a document that is built here, as `import_file` does with a file.

    `build`: returns the document, of at most IMPORT_LIMIT_BYTES. A user has only one such document in memory at a time.
    """
    with _one_import_per_user(owner_id):
        conversations = without_doubles(_within_limit(parse_file(build(), name)))
        if not conversations:
            raise RefusedImport(EMPTY)
        if not has_quota:
            return store_conversations(conversations, owner_id=owner_id)
        return store_within_quotas(conversations, owner_id, f"“{name}”" if name else "This file")


def _within_limit(parsed: Iterable[ParsedConversation]) -> list[ParsedConversation]:
    """Return the conversations. Raises RefusedImport if they have too much text."""
    conversations: list[ParsedConversation] = []
    remaining_chars = TEXT_LIMIT_CHARS
    for conversation in parsed:
        remaining_chars -= conversation.text_chars
        if remaining_chars < 0:
            raise RefusedImport(TOO_MUCH_TEXT)
        conversations.append(conversation)
    return conversations


def store_within_quotas(conversations: list[ParsedConversation], owner_id: int, subject: str) -> ImportResult:
    """Count the content of conversations that is not here yet for the quotas, and store the conversations."""
    new, additions = plan_import(conversations, owner_id)
    # Graphs count too, because a file can declare any image a graph.
    file_bytes = sum(conversation.file_bytes for conversation in (*new, *additions.values()))
    if file_bytes:
        check_quota(owner_id, Resource.STORAGE, file_bytes, subject=subject)
    spent = spend_quota(owner_id, _amounts(new) | {Resource.CONVERSATIONS: len(new)}, subject=subject)
    continued: list[uuid.UUID] = []
    spent_on_additions: SpentQuota | None = None
    try:
        spent_on_additions = spend_quota(owner_id, _amounts(additions.values()), subject=subject)
        result = store_conversations(
            conversations,
            owner_id=owner_id,
            confirm=partial(check_stored, owner_id, file_bytes, subject=subject),
            continued=continued,
        )
    except BaseException:
        spent.refund()
        raise
    finally:
        # Content that was added before a failure stays, so only the rest is refunded.
        if spent_on_additions:
            rest = [addition for pk, addition in additions.items() if pk not in continued]
            replace(spent_on_additions, amounts=_amounts(rest)).refund()
    if not result.created:
        spent.refund()
    return result


def _amounts(conversations: Collection[ParsedConversation]) -> dict[Resource, int]:
    return {
        Resource.IMPORTS: sum(conversation.text_bytes for conversation in conversations),
        Resource.UPLOADS: sum(conversation.file_bytes for conversation in conversations),
    }


@contextmanager
def _one_import_per_user(owner_id: int) -> Iterator[None]:
    """Raise RefusedImport if the user imports another file in this process.

    An import may take a quarter of a gigabyte of memory.
    """
    with _importing_users_lock:
        if owner_id in _importing_users:
            raise RefusedImport(ONE_AT_A_TIME)
        _importing_users.add(owner_id)
    try:
        yield
    finally:
        _importing_users.discard(owner_id)


def parse_file(data: bytes, name: str) -> Iterator[ParsedConversation]:
    """Yield the conversations of a file of any known kind. Raises RefusedImport if it cannot be read."""
    if data.startswith(ZIP_SIGNATURE):
        yield from _parse_archive(Archive(io.BytesIO(data), IN_MEMORY))
        return
    data = to_utf8(data)
    if takeout.is_takeout_html(data):
        yield from takeout.parse_html(data, ArchiveFiles())
        return
    if not data.lstrip(b"\xef\xbb\xbf \t\r\n").startswith((b"{", b"[")):
        raise RefusedImport(UNKNOWN_KIND)
    yield from parse_document(parse_json(data), data, PurePosixPath(name).name, no_file, ArchiveFiles())


def parse_document(
    document: JSONValue, data: bytes, name: str, read_file: Callable[[str], bytes | None], files: ArchiveFiles
) -> Iterator[ParsedConversation]:
    """Yield the conversations of a document of any known kind. `name`: the file's name.

    Raises RefusedImport if it cannot be read.
    """
    if document.value == []:
        return
    if plotline.is_plotline(document):
        yield plotline.parse_document(document, read_file)
    elif notebook.is_notebook(document):
        yield notebook.parse_notebook(document, name, data)
    elif chatgpt.is_chatgpt(document):
        yield from chatgpt.parse_conversations(document, files)
    elif claude.is_claude(document):
        yield from claude.parse_conversations(document, files)
    elif takeout.is_takeout(document):
        yield from takeout.parse_activities(document, files)
    else:
        raise RefusedImport(UNKNOWN_KIND)


def _parse_archive(archive: Archive) -> Iterator[ParsedConversation]:
    """Yield the conversations of all documents, except notebooks that the first notebook lists as its files."""
    documents = find_documents(list(archive.names()))
    if not documents:
        raise RefusedImport(UNKNOWN_KIND)
    if len(documents) > CONVERSATIONS_LIMIT:
        raise RefusedImport(
            f"There are {len(documents)} conversations in this archive; at most {CONVERSATIONS_LIMIT} are allowed."
        )
    listed_files: set[str] = set()
    files = ArchiveFiles.of(archive)
    for name in documents:
        if name in listed_files:
            continue
        path = PurePosixPath(name)
        read_file = partial(read_file_beside, archive, path)
        try:
            data = to_utf8(archive.read(name, IMPORT_LIMIT_BYTES))
            if is_html := takeout.is_takeout_html(data):
                yield from takeout.parse_html(data, files)
            if is_html or takeout.is_unrelated(name, data):
                continue
            document = parse_json(data)
            if name == documents[0]:
                listed_files = set(documents).intersection(notebook.listed_files(document))
            yield from parse_document(document, data, path.name, read_file, files)
            # Memory holds one document at a time.
            del document, data
        except RefusedImport as error:
            raise RefusedImport(f"{name[:200]}: {error}") from None


def find_documents(names: list[str]) -> list[str]:
    """Return the paths of the documents of the first product that has any: Plotline, ChatGPT/Claude, Gemini, Jupyter.

    Attached files can have such names, too. The archive of a conversation has them in a folder below that of its
    document. The archive of a notebook has no folders: they are beside the notebook, which is its first entry.
    """
    notebooks = [name for name in names if name.endswith(NOTEBOOK_SUFFIX)]
    if notebooks and notebooks[0] == names[0] and not any("/" in name for name in names):
        return notebooks
    paths = {name: PurePosixPath(name) for name in names}
    own = [name for name, path in paths.items() if path.name == _PLOTLINE_NAME]
    folders = {paths[name].parent for name in own}
    documents = [name for name in own if not _is_below_one_of(folders, paths[name].parent)]
    # ChatGPT and Claude give their documents the same name.
    documents = documents or [name for name, path in paths.items() if CONVERSATIONS_NAME.fullmatch(path.name)]
    return documents or takeout.find_documents(names) or notebooks


def _is_below_one_of(folders: Collection[PurePosixPath], folder: PurePosixPath) -> bool:
    # The top folder is its own parent.
    return folder.parent != folder and folder.parent in folders


def read_file_beside(archive: Archive, document: PurePosixPath, path: str) -> bytes | None:
    """Return a file in the folder of a document; `None` if the archive has no entry of exactly this path."""
    try:
        return archive.read(str(document.parent / path), settings.UPLOAD_LIMIT_BYTES)
    except KeyError:
        return None


def no_file(path: str) -> bytes | None:
    """Return `None`: a document that was sent alone has no files beside it."""
    return None
