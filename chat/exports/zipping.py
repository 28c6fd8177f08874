"""Archives whose bytes are made while they are sent: one entry at a time, none of it in memory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from zipfile import ZIP_DEFLATED, ZIP_STORED

from zipstream import ZipStream

#: Text shrinks to a quarter at the fastest level already.
COMPRESSION_LEVEL = 1


@dataclass(frozen=True, slots=True)
class Entry:
    """A file of an archive."""

    path: str
    """Relative, with `/`; made of names that `names` has made safe."""
    chunks: Iterator[bytes]
    is_compressed: bool = True


def zipped(entries: Iterable[Entry]) -> Iterator[bytes]:
    """The archive of these entries, each of which is asked for when the one before has been sent."""
    archive = ZipStream(compress_type=ZIP_STORED)
    taken: set[str] = set()
    for entry in entries:
        if entry.path.casefold() in taken:
            continue
        taken.add(entry.path.casefold())
        if entry.is_compressed:
            archive.add(entry.chunks, entry.path, compress_type=ZIP_DEFLATED, compress_level=COMPRESSION_LEVEL)
        else:
            archive.add(entry.chunks, entry.path)
        yield from archive.file()
    yield from archive.footer()
