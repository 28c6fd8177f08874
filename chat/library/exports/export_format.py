"""The description of an export format. Each format's module has one, and `registry` lists them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from chat.library.exports.download import Download
from chat.library.exports.source import ExportSource


@dataclass(frozen=True, slots=True)
class ExportFormat:
    """A format that one conversation can be exported in."""

    name: str
    """The name of the format in URLs."""
    label: str
    """The name of the format in the menu."""
    description: str
    """The description in the menu."""
    media_types: tuple[str, ...]
    """The media types that its downloads may have."""
    export: Callable[[ExportSource], Download]
