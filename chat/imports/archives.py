"""Zip archives that anybody may have made: read within bounds, never unpacked to disk."""

from __future__ import annotations

import io
import struct
import zipfile
import zlib
from collections.abc import Iterator

from chat.imports.refusal import RefusedImport

ENTRIES_LIMIT = 20_000
UNPACKED_LIMIT_BYTES = 256 * 1024 * 1024
#: Text shrinks to a tenth and tables to a fiftieth; what shrinks more was made to.
RATIO_LIMIT = 200
_ENTRY_SIGNATURE = b"PK\x01\x02"
_READ_BYTES = 256 * 1024
_TAKEN = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)


class Archive:
    """An archive; all that is read of it counts towards one limit."""

    def __init__(self, data: bytes) -> None:
        """Raises RefusedImport."""
        # Counted before they are parsed: an entry of 46 bytes takes ten times as much memory.
        if data.count(_ENTRY_SIGNATURE) > ENTRIES_LIMIT:
            raise RefusedImport(f"This archive has more than {ENTRIES_LIMIT} entries.")
        try:
            self._zip = zipfile.ZipFile(io.BytesIO(data))
        except (zipfile.BadZipFile, struct.error, ValueError, NotImplementedError, OSError, UnicodeDecodeError):
            raise RefusedImport("This archive is broken, or it is no zip archive.") from None
        self._entries = {entry.filename: entry for entry in self._zip.infolist()}
        self._left_bytes = UNPACKED_LIMIT_BYTES

    def names(self) -> Iterator[str]:
        """Paths of its files, as they are written in it."""
        return iter(self._entries)

    def read(self, name: str, limit_bytes: int) -> bytes:
        """A file's bytes, at most so many. Raises KeyError, RefusedImport."""
        entry = self._entries[name]
        limit = min(self._left_bytes, limit_bytes, RATIO_LIMIT * entry.compress_size + _READ_BYTES)
        if entry.flag_bits & 1 or entry.compress_type not in _TAKEN:
            raise RefusedImport(f"“{name[:100]}” is encrypted, or packed in a way that is not taken.")
        pieces: list[bytes] = []
        size_bytes = 0
        try:
            with self._zip.open(entry) as file:
                # What the entry says of its own size is not believed.
                while piece := file.read(_READ_BYTES):
                    size_bytes += len(piece)
                    if size_bytes > limit:
                        raise RefusedImport(f"“{name[:100]}” unpacks to more than is taken.")
                    pieces.append(piece)
        except (zipfile.BadZipFile, zlib.error, EOFError, OSError, RuntimeError, NotImplementedError, struct.error):
            raise RefusedImport(f"“{name[:100]}” in this archive is broken.") from None
        self._left_bytes -= size_bytes
        return b"".join(pieces)
