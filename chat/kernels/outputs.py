"""The outputs of a cell: text, errors and images, read from the kernel's messages.

Pure: the module uses no clock, no process and no socket. A kernel runs untrusted code and may send any JSON. Content
of an unexpected shape is dropped, so every value here is safe to store: text has no NUL and no lone surrogates, and
images start with the signature of their type.
Source of the message shapes: https://jupyter-client.readthedocs.io/en/stable/messaging.html
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from itertools import groupby
from typing import Literal, TypeAlias

from chat.sanitize import sanitize_text

TEXT_LIMIT_BYTES = 1_000_000
"""Text that is stored of one cell, in UTF-8."""
IMAGE_LIMIT_BYTES = 10 * 1024 * 1024
"""The largest image that is stored."""
IMAGES_LIMIT_BYTES = 4 * IMAGE_LIMIT_BYTES
"""All images together that are stored of one cell."""
IMAGES_LIMIT_COUNT = 32
"""Number of images that are stored of one cell."""
FLOOD_LIMIT_BYTES = 16 * TEXT_LIMIT_BYTES
"""Received text after which the cell is stopped; it exceeds TEXT_LIMIT_BYTES so that later graphs still arrive."""

_ANSI = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])")
_IMAGE_SIGNATURES = {"image/png": b"\x89PNG\r\n\x1a\n", "image/jpeg": b"\xff\xd8\xff"}


class ExecutionStatus(StrEnum):
    """How a cell ended; `Session.is_alive` says whether its variables still exist."""

    OK = "ok"
    FAILED = "failed"
    """The code raised an exception, or was stopped because it wrote too much."""
    TIMEOUT = "timeout"
    """The time limit passed: the cell was interrupted, or the kernel was killed because the cell did not stop."""
    DIED = "died"
    """The kernel ended while the code ran: it exited, crashed, or used too much memory."""


@dataclass(frozen=True, slots=True)
class TextOutput:
    """Text that the code wrote, or the value of its last expression, which counts as stdout."""

    stream: Literal["stdout", "stderr"]
    text: str


@dataclass(frozen=True, slots=True)
class ErrorOutput:
    """An exception that the code raised, or the reason why the cell was stopped."""

    name: str
    """Class of the exception, as `ZeroDivisionError`."""
    value: str
    traceback: str
    """Plain text whose last line is the error itself; empty if there is no traceback."""


@dataclass(frozen=True, slots=True)
class ImageOutput:
    """An image that the code displayed or saved, usually a graph."""

    mime_type: str
    """`image/png` or `image/jpeg`."""
    data: bytes


Output: TypeAlias = TextOutput | ErrorOutput | ImageOutput


@dataclass(frozen=True, slots=True)
class Execution:
    """The result of running one cell."""

    status: ExecutionStatus
    outputs: tuple[Output, ...]
    """In the order of arrival; adjacent texts of one stream are merged."""
    duration_s: float
    is_truncated: bool
    """Whether output was left out; a notice among the outputs says so."""

    @property
    def text(self) -> str:
        """All outputs except images as one text; see `join_text`."""
        return join_text(self.outputs)


def join_text(outputs: Iterable[Output]) -> str:
    """Return stdout, stderr and tracebacks as one text in their order, like the field `output` of Gemini's API."""
    text = ""
    for output in outputs:
        if isinstance(output, TextOutput):
            text += output.text
        elif isinstance(output, ErrorOutput):
            # A traceback starts on a new line, even after a print without a line break.
            text += "\n" if text and not text.endswith("\n") else ""
            text += (output.traceback or f"{output.name}: {output.value}").rstrip("\n") + "\n"
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
    return sanitize_text(_ANSI.sub("", value)) if isinstance(value, str) else ""


class OutputReader:
    """Reads the messages of one cell in order and applies the limits.

    Images that the code saved to files (see `bootstrap`) are held back until `finish`. They become outputs only if the
    cell displayed no image, because a graph that is both saved and displayed is one graph.
    """

    def __init__(self) -> None:
        """Start reading a new cell."""
        self.outputs: list[Output] = []
        self.is_truncated = False
        self.has_error = False
        self._text_bytes = 0
        self._image_bytes = 0
        self._images: set[bytes] = set()
        self._saved_images: list[ImageOutput] = []
        self._received_bytes = 0

    @property
    def is_flooded(self) -> bool:
        """Whether the cell wrote so much text that it should be stopped."""
        return self._received_bytes > FLOOD_LIMIT_BYTES

    def receive(self, kind: str, content: Mapping[str, object]) -> list[Output]:
        """Return the outputs that one iopub message adds; an empty list if the message is not an output."""
        match kind:
            case "stream":
                stream: Literal["stdout", "stderr"] = "stderr" if content.get("name") == "stderr" else "stdout"
                return self._add_text(stream, clean_text(content.get("text")))
            case "display_data" | "execute_result":
                return self._add_display(content)
            case "error":
                return self._add_error(content)
        return []

    def finish(self) -> list[Output]:
        """Return the outputs that are known only at the cell's end."""
        saved_images = [] if self._images else self._saved_images
        self._saved_images = []
        return [output for image in saved_images for output in self._add_image(image)]

    def add(self, output: Output) -> list[Output]:
        """Add an output without applying limits, such as a notice or the reason why the cell was stopped."""
        self.outputs.append(output)
        return [output]

    def _add_text(self, stream: Literal["stdout", "stderr"], text: str) -> list[Output]:
        encoded = text.encode()
        self._received_bytes += len(encoded)
        remaining_bytes = TEXT_LIMIT_BYTES - self._text_bytes
        if not text or remaining_bytes < 0:
            return []
        if len(encoded) <= remaining_bytes:
            self._text_bytes += len(encoded)
            return self.add(TextOutput(stream, text))
        self._text_bytes = TEXT_LIMIT_BYTES + 1
        self.is_truncated = True
        start = encoded[:remaining_bytes].decode(errors="ignore")
        return self.add(TextOutput(stream, f"{start}\n[output cut: more than 1 MB]\n"))

    def _add_error(self, content: Mapping[str, object]) -> list[Output]:
        # A cell raises at most one exception; further error messages are forged.
        if self.has_error:
            return []
        self.has_error = True
        lines = content.get("traceback")
        traceback = clean_text("\n".join(map(str, lines))) if isinstance(lines, list) else ""
        name, value = clean_text(content.get("ename"))[:200], clean_text(content.get("evalue"))
        limit_chars = TEXT_LIMIT_BYTES // 10
        if len(traceback) > limit_chars or len(value) > limit_chars:
            # The end of a traceback names the error; the frames of a deep recursion do not.
            self.is_truncated = True
            traceback, value = traceback[-limit_chars:], value[:limit_chars]
        return self.add(ErrorOutput(name, value, traceback))

    def _add_display(self, content: Mapping[str, object]) -> list[Output]:
        data, metadata = content.get("data"), content.get("metadata")
        if not isinstance(data, dict):
            return []
        for mime_type in _IMAGE_SIGNATURES:
            encoded = data.get(mime_type)
            if isinstance(encoded, str):
                image = _decode_image(mime_type, encoded)
                if image is None:
                    return []
                if isinstance(metadata, dict) and metadata.get("saved") is True:
                    self._saved_images = [*self._saved_images, image][:IMAGES_LIMIT_COUNT]
                    return []
                return self._add_image(image)
        text = clean_text(data.get("text/plain"))
        return self._add_text("stdout", f"{text}\n") if text else []

    def _add_image(self, image: ImageOutput) -> list[Output]:
        # `savefig` to a file and to a buffer, or `show` twice, give the same bytes and count as one graph.
        if image.data in self._images:
            return []
        is_too_large = (
            len(image.data) > IMAGE_LIMIT_BYTES
            or self._image_bytes + len(image.data) > IMAGES_LIMIT_BYTES
            or len(self._images) >= IMAGES_LIMIT_COUNT
        )
        if is_too_large:
            self.is_truncated = True
            return self._add_text("stderr", f"[image left out: {len(image.data):,} bytes are too many for this cell]\n")
        self._images.add(image.data)
        self._image_bytes += len(image.data)
        return self.add(image)


def _decode_image(mime_type: str, encoded: str) -> ImageOutput | None:
    try:
        data = base64.b64decode(encoded)
    except (binascii.Error, ValueError):
        return None
    return ImageOutput(mime_type, data) if data.startswith(_IMAGE_SIGNATURES[mime_type]) else None
