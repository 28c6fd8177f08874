"""Finds the function calls and responses that pages hide, because the code that a call ran shows the same. Pure.

The code and its result show the arguments and the result of a call. A run of the Python session is therefore shown as
one fold, like code in a provider's sandbox. Several calls may come before the code of the first one, so each call is
found by its id.
"""

from __future__ import annotations

from collections.abc import Iterable

from chat.vocabulary.parts import (
    CodeExecutionResult,
    Engine,
    ExecutableCode,
    FunctionCall,
    FunctionResponse,
    Part,
    Refusal,
)


class CallsAsCode:
    """Reads the parts of an answer in order."""

    def __init__(self, parts: Iterable[Part] = ()) -> None:
        """`parts`: the first parts of the answer."""
        self.hidden: dict[int, FunctionCall | FunctionResponse] = {}
        """Index of each hidden part -> the part."""
        self._calls: dict[str, tuple[int, FunctionCall]] = {}
        """`call_id` -> index of the call, and the call."""
        self._responses: dict[str, tuple[int, FunctionResponse]] = {}
        """`call_id` -> index of the response, and the response."""
        self._ended: set[str] = set()
        """`call_id` of each call whose code has a result with an outcome."""
        for index, part in enumerate(parts):
            self.add(index, part)

    def add(self, index: int, part: Part) -> int | None:
        """Add the next part, or the final form of an earlier one.

        Return the index of the part that is hidden from now on, which may be this part; `None` if there is none.
        """
        match part:
            case FunctionCall() if part.call_id:
                self._calls[part.call_id] = index, part
            case ExecutableCode(engine=Engine.SESSION) if part.made_by in self._calls and not part.is_edited:
                # If a person has changed the code, the call stays visible, because it shows what the model wrote.
                return self._hide(*self._calls[part.made_by])
            case FunctionResponse():
                self._responses[part.call_id] = index, part
                return self._hide_response(part.call_id)
            case CodeExecutionResult(engine=Engine.SESSION) if part.made_by and not part.is_running:
                self._ended.add(part.made_by)
                return self._hide_response(part.made_by)
        return None

    def _hide_response(self, call_id: str) -> int | None:
        if call_id not in self._ended or call_id not in self._responses:
            return None
        index, response = self._responses[call_id]
        return self._hide(index, response) if _repeats_output(response) else None

    def _hide(self, index: int, part: FunctionCall | FunctionResponse) -> int | None:
        if index in self.hidden:
            return None
        self.hidden[index] = part
        return index


def _repeats_output(response: FunctionResponse) -> bool:
    """Return whether the response holds only what the code of its call has shown, and how that code ended."""
    if response.refusal is not None:
        return response.refusal in (Refusal.ABORTED, Refusal.LOST)
    return not response.is_error
