"""Reads the outputs of a cell from the kernel's messages. Pure: it uses no clock, process or socket.

A kernel runs untrusted code and may send any JSON. Content of an unexpected shape is dropped, so every value that is
returned is safe to store: text has no NUL and no lone surrogates, and images start with the signature of their type.
Source of the message shapes: https://jupyter-client.readthedocs.io/en/stable/messaging.html
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Literal

from attachments.validation import RASTER_TYPES
from chat.python.kernels.display_files import first_image, take_files
from chat.python.kernels.message_fields import display_id, error_outputs, graph_title
from chat.python.kernels.output_limits import (
    CODE_COST_BYTES,
    DISPLAYS_LIMIT_BYTES,
    DISPLAYS_LIMIT_COUNT,
    FLOOD_LIMIT_BYTES,
    FLOOD_LIMIT_MESSAGES,
    IMAGE_LIMIT_BYTES,
    IMAGES_LIMIT_BYTES,
    IMAGES_LIMIT_COUNT,
    RECEIVED_DISPLAYS_LIMIT_BYTES,
    RECEIVED_IMAGES_LIMIT_BYTES,
    TEXT_LIMIT_BYTES,
)
from chat.python.kernels.outputs import DisplayOutput, FileOutput, ImageOutput, Output, Redrawn, clean_text
from chat.python.kernels.shown_outputs import ShownOutputs, Slot
from chat.vocabulary.display_bundles import bound_bundle
from chat.vocabulary.display_text import informative_text
from chat.vocabulary.sanitize import sanitize_text

_RATE_NOTICES = ("IOPub data rate exceeded", "IOPub message rate exceeded")
"""First words of the text that Jupyter's servers write to stderr when they begin to drop a kernel's output. Advice for
operators follows them."""
_OUTPUT_CUT = "[output cut: the server drops output that comes this fast]\n"


class OutputReader:
    """Reads the messages of one cell in order and applies the limits.

    Text is stored as a terminal would show it (`vocabulary.terminal_text`). The cell may clear its outputs, and change
    those that have a `display_id`. The limits of texts, displays and images apply to what is shown.

    Images that the code saved to files (see `in_kernel.hook_images`) are held back until `finish`. The kernel does not
    send a saved image whose figure the cell has displayed.
    """

    def __init__(self) -> None:
        """Start reading a new cell."""
        self.is_truncated = False
        self.has_error = False
        self._shown = ShownOutputs()
        self._text_bytes = 0
        self._image_bytes = 0
        self._images: set[bytes] = set()
        self._saved_images: list[ImageOutput] = []
        self._saved_image_bytes = 0
        self._display_bytes = 0
        self._display_count = 0
        self._received_bytes = 0
        self._received_messages = 0
        self._received_display_bytes = 0
        self._received_image_bytes = 0
        self._clears_next = False
        """Whether the next output replaces all others."""
        self._has_ended_updates = False

    @property
    def outputs(self) -> list[Output]:
        """The outputs that the cell shows now, in order."""
        return self._shown.outputs()

    @property
    def is_flooded(self) -> bool:
        """Whether the cell has written so much that it should be stopped."""
        return (
            self._received_bytes > FLOOD_LIMIT_BYTES
            or self._received_messages > FLOOD_LIMIT_MESSAGES
            or self._received_display_bytes > RECEIVED_DISPLAYS_LIMIT_BYTES
        )

    def receive(
        self, kind: str, content: Mapping[str, object], *, is_from_server: bool = False
    ) -> list[Output | Redrawn]:
        """Return the outputs that one iopub message adds; an empty list if the message is not an output.

        If the message changes earlier outputs, the only item is a `Redrawn`. `is_from_server` means that the Jupyter
        server wrote the message. It writes text only when it drops output.
        """
        self._received_messages += 1
        match kind:
            case "stream":
                stream: Literal["stdout", "stderr"] = "stderr" if content.get("name") == "stderr" else "stdout"
                text = content.get("text")
                text = sanitize_text(text) if isinstance(text, str) else ""
                if is_from_server:
                    self.is_truncated = True
                    text = _OUTPUT_CUT if text.startswith(_RATE_NOTICES) else text
                # Count each escape code: it costs time, even if it shows nothing.
                self._received_bytes += CODE_COST_BYTES * text.count("\x1b")
                if text:
                    self._clear_if_awaited()
                return self._changes(self._add_text(stream, text))
            case "display_data" | "execute_result":
                self._clear_if_awaited()
                return self._changes(self._add_identified(content))
            case "update_display_data":
                return self._changes(self._update(content))
            case "clear_output":
                if content.get("wait") is True:
                    self._clears_next = True
                else:
                    self._clear()
                return self._changes([])
            case "error":
                self._clear_if_awaited()
                return self._changes(self._add_error(content))
        return []

    def leave_out(self, size_bytes: int) -> list[Output | Redrawn]:
        """Return the outputs that report a dropped message."""
        self._received_messages += 1
        self._received_bytes += size_bytes
        self.is_truncated = True
        notice = f"[output left out: {size_bytes:,} bytes in one piece cannot be read]\n"
        return self._changes(self._add_text("stderr", notice))

    def finish(self) -> list[Output | Redrawn]:
        """Return the outputs that are added at the cell's end, such as saved images."""
        ends: list[Output] = [*self._shown.end_text()]
        saved_images, self._saved_images = self._saved_images, []
        return self._changes(ends + [output for image in saved_images for output in self._add_file(image)])

    def add(self, output: Output) -> list[Output]:
        """Add an output without applying limits, such as a notice or the reason why the cell was stopped."""
        return self._shown.add(output)

    def _changes(self, added: Sequence[Output]) -> list[Output | Redrawn]:
        """Return the outputs that were added; if earlier outputs have changed, return a `Redrawn`."""
        return [redrawn] if (redrawn := self._shown.take_redrawn()) else [*added]

    def _clear_if_awaited(self) -> None:
        if self._clears_next:
            self._clear()

    def _clear(self) -> None:
        self._clears_next = False
        self._shown.clear()
        self._images.clear()
        self._text_bytes = self._image_bytes = self._display_bytes = self._display_count = 0

    def _add_identified(self, content: Mapping[str, object]) -> list[Output]:
        """Add a display. A display with an id is kept as a separate output, so that `_update` can change it."""
        slot = self._shown.open_slot(display_id(content))
        return self._fill(slot, content) if slot else self._add_display(content)

    def _update(self, content: Mapping[str, object]) -> list[Output]:
        """Replace the content of all displays with an id. An id that is not shown is ignored, as in Jupyter."""
        slots = self._shown.slots_of(display_id(content))
        if self._received_image_bytes > RECEIVED_IMAGES_LIMIT_BYTES:
            # There are too many updates, so the display keeps its last content.
            return self._note_end_of_updates() if slots else []
        for slot in slots:
            self._images -= slot.images
            self._image_bytes -= slot.image_bytes
            self._display_bytes -= slot.display_bytes
            self._display_count -= slot.display_count
            # All displays of an id show the same, so only one notice is added.
            self._shown.empty_slot(slot, is_noted=slot is slots[0])
        for slot in slots[:1]:
            self._fill(slot, content)
        for slot in slots[1:]:
            # All displays of an id show the same, so they are counted once.
            slot.outputs[:] = slots[0].outputs
        return []

    def _note_end_of_updates(self) -> list[Output]:
        self.is_truncated = True
        if self._has_ended_updates:
            return []
        self._has_ended_updates = True
        return self._add_text("stderr", "[displays are not updated any more: their images are too many]\n")

    def _fill(self, slot: Slot, content: Mapping[str, object]) -> list[Output]:
        before = self._image_bytes, self._display_bytes, self._display_count
        with self._shown.filling(slot):
            added = self._add_display(content, is_own=True)
        slot.image_bytes = self._image_bytes - before[0]
        slot.display_bytes = self._display_bytes - before[1]
        slot.display_count = self._display_count - before[2]
        return added

    def _add_text(self, stream: Literal["stdout", "stderr"], text: str) -> list[Output]:
        encoded = text.encode()
        self._received_bytes += len(encoded)
        if text and self._text_bytes + len(encoded) > TEXT_LIMIT_BYTES and self._text_bytes <= TEXT_LIMIT_BYTES:
            # Count again, because only shown text counts, and most of it may have been overwritten.
            self._text_bytes = self._shown.count_text_bytes(self._text_bytes)
        remaining_bytes = TEXT_LIMIT_BYTES - self._text_bytes
        if not text or remaining_bytes < 0:
            return []
        if len(encoded) <= remaining_bytes:
            self._text_bytes += len(encoded)
            return self._shown.write(stream, text)
        self._text_bytes = TEXT_LIMIT_BYTES + 1
        self.is_truncated = True
        start = encoded[:remaining_bytes].decode(errors="ignore")
        return self._shown.write(stream, f"{start}\n[output cut: more than 1 MB]\n")

    def _add_error(self, content: Mapping[str, object]) -> list[Output]:
        # Drop further errors: a cell raises at most one exception, so they are forged.
        if self.has_error:
            return []
        self.has_error = True
        outputs, is_cut = error_outputs(content)
        self.is_truncated = self.is_truncated or is_cut
        return [added for output in outputs for added in self.add(output)]

    def _add_display(self, content: Mapping[str, object], *, is_own: bool = False) -> list[Output]:
        """Add a display. `is_own`: keep its plain text apart from the texts of streams, because it may change."""
        data, metadata = content.get("data"), content.get("metadata")
        if not isinstance(data, dict):
            return []
        # An image of a formula shows the same as its LaTeX, so it is left out.
        image = None if "text/latex" in data else first_image(data)
        if image is not None and isinstance(metadata, dict):
            image = replace(image, title=graph_title(metadata))
        if image is not None and isinstance(metadata, dict) and metadata.get("saved") is True:
            self._hold_back(image)
            return []
        forms, files = take_files({name: form for name, form in data.items() if name not in RASTER_TYPES})
        if image is not None:
            files.insert(0, image)
        if is_own and image is None and forms.keys() == {"text/plain"}:
            added = self._add_bundle(forms)
        elif forms.keys() <= {"text/plain"}:
            # The plain text of an image only names its class, so it is left out.
            text = "" if image else clean_text(forms.get("text/plain"))
            added = self._add_text("stdout", f"{text}\n") if text else []
        else:
            added = self._add_bundle(forms)
        return added + [output for file in files for output in self._add_file(file)]

    def _hold_back(self, image: ImageOutput) -> None:
        # The first image above the limit is held back too, so that `finish` adds the notice about it.
        if self._saved_image_bytes <= IMAGES_LIMIT_BYTES and len(self._saved_images) <= IMAGES_LIMIT_COUNT:
            self._saved_images.append(image)
            self._saved_image_bytes += len(image.data)

    def _add_bundle(self, forms: Mapping[str, object]) -> list[Output]:
        if "text/plain" in forms:
            forms = {**forms, "text/plain": clean_text(forms["text/plain"])}
        bundle, size_bytes = bound_bundle(forms)
        self._display_count += 1
        self._received_display_bytes += size_bytes
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
        # `savefig` to a file and to a buffer, or `show` twice, give the same bytes and count as one graph. A display
        # that may change keeps its own image.
        if file.data in self._images and not self._shown.is_filling:
            return []
        size_bytes = len(file.data)
        is_too_large = (
            size_bytes > IMAGE_LIMIT_BYTES
            or self._image_bytes + size_bytes > IMAGES_LIMIT_BYTES
            or len(self._images) >= IMAGES_LIMIT_COUNT
            or self._received_image_bytes > RECEIVED_IMAGES_LIMIT_BYTES
        )
        if is_too_large:
            self.is_truncated = True
            self._received_bytes += size_bytes
            what = "image" if isinstance(file, ImageOutput) else "file"
            return self._add_text("stderr", f"[{what} left out: {size_bytes:,} bytes are too many for this cell]\n")
        self._images.add(file.data)
        self._image_bytes += size_bytes
        self._received_image_bytes += size_bytes
        return self.add(file)
