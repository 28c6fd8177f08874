"""Zip archives whose bytes are made while they are sent, one entry at a time."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator
from dataclasses import dataclass
from zipfile import ZIP_DEFLATED, ZIP_STORED

from zipstream import ZipStream

COMPRESSION_LEVEL = 1
"""The fastest level shrinks text to about a quarter already."""


@dataclass(frozen=True, slots=True)
class ZipEntry:
    """A file in an archive."""

    path: str
    """A relative path with `/`. Its names are safe: `file_names` made them."""
    chunks: Iterator[bytes]
    is_compressed: bool = True


def stream_zip(entries: Iterable[ZipEntry], *, left_out: tuple[type[Exception], ...] = ()) -> Generator[bytes]:
    """Yield the archive. Each entry is requested when the one before has been sent.

    Entries whose path differs from an earlier one only in case are left out, and those whose chunks raise one of the
    errors `left_out`.
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
            # Its first bytes may have been sent. The directory at the end of the archive does not name it.
            continue
    yield from archive.footer()
