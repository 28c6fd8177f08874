r"""Finds in one line of Markdown the formulas, the code, and the delimiters that begin or end no formula.

- A formula between single dollars ends in its line. So `$5, $6 and x$` holds no formula.
- `\[…\]` in one line is a formula if it holds a command, one of `= + < > ^ _ { }`, or a single letter. Otherwise the
  backslashes escape brackets, as Markdown defines it: `\[1, 2\]` is `[1, 2]`.
- `\(…\)` is a formula unless it holds several words and no sign of formulas.
- A delimiter without an end may begin a formula of several lines: see `FormulaStart`.
- `\begin{align}…\end{align}`, or another environment of formulas, is a formula without delimiters, too. In an
  environment that is no formula, such as `itemize`, all backslashes are plain characters.
- A `|` in code or in a formula is no border of a cell. One that its author has escaped is left as it is.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from dataclasses import dataclass

from chat.page.rendering.formula_text import (
    has_sign,
    is_bracketed_formula,
    is_display_formula,
    is_environment,
    is_formula_between_dollars,
    is_maths_environment,
    is_money,
    is_prose,
    spaced_formula_end,
)
from chat.page.rendering.source_masks import BACKSLASH, GUARD, NUMBERS, PIPE, Edit, mask_dollars

TOKEN = re.compile(r"\\(begin|end)\{([A-Za-z]+\*?)\}|\\.|\$+|`+", re.DOTALL)
_CONTAINER = re.compile(r"(?>[ \t>]*+)(?>(?:(?:[-+*]|\d{1,9}[.)])[ \t]++)*)")
ENVIRONMENT = r"\begin"
_CLOSING = {r"\[": r"\]", r"\(": r"\)", "$": "$", "$$": "$$", ENVIRONMENT: ENVIRONMENT}
_RUN = re.compile(r"`+")
_PIPE = re.compile(r"(?<!\\)\|")
_HEADING_OR_TAG = re.compile(r"#{1,6}[ \t]|<")
_END_OF_HTML = re.compile(r"-->|[?\]]>|</")
_EQUATION = re.compile(r"\\[A-Za-z]|=")
_ESCAPED = re.compile(r"\\[!-/:-@\[-`{-~\r\n]")


@dataclass(frozen=True, slots=True)
class FormulaStart:
    r"""A formula that begins in a line and continues in the next one.

    It begins with the line, with `\[` before an equation, or with `\[`, `\(` or `$$` at the line's end, or continues in
    an environment.
    """

    position: int
    delimiter: str

    @property
    def end(self) -> str:
        """The delimiter that ends the formula."""
        return _CLOSING[self.delimiter]


class LineFormulas:
    """The formulas of a line from a position on."""

    def __init__(
        self, line: str, position: int = 0, *, text_environments: int = 0, is_in_formula: bool = False
    ) -> None:
        """Read the line.

        `text_environments`: number of environments without formulas that are open. `is_in_formula`: whether the line
        may be a part of a formula of several lines. No other such formula then begins in it.
        """
        self.start: FormulaStart | None = None
        self.edits: list[Edit] = []
        self.text_environments = text_environments
        self._line = line
        self._is_in_formula = is_in_formula
        self._content_start = content_start(line)
        self._runs: dict[int, list[int]] | None = None
        self._spans: list[tuple[int, int]] = []
        """Start and end of each formula or code."""
        self._open: dict[str, int] = {}
        """Delimiter -> position, for each that is not closed yet."""
        self._environments: list[tuple[int, int, int]] = []
        """For each environment: its position, the end of its `\begin` command, and its end."""
        self._environment: tuple[int, int] | None = None
        self._depth = 0
        self._escapes: list[int] = []
        self._line_breaks: list[int] = []
        self._read(position)
        self._finish()

    def _read(self, position: int) -> None:
        code_end = position
        for match in TOKEN.finditer(self._line, position):
            token, position = match[0], match.start()
            if position < code_end:
                continue
            if token[0] == "`":
                code_end = self._read_code(token, position)
            elif token == "$":
                code_end = self._read_dollar(position)
            elif token == "$$":
                self._read_two_dollars(position)
            elif token[0] == "$":
                self._mask(position, token)
            elif match[1]:
                self._read_environment(match)
            elif token in (r"\[", r"\("):
                self._read_opening(token, position)
            elif token in (r"\]", r"\)"):
                self._read_closing(token, position)
            else:
                self._read_escape(token, position)

    def _read_code(self, token: str, position: int) -> int:
        if self._runs is None:
            self._runs = {}
            for run in _RUN.finditer(self._line):
                self._runs.setdefault(len(run[0]), []).append(run.start())
        ends = self._runs.get(len(token), [])
        number = bisect_left(ends, position + len(token))
        if number == len(ends):
            return position
        self._mask_open("$")
        self._spans.append((position, ends[number] + len(token)))
        return self._spans[-1][1]

    def _read_dollar(self, position: int) -> int:
        """Return the end of a formula with spaces that begins at this dollar; `position` in all other cases."""
        start = self._open.get("$")
        if start is not None and is_formula_between_dollars(self._line, start, position):
            self._spans.append((self._open.pop("$"), position + 1))
            if self._line[position + 1 : position + 2].isdigit():
                # The parser would not end the formula at a dollar before a digit, so a mask separates them.
                self.edits.append(Edit.insertion(position + 1, GUARD))
            return position
        self._mask_open("$")
        after = self._line[position + 1 : position + 2]
        if after == " " and (end := spaced_formula_end(self._line, position)):
            # The parser would take dollars beside spaces for plain characters, so masks separate them.
            self.edits += (Edit.insertion(position + 1, GUARD), Edit.insertion(end - 1, GUARD))
            self._spans.append((position, end))
            return end
        if not after or after.isspace():
            self._mask(position, "$")
        else:
            self._open["$"] = position
        return position

    def _read_two_dollars(self, position: int) -> None:
        self._mask_open("$")
        start = self._open.pop("$$", None)
        if start is None:
            self._open["$$"] = position
        elif is_display_formula(self._line[start + 2 : position], self._line[position + 2 : position + 3]):
            self._spans.append((start, position + 2))
        else:
            self._mask(start, "$$")
            self._mask(position, "$$")

    def _read_opening(self, token: str, position: int) -> None:
        if token in self._open or self._is_in_formula:
            self._mask(position, token)
        else:
            self._open[token] = position

    def _read_closing(self, token: str, position: int) -> None:
        opening = r"\[" if token == r"\]" else r"\("
        start = self._open.pop(opening, None)
        if start is None:
            if self.text_environments:
                self._escapes.append(position)
        elif is_bracketed_formula(self._line[start + 2 : position], token, self._line[start - 1 : start]):
            self._spans.append((start, position + 2))
        else:
            self._mask(start, opening)
            self._mask(position, token)

    def _read_environment(self, match: re.Match[str]) -> None:
        change = 1 if match[1] == "begin" else -1
        if self._depth:
            self._depth += change
            if not self._depth and self._environment:
                self._environments.append((*self._environment, match.end()))
        elif not is_maths_environment(match[2]):
            self.text_environments = max(0, self.text_environments + change)
        elif change == 1:
            self._depth, self._environment = 1, (match.start(), match.end())

    def _read_escape(self, token: str, position: int) -> None:
        if token == r"\\" and self._line[position + 2 : position + 3] in ("]", ")"):
            self._line_breaks.append(position + 2)
        if self.text_environments and _ESCAPED.match(token):
            self._escapes += (position, position + 1) if token == r"\\" else (position,)

    def _finish(self) -> None:
        may_start = (self._open or self._depth) and not self._is_in_formula
        start = self._find_start() if may_start else None
        for delimiter in list(self._open):
            if start is None or delimiter != start.delimiter:
                self._mask_open(delimiter)
        self.start = start
        formulas = _outermost(self._spans) if self._environments else []
        for begin, content, end in [] if self._is_in_formula else self._environments:
            is_own = not _is_within(formulas, begin) and (not start or begin < start.position)
            if is_own and is_environment(self._line[content:end].rpartition("\\")[0]):
                self.edits += (Edit.formula_start(begin), Edit.formula_end(end))
                self._spans.append((begin, end))
        if start and start.delimiter == ENVIRONMENT:
            self.edits.append(Edit.formula_start(start.position))
        if start:
            self._spans.append((start.position, len(self._line)))
        if not (self._line_breaks or self._escapes or "|" in self._line):
            return
        formulas = _outermost(self._spans)
        is_whole = self._is_in_formula
        self.edits += (Edit.insertion(one, GUARD) for one in self._line_breaks if is_whole or _is_within(formulas, one))
        self.edits += (Edit(one, one + 1, BACKSLASH) for one in self._escapes if not _is_within(formulas, one))
        if "|" in self._line:
            for begin, end in formulas:
                pipes = _PIPE.finditer(self._line, begin, end)
                self.edits += (Edit(pipe.start(), pipe.end(), PIPE) for pipe in pipes)

    def _find_start(self) -> FormulaStart | None:
        """Return the first delimiter without an end that begins a formula of several lines."""
        if not may_go_on(self._line, self._content_start):
            return None
        candidates = [(position, delimiter) for delimiter, position in self._open.items()]
        if self._depth and self._environment:
            candidates.append((self._environment[0], ENVIRONMENT))
        starts = (FormulaStart(position, delimiter) for position, delimiter in sorted(candidates))
        return next((start for start in starts if self._is_start(start)), None)

    def _is_start(self, start: FormulaStart) -> bool:
        is_first = start.position == self._content_start
        if start.delimiter == ENVIRONMENT:
            rest = self._line[self._environment[1] if self._environment else 0 :]
            return is_environment(rest) or (is_first and not is_prose(rest))
        rest = self._line[start.position + len(start.delimiter) :]
        if self._depth and self._environment and self._environment[0] > start.position:
            return not is_money(self._line[start.position + len(start.delimiter) : self._environment[0]])
        if start.delimiter == "$":
            return False
        if not rest.strip():
            return True
        if start.delimiter == r"\(":
            return False
        return not is_prose(rest) if is_first else start.delimiter == r"\[" and _EQUATION.search(rest) is not None

    def _mask_open(self, delimiter: str) -> None:
        position = self._open.pop(delimiter, None)
        if position is not None:
            self._mask(position, delimiter)

    def _mask(self, position: int, delimiter: str) -> None:
        if delimiter[0] == "$":
            self.edits += mask_dollars(position, len(delimiter))
        elif self.text_environments:
            self.edits.append(Edit(position, position + 1, BACKSLASH))
        else:
            self.edits.append(Edit(position, position + 2, NUMBERS[delimiter]))


def content_start(line: str) -> int:
    """Return where the content of a line begins, after its indentation and the markers of quotes and lists."""
    container = _CONTAINER.match(line)
    return container.end() if container else 0


def may_go_on(line: str, start: int) -> bool:
    """Return whether the next line may continue a paragraph of this line, whose content begins at `start`.

    It may not if this line is a heading or ends raw HTML.
    """
    return _HEADING_OR_TAG.match(line, start) is None and _END_OF_HTML.search(line) is None


def is_formula_of_lines(content: str) -> bool:
    """Return whether the lines between two `$$` are a formula, if the first `$$` follows text in its line."""
    return has_sign(content) or (not is_prose(content) and is_environment(content))


def _outermost(spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the spans in order, without those that begin within another span."""
    outermost: list[tuple[int, int]] = []
    for span in sorted(spans):
        if not outermost or span[0] >= outermost[-1][1]:
            outermost.append(span)
    return outermost


def _is_within(spans: list[tuple[int, int]], position: int) -> bool:
    number = bisect_left(spans, (position + 1, 0))
    return number > 0 and position < spans[number - 1][1]
