"""The outputs that one cell shows, in order. Its code may clear or change them. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Literal

from chat.python.kernels.outputs import DisplayOutput, FileOutput, ImageOutput, Output, Redrawn, TextOutput, join_text
from chat.vocabulary.display_text import HTML
from chat.vocabulary.terminal_text import Terminal

CLEARED_LIMIT_COUNT = 200
"""Maximum number of cleared texts that are kept for one cell."""
CLEARED_LIMIT_CHARS = 200_000
"""Maximum total length of the cleared texts that are kept for one cell."""
SLOTS_LIMIT = 64
"""Maximum number of displays with the same id that an update changes. Later displays do not change."""
IDS_LIMIT = 1_000
"""Maximum number of ids whose displays can change. Displays with later ids do not change."""
RECOUNT_CHARS = 64 * 1024
"""Number of characters that a cell must write before the size of its shown text is computed again."""


@dataclass(eq=False, slots=True)
class Slot:
    """A place among the outputs: text that may grow, or all outputs of one display."""

    outputs: list[Output] = field(default_factory=list)
    terminal: Terminal | None = None
    """The text of a stream, which may grow; then `outputs` is empty. `None` for anything else."""
    stream: Literal["stdout", "stderr"] = "stdout"
    image_bytes: int = 0
    display_bytes: int = 0
    display_count: int = 0

    @property
    def images(self) -> set[bytes]:
        """The bytes of the images and files in this place."""
        return {output.data for output in self.outputs if isinstance(output, ImageOutput | FileOutput)}

    def close_text(self) -> None:
        """Replace the terminal by the text that it shows: the text no longer grows."""
        self.outputs, self.terminal = self.shown, None

    @property
    def shown(self) -> list[Output]:
        """The outputs that this place shows."""
        if self.terminal is None:
            return self.outputs
        return [TextOutput(self.stream, text)] if (text := self.terminal.text) else []


class ShownOutputs:
    """The outputs of one cell."""

    def __init__(self) -> None:
        self._slots: list[Slot] = []
        self._by_id: dict[str, list[Slot]] = {}
        """The places of the displays with an id, by the id."""
        self._text: Slot | None = None
        """The last slot, if it is text that may grow; else `None`."""
        self._filled: Slot | None = None
        """The slot of a display to which outputs are added now; `None`: outputs are added at the end."""
        self._is_redrawn = False
        self._cleared: list[str] = []
        self._left_out = 0
        self._cleared_count = self._cleared_chars = 0
        self._written_chars = 0
        """Number of characters written since `count_text_bytes` last computed the size."""

    def outputs(self) -> list[Output]:
        """Return what is shown, in order."""
        return [output for slot in self._slots for output in slot.shown]

    def take_redrawn(self) -> Redrawn | None:
        """Return a `Redrawn` if earlier outputs have changed since the last call; else `None`."""
        if not self._is_redrawn:
            return None
        redrawn = Redrawn(self.outputs, tuple(self._cleared), self._left_out)
        self._is_redrawn, self._cleared, self._left_out = False, [], 0
        return redrawn

    def write(self, stream: Literal["stdout", "stderr"], text: str) -> list[Output]:
        """Write text of a stream; return the outputs that this adds at the end."""
        self._written_chars += len(text)
        if self._filled is not None:
            return self.add(TextOutput(stream, text))
        slot = self._text
        if slot is None or (stream != slot.stream and slot.terminal and slot.terminal.is_at_fresh_line):
            if slot is not None:
                slot.close_text()
            self._text = slot = Slot(terminal=Terminal(), stream=stream)
            self._slots.append(slot)
        assert slot.terminal is not None, "the slot of a stream has one"
        if stream != slot.stream and slot.terminal.is_in_redrawn_line:
            # The line may be a progress bar on stderr. Text that is printed meanwhile begins on a new line.
            text = f"\n{text}"
        return self._appended(slot, slot.terminal.write(text))

    def end_text(self) -> list[Output]:
        """End the last text, so that later text is another output.

        Return the rest of the text, which may be the beginning of an escape code.
        """
        slot, self._text = self._text, None
        if slot is None or slot.terminal is None:
            return []
        ends = self._appended(slot, slot.terminal.close())
        slot.close_text()
        return ends

    def _appended(self, slot: Slot, text: str | None) -> list[Output]:
        self._is_redrawn = self._is_redrawn or text is None
        return [TextOutput(slot.stream, text)] if text else []

    def add(self, output: Output) -> list[Output]:
        """Add an output; return the outputs that this adds at the end."""
        if self._filled is not None:
            self._filled.outputs.append(output)
            return [output]
        ends = self.end_text()
        self._slots.append(Slot([output]))
        return [*ends, output]

    def count_text_bytes(self, counted_bytes: int) -> int:
        """Return the size of all shown text.

        Computing it takes time. Until enough new text has been written, this returns `counted_bytes`: the caller's
        count.
        """
        if self._written_chars < RECOUNT_CHARS:
            return counted_bytes
        self._written_chars = 0
        return sum(len(output.text.encode()) for output in self.outputs() if isinstance(output, TextOutput))

    # --- changes ------------------------------------------------------------------------------------------------------

    def clear(self) -> None:
        """Clear all outputs."""
        if not self._slots:
            return
        self._note_cleared(self.outputs())
        self._slots, self._by_id, self._text = [], {}, None
        self._is_redrawn = True

    @property
    def is_filling(self) -> bool:
        """Whether outputs are added to the place of a display, within a `filling` block."""
        return self._filled is not None

    def open_slot(self, display_id: str) -> Slot | None:
        """Return a new place for a display with an id; `None` without an id, or if there are too many."""
        if not display_id or (display_id not in self._by_id and len(self._by_id) >= IDS_LIMIT):
            return None
        ends = self.end_text()
        # The end of the text is sent with all outputs (`Redrawn`), because this method returns no outputs.
        self._is_redrawn = self._is_redrawn or bool(ends)
        slot = Slot()
        self._slots.append(slot)
        known = self._by_id.setdefault(display_id, [])
        if len(known) < SLOTS_LIMIT:
            known.append(slot)
        return slot

    def slots_of(self, display_id: str) -> Sequence[Slot]:
        """Return the displays of an id."""
        return self._by_id.get(display_id, ())

    def empty_slot(self, slot: Slot, *, is_noted: bool) -> None:
        """Remove the outputs of a slot. `is_noted`: whether their text is kept for `Redrawn.cleared`."""
        if is_noted:
            self._note_cleared(slot.outputs)
        slot.outputs = []
        self._is_redrawn = True

    @contextmanager
    def filling(self, slot: Slot) -> Iterator[None]:
        """Within the block, add outputs to this slot instead of the end."""
        self._filled = slot
        try:
            yield
        finally:
            self._filled = None

    def _note_cleared(self, outputs: Sequence[Output]) -> None:
        """Keep the text of outputs that are no longer shown."""
        if self._cleared_count > CLEARED_LIMIT_COUNT or self._cleared_chars > CLEARED_LIMIT_CHARS:
            self._left_out += 1
            return
        text = join_text(map(_with_text_alone, outputs)).strip("\n")
        if not text.strip():
            return
        self._cleared_count += 1
        self._cleared_chars += len(text)
        if self._cleared_count > CLEARED_LIMIT_COUNT or self._cleared_chars > CLEARED_LIMIT_CHARS:
            self._left_out += 1
        else:
            self._cleared.append(text)


def _with_text_alone(output: Output) -> Output:
    """Return a display without its HTML. Converting HTML to text takes time, and a display may change often."""
    if not isinstance(output, DisplayOutput) or HTML not in output.bundle:
        return output
    return DisplayOutput({name: form for name, form in output.bundle.items() if name != HTML})
