"""The files in the contents of a request, which executed code can open by name."""

from __future__ import annotations

import mimetypes
from dataclasses import dataclass

from chat.emulator.files import FileStore
from chat.emulator.generation_request import GenerationRequest, decode_base64
from chat.emulator.wire import WireObject
from chat.vocabulary.file_labels import file_labels

_TABLE_MIME_TYPES = ("text/csv", "application/csv", "text/tab-separated-values", "application/vnd.ms-excel")


@dataclass(frozen=True, slots=True)
class AttachedFile:
    """A file in a content of the user."""

    name: str
    """A file name without folders, unique in its request."""
    mime_type: str
    data: bytes
    is_new: bool
    """Whether the file came with the last prompt."""

    @property
    def is_table(self) -> bool:
        """Whether the file's type or name says that pandas can read it as CSV."""
        mime_type = self.mime_type.partition(";")[0]
        return mime_type in _TABLE_MIME_TYPES or self.name.lower().endswith((".csv", ".tsv"))


def attached_files(request: GenerationRequest, store: FileStore) -> list[AttachedFile]:
    """Return the files of all user contents, oldest first. A file replaces an earlier one of the same name."""
    files: dict[str, AttachedFile] = {}
    for index, content in enumerate(request.contents):
        if content.get("role", "user") != "user":
            continue
        for part in content["parts"]:
            file = _file_of(part, len(files), store, is_new=index >= request.last_prompt_index)
            if file is not None:
                files[file.name] = file
    return list(files.values())


def _file_of(part: WireObject, number: int, store: FileStore, *, is_new: bool) -> AttachedFile | None:
    if "inlineData" in part:
        blob = part["inlineData"]
        mime_type = blob.get("mimeType", "")
        name = _file_name(blob.get("displayName", ""), mime_type, number)
        return AttachedFile(name, mime_type, decode_base64(blob.get("data", "")), is_new)
    if "fileData" in part:
        stored = store.find_by_uri(part["fileData"].get("fileUri", ""))
        if stored is not None:
            name = _file_name(stored.display_name, stored.mime_type, number)
            return AttachedFile(name, stored.mime_type, bytes(stored.data), is_new)
    return None


def _file_name(display_name: str, mime_type: str, number: int) -> str:
    """Return the display name if it is a safe file name, else a name as in Gemini's sandbox: `input_file_0.csv`."""
    if file_labels([display_name]) == [display_name]:
        return display_name
    return f"input_file_{number}{mimetypes.guess_extension(mime_type.partition(';')[0]) or ''}"
