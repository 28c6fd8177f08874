"""Counts the cells of the tables in a growing text. The parser pads each short row to the columns of its table."""

from __future__ import annotations

import re

_NEWLINE = re.compile(r"\r\n?|\n")
_BLANK = " \t\v\f>"


class TableCellCounter:
    """Computes an upper bound for the number of cells to which the tables of a growing text can be padded."""

    def __init__(self) -> None:
        self._counted_chars = 0
        """Length of the complete lines that are included in `_cells`."""
        self._columns = 0
        """Columns of the table that may continue in the next line; 0 if there is none."""
        self._cells = 0

    def count(self, text: str) -> int:
        """Return the bound for all cells of the text, which must start with the text of the previous call."""
        lines_end = text.rfind("\n") + 1
        self._columns, self._cells = self._add_lines(text[self._counted_chars : lines_end], self._columns, self._cells)
        self._counted_chars = lines_end
        return self._add_lines(text[lines_end:], self._columns, self._cells)[1]

    @staticmethod
    def _add_lines(text: str, columns: int, cells: int) -> tuple[int, int]:
        """Return the new values of `columns` and `cells` after the lines of `text`."""
        if not text or not (columns or "|" in text):
            return columns, cells
        for line in _NEWLINE.split(text.removesuffix("\n")):
            if not line.strip(_BLANK):
                columns = 0
                continue
            cells += columns
            if "-" in line and not line.strip(_BLANK + "|:-"):
                columns = max(columns, line.strip(_BLANK + "|").count("|") + 1)
        return columns, cells
