"""What a text says and holds, as far as a decision on code execution looks at it: the words, numbers and shapes in it.

Pure; looks at no more of a text than `chat.intent.lexicon.window` shows.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from chat.intent import shapes
from chat.intent.lexicon import folded, normalised, opening, said_in, window
from chat.intent.words.measures import CHINESE_UNITS, LABELS, LATIN_UNITS

LATIN_UNIT_SET: Final = frozenset(LATIN_UNITS.split())
CHINESE_UNIT_SET: Final = tuple(CHINESE_UNITS.split())
LABEL_SET: Final = frozenset(LABELS.split())
SHORT_CHARS: Final = 80


@dataclass(frozen=True, slots=True)
class Facts:
    """What a text says and holds; the rules look at nothing else."""

    said: Mapping[str, int]
    """Names of `WORDS`, each with how many different words of it occur outside fenced code."""
    opened: frozenset[str]
    """Names of `WORDS` whose words the text starts with, after "please" and the like."""
    quantities: int
    """Numbers and number words, without dates, years, clock times, phone numbers and labels such as "room 204"."""
    measured: int
    """Those of them with a unit, a currency or a percent sign."""
    percents: int
    dates: int
    clocks: int
    years: int
    is_list: bool
    is_table: bool
    is_formula: bool
    is_expression: bool
    is_percent_of: bool
    is_unit_to_unit: bool
    asks_for_unit: bool
    is_letter_count: bool
    is_quoting: bool
    is_code: bool
    is_bare_python: bool
    """Nothing but Python in a fence."""
    is_phone: bool
    is_question: bool
    is_short: bool
    """Short enough for a follow-up that leans on the turn before; fenced code does not count."""
    has_data: bool
    ran_code_before: bool

    def says(self, *names: str) -> bool:
        """Whether any of the named word groups occurs."""
        return any(name in self.said for name in names)

    def opens(self, *names: str) -> bool:
        """Whether the text starts with a word of any of the named groups."""
        return not self.opened.isdisjoint(names)

    @property
    def is_mathematical(self) -> bool:
        """Whether there is anything to compute on in the text itself."""
        return self.quantities > 0 or self.is_formula or self.is_expression or self.is_list or self.is_table

    @property
    def is_to_run(self) -> bool:
        """Whether the code in the text, or of the turn before, is to be executed."""
        if self.says("runs not"):
            return False
        if self.is_bare_python or self.says("run"):
            return True
        return self.is_code and self.is_short and self.says("runs") and not self.says("edits", "explains", "rewords")


@dataclass(frozen=True, slots=True)
class Fences:
    """A text parted at its fences."""

    prose: str
    """All of it without the fenced code; fenced data stays."""
    has_code: bool
    has_python: bool


def _fences(seen: str) -> Fences:
    has_code = has_python = False

    def prose_of(fence: re.Match[str]) -> str:
        nonlocal has_code, has_python
        tag, body = fence[1] or "", fence[2]
        is_python = tag in shapes.PYTHON_TAGS or (not tag and shapes.PYTHON.search(body) is not None)
        is_code = is_python or (shapes.CODE.search(body) is not None if not tag else tag not in shapes.DATA_TAGS)
        has_code, has_python = has_code or is_code, has_python or is_python
        return "\n" if is_code else f"\n{body}\n"

    prose = shapes.FENCE.sub(prose_of, seen) if "```" in seen else seen
    return Fences(prose, has_code=has_code, has_python=has_python)


def _without_phones(text: str) -> tuple[str, int]:
    """The text with phone numbers blanked, and how many they were."""
    phones = [found for found in shapes.LONG_NUMBER.findall(text) if shapes.PHONE.fullmatch(found.strip())]
    for phone in phones:
        text = text.replace(phone, " ", 1)
    return text, len(phones)


def _is_labelled(number: re.Match[str], text: str) -> bool:
    """Whether a number is a name, as in "room 204", "§ 573" or "usb3"."""
    if shapes.LETTER.match(text, number.start() - 1):
        return True
    before = text[max(0, number.start() - 14) : number.start()].split()
    return bool(before) and (before[-1] in LABEL_SET or before[-1][-1] in "#§第")


def _is_measured(number: re.Match[str], text: str) -> bool:
    if text[max(0, number.start() - 2) : number.start()].strip()[-1:] in ("$", "€", "£", "¥"):
        return True
    after = shapes.AFTER_NUMBER.match(text, number.end())
    if after is None:
        return False
    unit = folded(after[1])
    if unit in ("a", "in", "c", "f", "t", "times"):  # also words of a sentence
        return after[0] == after[1]
    return unit in "%‰€$£¥°²" or unit in LATIN_UNIT_SET or unit.startswith(CHINESE_UNIT_SET)


def _is_year(number: re.Match[str], text: str) -> bool:
    digits = number[0]
    if len(digits) != 4 or not digits.isdigit() or not 1000 < int(digits) <= 2100 or int(digits) % 500 == 0:
        return False
    return text.startswith("年", number.end()) or not _is_measured(number, text)


def _is_table(text: str) -> bool:
    """Two or more lines with a cell that is a number alone, and the same number of cells."""
    rows = [row for row in text.splitlines() if row.strip()]
    for delimiter, least in (("\t", 2), ("|", 2), (";", 2), (",", 2), (" ", 3)):
        split = [row.split(delimiter) for row in rows]
        counts = [len(cells) for cells in split if len(cells) > 1 and any(map(shapes.NUMBER_CELL.fullmatch, cells))]
        shared = max(map(counts.count, counts), default=0)
        if shared >= least and shared * 2 >= len(rows):
            return True
    return False


def _is_list(numbers: list[re.Match[str]], text: str) -> bool:
    """Three or more numbers that only separators stand between, or four with short labels."""
    bare = labelled = 1
    for before, after in pairwise(numbers):
        gap = text[before.end() : after.start()]
        bare = bare + 1 if len(gap) <= 6 and shapes.GAP_OF_LIST.fullmatch(gap) else 1
        labelled = labelled + 1 if len(gap) <= 25 and shapes.GAP_OF_PAIRS.fullmatch(gap) else 1
        if bare >= 3 or labelled >= 4:
            return True
    return len(shapes.POINT.findall(text)) >= 2


def _opens(plain: str, needle: str) -> bool:
    return plain.startswith(needle) or plain.startswith(needle, 1)  # a Chinese word follows the space


def facts_of(text: str, *, has_data: bool = False, ran_code_before: bool = False) -> Facts:
    """Read the window of `text` once."""
    seen = window(text)
    fences = _fences(seen)
    prose = fences.prose
    plain = normalised(prose)
    start = opening(plain)
    words = said_in(plain)
    said = Counter(name for _, name in words)
    undated, dates = shapes.DATE.subn(" ", prose)
    uncalled, phones = _without_phones(undated)
    counted, clocks = shapes.CLOCK.subn(" ", uncalled)
    found = [number for number in shapes.NUMBER.finditer(counted) if not _is_labelled(number, counted)]
    numbers = [number for number in found if not _is_year(number, counted)]
    asked = shapes.ASKED_UNIT.search(prose)
    units = shapes.UNIT_TO_UNIT.search(counted)
    return Facts(
        said=said,
        opened=frozenset(name for needle, name in words if _opens(start, needle) or _opens(plain, needle)),
        quantities=len(numbers) + said["many"] + len(shapes.CHINESE_NUMBER.findall(counted)),
        measured=sum(_is_measured(number, counted) for number in numbers),
        percents=counted.count("%") + plain.count(" percent ") + plain.count(" prozent "),
        dates=dates + ("day" in said),
        clocks=clocks,
        years=len(found) - len(numbers),
        is_list=_is_list(found, counted),
        is_table=_is_table(prose),
        is_formula=shapes.FORMULA_HINT.search(prose) is not None and shapes.FORMULA.search(undated) is not None,
        is_expression=shapes.EXPRESSION.search(uncalled) is not None,
        is_percent_of=shapes.PERCENT_OF.search(counted) is not None,
        is_unit_to_unit=units is not None and {units[1], units[2]} <= LATIN_UNIT_SET,
        asks_for_unit=asked is not None and asked[1] in LATIN_UNIT_SET,
        is_quoting=shapes.QUOTING.search(prose) is not None,
        is_letter_count=shapes.LETTER_COUNT.search(prose) is not None,
        is_code=fences.has_code
        or (shapes.CODE_HINT.search(prose) is not None and shapes.CODE.search(prose) is not None),
        is_bare_python=fences.has_python and not start.strip(),
        is_phone=phones > 0,
        is_question=shapes.QUESTION.search(prose) is not None,
        is_short=len(plain) <= SHORT_CHARS + 2,
        has_data=has_data,
        ran_code_before=ran_code_before,
    )
