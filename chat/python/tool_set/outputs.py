"""Outputs of a kernel as parts of the answer, while the code runs.

The parts of one call are the code, then texts, graphs and rich outputs in the order of arrival, then a result with the
outcome and all texts. The assembler joins texts that follow each other, and does not repeat what it has shown.
"""

from __future__ import annotations

import asyncio

from chat.python.kernels.outputs import DisplayOutput, ErrorOutput, FileOutput, ImageOutput, Output, TextOutput
from chat.vocabulary.parts import (
    CodeExecutionResult,
    Display,
    Engine,
    InlineData,
    Part,
    WrittenFile,
)


class OutputParts:
    """Collects outputs as parts until they are taken.

    Neighbouring texts are joined, so its size is bounded by the limits of one cell
    (`chat.python.kernels.output_reader`). It belongs to one event loop.
    """

    def __init__(self) -> None:
        self._parts: list[Part] = []
        self._texts: list[str] = []
        """Text that is not in a part yet."""
        self._is_at_line_start = True
        self._all_text: list[str] = []
        self._is_changed = asyncio.Event()
        self.graph_count = 0

    def add(self, output: Output) -> None:
        """Add an output of the kernel."""
        match output:
            case TextOutput():
                self._add_text(output.text)
            case ErrorOutput():
                text = (output.traceback or f"{output.name}: {output.value}").rstrip("\n")
                self._add_line(text)
            case ImageOutput():
                self.graph_count += 1
                self._add_part(InlineData(output.mime_type, data=output.data, title=output.title))
            case FileOutput():
                self._add_part(InlineData(output.mime_type, data=output.data))
            case DisplayOutput():
                self._add_part(Display(output.bundle))

    def add_note(self, sentence: str) -> None:
        """Add a sentence of the server."""
        self._add_line(f"[{sentence}]")

    def wake(self) -> None:
        """Let `wait` return."""
        self._is_changed.set()

    async def wait(self) -> None:
        """Wait until there are parts to take, or `wake` is called."""
        await self._is_changed.wait()
        self._is_changed.clear()

    def take(self) -> list[Part]:
        """Return the parts that have been added since the last call."""
        self._close_text()
        parts, self._parts = self._parts, []
        return parts

    def final_result(self, outcome: str, files: tuple[WrittenFile, ...] = ()) -> CodeExecutionResult:
        """Return the last result, with all text. `files`: those that the code wrote."""
        return CodeExecutionResult(
            output="".join(self._all_text) or None,
            outcome=outcome,
            engine=Engine.SESSION,
            files=files,
        )

    def _add_line(self, text: str) -> None:
        """Add text on lines of its own."""
        self._add_text(f"{'' if self._is_at_line_start else chr(10)}{text}\n")

    def _add_text(self, text: str) -> None:
        if text:
            self._texts.append(text)
            self._is_at_line_start = text.endswith("\n")
            self._is_changed.set()

    def _add_part(self, part: Part) -> None:
        self._close_text()
        self._is_at_line_start = True
        self._parts.append(part)
        self._is_changed.set()

    def _close_text(self) -> None:
        if self._texts:
            text = "".join(self._texts)
            self._texts.clear()
            self._all_text.append(text)
            self._parts.append(CodeExecutionResult(output=text, engine=Engine.SESSION))
