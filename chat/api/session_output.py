"""The output of code that runs in the Python session, joined for the event stream. Pure.

A run leaves several results if graphs or rich outputs came between texts. Only the last one has an outcome. Clients
get one event with the whole text.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from chat.answers.assembler import is_running
from chat.parts import CodeExecutionResult, Engine


@dataclass(slots=True)
class SessionOutput:
    """The output of the run that is read."""

    _texts: str = ""
    """Text of the results before the last one."""
    _last: str = ""
    """Text of the last result, if it has no outcome."""

    def start_run(self) -> None:
        """Forget the run before this one: it was stopped before its end if its last result has no outcome."""
        self._texts = self._last = ""

    def append(self, text: str) -> None:
        """Add text to the last result."""
        self._last += text

    def add(self, part: CodeExecutionResult) -> CodeExecutionResult | None:
        """Add a result; return the whole result of the run at its end."""
        self._texts, self._last = self._texts + self._last, ""
        if is_running(part):
            self._last = part.output or ""
            return None
        return self._joined(part)

    def replace_last(self, part: CodeExecutionResult) -> CodeExecutionResult:
        """Replace the last result by its final form; return the whole result of the run."""
        self._last = ""
        return self._joined(part)

    def _joined(self, part: CodeExecutionResult) -> CodeExecutionResult:
        texts, self._texts = self._texts, ""
        if part.engine is not Engine.SESSION or not texts:
            return part
        return replace(part, output=texts + (part.output or ""))
