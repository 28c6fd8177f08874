"""Reads untrusted zip archives within limits of size, without unpacking them to disk."""

from __future__ import annotations

import io
import struct
import zipfile
import zlib
from collections.abc import Iterator

from chat.library.imports.refusal import RefusedImport

ENTRIES_LIMIT = 20_000
UNPACKED_LIMIT_BYTES = 256 * 1024 * 1024
RATIO_LIMIT = 200
"""Text shrinks to about a tenth and tables to a fiftieth. A file that shrinks more was made to exhaust memory."""

_ENTRY_SIGNATURE = b"PK\x01\x02"
_READ_BYTES = 256 * 1024
_SUPPORTED_COMPRESSION = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)


class Archive:
    """A zip archive. Everything that is read from it counts towards one limit."""

    def __init__(self, data: bytes) -> None:
        """Read the list of entries. Raises RefusedImport."""
        # Entries are counted before they are parsed, because an entry of 46 bytes takes ten times as much memory.
        if data.count(_ENTRY_SIGNATURE) > ENTRIES_LIMIT:
            raise RefusedImport(f"This archive has more than {ENTRIES_LIMIT} entries.")
        try:
            self._zip = zipfile.ZipFile(io.BytesIO(data))
        except (zipfile.BadZipFile, struct.error, ValueError, NotImplementedError, OSError, UnicodeDecodeError):
            raise RefusedImport("This archive is broken, or it is no zip archive.") from None
        self._entries = {entry.filename: entry for entry in self._zip.infolist()}
        self._remaining_bytes = UNPACKED_LIMIT_BYTES

    def names(self) -> Iterator[str]:
        """Return the paths of its files, exactly as the archive has them."""
        return iter(self._entries)

    def check_room(self) -> None:
        """Raise RefusedImport if as much has been unpacked as is allowed."""
        if self._remaining_bytes <= 0:
            raise RefusedImport("This archive is larger than allowed when it is unpacked.")

    def read(self, name: str, limit_bytes: int) -> bytes:
        """Return the bytes of a file. Raises KeyError, and RefusedImport for more than `limit_bytes`."""
        entry = self._entries[name]
        self.check_room()
        limit = min(self._remaining_bytes, limit_bytes, RATIO_LIMIT * entry.compress_size + _READ_BYTES)
        if entry.flag_bits & 1 or entry.compress_type not in _SUPPORTED_COMPRESSION:
            raise RefusedImport(f"“{name[:100]}” is encrypted, or packed in a way that is not supported.")
        pieces: list[bytes] = []
        size_bytes = 0
        try:
            with self._zip.open(entry) as file:
                # The size that the entry names may be false, so the bytes are counted.
                while piece := file.read(_READ_BYTES):
                    size_bytes += len(piece)
                    if size_bytes > limit:
                        raise RefusedImport(f"“{name[:100]}” is larger than allowed when it is unpacked.")
                    pieces.append(piece)
        except (zipfile.BadZipFile, zlib.error, EOFError, OSError, RuntimeError, NotImplementedError, struct.error):
            raise RefusedImport(f"“{name[:100]}” in this archive is broken.") from None
        finally:
            # Also what was unpacked in vain counts, because importers go on without a file that is refused.
            self._remaining_bytes -= size_bytes
        return b"".join(pieces)
