"""Imports a large file: its conversations are read and stored one after the other. Broken ones are left out.

Unlike `importer`, which stores all conversations of a small file or none, it keeps stored conversations if it ends
early. Importing the same file again stores the others, because conversations that are here are recognized.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import PurePosixPath
from typing import BinaryIO

from chat.library.imports import notebook, takeout
from chat.library.imports.archives import IN_FILE, Archive
from chat.library.imports.chatgpt_files import ArchiveFiles
from chat.library.imports.encodings import pieces_to_utf8, to_utf8
from chat.library.imports.importer import (
    CONVERSATIONS_NAME,
    EMPTY,
    IMPORT_LIMIT_BYTES,
    NOTEBOOK_SUFFIX,
    UNKNOWN_KIND,
    ZIP_SIGNATURE,
    find_documents,
    no_file,
    parse_document,
    read_file_beside,
    store_within_quotas,
)
from chat.library.imports.json_document import parse_json
from chat.library.imports.json_list import split_list
from chat.library.imports.json_paths import JSONValue
from chat.library.imports.records import TEXT_LIMIT_CHARS, ParsedConversation
from chat.library.imports.refusal import RefusedImport
from chat.library.imports.store import ImportResult, store_conversations
from chat.models.write_pauses import WritePauses

CONVERSATIONS_LIMIT = 20_000
"""Maximum number of conversations of one file: the default of `QUOTA_CONVERSATIONS_PER_DAY`."""
REASONS_LIMIT = 100
"""Maximum number of left-out conversations that are listed by name. Others are only counted."""
TOO_MUCH_TEXT = "There is too much text in this conversation."
_READ_BYTES = 256 * 1024


@dataclass(frozen=True, slots=True)
class Entry:
    """A conversation that was read, or the reason why it cannot be imported."""

    subject: str
    """Title of the conversation, or its place in the file."""
    conversation: ParsedConversation | None
    refusal: str = ""
    """The reason why the conversation cannot be imported; empty if it was read."""
    share: float = 0.0
    """Share of the file that has been read, from 0 to 1."""


@dataclass(slots=True)
class Progress:
    """The progress of an import."""

    seen: int = 0
    created: int = 0
    continued: int = 0
    left_out: int = 0
    reasons: list[tuple[str, str]] = field(default_factory=list)
    """Name of a conversation that was left out, and the reason."""
    share: float = 0.0

    def leave_out(self, subject: str, reason: str) -> None:
        """Count a conversation that is left out."""
        self.left_out += 1
        if len(self.reasons) < REASONS_LIMIT:
            self.reasons.append((subject[:200], reason[:1000]))


Report = Callable[[Progress, ImportResult | None], None]
"""Called after each conversation, with the result of storing it. If it raises an error, the import ends."""


def import_large_file(file: BinaryIO, *, owner_id: int, name: str, report: Report, has_quota: bool = True) -> Progress:
    """Store the conversations of a file for their owner, one by one. `file`: can be read from any position.

    Raises RefusedImport if the file cannot be read, and QuotaExceeded. Conversations that are stored by then stay.
    """
    progress = Progress()
    pauses = WritePauses()
    for entry in read_conversations(file, name):
        progress.seen += 1
        progress.share = entry.share
        if progress.seen > CONVERSATIONS_LIMIT:
            raise RefusedImport(f"There are more than {CONVERSATIONS_LIMIT} conversations in this file.")
        report(progress, _store(entry, progress, owner_id, has_quota=has_quota))
        pauses.pause_if_due()
    if not progress.seen:
        raise RefusedImport(EMPTY)
    return progress


def _store(entry: Entry, progress: Progress, owner_id: int, *, has_quota: bool) -> ImportResult | None:
    """Store a conversation, and count it; return `None` if it is left out. Raises QuotaExceeded if a quota is full."""
    try:
        if entry.conversation is None:
            raise RefusedImport(entry.refusal)
        if entry.conversation.text_chars > TEXT_LIMIT_CHARS:
            raise RefusedImport(TOO_MUCH_TEXT)
        if has_quota:
            result = store_within_quotas([entry.conversation], owner_id, f"“{entry.subject[:100]}”")
        else:
            result = store_conversations([entry.conversation], owner_id=owner_id)
    except RefusedImport as error:
        progress.leave_out(entry.subject, str(error))
        return None
    progress.created += len(result.created)
    progress.continued += len(result.continued)
    return result


def read_conversations(file: BinaryIO, name: str) -> Iterator[Entry]:
    """Yield an entry for each conversation, readable or not. Raises RefusedImport if the whole file cannot be read."""
    start = file.read(_READ_BYTES)
    file.seek(0)
    if start.startswith(ZIP_SIGNATURE):
        yield from _read_archive(Archive(file, IN_FILE))
        return
    start = to_utf8(start)
    text = start.lstrip(b"\xef\xbb\xbf \t\r\n")
    is_html = takeout.is_takeout_html(start)
    if not (is_html or text.startswith((b"{", b"["))):
        raise RefusedImport(UNKNOWN_KIND)
    source = _Source(PurePosixPath(name).name, file.seek(0, 2), ArchiveFiles())
    file.seek(0)
    pieces = pieces_to_utf8(iter(partial(file.read, _READ_BYTES), b""))
    if text.startswith(b"[") and not _begins_as_activities(text):
        yield from source.read_list(pieces)
    else:
        yield from source.read_document(b"".join(_limited(pieces)), source.name)


def _begins_as_activities(text: bytes) -> bool:
    """Return whether a list begins as activities of Gemini. It is parsed as a whole: several form one conversation."""
    head = text[:20_000]
    return takeout.begins_as_activities(head) and b'"mapping"' not in head and b'"chat_messages"' not in head


def _limited(pieces: Iterator[bytes]) -> Iterator[bytes]:
    """Yield the pieces. Raises RefusedImport if they are too long to be parsed at once."""
    size_bytes = 0
    for piece in pieces:
        size_bytes += len(piece)
        if size_bytes > IMPORT_LIMIT_BYTES:
            raise RefusedImport(f"This file is too large: at most {IMPORT_LIMIT_BYTES // 1024**2} MB can be imported.")
        yield piece


def _read_archive(archive: Archive) -> Iterator[Entry]:
    """Yield the conversations of all documents, except notebooks that the first notebook lists as its files."""
    documents = find_documents(list(archive.names()))
    if not documents:
        raise RefusedImport(UNKNOWN_KIND)
    files = ArchiveFiles.of(archive)
    listed_files: set[str] = set()
    for number, path in enumerate(documents):
        if path in listed_files:
            continue
        source = _Source(path, archive.size_of(path), files, number / len(documents), 1 / len(documents))
        archive.begin_part()
        if CONVERSATIONS_NAME.fullmatch(PurePosixPath(path).name) and _begins_as_list(archive, path):
            yield from source.read_list(pieces_to_utf8(archive.stream(path, IN_FILE.unpacked_bytes)))
            continue
        try:
            data = to_utf8(archive.read(path, IMPORT_LIMIT_BYTES))
            if takeout.is_unrelated(path, data):
                continue
            if number == 0 and path.endswith(NOTEBOOK_SUFFIX):
                listed_files = set(documents).intersection(notebook.listed_files(parse_json(data)))
        except RefusedImport as error:
            yield Entry(path, None, str(error))
            continue
        yield from source.read_document(data, path)


def _begins_as_list(archive: Archive, path: str) -> bool:
    start = next(archive.stream(path, IN_FILE.unpacked_bytes), b"")
    return to_utf8(start).lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"[")


@dataclass(slots=True)
class _Source:
    """One document of a file."""

    name: str
    size_bytes: int
    files: ArchiveFiles
    share: float = 0.0
    """Share of the file before this document, from 0 to 1."""
    part: float = 1.0
    """Share of the file that this document has, from 0 to 1."""
    read_bytes: int = 0

    def read_list(self, pieces: Iterator[bytes]) -> Iterator[Entry]:
        """Yield the conversations of a list. Raises RefusedImport if it cannot be split."""
        for number, data in enumerate(split_list(self._counted(pieces))):
            if self.files.archive is not None:
                self.files.archive.begin_part()
            subject = f"{self.name} [{number}]"
            try:
                value = parse_json(data)
            except RefusedImport as error:
                yield Entry(subject, None, str(error), self._share_read)
                continue
            parsed = parse_document(JSONValue([value.value]), data, self._file_name, no_file, self.files)
            yield from self._entries(parsed, _title_of(value.value) or subject)

    def read_document(self, data: bytes, subject: str) -> Iterator[Entry]:
        """Yield the conversations of a document that is parsed as a whole."""
        self.read_bytes = len(data)
        read_file: Callable[[str], bytes | None] = no_file
        if self.files.archive is not None:
            read_file = partial(read_file_beside, self.files.archive, PurePosixPath(self.name))
        if takeout.is_takeout_html(data):
            yield from self._entries(takeout.parse_html(data, self.files), subject)
            return
        try:
            document = parse_json(data)
        except RefusedImport as error:
            yield Entry(subject, None, str(error), self._share_read)
            return
        yield from self._entries(parse_document(document, data, self._file_name, read_file, self.files), subject)

    def _entries(self, conversations: Iterator[ParsedConversation], subject: str) -> Iterator[Entry]:
        try:
            for parsed in conversations:
                share = self.share + (self._share_read - self.share) * parsed.document_share
                yield Entry(parsed.title or subject, parsed, "", share)
        except RefusedImport as error:
            yield Entry(subject, None, str(error), self._share_read)

    def _counted(self, pieces: Iterator[bytes]) -> Iterator[bytes]:
        for piece in pieces:
            self.read_bytes += len(piece)
            yield piece

    @property
    def _file_name(self) -> str:
        return PurePosixPath(self.name).name

    @property
    def _share_read(self) -> float:
        # The size in the list of an archive may be false.
        return self.share + self.part * min(1.0, self.read_bytes / max(1, self.size_bytes))


def _title_of(value: object) -> str:
    """Return the title that a conversation has in a file; empty if it has none."""
    titles = (value.get("title"), value.get("name")) if isinstance(value, dict) else ()
    return next((title.strip()[:200] for title in titles if isinstance(title, str) and title.strip()), "")
