r"""Masks in Markdown source. They hide characters from the parser, and add ends that it must see.

A mask is a number between two characters that the text does not contain. It replaces a character, such as a dollar that
begins no formula, or is only inserted. `MaskedSource.unmask` restores the source's characters in the parser's HTML.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple
from urllib.parse import quote

MASK_CHARACTERS = "\u2e38\u2e4f\u1cd3\ua9c1\u07fe"
"""Rare punctuation marks. Beside them, the parser reads `*` and `_` as beside a dollar."""

_SIGNS = {"1": "$", "2": r"\[", "3": r"\]", "4": r"\(", "5": r"\)", "6": "", "7": "|", "8": "\\"}
"""Number of a mask -> the characters that it replaces in code and formulas."""
_SIGNS_IN_TEXT = _SIGNS | {"2": "[", "3": "]", "4": "(", "5": ")"}
NUMBERS = {sign: number for number, sign in _SIGNS.items() if sign}
GUARD = "6"
"""A mask that replaces no character. A line that begins with it begins no block."""
PIPE, BACKSLASH = "7", "8"
_FORMULA_START, _FORMULA_END, _BLANK_LINE, _ADDRESS_START, _ADDRESS_END = "formula", "end", "blank", "address", "stop"
_INSERTED = {
    _FORMULA_START: r"\[{0}9{0}",
    _FORMULA_END: r"{0}9{0}\]",
    _BLANK_LINE: "{0}b{0}",
    # The space at the start is needed because GFM links an address without a scheme (`www.`) only after one. The `<` at
    # the end is needed because an address ends there.
    _ADDRESS_START: "{0}a{0} ",
    _ADDRESS_END: "<{0}a{0}",
}
_CODE_OR_FORMULA = re.compile(r"<(?:code|span data-math-style=)[^<>]*+>[^<]*+")


class Edit(NamedTuple):
    """A mask instead of a line's characters from `start` to `end`, or before `start` if both are equal."""

    start: int
    end: int
    mask: str

    @classmethod
    def insertion(cls, position: int, mask: str) -> Edit:
        """Return an edit that inserts a mask."""
        return cls(position, position, mask)

    @classmethod
    def formula_start(cls, position: int) -> Edit:
        r"""Return an edit that begins a formula as `\[` does. It vanishes where the parser sees no formula."""
        return cls(position, position, _FORMULA_START)

    @classmethod
    def formula_end(cls, position: int) -> Edit:
        """Return an edit that ends a formula as `\\]` does."""
        return cls(position, position, _FORMULA_END)

    @classmethod
    def address_start(cls, position: int) -> Edit:
        """Return an edit that makes an address begin directly after a letter."""
        return cls(position, position, _ADDRESS_START)

    @classmethod
    def address_end(cls, position: int) -> Edit:
        """Return an edit that ends an address."""
        return cls(position, position, _ADDRESS_END)


def mask_dollars(position: int, count: int) -> list[Edit]:
    """Return the edits that mask `count` dollars from a position on."""
    return [Edit(one, one + 1, NUMBERS["$"]) for one in range(position, position + count)]


def apply_edits(line: str, edits: Iterable[Edit], character: str) -> str:
    """Return the line with the masks of the edits, which do not overlap."""
    pieces: list[str] = []
    position = 0
    for start, end, mask in sorted(edits):
        pieces += (line[position:start], _INSERTED.get(mask, f"{{0}}{mask}{{0}}").format(character))
        position = end
    return "".join([*pieces, line[position:]])


def bridge(indentation: str, newline: str, character: str) -> str:
    """Return a line that the parser does not see as blank and that `unmask` empties."""
    return indentation + _INSERTED[_BLANK_LINE].format(character) + newline


@dataclass(frozen=True, slots=True)
class MaskedSource:
    """Markdown source with masks, for the parser."""

    text: str
    character: str = ""
    """The character on both sides of each mask's number; empty if nothing is masked."""

    def unmask(self, raw_html: str) -> str:
        """Return the parser's HTML with all masked characters restored, and without inserted masks."""
        if not self.character:
            return raw_html
        character = f"(?:{self.character}|{quote(self.character)})"
        pattern = re.compile(rf"{character}([1-8]){character}")
        if any(f"{self.character}{inserted}{self.character}" in self.text for inserted in "9ab"):
            pattern = re.compile(
                rf"{character}([1-8]){character}|(?:\\?\[)?{character}9{character}(?:\\?\])?"
                rf"|(?:&lt;|%3C)?{character}a{character} ?|[ \t]{{0,40}}{character}b{character}"
            )
        raw_html = _CODE_OR_FORMULA.sub(
            lambda code: pattern.sub(lambda mask: _SIGNS.get(mask[1], ""), code[0]), raw_html
        )
        return pattern.sub(lambda mask: _SIGNS_IN_TEXT.get(mask[1], ""), raw_html)
