"""What every export returns: a file's name, its type, and its bytes as they are made."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Download:
    """A file whose bytes are made while they are read."""

    name: str
    content_type: str
    chunks: Generator[bytes]
    """Can be read once. It queries the database between chunks, so close it if it is not read to its end."""
