r"""Decides in Markdown source what is a formula and what is money or brackets, before the parser reads it.

The parser takes any text between two dollars, or between `\[` and `\]`, as a formula. These rules come first:

- A formula between single dollars ends in its line, at the next dollar. So `$5, $6 and x$` holds no formula.
- A text between dollars that begins with a digit and holds a word is money: `$5 and 6$`. So is a text of several words.
- `\[…\]` in one line is a formula if it holds a command, one of `= + < > ^ _ { }`, or a single letter. Otherwise the
  backslashes escape brackets, as Markdown defines it: `\[1, 2\]` is `[1, 2]`.
- `\(…\)` ends in its line too, and is a formula unless it holds several words and nothing of a formula.
- A formula over several lines stands between `$$` or between `\[` and `\]`, and its first line begins with that. Within
  it, no line begins a list, a heading or a table.

A delimiter that is none is masked, and `unmask` restores it in the parser's HTML. The decisions depend on nothing but
the block around a delimiter, up to its line, so that blocks can be rendered separately. The time is linear.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import quote

_MASK_CHARACTERS = "\u2e38\u2e4f\u1cd3\ua9c1\u07fe"
"""Rare punctuation. Emphasis beside it works as beside a dollar."""
_TEXTS = {"1": "$", "2": "[", "3": "]", "4": "(", "5": ")", "6": ""}
_SOURCES = {"1": "$", "2": r"\[", "3": r"\]", "4": r"\(", "5": r"\)", "6": ""}
"""What a mask stands for in text, and in code and formulas."""
_NUMBERS = {source: number for number, source in _SOURCES.items()}
_GUARD = "6"
"""A mask of nothing, which prevents that a line begins a block."""

_LINE = re.compile(r"[^\r\n]*(?:\r\n?|\n|\Z)")
_DELIMITER = re.compile(r"\\.|\$+", re.DOTALL)
_CLOSING = {r"\[": r"\]", r"\(": r"\)"}
_COMMAND_OR_GROUP = re.compile(r"\\[A-Za-z]+|\{[^{}]*\}")
_WORD = re.compile(r"(?:^|(?<=[\s(]))[A-Za-z]{2,}(?=[\s,.;:!?)]|$)")
_FORMULA_SIGN = re.compile(r"\\[A-Za-z]|[=+<>^_{}]")
_SIGN_OR_LETTER = re.compile(rf"{_FORMULA_SIGN.pattern}|\A\s*[A-Za-z]\s*\Z")
_DISPLAY_START = re.compile(
    r"([ \t>]*+)(?>(?:(?:[-+*]|\d{1,9}[.)])[ \t]++)*)(\$\$|\\\[)(?!.*?(?:\$\$|\\\]))", re.DOTALL
)
_FENCE = re.compile(r"[ \t>]*(?:```|~~~)")
_CODE_OR_FORMULA = re.compile(r"<(?:code|span data-math-style=)[^<>]*+>[^<]*+")


@dataclass(frozen=True, slots=True)
class MaskedSource:
    """Markdown for the parser."""

    text: str
    mask: str = ""
    """The character on both sides of each masked delimiter's number; empty if nothing is masked."""

    def unmask(self, raw_html: str) -> str:
        """Return the parser's HTML with all delimiters as they were typed."""
        if not self.mask:
            return raw_html
        character = f"(?:{self.mask}|{quote(self.mask)})"
        pattern = re.compile(rf"{character}([1-6]){character}")
        raw_html = _CODE_OR_FORMULA.sub(lambda code: pattern.sub(lambda match: _SOURCES[match[1]], code[0]), raw_html)
        return pattern.sub(lambda match: _TEXTS[match[1]], raw_html)


def mask_source(text: str) -> MaskedSource:
    """Return the source with those delimiters masked that begin or end no formula."""
    if "$" not in text and r"\[" not in text and r"\(" not in text:
        return MaskedSource(text)
    mask = next((character for character in _MASK_CHARACTERS if character not in text), "")
    if not mask:
        return MaskedSource(text)
    masked = "".join(_masked_lines(text, mask))
    return MaskedSource(masked, mask) if masked != text else MaskedSource(text)


def _masked_lines(text: str, mask: str) -> Iterator[str]:
    """Yield the lines, each within a formula over several lines with a guard at its beginning.

    Without its end, such a formula ends at a blank line or a fence, where its paragraph ends.
    """
    end, prefix = "", " \t"
    for line in _LINE.findall(text):
        content = line.lstrip(prefix)
        if not content.strip() or _FENCE.match(line):
            end = ""
        start = None if end else _DISPLAY_START.match(line)
        masked = _mask_line(line, mask, continued_end=end, is_start=start is not None)
        if end:
            indentation = len(line) - len(content)
            masked = f"{line[:indentation]}{mask}{_GUARD}{mask}{masked[indentation:]}"
            end = "" if end in line else end
        elif start:
            end, prefix = _CLOSING.get(start[2], start[2]), " \t>" if ">" in start[1] else " \t"
        yield masked


def _mask_line(line: str, mask: str, *, continued_end: str, is_start: bool) -> str:
    if "$" not in line and "\\" not in line:
        return line
    pieces: list[str] = []
    end = 0
    delimiters = _LineDelimiters(line, continued_end, is_start=is_start)
    for start, delimiter in sorted(delimiters.masked()):
        pieces += (line[end:start], mask, _NUMBERS[delimiter], mask)
        end = start + len(delimiter)
    return "".join([*pieces, line[end:]])


class _LineDelimiters:
    """The delimiters of one line.

    The parser searches the end of each formula that is not closed up to the end of its paragraph, so there may be only
    one in a paragraph.
    """

    def __init__(self, line: str, continued_end: str, *, is_start: bool) -> None:
        """`continued_end`: the end of a formula that began in an earlier line. `is_start`: whether one begins here."""
        self._line = line
        self._is_start = is_start
        self._masked: list[tuple[int, str]] = []
        self._open_brackets: dict[str, int | None] = {continued_end: None} if continued_end in _CLOSING.values() else {}
        """Closing delimiter -> position of the delimiter that it closes; `None` for one in an earlier line."""
        self._open_dollar: int | None = None
        self._open_dollars: int | None = None

    def masked(self) -> list[tuple[int, str]]:
        """Return the positions of delimiters that begin or end no formula, with the delimiters."""
        for match in _DELIMITER.finditer(self._line):
            delimiter, position = match[0], match.start()
            if delimiter == "$":
                self._read_dollar(position)
            elif delimiter == "$$":
                self._read_two_dollars(position)
            elif delimiter[0] == "$":
                self._mask_dollars(position, len(delimiter))
            elif delimiter in _CLOSING:
                self._open_bracket(delimiter, position)
            elif delimiter in self._open_brackets:
                self._close_bracket(delimiter, self._open_brackets.pop(delimiter), position)
        self._mask_open_dollar()
        self._mask_open_brackets()
        return self._masked

    def _read_dollar(self, position: int) -> None:
        line, start = self._line, self._open_dollar
        before, after = line[position - 1 : position], line[position + 1 : position + 2]
        is_end = start is not None and not before.isspace() and not after.isdigit()
        if start is not None and is_end and not _is_money(line[start + 1 : position]):
            self._open_dollar = None
            return
        self._mask_open_dollar()
        self._open_dollar = None if not after or after.isspace() else position

    def _read_two_dollars(self, position: int) -> None:
        self._mask_open_dollar()
        start, self._open_dollars = self._open_dollars, None
        if start is None:
            self._open_dollars = position
        elif _is_prose(self._line[start + 2 : position]):
            self._mask_dollars(start, 2)
            self._mask_dollars(position, 2)

    def _open_bracket(self, delimiter: str, position: int) -> None:
        if _CLOSING[delimiter] in self._open_brackets:
            self._masked.append((position, delimiter))
        else:
            self._open_brackets[_CLOSING[delimiter]] = position

    def _mask_open_brackets(self) -> None:
        for closing, position in self._open_brackets.items():
            if position is not None and not (self._is_start and closing == r"\]"):
                self._masked.append((position, self._line[position : position + 2]))

    def _close_bracket(self, closing: str, start: int | None, position: int) -> None:
        if start is None:
            return
        content = self._line[start + 2 : position]
        is_formula = not _is_prose(content)
        if closing == r"\]":
            is_formula = is_formula and _SIGN_OR_LETTER.search(content) is not None
        if not is_formula:
            self._masked += ((start, self._line[start : start + 2]), (position, closing))

    def _mask_open_dollar(self) -> None:
        if self._open_dollar is not None:
            self._mask_dollars(self._open_dollar, 1)
            self._open_dollar = None

    def _mask_dollars(self, position: int, count: int) -> None:
        self._masked += ((position + offset, "$") for offset in range(count))


def _is_money(content: str) -> bool:
    if not content[:1].isdigit():
        return _is_prose(content)
    words = len(_WORD.findall(_COMMAND_OR_GROUP.sub(" ", content)))
    return words >= 3 if _FORMULA_SIGN.search(content) else words >= 1


def _is_prose(content: str) -> bool:
    """Return whether a text holds several words and nothing of a formula."""
    return _FORMULA_SIGN.search(content) is None and len(_WORD.findall(content)) >= 2
