"""Files that came with the contents of a call, so that executed code can open them by name."""

from __future__ import annotations

import mimetypes
import re
from dataclasses import dataclass

from chat.emulator.call import Call, decode_base64
from chat.emulator.files import FileStore
from chat.emulator.wire import WireObject

_TABLE_TYPES = ("text/csv", "application/csv", "text/tab-separated-values", "application/vnd.ms-excel")


@dataclass(frozen=True, slots=True)
class Attached:
    """One file of a user's content."""

    name: str
    """A plain file name, unique in its call."""
    mime_type: str
    data: bytes
    is_new: bool
    """Whether it came with the last content."""

    @property
    def is_table(self) -> bool:
        """Whether pandas can read it as CSV, by its type or name."""
        return self.mime_type.partition(";")[0] in _TABLE_TYPES or self.name.lower().endswith((".csv", ".tsv"))


def attached_files(call: Call, store: FileStore) -> list[Attached]:
    """All files of user contents, oldest first; a later one of the same name replaces the earlier."""
    found: dict[str, Attached] = {}
    for content in call.contents:
        if content.get("role", "user") != "user":
            continue
        for part in content["parts"]:
            file = _read(part, len(found), store, is_new=content is call.contents[-1])
            if file is not None:
                found[file.name] = file
    return list(found.values())


def _read(part: WireObject, number: int, store: FileStore, *, is_new: bool) -> Attached | None:
    if "inlineData" in part:
        blob = part["inlineData"]
        wanted, mime_type = blob.get("displayName", ""), blob.get("mimeType", "")
        return Attached(_name(wanted, mime_type, number), mime_type, decode_base64(blob.get("data", "")), is_new)
    if "fileData" in part:
        stored = store.by_uri(part["fileData"].get("fileUri", ""))
        if stored is not None:
            name = _name(stored.display_name, stored.mime_type, number)
            return Attached(name, stored.mime_type, bytes(stored.data), is_new)
    return None


def _name(wanted: str, mime_type: str, number: int) -> str:
    """The given name if it is a harmless one, else `input_file_0.csv`, as Gemini's sandbox calls them."""
    if re.fullmatch(r"[\w][\w .-]{0,100}", wanted):
        return wanted
    return f"input_file_{number}{mimetypes.guess_extension(mime_type.partition(';')[0]) or ''}"
