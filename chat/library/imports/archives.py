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
"""Maximum ratio of unpacked to packed size. Text has about 10, tables 50; more is meant to exhaust memory."""

_ENTRY_SIGNATURE = b"PK\x01\x02"
_READ_BYTES = 256 * 1024
_SUPPORTED_COMPRESSION = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_BROKEN = (zipfile.BadZipFile, zlib.error, EOFError, OSError, RuntimeError, NotImplementedError, struct.error)


@dataclass(frozen=True, slots=True)
class ArchiveLimits:
    """Limits of an archive. All data that are read from it count towards them."""

    entries: int
    """Maximum number of entries. The list of entries takes about 1 KB of memory for each."""
    unpacked_bytes: int
    """Maximum size of all data that are read."""
    part_bytes: int
    """Maximum size of the data that are read between two calls of `begin_part`, which are in memory at once."""
    directory_bytes: int
    """Maximum size of the list of entries in the archive. Its names may be long."""


IN_MEMORY = ArchiveLimits(
    entries=20_000, unpacked_bytes=256 * 1024**2, part_bytes=256 * 1024**2, directory_bytes=64 * 1024**2
)
"""Limits of archives that are imported within a request."""
IN_FILE = ArchiveLimits(
    entries=100_000, unpacked_bytes=6 * 1024**3, part_bytes=256 * 1024**2, directory_bytes=32 * 1024**2
)
"""Limits of archives up to 2 GB, which are mostly images that cannot be compressed. Unpacking 6 GB takes a minute."""


class _Source:
    """The file of an archive. While the list of entries is read, it counts the entries before they are parsed."""

    def __init__(self, file: BinaryIO, limits: ArchiveLimits) -> None:
        self._file = file
        self._limits = limits
        self.is_opening = True
        self.seek, self.tell, self.seekable = file.seek, file.tell, file.seekable

    def read(self, size: int = -1) -> bytes:
        """Return bytes. Raises RefusedImport if they contain a list of too many entries."""
        if self.is_opening and size > self._limits.directory_bytes:
            raise RefusedImport(TOO_MANY_ENTRIES.format(limit=self._limits.entries))
        data = self._file.read(size)
        # An entry of 46 bytes takes ten times as much memory when it is parsed.
        if self.is_opening and data.count(_ENTRY_SIGNATURE) > self._limits.entries:
            raise RefusedImport(TOO_MANY_ENTRIES.format(limit=self._limits.entries))
        return data


class Archive:
    """A zip archive. All data that are read from it count towards its limits."""

    def __init__(self, file: BinaryIO, limits: ArchiveLimits) -> None:
        """Read the list of entries. Raises RefusedImport if the archive is broken, or the list is too long."""
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
        """Return the size in bytes that an entry claims to have, perhaps falsely. Raises KeyError if it is missing."""
        return self._entries[name].file_size

    def begin_part(self) -> None:
        """Begin a new part: the data that were read before are not in memory any more."""
        self._part_remaining_bytes = self._limits.part_bytes

    def check_room(self) -> None:
        """Raise RefusedImport if the limit for unpacked data is reached."""
        if self._remaining_bytes <= 0:
            raise RefusedImport("This archive is larger than allowed when it is unpacked.")

    def read(self, name: str, limit_bytes: int) -> bytes:
        """Return the bytes of a file. Raises KeyError if it is missing.

        Raises RefusedImport if it has more than `limit_bytes`, exceeds another limit, or cannot be unpacked.
        """
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
        """Yield the bytes of a file in pieces. Raises the errors of `read`."""
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
                    # Bytes of refused files count too, because importers continue without a refused file.
                    self._remaining_bytes -= len(piece)
                    if size_bytes > limit:
                        raise RefusedImport(f"“{name[:100]}” is larger than allowed when it is unpacked.")
                    yield piece
        except _BROKEN:
            raise RefusedImport(f"“{name[:100]}” in this archive is broken.") from None
