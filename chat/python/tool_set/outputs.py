"""Turns outputs of a kernel into parts of the answer, while the code runs.

The parts of one call are the code, then texts, graphs and rich outputs in the order of arrival, then a result with the
outcome and all texts. The assembler joins successive texts, and does not repeat text that it has shown. If the code
changes earlier outputs, one event (`OutputsRedrawn`) holds all outputs as they are then.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable

from chat.python.kernels.outputs import (
    DisplayOutput,
    ErrorOutput,
    FileOutput,
    ImageOutput,
    Output,
    Redrawn,
    TextOutput,
)
from chat.vocabulary.parts import (
    CodeExecutionResult,
    Display,
    Engine,
    InlineData,
    Part,
    WrittenFile,
)
from chat.vocabulary.stream_events import OutputsRedrawn, ToolOutput


class OutputParts:
    """Collects outputs as parts until they are taken.

    Successive texts are joined, so the size is limited by the limits of one cell
    (`chat.python.kernels.output_reader`). An object belongs to one event loop.
    """

    def __init__(self) -> None:
        self._parts = _JoinedParts()
        self._redrawn: Redrawn | None = None
        """The last change of earlier outputs, until `take` returns it."""
        self._cleared: list[str] = []
        self._left_out = 0
        self._notes_before: list[str] = []
        self._notes_after: list[str] = []
        """Sentences of the server after the first output of the code; `_notes_before` has those before it."""
        self._has_output = False
        self._is_changed = asyncio.Event()

    @property
    def graph_count(self) -> int:
        """Number of different graphs that the code shows."""
        return self._parts.graph_count

    def add(self, output: Output | Redrawn) -> None:
        """Add an output of the kernel."""
        self._has_output = True
        if isinstance(output, Redrawn):
            self._redrawn = output
            self._cleared += output.cleared
            self._left_out += output.left_out
        elif self._redrawn is None:
            # Add this output only if earlier ones are unchanged. After a change, `take` reads all outputs again.
            self._parts.add(output)
        self._is_changed.set()

    def add_note(self, sentence: str) -> None:
        """Add a sentence of the server, in brackets on its own line."""
        (self._notes_after if self._has_output else self._notes_before).append(sentence)
        self._parts.add_line(f"[{sentence}]")
        self._is_changed.set()

    def wake(self) -> None:
        """Let `wait` return."""
        self._is_changed.set()

    async def wait(self) -> None:
        """Wait until there are parts to take, or `wake` is called."""
        await self._is_changed.wait()
        self._is_changed.clear()

    def take(self) -> list[ToolOutput]:
        """Return the parts that have been added since the last call, or all of them if earlier ones have changed."""
        if self._redrawn is None:
            return [*self._parts.take()]
        outputs = self._redrawn.read()
        self._parts = _JoinedParts()
        for sentence in self._notes_before:
            self._parts.add_line(f"[{sentence}]")
        for output in outputs:
            self._parts.add(output)
        for sentence in self._notes_after:
            self._parts.add_line(f"[{sentence}]")
        redrawn = OutputsRedrawn(tuple(self._parts.take()), tuple(self._cleared), self._left_out)
        self._redrawn, self._cleared, self._left_out = None, [], 0
        return [redrawn]

    def final_result(
        self,
        outcome: str,
        files: tuple[WrittenFile, ...] = (),
        table_changes: tuple[str, ...] = (),
        missing_cells: tuple[str, ...] = (),
    ) -> CodeExecutionResult:
        """Return the last part of the code: the result with all text.

        `files`, `table_changes`, `missing_cells`: see `CellResult`.
        """
        return CodeExecutionResult(
            output="".join(self._parts.all_text) or None,
            outcome=outcome,
            engine=Engine.SESSION,
            files=files,
            table_changes=table_changes,
            missing_cells=missing_cells,
        )


def joined_parts(outputs: Iterable[Output]) -> list[Part]:
    """Return outputs of code as parts, with successive texts joined."""
    joined = _JoinedParts()
    for output in outputs:
        joined.add(output)
    return joined.take()


class _JoinedParts:
    """Turns outputs into parts, and joins successive texts."""

    def __init__(self) -> None:
        self._parts: list[Part] = []
        self._texts: list[str] = []
        """Text that is not in a part yet."""
        self._is_at_line_start = True
        self.all_text: list[str] = []
        """All text that is in parts."""
        self._graphs: set[bytes] = set()

    @property
    def graph_count(self) -> int:
        """Number of different graphs. Displays with the same id show the same graph, which counts once."""
        return len(self._graphs)

    def add(self, output: Output) -> None:
        """Add an output."""
        match output:
            case TextOutput():
                self._add_text(output.text)
            case ErrorOutput():
                text = (output.traceback or f"{output.name}: {output.value}").rstrip("\n")
                self.add_line(text)
            case ImageOutput():
                self._graphs.add(output.data)
                self._add_part(InlineData(output.mime_type, data=output.data, title=output.title))
            case FileOutput():
                self._add_part(InlineData(output.mime_type, data=output.data))
            case DisplayOutput():
                self._add_part(Display(output.bundle))

    def add_line(self, text: str) -> None:
        """Add text that begins and ends a line."""
        self._add_text(f"{'' if self._is_at_line_start else chr(10)}{text}\n")

    def take(self) -> list[Part]:
        """Return the parts that have been added since the last call."""
        self._close_text()
        parts, self._parts = self._parts, []
        return parts

    def _add_text(self, text: str) -> None:
        if text:
            self._texts.append(text)
            self._is_at_line_start = text.endswith("\n")

    def _add_part(self, part: Part) -> None:
        self._close_text()
        self._is_at_line_start = True
        self._parts.append(part)

    def _close_text(self) -> None:
        if self._texts:
            text = "".join(self._texts)
            self._texts.clear()
            self.all_text.append(text)
            self._parts.append(CodeExecutionResult(output=text, engine=Engine.SESSION))
