"""Makes zip archives while they are sent, one entry after the other."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator
from dataclasses import dataclass
from zipfile import ZIP_DEFLATED, ZIP_STORED

from zipstream import ZipStream

COMPRESSION_LEVEL = 1
"""The fastest level. It already compresses text to about a quarter."""


@dataclass(frozen=True, slots=True)
class ZipEntry:
    """A file in an archive."""

    path: str
    """The relative path of the file, with `/`. The names in it are safe, because they come from `file_names`."""
    chunks: Iterator[bytes]
    is_compressed: bool = True


def stream_zip(entries: Iterable[ZipEntry], *, left_out: tuple[type[Exception], ...] = ()) -> Generator[bytes]:
    """Yield the bytes of the archive. The next entry is taken from `entries` when the previous one has been sent.

    An entry is left out if its path equals an earlier path, or differs from it only in case. It is also left out if its
    chunks raise one of the errors in `left_out`.
    """
    archive = ZipStream(compress_type=ZIP_STORED)
    paths: set[str] = set()
    for entry in entries:
        if entry.path.casefold() in paths:
            continue
        paths.add(entry.path.casefold())
        if entry.is_compressed:
            archive.add(entry.chunks, entry.path, compress_type=ZIP_DEFLATED, compress_level=COMPRESSION_LEVEL)
        else:
            archive.add(entry.chunks, entry.path)
        try:
            yield from archive.file()
        except left_out:
            # Some bytes of the entry may have been sent, but the directory at the end of the archive does not name it.
            continue
    yield from archive.footer()
