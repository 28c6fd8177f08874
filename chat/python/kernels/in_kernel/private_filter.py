"""Runs inside a kernel: reads private files once, and stores a filter of texts in the shell for `private_texts`."""

from __future__ import annotations

import contextlib
import json
import re
import sys
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import NamedTuple, TypeAlias

from chat.python.kernels.in_kernel.private_cells import Numbers, Texts
from chat.python.kernels.in_kernel.private_columns import index_column
from chat.python.kernels.in_kernel.private_files import read_private_file
from chat.python.kernels.in_kernel.private_numbers import NumberFilter, Token, begins_line
from chat.python.kernels.in_kernel.private_words import WordFilter
from chat.python.kernels.in_kernel.shell_attributes import PRIVATE

TEXTS_LIMIT_CHARS = 64 * 1024
TOO_LONG = "[withheld: the rest is too long to be checked for cells]"
NOT_READ = "[withheld: the cells of “{name}” cannot be told from other texts]"
ROWS = "[{count} lines with rows are shown to the user only]"
NUMBER_LABEL = "[number]"
NUMBERS_RUN = re.compile(r"\[number\](?:[^\w\[]{1,6}\[number\]){4,}")
ROWS_SHOWN = 4
"""Maximum number of successive lines with hidden numbers. A sentence replaces a longer run of lines."""
Part: TypeAlias = tuple[int, int, str]
"""Start and end of a hidden part of a text, and the label that replaces it."""


class FileCells(NamedTuple):
    """The cells of a private file, as the filter needs them."""

    problem: str = ""
    """The reason why its cells could not be read; empty if they were."""
    names: Sequence[str] = ()
    tables: Sequence[Sequence[Numbers]] = ()
    """For each table, the columns that have numbers or dates."""
    sizes: Sequence[float] = ()
    """The numbers of rows and columns. Such numbers are not hidden in texts."""


class PrivateFilter:
    """The cells of the private files of this kernel."""

    def __init__(self) -> None:
        """Create a filter without files."""
        self.files: dict[str, FileCells] = {}
        """The cells of each file, by its name and version."""
        self._texts = Texts()
        self._labels: dict[str, str] = {}

    def add(self, name: str, version: str) -> None:
        """Read a file."""
        cells = FileCells(NOT_READ.format(name=name))
        # Libraries raise many kinds of errors for broken files.
        with contextlib.suppress(Exception):
            cells = self._read(name)
        self.files[f"{name}/{version}"] = cells
        self._texts.finish()

    def _read(self, name: str) -> FileCells:
        names: list[str] = []
        sizes: list[float] = []
        tables = []
        for table in read_private_file(name):
            height = max(map(len, table.columns), default=0)
            names += table.names
            rows = height - table.first
            sizes += [rows, rows - 1, height, len(table.columns)]
            tables.append([one for cells in table.columns for one in index_column(cells, table.first, self._texts)])
        return FileCells("", names, tables, sizes)

    def without_cells(self, texts: Sequence[str], known: str, versions: Sequence[str]) -> list[str]:
        """Return the texts with labels in place of cells.

        If a file could not be read, return a sentence in place of each text.
        """
        files = [self.files[version] for version in versions]
        if problem := next((file.problem for file in files if file.problem), ""):
            return [problem if text.strip() else text for text in texts]
        words = WordFilter(self._texts, "\n".join([known, *(name for file in files for name in file.names)]))
        tables = [table for file in files for table in file.tables]
        numbers = NumberFilter(tables, (size for file in files for size in file.sizes), known)
        room, filtered = TEXTS_LIMIT_CHARS, []
        for text in texts:
            part = text if len(text) <= room else text[: text.rfind("\n", 0, room) + 1]
            room -= len(part)
            filtered.append(self._filtered(part, words, numbers) + (TOO_LONG if len(part) < len(text) else ""))
        return filtered

    def _filtered(self, text: str, words: WordFilter, numbers: NumberFilter) -> str:
        hidden = [(start, end, self._label("text", key)) for start, end, key in words.find(text)]
        tokens = numbers.find(text, [(start, end) for start, end, _ in hidden])
        hidden += [(token.start, token.end, self._label_of(token)) for token in tokens if token.is_hidden]
        results = [token.start for token in tokens if not token.is_hidden and not begins_line(text, token)]
        pieces, at = [], 0
        for start, end, label in join_rows(text, sorted(hidden), results):
            pieces += [text[at:start], label]
            at = end
        filtered = "".join([*pieces, text[at:]])
        return NUMBERS_RUN.sub(lambda match: f"[{match[0].count(NUMBER_LABEL)} numbers]", filtered)

    def _label_of(self, token: Token) -> str:
        return self._label("date", f"date {token.ranges[0].low}") if token.is_date else NUMBER_LABEL

    def _label(self, kind: str, key: str) -> str:
        return self._labels.setdefault(key, f"[{kind} {len(self._labels) + 1}]")


def join_rows(text: str, hidden: Sequence[Part], results: Sequence[int]) -> Iterator[Part]:
    """Yield the hidden parts.

    More than `ROWS_SHOWN` successive lines with hidden numbers and no result become one part with a sentence.

    `results`: offsets of numbers that are shown.
    """
    lines = [match.span() for match in re.finditer("[^\n]+", text)]
    for is_row, group in groupby(lines, lambda line: is_row_line(line, hidden, results)):
        block = [*group]
        start, end = block[0][0], block[-1][1]
        if is_row and len(block) > ROWS_SHOWN:
            yield start, end, ROWS.format(count=len(block))
        else:
            yield from hidden[bisect_left(hidden, (start,)) : bisect_left(hidden, (end,))]


def is_row_line(line: tuple[int, int], hidden: Sequence[Part], results: Sequence[int]) -> bool:
    """Return whether a line holds hidden numbers or dates, and no number that is shown."""
    start, end = line
    parts = hidden[bisect_left(hidden, (start,)) : bisect_left(hidden, (end,))]
    has_result = bisect_left(results, start) < bisect_left(results, end)
    return not has_result and any(not label.startswith("[text") for _, _, label in parts)


def main(namespace: Mapping[str, object], files_json: str) -> dict[str, object]:
    """Read the files that were not read yet.

    `files_json`: JSON object with the version of each file, by its name in the working directory.
    """
    shell = vars(sys.modules["IPython"].get_ipython())
    kept: PrivateFilter = shell.setdefault(PRIVATE, PrivateFilter())
    for name, version in json.loads(files_json).items():
        if f"{name}/{version}" not in kept.files:
            kept.add(name, version)
    return {}
