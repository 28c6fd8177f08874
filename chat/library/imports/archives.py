"""Reads untrusted zip archives, in memory or in a file, within limits of size and without unpacking them to disk."""

from __future__ import annotations

import struct
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO, cast

from chat.library.imports.refusal import RefusedImport

TOO_MANY_ENTRIES = "This archive has more than {limit} entries."
RATIO_LIMIT = 200
"""Text shrinks to about a tenth and tables to a fiftieth. A file that shrinks more was made to exhaust memory."""

_ENTRY_SIGNATURE = b"PK\x01\x02"
_READ_BYTES = 256 * 1024
_SUPPORTED_COMPRESSION = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_BROKEN = (zipfile.BadZipFile, zlib.error, EOFError, OSError, RuntimeError, NotImplementedError, struct.error)


@dataclass(frozen=True, slots=True)
class ArchiveLimits:
    """What an archive may hold. Everything that is read from it counts."""

    entries: int
    """The list of entries is in memory, with about 1 KB for each."""
    unpacked_bytes: int
    """All that is read."""
    part_bytes: int
    """What is read between two calls of `begin_part`, and is in memory at once."""
    directory_bytes: int
    """The list of entries as it is in the archive. Its names may be long."""


IN_MEMORY = ArchiveLimits(
    entries=20_000, unpacked_bytes=256 * 1024**2, part_bytes=256 * 1024**2, directory_bytes=64 * 1024**2
)
"""For archives that are imported within a request."""
IN_FILE = ArchiveLimits(
    entries=100_000, unpacked_bytes=6 * 1024**3, part_bytes=256 * 1024**2, directory_bytes=32 * 1024**2
)
"""For archives of 2 GB. Most of them is images, which do not shrink. Unpacking 6 GB takes a worker about a minute."""


class _Source:
    """The bytes of an archive. While its list of entries is read, the entries are counted before they are parsed."""

    def __init__(self, file: BinaryIO, limits: ArchiveLimits) -> None:
        self._file = file
        self._limits = limits
        self.is_opening = True
        self.seek, self.tell, self.seekable = file.seek, file.tell, file.seekable

    def read(self, size: int = -1) -> bytes:
        """Return bytes. Raises RefusedImport if they are a list of too many entries."""
        if self.is_opening and size > self._limits.directory_bytes:
            raise RefusedImport(TOO_MANY_ENTRIES.format(limit=self._limits.entries))
        data = self._file.read(size)
        # An entry of 46 bytes takes ten times as much memory when it is parsed.
        if self.is_opening and data.count(_ENTRY_SIGNATURE) > self._limits.entries:
            raise RefusedImport(TOO_MANY_ENTRIES.format(limit=self._limits.entries))
        return data


class Archive:
    """A zip archive. Everything that is read from it counts towards its limits."""

    def __init__(self, file: BinaryIO, limits: ArchiveLimits) -> None:
        """Read the list of entries. Raises RefusedImport."""
        source = _Source(file, limits)
        try:
            self._zip = zipfile.ZipFile(cast("BinaryIO", source))
        except (zipfile.BadZipFile, struct.error, ValueError, NotImplementedError, OSError, UnicodeDecodeError):
            raise RefusedImport("This archive is broken, or it is no zip archive.") from None
        source.is_opening = False
        self._entries = {entry.filename: entry for entry in self._zip.infolist()}
        self._limits = limits
        self._remaining_bytes = limits.unpacked_bytes
        self._part_remaining_bytes = limits.part_bytes

    def names(self) -> Iterator[str]:
        """Return the paths of its files, exactly as the archive has them."""
        return iter(self._entries)

    def size_of(self, name: str) -> int:
        """Return the size that an entry claims to have, in bytes. It may be false. Raises KeyError."""
        return self._entries[name].file_size

    def begin_part(self) -> None:
        """Forget what was read before: it is not in memory any more."""
        self._part_remaining_bytes = self._limits.part_bytes

    def check_room(self) -> None:
        """Raise RefusedImport if as much has been unpacked as is allowed."""
        if self._remaining_bytes <= 0:
            raise RefusedImport("This archive is larger than allowed when it is unpacked.")

    def read(self, name: str, limit_bytes: int) -> bytes:
        """Return the bytes of a file. Raises KeyError, and RefusedImport for more than `limit_bytes`."""
        size_bytes = 0
        pieces: list[bytes] = []
        try:
            for piece in self.stream(name, min(limit_bytes, self._part_remaining_bytes)):
                size_bytes += len(piece)
                pieces.append(piece)
        finally:
            self._part_remaining_bytes -= size_bytes
        return b"".join(pieces)

    def stream(self, name: str, limit_bytes: int) -> Iterator[bytes]:
        """Yield the bytes of a file in pieces. Raises KeyError, and RefusedImport for more than `limit_bytes`."""
        entry = self._entries[name]
        self.check_room()
        limit = min(self._remaining_bytes, limit_bytes, RATIO_LIMIT * entry.compress_size + _READ_BYTES)
        if entry.flag_bits & 1 or entry.compress_type not in _SUPPORTED_COMPRESSION:
            raise RefusedImport(f"“{name[:100]}” is encrypted, or packed in a way that is not supported.")
        size_bytes = 0
        try:
            with self._zip.open(entry) as file:
                # The size that the entry names may be false, so the bytes are counted.
                while piece := file.read(_READ_BYTES):
                    size_bytes += len(piece)
                    # Also what was unpacked in vain counts, because importers go on without a file that is refused.
                    self._remaining_bytes -= len(piece)
                    if size_bytes > limit:
                        raise RefusedImport(f"“{name[:100]}” is larger than allowed when it is unpacked.")
                    yield piece
        except _BROKEN:
            raise RefusedImport(f"“{name[:100]}” in this archive is broken.") from None
