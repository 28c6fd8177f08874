"""Prepares an attached file for a kernel: unpacks it, and encodes text as UTF-8, as for code of answers. Pure."""

from __future__ import annotations

from dataclasses import dataclass, replace

from attachments.chosen_encodings import encoding_of
from attachments.code_files import name_in_code, unpacked
from attachments.encoding_names import encoding_name
from attachments.text_encoding import NotText, TextEncoding
from chat.python.kernels.table_reading import NOTES_LIMIT, TableReading
from chat.python.table_readings.encoding_notes import describe_encoding
from chat.python.table_readings.table_files import PROSE_SUFFIXES, has_table_lines, suffix_of
from chat.vocabulary.text_types import is_text


@dataclass(frozen=True, slots=True)
class FileForKernel:
    """The name and the bytes that a kernel gets."""

    name: str
    data: bytes
    encoding: TextEncoding | None
    """The encoding of the text in the attached file; `None` for files that are no text."""

    @property
    def may_be_table(self) -> bool:
        """Whether the file may hold a table: it is not prose."""
        return suffix_of(self.name) not in PROSE_SUFFIXES or has_table_lines(self.data)

    def with_encoding(self, reading: TableReading, *, is_chosen: bool = False) -> TableReading:
        """Return a reading with the file's encoding and notes about it. The kernel does not know the encoding."""
        encoding = self.encoding
        if reading.error or encoding is None:
            return reading
        candidates = {"encoding": list(map(encoding_name, encoding.candidates))} if encoding.candidates else {}
        return replace(
            reading,
            notes=(*describe_encoding(encoding, is_chosen=is_chosen), *reading.notes)[:NOTES_LIMIT],
            reading={"encoding": encoding.name, **reading.reading},
            candidates={**candidates, **reading.candidates},
        )


def file_for_kernel(name: str, mime_type: str, data: bytes, *, chosen_encoding: str) -> FileForKernel:
    """Return the file that a kernel gets for an attachment. `chosen_encoding`: the owner's choice; empty for none."""
    inner_name = name_in_code(name, mime_type)
    if inner_name != name:
        data = unpacked(data)
    if not is_text(mime_type):
        return FileForKernel(inner_name, data, None)
    try:
        encoding = encoding_of(data, chosen_encoding)
    except NotText:
        return FileForKernel(inner_name, data, None)
    return FileForKernel(inner_name, encoding.to_utf8(data), encoding)
