"""The one call that every door makes: a file's bytes become conversations of the person who sent them."""

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
from chat.imports.drafts import CONVERSATIONS_LIMIT, ConversationDraft
from chat.imports.places import Place, read_json
from chat.imports.refusal import RefusedImport
from chat.imports.storing import Imported, store

IMPORT_LIMIT_BYTES = 64 * 1024 * 1024
UNKNOWN = (
    "This is none of what can be imported: a JSON or zip export of Plotline, conversations.json of ChatGPT or the zip"
    " that it comes in, or a Jupyter notebook."
)
EMPTY = "There is no conversation in this file."
ONE_AT_A_TIME = "Another file of yours is being imported just now. Wait until it is done, then send this one again."
_ARCHIVE = b"PK\x03\x04"
_DOCUMENTS = (
    re.compile(r"conversation\.json"),
    re.compile(r"conversations(?:-\d+)?\.json"),
    re.compile(r".*\.ipynb", re.DOTALL),
)

_importing: set[int] = set()
"""Who imports something in this process."""
_importing_lock = threading.Lock()


def import_file(data: bytes, *, owner_id: int, name: str = "", has_quota: bool = True) -> Imported:
    """Keep all conversations of a file, but for those that an earlier import brought. All or nothing.

    `name`: the file's, which names a notebook that has no title; `has_quota`: whether its files count as uploads do.
    Raises RefusedImport, whose text is a sentence that names the place.
    """
    if len(data) > IMPORT_LIMIT_BYTES:
        raise RefusedImport(f"This file is too large: at most {IMPORT_LIMIT_BYTES // 1024**2} MB can be imported.")
    with _alone(owner_id):
        drafts = list(_drafts(data, name))
        if not drafts:
            raise RefusedImport(EMPTY)
        if has_quota:
            size_bytes = sum(len(file.data) for draft in drafts for file in draft.attachments)
            try:
                # With graphs: nothing tells that code drew what a file calls one.
                check_quota(owner_id, name or "This file", size_bytes, with_graphs=True)
            except RefusedUpload as error:
                raise RefusedImport(str(error)) from None
        return store(drafts, owner_id=owner_id)


@contextmanager
def _alone(owner_id: int) -> Iterator[None]:
    """One import of a person at a time: each may take a quarter of a gigabyte, and two at once would pass one quota.

    Raises RefusedImport.
    """
    with _importing_lock:
        if owner_id in _importing:
            raise RefusedImport(ONE_AT_A_TIME)
        _importing.add(owner_id)
    try:
        yield
    finally:
        _importing.discard(owner_id)


def _drafts(data: bytes, name: str) -> Iterator[ConversationDraft]:
    if data.startswith(_ARCHIVE):
        yield from _archived(Archive(data))
        return
    if not data.lstrip(b"\xef\xbb\xbf \t\r\n").startswith((b"{", b"[")):
        raise RefusedImport(UNKNOWN)
    yield from _documented(data, PurePosixPath(name).name, _nothing_beside)


def _documented(data: bytes, name: str, read_file: Callable[[str], bytes | None]) -> Iterator[ConversationDraft]:
    document: Place = read_json(data)
    if plotline.is_ours(document):
        yield plotline.draft(document, read_file)
    elif notebook.is_notebook(document):
        yield notebook.draft(document, name, data)
    elif chatgpt.is_chatgpt(document):
        yield from chatgpt.drafts(document)
    else:
        raise RefusedImport(UNKNOWN)


def _archived(archive: Archive) -> Iterator[ConversationDraft]:
    """Of our documents all, else ChatGPT's, else the notebooks."""
    names = list(archive.names())
    kinds = ([name for name in names if kind.fullmatch(PurePosixPath(name).name)] for kind in _DOCUMENTS)
    found = next((kind for kind in kinds if kind), [])
    if not found:
        raise RefusedImport(UNKNOWN)
    if len(found) > CONVERSATIONS_LIMIT:
        raise RefusedImport(f"There are {len(found)} conversations in this archive; at most {CONVERSATIONS_LIMIT}.")
    for name in found:
        path = PurePosixPath(name)
        try:
            yield from _documented(archive.read(name, IMPORT_LIMIT_BYTES), path.name, partial(_beside, archive, path))
        except RefusedImport as error:
            raise RefusedImport(f"{name[:200]}: {error}") from None


def _beside(archive: Archive, document: PurePosixPath, path: str) -> bytes | None:
    """A file of the same folder; a path is looked up among the entries and leads nowhere else."""
    try:
        return archive.read(str(document.parent / path), settings.UPLOAD_LIMIT_BYTES)
    except KeyError:
        return None


def _nothing_beside(path: str) -> bytes | None:
    return None
