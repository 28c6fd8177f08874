"""What a cell gave: text, errors and images, read from the kernel's messages.

Pure: no clock, no process, no socket. A kernel runs code that nobody vouches for and may send any JSON; whatever does
not have the shape we expect is dropped, so that every value here is safe to store: text without NUL and lone
surrogates, images that begin like the type they claim.
Source of the message shapes: https://jupyter-client.readthedocs.io/en/stable/messaging.html
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal, TypeAlias

TEXT_LIMIT_BYTES = 1_000_000
"""Text kept of one cell, in UTF-8."""
IMAGE_LIMIT_BYTES = 10 * 1024 * 1024
"""The largest image kept."""
IMAGES_LIMIT_BYTES = 4 * IMAGE_LIMIT_BYTES
"""Bytes of images kept of one cell, all together."""
IMAGES_LIMIT_COUNT = 32
"""Images kept of one cell."""
FLOOD_LIMIT_BYTES = 16 * TEXT_LIMIT_BYTES
"""Text after which reading on is a waste and the cell is better stopped: a graph after less than that still comes."""

_ANSI = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])")
_MAGIC = {"image/png": b"\x89PNG\r\n\x1a\n", "image/jpeg": b"\xff\xd8\xff"}


class ExecutionStatus(StrEnum):
    """How a cell ended; `is_alive` of the session says whether its variables are still there."""

    OK = "ok"
    FAILED = "failed"
    """The code raised, or was stopped for flooding the output."""
    TIMEOUT = "timeout"
    """The time limit passed; the cell was interrupted, or, where it ignored that, the kernel was killed."""
    DIED = "died"
    """The kernel ended under the code: it exited, crashed, or used too much memory."""


@dataclass(frozen=True, slots=True)
class TextOutput:
    """Text that the code wrote, or the value of its last expression."""

    stream: Literal["stdout", "stderr"]
    text: str


@dataclass(frozen=True, slots=True)
class ErrorOutput:
    """What the code raised, or why it was ended."""

    name: str
    """The exception's class: `ZeroDivisionError`."""
    value: str
    traceback: str
    """Plain text that ends with the error itself; empty where there is none."""


@dataclass(frozen=True, slots=True)
class ImageOutput:
    """An image that the code showed: a graph."""

    mime_type: str
    """`image/png` or `image/jpeg`."""
    data: bytes


Output: TypeAlias = TextOutput | ErrorOutput | ImageOutput


@dataclass(frozen=True, slots=True)
class Execution:
    """One cell's run."""

    status: ExecutionStatus
    outputs: tuple[Output, ...]
    """In the order they came; neighbouring texts of one stream are one."""
    duration_s: float
    truncated: bool
    """Whether something was left out; a notice among the outputs says so."""

    @property
    def text(self) -> str:
        """Everything but the images as one text; see `as_text`."""
        return as_text(self.outputs)


def as_text(outputs: Iterable[Output]) -> str:
    """Join stdout, stderr and tracebacks into one text in their order, as Gemini's `output` holds them."""
    text = ""
    for output in outputs:
        if isinstance(output, TextOutput):
            text += output.text
        elif isinstance(output, ErrorOutput):
            # A traceback starts a line of its own, even after a print without a line's end.
            text += "\n" if text and not text.endswith("\n") else ""
            text += (output.traceback or f"{output.name}: {output.value}").rstrip("\n") + "\n"
    return text


def joined(outputs: Iterable[Output]) -> tuple[Output, ...]:
    """Make one of neighbouring texts of the same stream; the rest stays as it is."""
    runs: list[Output | tuple[TextOutput, list[str]]] = []
    for output in outputs:
        if not isinstance(output, TextOutput):
            runs.append(output)
        elif runs and isinstance(last := runs[-1], tuple) and last[0].stream == output.stream:
            last[1].append(output.text)
        else:
            runs.append((output, [output.text]))
    return tuple(TextOutput(run[0].stream, "".join(run[1])) if isinstance(run, tuple) else run for run in runs)


def plain(text: object) -> str:
    """Turn what a kernel sent as text into text that can be stored and shown: no ANSI codes, NUL or lone surrogates."""
    if not isinstance(text, str):
        return ""
    return _ANSI.sub("", text).replace("\0", "\N{REPLACEMENT CHARACTER}").encode("utf-8", "replace").decode()


class OutputReader:
    """Reads the messages of one cell in order and keeps within the limits.

    Images saved to files (see the shim) are held back until `finish`: they count only where the cell showed none, since
    a graph that is both saved and shown is one graph.
    """

    def __init__(self) -> None:
        """Begin a cell."""
        self.outputs: list[Output] = []
        self.truncated = False
        self.has_error = False
        self._text_bytes = 0
        self._image_bytes = 0
        self._images: set[bytes] = set()
        self._saved: list[ImageOutput] = []
        self._received_bytes = 0

    @property
    def is_flooded(self) -> bool:
        """Whether so much came that the cell should be stopped."""
        return self._received_bytes > FLOOD_LIMIT_BYTES

    def receive(self, kind: str, content: Mapping[str, object]) -> list[Output]:
        """Return what one iopub message adds; an empty list for all that is not an output."""
        match kind:
            case "stream":
                stream: Literal["stdout", "stderr"] = "stderr" if content.get("name") == "stderr" else "stdout"
                return self._text(stream, plain(content.get("text")))
            case "display_data" | "execute_result":
                return self._display(content)
            case "error":
                return self._error(content)
        return []

    def finish(self) -> list[Output]:
        """Return what may be said only at the cell's end."""
        saved = [] if self._images else self._saved
        self._saved = []
        return [output for image in saved for output in self._image(image)]

    def add(self, output: Output) -> list[Output]:
        """Keep one output of our own, past all limits: a notice, the reason of an end."""
        self.outputs.append(output)
        return [output]

    def _text(self, stream: Literal["stdout", "stderr"], text: str) -> list[Output]:
        encoded = text.encode()
        self._received_bytes += len(encoded)
        room = TEXT_LIMIT_BYTES - self._text_bytes
        if not text or room < 0:
            return []
        if len(encoded) <= room:
            self._text_bytes += len(encoded)
            return self.add(TextOutput(stream, text))
        self._text_bytes = TEXT_LIMIT_BYTES + 1
        self.truncated = True
        kept = encoded[:room].decode(errors="ignore")
        return self.add(TextOutput(stream, f"{kept}\n[output cut: more than 1 MB]\n"))

    def _error(self, content: Mapping[str, object]) -> list[Output]:
        # A cell raises once; more can only be made up.
        if self.has_error:
            return []
        self.has_error = True
        lines = content.get("traceback")
        traceback = plain("\n".join(map(str, lines))) if isinstance(lines, list) else ""
        name, value = plain(content.get("ename"))[:200], plain(content.get("evalue"))
        room = TEXT_LIMIT_BYTES // 10
        if len(traceback) > room or len(value) > room:
            # The end names the error; a recursion's thousand frames do not.
            self.truncated = True
            traceback, value = traceback[-room:], value[:room]
        return self.add(ErrorOutput(name, value, traceback))

    def _display(self, content: Mapping[str, object]) -> list[Output]:
        data, metadata = content.get("data"), content.get("metadata")
        if not isinstance(data, dict):
            return []
        for mime_type in _MAGIC:
            encoded = data.get(mime_type)
            if isinstance(encoded, str):
                image = _decoded(mime_type, encoded)
                if image is None:
                    return []
                if isinstance(metadata, dict) and metadata.get("saved") is True:
                    self._saved = [*self._saved, image][:IMAGES_LIMIT_COUNT]
                    return []
                return self._image(image)
        text = plain(data.get("text/plain"))
        return self._text("stdout", f"{text}\n") if text else []

    def _image(self, image: ImageOutput) -> list[Output]:
        # `savefig` of a file and of a buffer, or `show` twice, give the same bytes: one graph.
        if image.data in self._images:
            return []
        too_much = (
            len(image.data) > IMAGE_LIMIT_BYTES
            or self._image_bytes + len(image.data) > IMAGES_LIMIT_BYTES
            or len(self._images) >= IMAGES_LIMIT_COUNT
        )
        if too_much:
            self.truncated = True
            return self._text("stderr", f"[image left out: {len(image.data):,} bytes are too many for this cell]\n")
        self._images.add(image.data)
        self._image_bytes += len(image.data)
        return self.add(image)


def _decoded(mime_type: str, encoded: str) -> ImageOutput | None:
    try:
        data = base64.b64decode(encoded)
    except (binascii.Error, ValueError):
        return None
    return ImageOutput(mime_type, data) if data.startswith(_MAGIC[mime_type]) else None
