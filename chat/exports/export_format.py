"""The description of an export format. Each format's module has one, and `registry` lists them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from chat.exports.download import Download
from chat.exports.source import ExportSource


@dataclass(frozen=True, slots=True)
class ExportFormat:
    """A format that one conversation can be exported in."""

    name: str
    """Its name in URLs."""
    label: str
    """Its name in the menu."""
    description: str
    """What the menu says about it."""
    media_types: tuple[str, ...]
    """The media types that its downloads may have."""
    export: Callable[[ExportSource], Download]
