"""The facts about a text on which a prediction is based: its words, numbers and patterns.

The module is pure and examines only the part of a text that `chat.answering.prompt.intent.lexicon.extract_window`
returns.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from chat.answering.prompt.intent import patterns
from chat.answering.prompt.intent.lexicon import (
    extract_window,
    find_entries,
    normalize,
    replace_umlauts,
    strip_polite_start,
)
from chat.answering.prompt.intent.words.measures import CHINESE_UNITS, LABELS, LATIN_UNITS

LATIN_UNIT_SET: Final = frozenset(LATIN_UNITS.split())
CHINESE_UNIT_PREFIXES: Final = tuple(CHINESE_UNITS.split())
LABEL_SET: Final = frozenset(LABELS.split())
SHORT_CHARS: Final = 80


@dataclass(frozen=True, slots=True)
class Facts:
    """The facts about a text; rules use nothing else."""

    prose: str
    """The examined part of the text in lower case, without fenced code."""
    word_counts: Mapping[str, int]
    """Number of different words of each group in `WORDS` that occur outside fenced code."""
    opening_groups: frozenset[str]
    """Groups in `WORDS` of the words with which the text starts, before or after polite words."""
    quantities: int
    """Numbers and number words, without dates, years, clock times, phone numbers and labels such as "room 204"."""
    measured_quantities: int
    """Quantities with a unit, a currency or a percent sign."""
    percentages: int
    dates: int
    clock_times: int
    years: int
    has_number_list: bool
    has_table: bool
    has_formula: bool
    has_expression: bool
    has_percent_of: bool
    has_unit_conversion: bool
    asks_for_unit: bool
    asks_to_count_letters: bool
    has_quoted_text: bool
    has_code: bool
    is_only_python: bool
    """True if the text consists of fenced Python and, at most, polite words."""
    has_phone_number: bool
    is_question: bool
    is_short: bool
    """True if the text is short enough for a follow-up to the previous turn; fenced code does not count."""
    has_data: bool
    ran_code_before: bool

    def has_words(self, *groups: str) -> bool:
        """Return whether a word of any of these groups occurs."""
        return not self.word_counts.keys().isdisjoint(groups)

    def starts_with(self, *groups: str) -> bool:
        """Return whether the text starts with a word of any of these groups."""
        return not self.opening_groups.isdisjoint(groups)

    @property
    def has_math(self) -> bool:
        """Return whether the text itself contains something to compute on."""
        return self.quantities > 0 or self.has_formula or self.has_expression or self.has_number_list or self.has_table

    @property
    def names_data_file(self) -> bool:
        """Return whether the text holds the name of a table file, such as `sales.csv`."""
        return patterns.DATA_FILE.search(self.prose) is not None

    @property
    def names_quantity_of_data(self) -> bool:
        """Return whether the text names a quantity, and data to compute it from: a file, or at least three numbers."""
        has_source = self.has_data or self.names_data_file or self.quantities >= 3
        return has_source and self.has_words("named quantity") and not self.has_words("translate", "reword")

    @property
    def asks_to_run_code(self) -> bool:
        """Return whether the code in the text, or the code of the previous turn, is to be executed."""
        if self.has_words("do not run"):
            return False
        if self.is_only_python or self.has_words("run this code"):
            return True
        is_request = self.has_words("run") and not self.has_words("edit code", "explain", "reword")
        return self.has_code and self.is_short and is_request


def extract_facts(text: str, *, has_data: bool = False, ran_code_before: bool = False) -> Facts:
    """Return the facts about `text`; the other arguments are those of `predict_code`."""
    prose, has_fenced_code, has_fenced_python = _split_fences(extract_window(text))
    normalized = normalize(prose)
    request = strip_polite_start(normalized)
    entries = find_entries(normalized)
    word_counts = Counter(group for _, group in entries)
    undated, dates = patterns.DATE.subn(" ", prose)
    without_phones, phones = _remove_phone_numbers(undated)
    countable, clock_times = patterns.CLOCK.subn(" ", without_phones)
    numbers = [number for number in patterns.NUMBER.finditer(countable) if not _is_labelled(number, countable)]
    counted_numbers = [number for number in numbers if not _is_year(number, countable)]
    return Facts(
        prose=prose,
        word_counts=word_counts,
        opening_groups=_opening_groups(entries, request, normalized),
        quantities=len(counted_numbers) + word_counts["number word"] + len(patterns.CHINESE_NUMBER.findall(countable)),
        measured_quantities=sum(_has_unit(number, countable) for number in counted_numbers),
        percentages=countable.count("%") + normalized.count(" percent ") + normalized.count(" prozent "),
        dates=dates + ("named day" in word_counts),
        clock_times=clock_times,
        years=len(numbers) - len(counted_numbers),
        has_number_list=_has_number_list(numbers, countable),
        has_table=_has_table(prose),
        has_formula=bool(patterns.FORMULA_HINT.search(prose) and patterns.FORMULA.search(undated)),
        has_expression=patterns.EXPRESSION.search(without_phones) is not None,
        has_percent_of=patterns.PERCENT_OF.search(countable) is not None,
        has_unit_conversion=_has_unit_conversion(countable),
        asks_for_unit=_asks_for_unit(prose),
        has_quoted_text=patterns.QUOTED_TEXT.search(prose) is not None,
        asks_to_count_letters=patterns.LETTER_COUNT.search(prose) is not None,
        has_code=has_fenced_code or bool(patterns.CODE_HINT.search(prose) and patterns.CODE.search(prose)),
        is_only_python=has_fenced_python and not request.strip(),
        has_phone_number=phones > 0,
        is_question=patterns.QUESTION.search(prose) is not None,
        is_short=len(normalized) <= SHORT_CHARS + 2,
        has_data=has_data,
        ran_code_before=ran_code_before,
    )


def _opening_groups(entries: Iterable[tuple[str, str]], *starts: str) -> frozenset[str]:
    """Return the groups in `WORDS` of the words with which one of `starts` begins. `entries`: from `find_entries`."""
    return frozenset(group for needle, group in entries if any(_starts_with(text, needle) for text in starts))


def _split_fences(text: str) -> tuple[str, bool, bool]:
    """Return the text without fenced code, but with fenced data, and whether it had fenced code and fenced Python."""
    has_code = has_python = False

    def prose_of_fence(fence: re.Match[str]) -> str:
        nonlocal has_code, has_python
        language, body = fence[1] or "", fence[2]
        is_python = language in patterns.PYTHON_TAGS or (not language and patterns.PYTHON.search(body) is not None)
        is_code = is_python or (
            language not in patterns.DATA_TAGS if language else patterns.CODE.search(body) is not None
        )
        has_code, has_python = has_code or is_code, has_python or is_python
        return "\n" if is_code else f"\n{body}\n"

    prose = patterns.FENCE.sub(prose_of_fence, text) if "```" in text else text
    return prose, has_code, has_python


def _remove_phone_numbers(text: str) -> tuple[str, int]:
    """Return the text with each phone number replaced by a space, and the number of phone numbers."""
    candidates = patterns.LONG_NUMBER.findall(text)
    phone_numbers = [number for number in candidates if patterns.PHONE.fullmatch(number.strip())]
    for number in phone_numbers:
        text = text.replace(number, " ", 1)
    return text, len(phone_numbers)


def _is_labelled(number: re.Match[str], text: str) -> bool:
    """Return whether a number is part of a name, as in "room 204", "§ 573" or "usb3"."""
    if patterns.LETTER.match(text, number.start() - 1):
        return True
    words_before = text[max(0, number.start() - 14) : number.start()].split()
    return bool(words_before) and (words_before[-1] in LABEL_SET or words_before[-1][-1] in "#§第")


def _has_unit(number: re.Match[str], text: str) -> bool:
    if text[max(0, number.start() - 2) : number.start()].strip()[-1:] in ("$", "€", "£", "¥"):
        return True
    after = patterns.UNIT_AFTER_NUMBER.match(text, number.end())
    if after is None:
        return False
    unit = replace_umlauts(after[1])
    if unit in ("a", "in", "c", "f", "t", "times"):  # ordinary words too, so a unit must follow without a space
        return after[0] == after[1]
    return unit in "%‰€$£¥°²" or unit in LATIN_UNIT_SET or unit.startswith(CHINESE_UNIT_PREFIXES)


def _is_year(number: re.Match[str], text: str) -> bool:
    digits = number[0]
    if len(digits) != 4 or not digits.isdigit() or not 1000 < int(digits) <= 2100 or int(digits) % 500 == 0:
        return False
    return text.startswith("年", number.end()) or not _has_unit(number, text)


def _has_table(text: str) -> bool:
    """Return whether half of the lines, but at least two, have equally many cells and at least one numeric cell."""
    rows = [row for row in text.splitlines() if row.strip()]
    for delimiter, minimum_rows in (("\t", 2), ("|", 2), (";", 2), (",", 2), (" ", 3)):
        rows_of_cells = [row.split(delimiter) for row in rows]
        cell_counts = [
            len(cells) for cells in rows_of_cells if len(cells) > 1 and any(map(patterns.NUMBER_CELL.fullmatch, cells))
        ]
        equal_rows = max(map(cell_counts.count, cell_counts), default=0)
        if equal_rows >= minimum_rows and equal_rows * 2 >= len(rows):
            return True
    return False


def _has_number_list(numbers: list[re.Match[str]], text: str) -> bool:
    """Return whether three numbers follow each other, four with short labels between, or two points such as (1, 2)."""
    plain_length = labelled_length = 1
    for number, next_number in pairwise(numbers):
        gap = text[number.end() : next_number.start()]
        plain_length = plain_length + 1 if len(gap) <= 6 and patterns.LIST_SEPARATOR.fullmatch(gap) else 1
        is_labelled_gap = len(gap) <= 25 and patterns.LABELLED_LIST_SEPARATOR.fullmatch(gap)
        labelled_length = labelled_length + 1 if is_labelled_gap else 1
        if plain_length >= 3 or labelled_length >= 4:
            return True
    return len(patterns.POINT.findall(text)) >= 2


def _has_unit_conversion(text: str) -> bool:
    units = patterns.UNIT_CONVERSION.search(text)
    return units is not None and {units[1], units[2]} <= LATIN_UNIT_SET


def _asks_for_unit(text: str) -> bool:
    question = patterns.UNIT_QUESTION.search(text)
    return question is not None and question[1] in LATIN_UNIT_SET


def _starts_with(normalized_text: str, needle: str) -> bool:
    # A normalized text begins with a space. Chinese needles do not.
    return normalized_text.startswith(needle) or normalized_text.startswith(needle, 1)
