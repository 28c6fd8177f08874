"""The outputs of a cell as values: text, errors, images and other displays. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import groupby
from typing import Literal, TypeAlias

from chat.vocabulary.display_bundles import Bundle
from chat.vocabulary.display_text import display_text
from chat.vocabulary.escape_codes import remove_escape_codes
from chat.vocabulary.sanitize import sanitize_text


class ExecutionStatus(StrEnum):
    """The way in which a cell ended. `KernelClient.is_alive` says whether its variables still exist."""

    OK = "ok"
    FAILED = "failed"
    """The code raised an exception, or was stopped because it wrote too much or sent invalid messages."""
    TIMEOUT = "timeout"
    """The time limit passed: the cell was interrupted, or the kernel was killed because the cell did not stop."""
    DIED = "died"
    """The kernel ended while the code ran: it exited, crashed, or used too much memory."""


@dataclass(frozen=True, slots=True)
class TextOutput:
    """Text that the code wrote, the value of its last expression (as stdout), or a notice about output (as stderr)."""

    stream: Literal["stdout", "stderr"]
    text: str


@dataclass(frozen=True, slots=True)
class ErrorOutput:
    """An exception that the code raised, the reason why the cell was stopped, or a sentence about an exceeded limit."""

    name: str
    """Class of the exception, such as `ZeroDivisionError`, or another name, such as `KernelDied`."""
    value: str
    traceback: str
    """Plain text whose last line is the error itself; empty if there is no traceback."""


@dataclass(frozen=True, slots=True)
class ImageOutput:
    """An image that the code displayed or saved, usually a graph."""

    mime_type: str
    """One of `attachments.validation.RASTER_TYPES`."""
    data: bytes
    title: str | None = None
    """The title of the figure, empty if it has none; `None` if it is not known. Written by untrusted code."""


@dataclass(frozen=True, slots=True)
class FileOutput:
    """A sound or a video that the code displayed. Pages offer it as a file."""

    mime_type: str
    """The MIME type that the code gave."""
    data: bytes


@dataclass(frozen=True, slots=True)
class DisplayOutput:
    """An object that the code displayed in a richer form than plain text, such as a table or a formula.

    An image among its forms is a separate `ImageOutput`, which follows directly. Images, sounds and videos in its HTML
    or Markdown are separate outputs, too (see `display_files`).
    """

    bundle: Bundle
    """JSON by MIME type. It was written by untrusted code: never put its HTML or SVG into a page as it is."""


Output: TypeAlias = TextOutput | ErrorOutput | ImageOutput | FileOutput | DisplayOutput


@dataclass(frozen=True, slots=True)
class Redrawn:
    """The code has changed earlier outputs, so all outputs of its cell must be read again."""

    read: Callable[[], Sequence[Output]]
    """Function that returns the current outputs, so that many changes can be read at once."""
    cleared: tuple[str, ...] = ()
    """Texts that were shown and were then cleared, without text that a cursor overwrote."""
    left_out: int = 0
    """Number of cleared texts that are not kept, because there are too many."""


@dataclass(frozen=True, slots=True)
class Execution:
    """The result of running one cell."""

    status: ExecutionStatus
    outputs: tuple[Output, ...]
    """The outputs in the order of arrival. Adjacent texts of one stream are merged."""
    duration_s: float
    is_truncated: bool
    """Whether output was left out; a notice among the outputs says so."""

    @property
    def text(self) -> str:
        """The text of all outputs, without images and files; see `join_text`."""
        return join_text(self.outputs)


def join_text(outputs: Iterable[Output]) -> str:
    """Return stdout, stderr, tracebacks and the text of displays in their order, as one text.

    The field `output` of Gemini's API has the same form.
    """
    text = ""
    for output in outputs:
        if isinstance(output, TextOutput):
            text += output.text
        elif isinstance(output, ErrorOutput):
            # A traceback starts on a new line, even after a print without a line break.
            text += "\n" if text and not text.endswith("\n") else ""
            text += (output.traceback or f"{output.name}: {output.value}").rstrip("\n") + "\n"
        elif isinstance(output, DisplayOutput):
            text += display_text(output.bundle)
    return text


def merge_adjacent_text(outputs: Iterable[Output]) -> tuple[Output, ...]:
    """Merge adjacent texts of the same stream; other outputs are returned unchanged."""
    merged: list[Output] = []
    for stream, group in groupby(outputs, lambda output: output.stream if isinstance(output, TextOutput) else None):
        if stream is None:
            merged.extend(group)
        else:
            merged.append(TextOutput(stream, "".join(text.text for text in group if isinstance(text, TextOutput))))
    return tuple(merged)


def clean_text(value: object) -> str:
    """Return text without ANSI codes, NUL and lone surrogates, or an empty text if the value is not a string."""
    return sanitize_text(remove_escape_codes(value)) if isinstance(value, str) else ""
