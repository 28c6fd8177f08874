"""Exports the files of questions under the names by which the executed code opened them.

Python sessions, and requests with tables, give each file a unique name. In older answers, Gemini's sandbox put a file
into its working directory under the file's own name if this is harmless, else as `input_file_0.csv`. There, a later
file replaced an earlier one of the same name. The names in the code show which of the two cases applies.
"""

from __future__ import annotations

import mimetypes
import re
import uuid
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass

from attachments.chosen_readings import chosen_encodings
from attachments.code_files import as_code_reads, name_in_code
from attachments.models import Attachment
from chat.library.exports.encoding import split_bytes
from chat.library.exports.file_names import file_label, make_unique
from chat.library.exports.source import ExportSource, load_bytes
from chat.python.sessions.files import labels_of
from chat.vocabulary.file_labels import native_name

_HARMLESS = re.compile(r"\w[\w .-]{0,100}")
_NUMBERED = re.compile(r"\binput_file_(\d{1,4})(?:\.\w{1,10})?")


@dataclass(frozen=True, slots=True)
class StoredFile:
    """A file that is stored beside the notebook."""

    name: str
    attachment: Attachment
    encoding: str | None
    """The encoding that its owner chose, by its label."""

    def chunks(self) -> Iterator[bytes]:
        """Yield the bytes that code read from the file, in chunks; no chunks if storage cannot deliver the file."""
        return split_bytes(as_code_reads(self.attachment.name, load_bytes(self.attachment) or b"", self.encoding))


class SandboxFiles:
    """The files of a conversation, and their names in code and beside the notebook.

    If files with the same name differ, each is stored under a name with a number. The notebook copies a file to the
    shared name before code needs it.
    """

    def __init__(self, attachments: list[Attachment], is_in_code: Callable[[Collection[str]], bool]) -> None:
        """`attachments`: the files of the shown questions, oldest first.

        `is_in_code`: returns whether code of the conversation contains one of the given texts.
        """
        self._attachments = attachments
        self._encodings = chosen_encodings(attachments)
        self._names_in_code = {file.pk: _name_in_code(file, number) for number, file in enumerate(attachments)}
        labels = labels_of(attachments)
        unlike = {label for pk, label in labels.items() if label != self._names_in_code[pk]}
        if unlike and is_in_code(unlike):
            self._names_in_code = labels
        self._native_names = {native_name(label): pk for pk, label in labels.items() if native_name(label) != label}
        contents: dict[str, set[str]] = defaultdict(set)
        for file in attachments:
            contents[self._names_in_code[file.pk].casefold()].add(file.sha256)
        self._shared_names = {name for name, digests in contents.items() if len(digests) > 1}
        self._stored_names = self._choose_stored_names()
        self._aliases: dict[str, Attachment] = {}

    def __bool__(self) -> bool:
        return bool(self._attachments)

    def _choose_stored_names(self) -> dict[uuid.UUID, str]:
        """Return the name beside the notebook for each file. Files with the same name and content have one name."""
        files: dict[tuple[str, str], Attachment] = {}
        for file in self._attachments:
            files.setdefault(self._key(file), file)
        # The shared names are reserved, because copies are written to them.
        names = make_unique([*sorted(self._shared_names), *(self._names_in_code[file.pk] for file in files.values())])
        names_by_key = dict(zip(files, names[len(self._shared_names) :], strict=True))
        return {file.pk: names_by_key[self._key(file)] for file in self._attachments}

    def _key(self, file: Attachment) -> tuple[str, str]:
        return self._names_in_code[file.pk].casefold(), file.sha256

    def name_of(self, attachment: Attachment) -> str:
        """Return the name by which code opens the file."""
        return self._names_in_code.get(attachment.pk, attachment.name)

    def copies(self, attachments: Iterable[Attachment]) -> list[tuple[str, str]]:
        """Return the files to copy before code opens these attachments, as pairs (stored name, name in code)."""
        files = [file for file in attachments if self.name_of(file).casefold() in self._shared_names]
        return [(self._stored_names[file.pk], self.name_of(file)) for file in files if file.pk in self._stored_names]

    def note_numbered_names(self, code: str) -> None:
        """Collect file names in the code that only Google's sandbox gives. `stored` yields these names too."""
        for match in _NUMBERED.finditer(code):
            number = int(match[1])
            if number < len(self._attachments):
                self._aliases[match[0]] = self._attachments[number]
        for name, pk in self._native_names.items():
            if name in code:
                self._aliases[name] = next(file for file in self._attachments if file.pk == pk)

    def stored(self) -> Iterator[StoredFile]:
        """Yield the files to store beside the notebook, each name once."""
        names: set[str] = set()
        named = [(self._stored_names[file.pk], file) for file in self._attachments]
        for name, file in [*named, *self._aliases.items()]:
            if name.casefold() not in names:
                names.add(name.casefold())
                yield StoredFile(name, file, self._encodings.get(file.pk))


def sandbox_files(source: ExportSource) -> SandboxFiles:
    """Return the files of a conversation that is exported."""
    return SandboxFiles(source.question_files(), source.is_in_code)


def _name_in_code(file: Attachment, number: int) -> str:
    name = name_in_code(file.name, file.mime_type)
    label = file_label(name)
    if label == name and _HARMLESS.fullmatch(label):
        return label
    suffix = mimetypes.guess_extension(file.mime_type) or ""
    return f"input_file_{number}{suffix}"
