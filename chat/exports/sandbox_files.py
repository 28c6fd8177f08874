"""Files of questions under the names by which code opened them.

Gemini's sandbox and the emulator put them into the working directory: by their own name where that is a harmless one,
else as `input_file_0.csv`. A later file of the same name took the place of the earlier one.
"""

from __future__ import annotations

import mimetypes
import re
import uuid
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from attachments.models import Attachment
from chat.exports.download import kept_bytes, slices
from chat.exports.names import distinct, file_label

_HARMLESS = re.compile(r"\w[\w .-]{0,100}")
_NUMBERED = re.compile(r"\binput_file_(\d{1,4})(?:\.\w{1,10})?")


@dataclass(frozen=True, slots=True)
class StoredFile:
    """A file beside the notebook."""

    name: str
    attachment: Attachment

    def chunks(self) -> Iterator[bytes]:
        """Its bytes; none where storage cannot give them."""
        return slices(kept_bytes(self.attachment) or b"")


class SandboxFiles:
    """The files of a conversation, oldest first, and what each is called."""

    def __init__(self, attachments: list[Attachment]) -> None:
        self._attachments = attachments
        self._wanted = {file.pk: _name(file, number) for number, file in enumerate(attachments)}
        contents: dict[str, set[str]] = defaultdict(set)
        for file in attachments:
            contents[self._wanted[file.pk].casefold()].add(file.sha256)
        self._contested = {name for name, digests in contents.items() if len(digests) > 1}
        self._stored: dict[uuid.UUID, str] = {}
        self._aliases: dict[str, Attachment] = {}
        self._choose_names()

    def __bool__(self) -> bool:
        return bool(self._attachments)

    def _choose_names(self) -> None:
        """One place for each content; those that share a name get a number, and are copied when their time comes."""
        chosen: dict[tuple[str, str], Attachment] = {}
        for file in self._attachments:
            chosen.setdefault((self._wanted[file.pk].casefold(), file.sha256), file)
        # The shared names are taken too: copies go there.
        names = distinct([*sorted(self._contested), *(self._wanted[file.pk] for file in chosen.values())])
        by_key = dict(zip(chosen, names[len(self._contested) :], strict=True))
        for file in self._attachments:
            self._stored[file.pk] = by_key[self._wanted[file.pk].casefold(), file.sha256]

    def name_of(self, attachment: Attachment) -> str:
        """What code calls it."""
        return self._wanted.get(attachment.pk, attachment.name)

    def copies(self, attachments: Iterable[Attachment]) -> list[tuple[str, str]]:
        """What must be copied before code sees these: stored name, name in code."""
        files = [file for file in attachments if self.name_of(file).casefold() in self._contested]
        return [(self._stored[file.pk], self._wanted[file.pk]) for file in files if file.pk in self._stored]

    def read(self, code: str) -> None:
        """Note the numbered names that code uses, whatever the files are called here."""
        for found in _NUMBERED.finditer(code):
            number = int(found[1])
            if number < len(self._attachments):
                self._aliases[found[0]] = self._attachments[number]

    def stored(self) -> Iterator[StoredFile]:
        """What lies beside the notebook, each name once."""
        taken: set[str] = set()
        named = [(self._stored[file.pk], file) for file in self._attachments]
        for name, file in [*named, *self._aliases.items()]:
            if name.casefold() not in taken:
                taken.add(name.casefold())
                yield StoredFile(name, file)


def _name(file: Attachment, number: int) -> str:
    label = file_label(file.name)
    if label == file.name and _HARMLESS.fullmatch(label):
        return label
    suffix = mimetypes.guess_extension(file.mime_type) or ""
    return f"input_file_{number}{suffix}"
