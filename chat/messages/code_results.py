"""Pairs the results of an answer with their code. Pure.

A run in the Python session may have several results, because graphs and rich outputs come between its texts. At its end
all of them get its outcome. Pages, exports and the API show the outcome once, at the last result.
"""

from __future__ import annotations

from collections.abc import Iterable

from chat.vocabulary.display_text import display_text
from chat.vocabulary.parts import CodeExecutionResult, Display, Engine, ExecutableCode, Part


class CodeResults:
    """Reads the parts of an answer in order."""

    def __init__(self, parts: Iterable[Part] = ()) -> None:
        """`parts`: the first parts of the answer."""
        self._parts: list[tuple[int, Part]] = []
        """Parts that are code or results, with their indexes."""
        self.code_of: dict[int, int] = {}
        """Index of a result -> index of its code."""
        self.result_of: dict[int, CodeExecutionResult] = {}
        """Index of code -> its last result with an outcome."""
        for index, part in enumerate(parts):
            self.add(index, part)

    def add(self, index: int, part: Part) -> int | None:
        """Add the next part, or the final form of an earlier result.

        Return the index of the code that ends with this part; `None` if no code ends.
        """
        if not isinstance(part, ExecutableCode | CodeExecutionResult):
            return None
        self._parts.append((index, part))
        if isinstance(part, ExecutableCode):
            return None
        code = self._code_with_id(part.call_id)
        if code is None:
            return None
        self.code_of[index] = code
        if part.is_running:
            return None
        self.result_of[code] = part
        return code

    def remove(self, kept: int) -> list[int]:
        """Remove all parts but the first `kept` ones. Return the indexes of kept code whose result has changed."""
        before, parts = self.result_of, self._parts
        self._parts, self.code_of, self.result_of = [], {}, {}
        for index, part in parts:
            if index < kept:
                self.add(index, part)
        return [code for code, result in before.items() if code < kept and self.result_of.get(code) is not result]

    def _code_with_id(self, call_id: str) -> int | None:
        for index, part in reversed(self._parts):
            if isinstance(part, ExecutableCode) and part.call_id == call_id:
                return index
        return None


def codes_without_result(parts: Iterable[Part]) -> set[int]:
    """Return the indexes of the code in an answer that has no result with an outcome."""
    parts = list(parts)
    with_result = CodeResults(parts).result_of
    return {index for index, part in enumerate(parts) if isinstance(part, ExecutableCode) and index not in with_result}


def earlier_results(parts: Iterable[Part]) -> set[int]:
    """Return the indexes of the results that are followed by another result of the same run in the session."""
    earlier: set[int] = set()
    last: dict[str, int] = {}
    """`call_id` of code -> index of its last result so far."""
    for index, part in enumerate(parts):
        if isinstance(part, ExecutableCode):
            last.pop(part.call_id, None)
        elif isinstance(part, CodeExecutionResult) and part.engine is Engine.SESSION:
            if part.call_id in last:
                earlier.add(last[part.call_id])
            last[part.call_id] = index
    return earlier


def shown_text(parts: Iterable[Part]) -> str:
    """Return what code has printed, and the text of its rich outputs, in order."""
    return "".join(_shown_text(part) for part in parts)


def _shown_text(part: Part) -> str:
    match part:
        case CodeExecutionResult():
            return part.output or ""
        case Display():
            return display_text(part.bundle)
        case _:
            return ""
