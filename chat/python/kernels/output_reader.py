"""Reads the outputs of a cell from the kernel's messages.

Pure: the module uses no clock, no process and no socket. A kernel runs untrusted code and may send any JSON. Content
of an unexpected shape is dropped, so every value that is returned is safe to store: text has no NUL and no lone
surrogates, and images start with the signature of their type.
Source of the message shapes: https://jupyter-client.readthedocs.io/en/stable/messaging.html
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Literal

from chat.python.kernels.display_files import RASTER_TYPES, first_image, take_files
from chat.python.kernels.outputs import (
    DisplayOutput,
    ErrorOutput,
    FileOutput,
    ImageOutput,
    Output,
    TextOutput,
    clean_text,
)
from chat.python.kernels.tracebacks import shorten_traceback
from chat.vocabulary.display_bundles import BUNDLE_LIMIT_BYTES, TRACEBACK, bound_bundle
from chat.vocabulary.display_text import informative_text

TEXT_LIMIT_BYTES = 1_000_000
"""Text that is stored of one cell, in UTF-8."""
IMAGE_LIMIT_BYTES = 10 * 1024 * 1024
"""The largest image that is stored."""
IMAGES_LIMIT_BYTES = 4 * IMAGE_LIMIT_BYTES
"""All images together that are stored of one cell."""
IMAGES_LIMIT_COUNT = 32
"""Number of images that are stored of one cell."""
DISPLAYS_LIMIT_BYTES = 4 * BUNDLE_LIMIT_BYTES
"""All MIME bundles together that are stored of one cell."""
DISPLAYS_LIMIT_COUNT = 256
"""Number of MIME bundles that are stored of one cell."""
FLOOD_LIMIT_BYTES = 16 * TEXT_LIMIT_BYTES
"""Received bytes without room, and text, after which the cell is stopped; it exceeds TEXT_LIMIT_BYTES so that later
graphs still arrive."""
FLOOD_LIMIT_MESSAGES = 100_000
"""Received messages after which the cell is stopped: each one is an object in memory, however short its text is."""

TITLE_KEY = "plotline_title"
"""The key of a figure's title in the metadata of a display; see `in_kernel.hook_figures`."""
TITLE_LIMIT_CHARS = 200

_RATE_NOTICES = ("IOPub data rate exceeded", "IOPub message rate exceeded")
"""What Jupyter's servers write to stderr when they begin to drop a kernel's output: advice for operators follows."""
_OUTPUT_CUT = "[output cut: the server drops output that comes this fast]\n"


class OutputReader:
    """Reads the messages of one cell in order and applies the limits.

    Images that the code saved to files (see `in_kernel.hook_images`) are held back until `finish`. The kernel names
    only those whose figure the cell has not displayed.
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
        self._saved_image_bytes = 0
        self._display_bytes = 0
        self._display_count = 0
        self._received_bytes = 0
        self._received_messages = 0

    @property
    def is_flooded(self) -> bool:
        """Whether the cell wrote so much that it should be stopped."""
        return self._received_bytes > FLOOD_LIMIT_BYTES or self._received_messages > FLOOD_LIMIT_MESSAGES

    def receive(self, kind: str, content: Mapping[str, object], *, is_from_server: bool = False) -> list[Output]:
        """Return the outputs that one iopub message adds; an empty list if the message is not an output.

        `is_from_server` means that the Jupyter server wrote the message. It writes text only when it drops output.
        """
        self._received_messages += 1
        match kind:
            case "stream":
                stream: Literal["stdout", "stderr"] = "stderr" if content.get("name") == "stderr" else "stdout"
                text = clean_text(content.get("text"))
                if is_from_server:
                    self.is_truncated = True
                    text = _OUTPUT_CUT if text.startswith(_RATE_NOTICES) else text
                return self._add_text(stream, text)
            case "display_data" | "execute_result":
                return self._add_display(content)
            case "error":
                return self._add_error(content)
        return []

    def leave_out(self, size_bytes: int) -> list[Output]:
        """Return the notice about a message that was dropped unread."""
        self._received_messages += 1
        self._received_bytes += size_bytes
        self.is_truncated = True
        return self._add_text("stderr", f"[output left out: {size_bytes:,} bytes in one piece cannot be read]\n")

    def finish(self) -> list[Output]:
        """Return the outputs that are known only at the cell's end."""
        saved_images, self._saved_images = self._saved_images, []
        return [output for image in saved_images for output in self._add_file(image)]

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
        texts = [line for line in lines if isinstance(line, str)] if isinstance(lines, list) else []
        traceback = clean_text("\n".join(texts))
        name, value = clean_text(content.get("ename"))[:200], clean_text(content.get("evalue"))
        limit_chars = TEXT_LIMIT_BYTES // 10
        if len(traceback) > 2 * limit_chars or len(value) > limit_chars:
            self.is_truncated = True
            traceback, value = f"{traceback[:limit_chars]}\n{traceback[-limit_chars:]}", value[:limit_chars]
        short = shorten_traceback(traceback, name)
        # The error itself comes last.
        added = self.add(DisplayOutput({TRACEBACK: short.whole})) if short.whole else []
        return added + self.add(ErrorOutput(name, value, short.text))

    def _add_display(self, content: Mapping[str, object]) -> list[Output]:
        data, metadata = content.get("data"), content.get("metadata")
        if not isinstance(data, dict):
            return []
        image = first_image(data)
        if image is not None and isinstance(metadata, dict):
            image = replace(image, title=_graph_title(metadata.get(TITLE_KEY)))
        if image is not None and isinstance(metadata, dict) and metadata.get("saved") is True:
            self._hold_back(image)
            return []
        forms, files = take_files({name: form for name, form in data.items() if name not in RASTER_TYPES})
        if image is not None:
            files.insert(0, image)
        if forms.keys() <= {"text/plain"}:
            # The plain text of an image only names its class.
            text = "" if image else clean_text(forms.get("text/plain"))
            added = self._add_text("stdout", f"{text}\n") if text else []
        else:
            added = self._add_bundle(forms)
        return added + [output for file in files for output in self._add_file(file)]

    def _hold_back(self, image: ImageOutput) -> None:
        # The first image above the limit is held back too, so that `finish` adds the notice about it.
        if self._saved_image_bytes <= IMAGES_LIMIT_BYTES and len(self._saved_images) < IMAGES_LIMIT_COUNT:
            self._saved_images.append(image)
            self._saved_image_bytes += len(image.data)

    def _add_bundle(self, forms: Mapping[str, object]) -> list[Output]:
        if "text/plain" in forms:
            forms = {**forms, "text/plain": clean_text(forms["text/plain"])}
        bundle, size_bytes = bound_bundle(forms)
        self._display_count += 1
        has_room = (
            self._display_bytes + size_bytes <= DISPLAYS_LIMIT_BYTES and self._display_count <= DISPLAYS_LIMIT_COUNT
        )
        is_cut = len(bundle) < len(forms)
        if is_cut or not has_room:
            self.is_truncated = True
        if not bundle or not has_room:
            self._received_bytes += size_bytes
            return self._add_text("stderr", "[display left out: it is too large for this cell]\n")
        self._display_bytes += size_bytes
        added = self.add(DisplayOutput(bundle))
        if is_cut and not informative_text(bundle):
            types = ", ".join(sorted(map(str, forms.keys() - bundle.keys())))[:200]
            added += self._add_text("stderr", f"[{clean_text(types)} of this display left out: it is too large]\n")
        return added

    def _add_file(self, file: ImageOutput | FileOutput) -> list[Output]:
        # `savefig` to a file and to a buffer, or `show` twice, give the same bytes and count as one graph.
        if file.data in self._images:
            return []
        size_bytes = len(file.data)
        is_too_large = (
            size_bytes > IMAGE_LIMIT_BYTES
            or self._image_bytes + size_bytes > IMAGES_LIMIT_BYTES
            or len(self._images) >= IMAGES_LIMIT_COUNT
        )
        if is_too_large:
            self.is_truncated = True
            self._received_bytes += size_bytes
            what = "image" if isinstance(file, ImageOutput) else "file"
            return self._add_text("stderr", f"[{what} left out: {size_bytes:,} bytes are too many for this cell]\n")
        self._images.add(file.data)
        self._image_bytes += size_bytes
        return self.add(file)


def _graph_title(title: object) -> str | None:
    """Return the title that a kernel tells of a figure; `None` if it tells nothing."""
    return " ".join(clean_text(title[:TITLE_LIMIT_CHARS]).split()) if isinstance(title, str) else None
