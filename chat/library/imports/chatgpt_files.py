"""Finds the files of a ChatGPT archive, whose entries are named by the id of the file.

Three layouts are known: `file-ID-name.png` beside `conversations.json`, the same in folders of users, of sounds and of
`dalle-generations`, and `file-ID.dat` with the names in `conversation_asset_file_names.json`. In the archives of Claude
and Google, `ArchiveFiles.by_name` finds the files.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import PurePosixPath

from django.conf import settings
from django.utils.translation import gettext, gettext_noop

from attachments.packed_text import GZIP_MARK, ZIP_MARKS
from attachments.table_types import find_table_kind
from attachments.validation import BINARY, GIF, JPEG, PNG, WEBP
from chat.library.imports.archives import Archive
from chat.library.imports.file_checks import UncheckedFile, check_file
from chat.library.imports.json_document import parse_json
from chat.library.imports.json_paths import JSONValue
from chat.library.imports.records import ParsedAttachment
from chat.library.imports.refusal import RefusedImport
from chat.vocabulary.markdown_source import escape_label
from chat.vocabulary.sanitize import one_line

FILES_LIMIT = 2_000
"""Maximum number of files of one conversation."""
NAMES_LIMIT_BYTES = 16 * 1024 * 1024
NAMES_LIMIT = 200_000
"""Maximum number of names in all lists of an archive."""
NAME_LIMIT_CHARS = 200

ABSENT = gettext_noop("It is not in the archive.")
NO_ARCHIVE = gettext_noop("Import the whole archive to get its files.")
REFUSED = gettext_noop("It is broken, empty, or too large.")
TOO_MANY = gettext_noop("The conversation has too many files.")

# A pointer begins with `sediment://` or with `file-service://`, which is not an id.
_FILE_ID = re.compile(r"file[-_](?!service:)(?:[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|[A-Za-z0-9]{1,64})")
_NAMES_ENTRY = re.compile(r"conversation_asset_file_names(?:-\d{1,6})?\.json")
_SUFFIXES = {PNG: ".png", JPEG: ".jpg", GIF: ".gif", WEBP: ".webp"}
_ID_IN_NAME = re.compile(r"(?:[0-9a-f-]{16,64}|sanitized|file)?")


def find_file_id(text: str) -> str:
    """Return the id in a pointer such as `sediment://file_00000000` or in the name of an entry; empty without one."""
    match = _FILE_ID.search(text)
    return match[0] if match else ""


@dataclass(slots=True)
class ArchiveFiles:
    """The files of an archive. Each conversation reads its own copies, which count for the limit of the archive."""

    archive: Archive | None = None
    """`None`: the document was sent without its archive."""
    entries: dict[str, str] = field(default_factory=dict)
    """Id of a file -> path of its entry."""
    names: dict[str, str] = field(default_factory=dict)
    """Id of a file -> its name as it was uploaded."""
    named: dict[re.Pattern[str] | None, ArchiveFiles] = field(default_factory=dict)
    """The results of `by_name`."""

    @classmethod
    def of(cls, archive: Archive) -> ArchiveFiles:
        """Return the files of an archive. A list of names that is broken is ignored."""
        files = cls(archive)
        for path in archive.names():
            name = PurePosixPath(path).name
            if match := _FILE_ID.match(name):
                files.entries.setdefault(match[0], path)
            elif _NAMES_ENTRY.fullmatch(name) and len(files.names) < NAMES_LIMIT:
                files.names |= _read_names(archive, path)
        return files

    def by_name(self, folder: re.Pattern[str] | None = None) -> ArchiveFiles:
        """Return the files with their names, with and without suffix, as ids. `folder`: pattern for their folder."""
        if folder in self.named:
            return self.named[folder]
        files = self.named[folder] = ArchiveFiles(self.archive)
        paths = [PurePosixPath(path) for path in self.archive.names()] if self.archive else []
        for path in paths:
            if folder is None or folder.search(path.parent.name):
                files.entries.setdefault(path.name, str(path))
                files.entries.setdefault(path.stem, str(path))
        return files

    def has(self, file_id: str) -> bool:
        """Return whether the archive has a file of this id."""
        return file_id in self.entries

    def read(self, file_id: str, name: str, value: JSONValue, *, is_graph: bool) -> ParsedAttachment | str:
        """Return a file that passed the checks of an upload, or the reason why there is none.

        Raises RefusedImport if the archive is too large when it is unpacked.
        """
        if self.archive is None:
            return NO_ARCHIVE
        path = self.entries.get(file_id)
        if path is None:
            return ABSENT
        self.archive.check_room()
        try:
            data = self.archive.read(path, settings.UPLOAD_LIMIT_BYTES)
        except RefusedImport:
            return REFUSED
        checked = _check(file_id, name or self._name_of(file_id, path), data, value)
        return checked if isinstance(checked, str) else replace(checked, is_graph=is_graph and checked.is_image)

    def name(self, file_id: str) -> str:
        """Return the name of a file in the list of names; empty if the list does not contain it."""
        return self.names.get(file_id, "")

    def _name_of(self, file_id: str, path: str) -> str:
        name = self.name(file_id) or PurePosixPath(path).name.removeprefix(file_id).lstrip("-_")
        return f"file{name}" if name.startswith(".") else name


def _check(file_id: str, name: str, data: bytes, value: JSONValue) -> ParsedAttachment | str:
    """Return a file that passed the checks of an upload, or the reason why it did not."""
    is_upload = not _is_packed(name, data)
    file = UncheckedFile(key=file_id, name=name, data=data, mime_type=BINARY, is_graph=False, is_upload=is_upload)
    try:
        checked = check_file(file, value)
    except RefusedImport:
        return REFUSED
    return replace(checked, name=_with_suffix(checked))


def _is_packed(name: str, data: bytes) -> bool:
    """Return whether a file is a zip or gzip file, but not a workbook.

    Such a file is stored as it is (see `inspect_file_of_code`). The checks of an upload would unpack it in vain.
    """
    if data.startswith(ZIP_MARKS):
        return find_table_kind(data, name.lower().rpartition(".")[2]) is None
    return data.startswith(GZIP_MARK)


def _read_names(archive: Archive, path: str) -> dict[str, str]:
    """Return the names of files by their id."""
    try:
        names = parse_json(archive.read(path, NAMES_LIMIT_BYTES)).as_object()
    except RefusedImport:
        return {}
    # Names may have a folder, as in `dalle-generations/ID.webp`.
    pairs = ((find_file_id(entry), name) for entry, name in names.items() if isinstance(name, str))
    known = islice((pair for pair in pairs if pair[0]), NAMES_LIMIT)
    return {file_id: PurePosixPath(name).name[:NAME_LIMIT_CHARS] for file_id, name in known}


def _with_suffix(file: ParsedAttachment) -> str:
    """Return the name of a file. A file without a name, or an image with suffix `.dat`, gets that of its type."""
    stem, dot, suffix = file.name.rpartition(".")
    expected = _SUFFIXES.get(file.mime_type)
    has_name = not _ID_IN_NAME.fullmatch(stem)
    if has_name and (expected is None or (dot and suffix != "dat")):
        return file.name
    if expected is None:
        return f"file.{suffix}" if dot else file.name
    return f"{stem if has_name else 'image'}{expected}"


@dataclass(frozen=True, slots=True)
class MissingFile:
    """A file that a message names, and that was not imported."""

    kind: str
    name: str
    reason: str

    @property
    def sentence(self) -> str:
        """The sentence that replaces the file in the message, as Markdown."""
        label = escape_label(one_line(self.name[:NAME_LIMIT_CHARS]))
        # Escape the name: an address in it would become a link, and an escaped bracket would begin a formula.
        label = label.replace("://", r"\://").replace(r"\[", "&#91;").replace(r"\]", "&#93;")
        name = f" “{label}”" if self.name else ""
        return gettext("(Not imported: %(what)s. %(reason)s)") % {
            "what": f"{gettext(self.kind)}{name}",
            "reason": gettext(self.reason),
        }


@dataclass(slots=True)
class ConversationFiles:
    """The files of one conversation: each is read once."""

    files: ArchiveFiles
    read: dict[str, ParsedAttachment | str] = field(default_factory=dict)

    def find(
        self, file_id: str, kind: str, name: str, value: JSONValue, *, is_graph: bool = False
    ) -> ParsedAttachment | MissingFile:
        """Return a file, or a MissingFile that replaces it. `value`: the value in the document that names the file."""
        if file_id not in self.read:
            if len(self.read) >= FILES_LIMIT:
                return MissingFile(kind, name, TOO_MANY)
            self.read[file_id] = self.files.read(file_id, name, value, is_graph=is_graph)
        known = self.read[file_id]
        return MissingFile(kind, name or self.files.name(file_id), known) if isinstance(known, str) else known

    def add(self, file_id: str, kind: str, name: str, data: bytes, value: JSONValue) -> ParsedAttachment | MissingFile:
        """Add and return a file whose content is in the document, or a MissingFile that replaces it."""
        is_full = len(self.read) >= FILES_LIMIT
        found = TOO_MANY if is_full else _check(file_id, name, data, value)
        if not is_full:
            self.read[file_id] = found
        return MissingFile(kind, name, found) if isinstance(found, str) else found

    def shown(self, keys: Iterable[str]) -> tuple[ParsedAttachment, ...]:
        """Return the files with these ids, each once."""
        found = (self.read.get(key) for key in dict.fromkeys(keys))
        return tuple(file for file in found if isinstance(file, ParsedAttachment))

    def digests(self) -> list[tuple[str, str]]:
        """Return the id and the digest of each file that was found."""
        found = ((key, file) for key, file in self.read.items() if isinstance(file, ParsedAttachment))
        return sorted((key, file.sha256) for key, file in found)
