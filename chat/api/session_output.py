"""The output of code that runs in the Python session, joined for the event stream. Pure.

A run leaves several results if graphs or rich outputs came between texts. Clients get one event with the whole text,
when all of them have an outcome.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from chat.vocabulary.parts import CodeExecutionResult, Engine


@dataclass(slots=True)
class SessionOutput:
    """The output of the run that is read."""

    _texts: dict[int, str] = field(default_factory=dict)
    """Index of a result -> its text."""
    _open: set[int] = field(default_factory=set)
    """Indexes of the results without an outcome."""

    def start_run(self) -> None:
        """Forget the run before this one, which may have ended without an outcome."""
        self._texts.clear()
        self._open.clear()

    def append(self, index: int, text: str) -> None:
        """Add text to a result that does not end its run."""
        self._texts[index] = self._texts.get(index, "") + text

    def cut(self, index: int, chars: int | None, text: str) -> None:
        """Forget the texts after a part, and cut its text. `text`: follows the cut text."""
        self._texts = {number: one for number, one in self._texts.items() if number <= index}
        self._open = {number for number in self._open if number <= index}
        if chars is not None:
            self._texts[index] = self._texts.get(index, "")[:chars] + text

    def text_of(self, index: int) -> str:
        """Return the text of a result of the run; empty if the part is none."""
        return self._texts.get(index, "")

    def add(self, index: int, part: CodeExecutionResult) -> CodeExecutionResult | None:
        """Add a result, or the final form of one; return the whole result of the run at its end."""
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
