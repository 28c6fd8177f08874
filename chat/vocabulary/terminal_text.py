"""Computes what a terminal shows of a text that moves its cursor, such as a progress bar that overwrites its line.
Pure.

A carriage return moves to the start of the line, and later characters overwrite what is there; the rest of a longer
line stays, as in Jupyter. Backspaces, and the codes `ESC[nA` to `ESC[nG`, `ESC[J` and `ESC[K`, do what they do in a
terminal. All other escape codes are removed. Each character has one column. The cursor reaches only the last
`LINES_LIMIT` lines, so the time is linear in the length of the text.
"""

from __future__ import annotations

import re
from itertools import pairwise

from chat.vocabulary.escape_codes import find_escape_codes, split_open_code

LINES_LIMIT = 50
"""Number of lines at the end of a text that later text can change."""
PADDING_LIMIT = 120
"""Maximum number of columns that a movement to the right adds to a line."""
PADDING_LIMIT_CHARS = 100_000
"""Maximum number of spaces that all movements to the right add to a text, because a short code could write
a long line.
"""
START_LIMIT_CHARS = 200
"""Maximum length of the start of a line that `ESC[1K` and `ESC[1J` erase. A longer start is not erased."""

_CONTROL = re.compile(r"[\r\b\x1b\x9b]")
_MOVE = re.compile(r"([\r\n\b])")
_CODE = re.compile(r"(?:\x1b\[|\x9b)(\d{0,4})([A-GJK])")


def terminal_text(text: str) -> str:
    """Return what a terminal shows after a text was written. An incomplete escape code stays."""
    if not has_controls(text):
        return text
    terminal = Terminal()
    terminal.write(text)
    return terminal.text + terminal.open_code


def has_controls(text: str) -> bool:
    """Return whether a terminal may show something else than this text, because it has control characters."""
    return _CONTROL.search(text) is not None


class Terminal:
    """A terminal to which text is written piece by piece."""

    def __init__(self) -> None:
        self._closed: list[str] = []
        """The lines that the cursor cannot reach any more, each with its line feed."""
        self._lines: list[list[str]] = [[]]
        """The characters of the lines that the cursor can reach."""
        self._row = self._column = 0
        """The position of the cursor. The row counts from the first of `_lines`; the column may be after the end of the
        line.
        """
        self._open_code = ""
        """The end of the text if it may be the beginning of an escape code."""
        self._padding_room = PADDING_LIMIT_CHARS
        self._appended: list[str] = []
        """The text that the current call has added to the end."""
        self._is_redrawn = False
        """True if the current call has changed text that was shown before."""
        self._has_returned = False
        """True if the cursor has moved back in its line."""

    @property
    def text(self) -> str:
        """The whole text that the terminal shows."""
        self._closed = ["".join(self._closed)]
        return self._closed[0] + "\n".join(map("".join, self._lines))

    @property
    def is_at_fresh_line(self) -> bool:
        """Return whether the last line is empty, and the cursor is in it."""
        return self._row == len(self._lines) - 1 and not self._lines[-1] and not self._open_code

    @property
    def open_code(self) -> str:
        """The end of the text that may be the beginning of an escape code, with line feeds as line breaks."""
        return self._open_code.replace("\r\n", "\n").replace("\r", "\n")

    @property
    def is_in_redrawn_line(self) -> bool:
        """Return whether the cursor is in a line that was written more than once, such as a progress bar."""
        return self._has_returned and self._column > 0

    def write(self, text: str) -> str | None:
        """Write more text. Return what it added to the end; `None` if it changed text that was shown before."""
        self._appended, self._is_redrawn = [], False
        if self._open_code or has_controls(text):
            complete, self._open_code = split_open_code(self._open_code + text)
            codes = find_escape_codes(complete)
            edges = [0, *(edge for code in codes for edge in code.span()), len(complete)]
            for number, (start, end) in enumerate(pairwise(edges)):
                if number % 2:
                    self._obey(complete[start:end])
                else:
                    self._write_text(complete[start:end])
        else:
            self._write_text(text)
        return None if self._is_redrawn else "".join(self._appended)

    def close(self) -> str | None:
        """Show an incomplete escape code as text, because no more text follows. Return what `write` returns."""
        self._appended, self._is_redrawn = [], False
        code, self._open_code = self._open_code, ""
        self._write_text(code)
        return None if self._is_redrawn else "".join(self._appended)

    def _write_text(self, text: str) -> None:
        """Write text that has no escape codes."""
        for number, piece in enumerate(_MOVE.split(text)):
            if number % 2 == 0:
                self._put(piece)
            elif piece == "\n":
                self._move_down()
            else:
                self._column = 0 if piece == "\r" else max(0, self._column - 1)
                self._has_returned = True

    def _put(self, text: str) -> None:
        if not text:
            return
        line = self._lines[self._row]
        if (missing := self._column - len(line)) > 0:
            spaces = min(missing, PADDING_LIMIT, self._padding_room)
            self._padding_room -= spaces
            self._column = len(line)
            text = " " * spaces + text
        if self._column == len(line) and self._row == len(self._lines) - 1:
            line.extend(text)
            self._appended.append(text)
        else:
            line[self._column : self._column + len(text)] = text
            self._is_redrawn = True
        self._column += len(text)

    def _move_down(self) -> None:
        """Move to the start of the next line."""
        self._row, self._column, self._has_returned = self._row + 1, 0, False
        if self._row == len(self._lines):
            self._lines.append([])
            self._appended.append("\n")
        if len(self._lines) > LINES_LIMIT:
            self._closed.append("".join(self._lines.pop(0)) + "\n")
            self._row -= 1

    def _obey(self, code: str) -> None:
        """Execute an escape code if it moves the cursor or erases text."""
        match = _CODE.fullmatch(code)
        if match is None:
            return
        number, command = int(match[1] or 0), match[2]
        if command in "JK":
            self._erase(command, number)
            return
        distance = number or 1
        match command:
            case "A" | "F":
                self._row = max(0, self._row - distance)
            case "B" | "E":
                self._row = min(len(self._lines) - 1, self._row + distance)
            case "C":
                # Unlike a line of a terminal, this line has no maximum width, so PADDING_LIMIT stops the cursor.
                self._column = min(self._column + distance, len(self._lines[self._row]) + PADDING_LIMIT)
            case "D":
                self._column = max(0, self._column - distance)
            case _:
                self._column = min(distance - 1, len(self._lines[self._row]) + PADDING_LIMIT)
        if command in "EF":
            self._column = 0

    def _erase(self, command: str, number: int) -> None:
        line = self._lines[self._row]
        if number == 1:
            # `ESC[1J` erases only this line: the lines above stay visible.
            start = min(self._column + 1, len(line))
            if start <= START_LIMIT_CHARS:
                line[:start] = " " * start
                self._is_redrawn = True
            return
        first = self._column if number == 0 else 0
        if command == "J":
            if number:
                # A page has no screen that could be erased, so `ESC[2J` and `ESC[3J` do nothing.
                return
            self._is_redrawn = self._is_redrawn or self._row + 1 < len(self._lines)
            del self._lines[self._row + 1 :]
        self._is_redrawn = self._is_redrawn or first < len(line)
        del line[first:]
