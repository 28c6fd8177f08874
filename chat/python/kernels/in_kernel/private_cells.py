"""Runs inside a kernel: an index of cells. Texts are found by their first characters, numbers by rounded values."""

from __future__ import annotations

import re
import unicodedata
from array import array
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Collection, Sequence
from datetime import date, datetime
from functools import cached_property
from itertools import pairwise

from chat.python.kernels.in_kernel.table_source import Unreadable

KEY_CHARS = 120
"""Number of first characters by which a text is found. Longer texts are also found by their words."""
PREFIX_CHARS = 6
"""Minimum length of the beginning of a cell that is found as this cell; a third of it for `CJK` characters."""
PRIVATE_WORDS_LIMIT = 1_500_000
SHORT_CHARS = 4
CJK = "\u2e80"
"""The first of the Chinese, Japanese and Korean characters."""
LONG_WORDS = 6
"""A text with more words than this is also found by three successive words and by rare words, others by each word."""
RARE_TEXTS = 3
USUAL_ROWS = 20
"""Minimum number of values for which the median and the quartiles count as results. Below it, they are cells like
others."""
NEIGHBOURS = 8
"""Number of neighbouring cells on each side from which the density of the numbers is computed."""
CLOCK = r"(?:(?:T|,? )\d{1,2}:\d{2}(?::\d{2}(?:[.,]\d{1,9})?)?)?"
DATE = re.compile(
    rf"(?<![\w.])(?:\d{{4}}(?P<mark>[-/.])\d{{1,2}}(?P=mark)\d{{1,2}}(?!\d){CLOCK}|\d{{4}}年\d{{1,2}}月\d{{1,2}}日"
    rf"|\d{{1,2}}(?P<sign>[-/.])[ ]?\d{{1,2}}(?P=sign)[ ]?(?:\d{{4}}|\d{{2}})(?!\d){CLOCK}"
    rf"|\d{{1,2}}(?:\.|st|nd|rd|th)?[ -](?:de )?[^\W\d_]{{3,10}}\.?,?(?: del?)?[ -]\d{{4}}(?!\d){CLOCK}"
    rf"|[^\W\d_]{{3,10}}\.? \d{{1,2}}(?:st|nd|rd|th)?,? \d{{4}}(?!\d){CLOCK})"
    r"|datetime\.date(?:time)?\((?P<parts>\d{4}, \d{1,2}, \d{1,2})[\d, ]*"
)
SEPARATORS = re.compile(r"[^\w\n ]+|_+")
ACCENTS = re.compile("[\u0300-\u036f]+")


def folded(text: str) -> str:
    """Return the text in small letters without accents."""
    return text.casefold() if text.isascii() else ACCENTS.sub("", unicodedata.normalize("NFKD", text).casefold())


def day_number(text: str) -> float:
    """Return the days since year 1 of a date such as `2024-05` or `2024-05-31 13:00`. Raises ValueError if invalid."""
    moment = datetime.fromisoformat(text if len(text) > 7 else f"{text}-01")
    return moment_number(moment)


def moment_number(moment: date) -> float:
    """Return the days since year 1, with the time of day as a fraction."""
    if not isinstance(moment, datetime):
        return float(moment.toordinal())
    seconds = moment.hour * 3600 + moment.minute * 60 + moment.second + moment.microsecond / 1e6
    return moment.toordinal() + seconds / 86_400


class Numbers:
    """The numbers of a column, or its dates as numbers of days."""

    def __init__(
        self, values: Sequence[float], others: Collection[float] = (), first: int = 0, *, is_date: bool = False
    ) -> None:
        """`values`: one for each row, NaN if there is none. `others`: further readings of ambiguous dates.

        `first`: first row of data.
        """
        self.is_date = is_date
        self.values = array("d", values)
        self.first = first
        ordered = sorted([value for value in values if value == value])
        self.distinct = array("d", sorted({*ordered, *others}) if others else dict.fromkeys(ordered))
        self.count = len(ordered)
        places = [quarter * (self.count - 1) for quarter in (1, 2, 3)] if self.count >= USUAL_ROWS else []
        self.usual = [ordered[place // 4] for place in places if place % 4 == 0]
        """The median and the quartiles, if they are exactly values of cells."""
        texts = [repr(value) for value in self.distinct[: 2 * NEIGHBOURS]] + [
            repr(value) for value in self.distinct[-9:]
        ]
        ends = [len(text.partition(".")[2]) if not text.endswith(".0") and "e" not in text else 0 for text in texts]
        self.unit = 10.0 ** -max(ends, default=0)
        """The unit of the last written digit of the cells, such as 0.01."""

    @cached_property
    def order(self) -> list[int]:
        """The rows in the order of their values."""
        rows = [row for row, value in enumerate(self.values) if value == value]
        return sorted(rows, key=self.values.__getitem__)

    @cached_property
    def is_counter(self) -> bool:
        """True if the values only count the rows, in equal steps."""
        values = self.values[self.first :]
        return len(values) > 1 and all(two - one == values[1] - values[0] for one, two in pairwise(values))

    def is_usual(self, low: float, high: float) -> bool:
        """Return whether the median or a quartile is in the range."""
        return any(low <= value <= high for value in self.usual)

    def chance(self, low: float, high: float, unit: float) -> float | None:
        """Return the probability that a random number of this size equals a cell; `None` if no cell is in the range.

        `unit`: the unit of the number's last written digit, such as 0.01.
        """
        cells = self.distinct
        start, end = bisect_left(cells, low), bisect_right(cells, high)
        if start == end:
            return None
        if len(cells) == 1:
            return 1.0 if self.count > NEIGHBOURS else 0.0
        left, right = max(0, start - NEIGHBOURS), min(len(cells) - 1, end - 1 + NEIGHBOURS)
        return min(1.0, (right - left) * max(unit, self.unit) / (cells[right] - cells[left]))

    def rows(self, low: float, high: float) -> tuple[int, int]:
        """Return the start and the end, in `order`, of the rows whose values are in the range."""
        key = self.values.__getitem__
        return bisect_left(self.order, low, key=key), bisect_right(self.order, high, key=key)


def is_long(word: str) -> bool:
    """Return whether a word has at least four letters, or two Chinese, Japanese or Korean characters."""
    return len(word) >= (SHORT_CHARS if word[:1] < CJK else 2)


class Texts:
    """An index of texts of cells. `keys`: the sorted letters and digits of the texts and of their words."""

    def __init__(self) -> None:
        """Create an index without texts."""
        self._found: set[str] = set()
        self.short: set[str] = set()
        """Cells with fewer than four letters, such as those of digits and signs, exactly as they are written."""
        self.sequences: set[int] = set()
        """Hashes of three successive words of long texts."""
        self._rare = Counter[str]()
        """Number of long texts in which each word occurs. Words of small ASCII letters are not counted."""
        self._word_count = 0
        self.keys: list[str] = []

    def add(self, texts: Sequence[str]) -> None:
        """Add texts. Raises Unreadable if there are too many words."""
        # Counting letters takes time. Most texts begin with four letters, so they are not short and need no count.
        short = (text.strip() for text in texts if len(text) < 24 and not (text[3:] and text[:4].isalpha()))
        self.short.update(text for text in short if sum(map(str.isalpha, text)) < SHORT_CHARS)
        joined = SEPARATORS.sub(" ", "\n".join(text.replace("\n", " ") for text in texts))
        words_of_few: list[str] = []
        for line, plain in zip(joined.split("\n"), folded(joined).split("\n"), strict=True):
            self._found.add(plain.replace(" ", "")[:KEY_CHARS])
            if plain.count(" ") < LONG_WORDS:
                words_of_few += [plain] if " " in plain else []
                continue
            words = plain.split()
            if len(words) > LONG_WORDS:
                self._word_count += len(words)
                self.sequences.update(map(hash, zip(words, words[1:], words[2:], strict=False)))
                self._rare.update({folded(word) for word in line.split() if not (word.islower() and word.isascii())})
            else:
                words_of_few.append(plain)
        self._found.update(word[:KEY_CHARS] for word in {*" ".join(words_of_few).split()} if is_long(word))
        if self._word_count > PRIVATE_WORDS_LIMIT:
            raise Unreadable("it has too many words.")

    def finish(self) -> None:
        """Sort the keys. Drop keys of fewer than seven digits, which are found as numbers."""
        rare = {word for word, count in self._rare.items() if count < RARE_TEXTS and is_long(word)}
        self._found = self._found.union(self.keys, rare) - {""}
        self.keys = sorted(key for key in self._found if len(key) > 6 or not key.isdigit())
        self._found = set()

    def has(self, key: str) -> bool:
        """Return whether a cell has exactly these letters and digits."""
        at = bisect_left(self.keys, key)
        return self.keys[at : at + 1] == [key]

    def common_length(self, text: str) -> int:
        """Return the length of the longest prefix that this text shares with a cell."""
        at = bisect_left(self.keys, text)
        return max((common_length(text, key) for key in self.keys[max(0, at - 1) : at + 1]), default=0)

    def whole(self, part: str) -> str:
        """Return the cell that begins with this text if there is only one, else the text."""
        at = bisect_left(self.keys, part)
        found = [key for key in self.keys[at : at + 2] if key.startswith(part)]
        return found[0] if len(found) == 1 or part in found else part


def common_length(text: str, other: str) -> int:
    """Return the length of the common prefix of two texts."""
    pairs = enumerate(zip(text, other, strict=False))
    return next((at for at, (one, two) in pairs if one != two), min(len(text), len(other)))
