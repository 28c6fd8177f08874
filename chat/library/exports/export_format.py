"""The description of an export format. Each format's module has one, and `registry` lists them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from chat.library.exports.download import Download
from chat.library.exports.source import ExportSource


@dataclass(frozen=True, slots=True)
class ExportFormat:
    """A format in which one conversation can be exported."""

    name: str
    """The name of the format in URLs."""
    label: str
    """The name of the format in the menu."""
    description: str
    """The description in the menu."""
    media_types: tuple[str, ...]
    """The media types that its downloads may have."""
    export: Callable[[ExportSource], Download]
    has_single_messages: bool = False
    """True if one message can be exported alone."""


class RefusedExport(Exception):
    """The document cannot be made. The text is a sentence for the user."""

    status = 422
    sentence = "This document could not be made. Export it as a web page."

    def __init__(self) -> None:
        super().__init__(self.sentence)


class ExportTooLarge(RefusedExport):
    """The messages or their pictures exceed a limit of the format."""

    sentence = "This is too large for this format. Export it as a web page, or export single answers."


class ExportBusy(RefusedExport):
    """Too many documents are being made."""

    status = 503
    sentence = "The server is busy with other documents. Try again soon."


class ExportUnavailable(RefusedExport):
    """The programs that make documents are not installed."""

    sentence = "This server has no programs for PDF and Word. Export it as a web page."
