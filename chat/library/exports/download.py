"""The value that every export returns: a file's name, its type, and an iterator of its bytes."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Download:
    """A file whose bytes are generated while they are read."""

    name: str
    content_type: str
    chunks: Generator[bytes]
    """Can be read once. It queries the database between chunks, so close it if it is not read to its end."""
