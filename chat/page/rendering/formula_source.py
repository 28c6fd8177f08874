r"""Decides in Markdown source what is a formula, and where cells and addresses end, before the parser reads it.

The parser takes any text between two dollars, or between `\[` and `\]`, as a formula, cuts cells of tables at each `|`,
and ends an address at the next space. Text that it would read wrongly is masked (`source_masks`): delimiters that begin
or end no formula, and each `|` in code or in a formula (`line_formulas`, `formula_text`). Bare addresses in Chinese,
Japanese or Korean text get an end (`bare_addresses`).

A formula over several lines begins at the start or end of a line, or continues in an environment. Within it, no line
begins a list, a heading or a table. An environment may hold blank lines if the text after them looks like a formula. An
environment without an end is shown as source.

A decision depends only on the block around a delimiter, up to its line, so that blocks can be rendered separately. The
time is linear.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from chat.page.rendering.bare_addresses import address_edits
from chat.page.rendering.formula_text import continues_formula
from chat.page.rendering.line_formulas import (
    ENVIRONMENT,
    TOKEN,
    FormulaStart,
    LineFormulas,
    content_start,
    is_formula_of_lines,
    may_go_on,
)
from chat.page.rendering.source_masks import (
    GUARD,
    MASK_CHARACTERS,
    Edit,
    MaskedSource,
    apply_edits,
    bridge,
    mask_dollars,
)

_LINE = re.compile(r"[^\r\n]*(?:\r\n?|\n|\Z)")
_FENCE = re.compile(r"[ \t>]*(?:```|~~~)")
_BLOCK_START = re.compile(r"(?:[-+*]|\d{1,9}[.)]|#{1,6})(?:[ \t\r\n]|\Z)|>|<[A-Za-z!?/]|[-*_=]{3}")
_BACKSLASHES = re.compile(r"\\(?:[\[(]|begin\{)")
_SIGNS = ("$", r"\[", r"\(", r"\begin{")
_INDENTATION_LIMIT = 40


def mask_source(text: str) -> MaskedSource:
    """Return the source with masks where the parser would read it wrongly."""
    has_addresses = not text.isascii() and ("://" in text or "www." in text.lower())
    if not has_addresses and not any(sign in text for sign in _SIGNS) and not ("|" in text and "`" in text):
        return MaskedSource(text)
    character = next((one for one in MASK_CHARACTERS if one not in text), "")
    if not character:
        return MaskedSource(text)
    masked = _Lines(text, character).masked()
    return MaskedSource(masked, character) if masked != text else MaskedSource(text)


@dataclass(slots=True)
class _OpenFormula:
    """A formula that began in an earlier line."""

    start: FormulaStart
    line: int
    """The number of the line in which the formula began."""
    prefix: str
    """Characters that may precede the other lines: spaces and tabs, and `>` if the first line is in a quote."""
    column: int
    """Column where the content of the first line begins. A block that begins left of it ends the formula."""
    indentation: int
    """Indentation of the first line, in spaces. A line with four spaces less does not continue indented code."""
    is_doubtful: bool
    """Whether the formula begins with `$$` after text in its line. Such a `$$` may also mean a level of prices."""
    depth: int = 1
    """Number of environments that are open."""


class _Lines:
    """Masks the lines of a text, one after the other."""

    def __init__(self, text: str, character: str) -> None:
        self._lines = _LINE.findall(text)
        self._character = character
        self._masked: list[str] = []
        self._open: _OpenFormula | None = None
        self._text_environments = 0
        """Number of environments without formulas that are open in this block."""
        self._text_column, self._text_prefix = 0, ""
        """Column of the content in the line that opened the first one; characters that may precede the next lines."""

    def masked(self) -> str:
        """Return the whole text with masks."""
        while len(self._masked) < len(self._lines):
            line = self._lines[len(self._masked)]
            if self._open is not None and self._ends_before(line, self._open):
                self._close()
            if self._text_environments and self._is_new_block(line):
                self._text_environments = 0
            if self._open is None:
                self._add(line, self._edits(line, 0))
            elif not line.lstrip(self._open.prefix).strip():
                self._add_blank_lines(self._open)
            else:
                self._continue(line, self._open)
        self._close()
        return "".join(self._masked)

    def _is_new_block(self, line: str) -> bool:
        """Return whether a line does not continue the paragraph in which an environment without formulas is open."""
        content = line.lstrip(self._text_prefix)
        is_outside = _indentation(line, self._text_prefix) < self._text_column
        return not content.strip() or is_outside or _BLOCK_START.match(content) is not None

    def _ends_before(self, line: str, formula: _OpenFormula) -> bool:
        """Return whether a formula must end before a line, because its end is missing or it is no formula."""
        content = line.lstrip(formula.prefix)
        if not content.strip():
            return not self._is_bridge(formula)
        if _FENCE.match(line):
            return True
        indentation = _indentation(line, formula.prefix)
        if indentation <= formula.indentation - 4:
            return True
        is_doubtful = formula.is_doubtful and formula.line == len(self._masked) - 1
        return _BLOCK_START.match(content) is not None and (is_doubtful or indentation < formula.column)

    def _is_bridge(self, formula: _OpenFormula) -> bool:
        """Return whether the formula continues after the blank lines that come next."""
        following = self._lines[self._end_of_blank_lines(formula)]
        if formula.start.end == "$$" or not following.strip():
            return False
        content = following.lstrip(formula.prefix)
        if len(following) - len(content) > _INDENTATION_LIMIT or self._ends_before(following, formula):
            return False
        return content.startswith(formula.start.end) or continues_formula(content)

    def _end_of_blank_lines(self, formula: _OpenFormula) -> int:
        number = len(self._masked)
        while number < len(self._lines) - 1 and not self._lines[number].lstrip(formula.prefix).strip():
            number += 1
        return number

    def _add_blank_lines(self, formula: _OpenFormula) -> None:
        end = self._end_of_blank_lines(formula)
        following = self._lines[end]
        indentation = following[: len(following) - len(following.lstrip(formula.prefix))]
        for line in self._lines[len(self._masked) : end]:
            self._masked.append(bridge(indentation, line[len(line.rstrip("\r\n")) :], self._character))

    def _continue(self, line: str, formula: _OpenFormula) -> None:
        guard = Edit.insertion(len(line) - len(line.lstrip(formula.prefix)), GUARD)
        end = _find_end(line, formula)
        if end is None:
            is_environment = formula.start.delimiter == ENVIRONMENT
            self._add(line, [guard, *([] if is_environment else LineFormulas(line, is_in_formula=True).edits)])
            return
        self._open = None
        edits = [guard, *self._edits(line, end)]
        if formula.start.delimiter == ENVIRONMENT:
            edits.append(Edit.formula_end(end))
        elif formula.start.end == "$" and line[end : end + 1].isdigit():
            edits.append(Edit.insertion(end, GUARD))
        elif formula.is_doubtful and not is_formula_of_lines(self._content(line[: end - 2], formula)):
            first = self._masked[formula.line]
            position = len(first.rstrip()) - 2
            self._masked[formula.line] = apply_edits(first, mask_dollars(position, 2), self._character)
            edits += mask_dollars(end - 2, 2)
        self._add(line, edits)

    def _content(self, last: str, formula: _OpenFormula) -> str:
        return "".join([*self._lines[formula.line + 1 : len(self._masked)], last])

    def _edits(self, line: str, position: int) -> list[Edit]:
        """Return the edits for a line's formulas after `position`. Open a formula that continues in the next line."""
        has_delimiters = "$" in line or ("\\" in line and (self._text_environments or _BACKSLASHES.search(line)))
        if not has_delimiters and not ("`" in line and "|" in line):
            return []
        formulas = LineFormulas(line, position, text_environments=self._text_environments)
        start_of_content = content_start(line)
        column = len(line[:start_of_content].expandtabs(4))
        prefix = " \t>" if ">" in line[:start_of_content] else " \t"
        if not self._text_environments:
            self._text_column, self._text_prefix = column, prefix
        is_text = not _FENCE.match(line, start_of_content) and may_go_on(line, start_of_content)
        self._text_environments = formulas.text_environments if is_text else 0
        if start := formulas.start:
            self._open = _OpenFormula(
                start,
                line=len(self._masked),
                prefix=prefix,
                column=column,
                indentation=_indentation(line, " \t"),
                is_doubtful=start.delimiter == "$$" and start.position > start_of_content,
                depth=_depth(line[start.position :]),
            )
        return formulas.edits

    def _add(self, line: str, edits: list[Edit]) -> None:
        if not line.isascii() and ("://" in line or "www." in line.lower()):
            edits = [*edits, *address_edits(line)]
        self._masked.append(apply_edits(line, edits, self._character) if edits else line)

    def _close(self) -> None:
        """Close the open formula. An environment gets an end at the end of the last line."""
        if self._open is not None and self._open.start.delimiter == ENVIRONMENT:
            last = self._masked[-1]
            end = Edit.formula_end(len(last.rstrip("\r\n")))
            self._masked[-1] = apply_edits(last, [end], self._character)
        self._open = None


def _find_end(line: str, formula: _OpenFormula) -> int | None:
    """Return the position after the end of a formula in a line, or None; count the environments that are open."""
    for match in TOKEN.finditer(line):
        if match[1]:
            formula.depth += 1 if match[1] == "begin" else -1
            if formula.start.delimiter == ENVIRONMENT and formula.depth <= 0:
                return match.end()
        elif match[0] == formula.start.end:
            return match.end()
    return None


def _depth(text: str) -> int:
    return sum(1 if match[1] == "begin" else -1 for match in TOKEN.finditer(text) if match[1])


def _indentation(line: str, prefix: str) -> int:
    """Return the number of spaces before a line's content; characters of `prefix` count as spaces."""
    return len(line[: len(line) - len(line.lstrip(prefix))].expandtabs(4))
