"""Joins the output of a run of code in the Python session for the event stream. Pure.

A run has several results if it showed graphs or rich outputs between texts. Clients get one event with the whole text,
when all of the results have an outcome.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from chat.messages.changes import OutputCut
from chat.vocabulary.parts import CodeExecutionResult, Engine, PartKind

Content: TypeAlias = tuple[str, Mapping[str, object]]
"""Name and data of an event."""

RESET_LIMIT_CHARS = 20_000
"""Maximum length, in characters, of an output that is sent again whenever the code redraws it."""


@dataclass(slots=True)
class SessionOutput:
    """The output of one run, collected from the rows of the log."""

    _texts: dict[int, str] = field(default_factory=dict)
    """Index of a part with output -> its text."""
    _open: set[int] = field(default_factory=set)
    """Indexes of the results without an outcome."""
    _is_redrawn: bool = False
    """Whether the code has replaced or cleared output."""

    def start_run(self) -> None:
        """Forget the previous run, which may have ended without an outcome."""
        self._texts.clear()
        self._open.clear()
        self._is_redrawn = False

    def append(self, index: int, text: str) -> None:
        """Add text to the output of a part. The run goes on."""
        self._texts[index] = self._texts.get(index, "") + text

    def cut(self, cut: OutputCut) -> Content | None:
        """Remove or replace output as the running code did. Return the event `reset` of the first changed part."""
        self._texts = {index: text for index, text in self._texts.items() if index <= cut.index}
        self._open = {index for index in self._open if index <= cut.index}
        first = cut.index + 1
        if cut.chars is not None:
            first = cut.index
            self._texts[first] = self._texts.get(first, "")[: cut.chars] + cut.text
        self._is_redrawn = True
        return self.redrawn(first)

    def redrawn(self, index: int) -> Content | None:
        """Return the event `reset` with the text of a part; `None` if nothing was removed yet, or the text is long."""
        text = self._texts.get(index, "")
        # Clients get a long text, and text that is appended later, with the whole result when the code has ended.
        if not self._is_redrawn or len(text) > RESET_LIMIT_CHARS:
            return None
        return "reset", {"part_index": index, "kind": PartKind.CODE_EXECUTION_RESULT.value, "text": text}

    def add(self, index: int, part: CodeExecutionResult) -> CodeExecutionResult | None:
        """Add or replace a result. Return the whole result when the run ends; results of other engines are whole."""
        if part.engine is not Engine.SESSION:
            return part
        self._texts[index] = part.output or ""
        if part.is_running:
            self._open.add(index)
            return None
        self._open.discard(index)
        if self._open:
            return None
        output = "".join(text for _, text in sorted(self._texts.items()))
        self._texts.clear()
        return replace(part, output=output)
