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
    """The bytes, which can be read once. They come from the database, so close the generator if it is not exhausted."""
