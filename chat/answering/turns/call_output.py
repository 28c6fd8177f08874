"""Limits the output of one call, so that output alone never makes an answer too long. Pure.

Tool sets may have limits of their own, or none.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace

from chat.vocabulary.data_uris import split_open_uri
from chat.vocabulary.parts import CodeExecutionResult, Part
from chat.vocabulary.stream_events import OutputsRedrawn, ToolOutput

CUT = "[The output is longer than {limit:,} characters. The rest is not shown.]\n"
_CUT = re.compile("^" + re.escape(CUT).replace(re.escape("{limit:,}"), "[0-9,]+"), re.MULTILINE)


def before_cut(output: str) -> tuple[str, bool]:
    """Return the output before the notice that it was cut, and whether there is such a notice."""
    notice = _CUT.search(output)
    return (output[: notice.start()], True) if notice else (output, False)


class CallOutput:
    """Cuts the output of one call if it is too long, and appends a notice."""

    def __init__(self, room_chars: int) -> None:
        """`room_chars`: number of characters that the answer may still grow by. A call may use half of them, so the
        next one gets half of the rest.
        """
        limit_chars = room_chars // 2
        self._notice = CUT.format(limit=limit_chars)
        self._limit_chars = max(0, limit_chars - len(self._notice) - 1)
        if not self._limit_chars:
            self._notice = ""
        self._shown_chars = 0
        self._is_at_line_start = True
        self._is_cut = False

    def bound(self, output: ToolOutput) -> list[ToolOutput]:
        """Return an output of a tool, cut at the limit."""
        if not isinstance(output, OutputsRedrawn):
            return [*self.cut([output])]
        # The new outputs replace all output so far, so counting starts again.
        self._shown_chars, self._is_at_line_start, self._is_cut = 0, True, False
        return [replace(output, parts=tuple(self.cut(output.parts)))]

    def cut(self, parts: Iterable[Part]) -> list[Part]:
        """Return the parts without output above the limit."""
        return [one for part in parts if (one := self._cut_part(part)) is not None]

    def _cut_part(self, part: Part) -> Part | None:
        """Return a part without output above the limit; `None` if nothing is left of it."""
        if not isinstance(part, CodeExecutionResult) or part.output is None:
            return part
        if not part.is_running:
            return replace(part, output=self._cut_whole(part.output))
        return None if self._is_cut else replace(part, output=self._cut_increment(part.output))

    def _cut_increment(self, text: str) -> str:
        room = self._limit_chars - self._shown_chars
        if len(text) > room:
            return self._with_notice(text[:room])
        self._shown_chars += len(text)
        self._is_at_line_start = text.endswith("\n") if text else self._is_at_line_start
        return text

    def _cut_whole(self, output: str) -> str | None:
        """Return the whole output of code that has ended. `None`: the output that is shown stays unchanged."""
        if self._is_cut:
            return None
        return output if len(output) <= self._limit_chars else self._with_notice(output[: self._limit_chars])

    def _with_notice(self, text: str) -> str:
        self._is_cut = True
        # An image whose end is missing is left out, because it cannot be shown.
        text, _ = split_open_uri(text)
        is_at_line_start = text.endswith("\n") if text else self._is_at_line_start
        line_break = "" if is_at_line_start or not self._notice else "\n"
        return f"{text}{line_break}{self._notice}"
