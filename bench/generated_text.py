"""Texts of invented words for the page benchmarks. They are the same in every run."""

from __future__ import annotations

import random

#: Search terms that occur in one message of a hundred.
ENGLISH, GERMAN, CHINESE = "gradient descent", "Primzahlen", "机器学习"


class TextGenerator:
    """Generates texts of invented words, whose frequencies fall with their rank as in natural languages."""

    def __init__(self) -> None:
        self._random = random.Random(20)
        syllables = [a + b for a in "bcdfghklmnprstvw" for b in ("a", "e", "i", "o", "u", "ein", "ung", "er")]
        latin = ["".join(self._random.choices(syllables, k=self._random.randint(1, 4))) for _ in range(20_000)]
        self.most_common_word = latin[0]
        han = [chr(0x4E00 + number) for number in range(3_000)]
        self._latin = self._random.choices(latin, [1 / (rank + 1) for rank in range(len(latin))], k=400_000)
        self._han = self._random.choices(han, [1 / (rank + 5) for rank in range(len(han))], k=400_000)

    def generate(self, length: int, *, is_chinese: bool = False) -> str:
        """Return a text of `length` words, or of twice as many Chinese characters."""
        pool, size = (self._han, 2 * length) if is_chinese else (self._latin, length)
        start = self._random.randrange(len(pool) - size)
        text = ("" if is_chinese else " ").join(pool[start : start + size])
        if self._random.random() < 0.01:
            text += CHINESE if is_chinese else f" {ENGLISH} {GERMAN}"
        return text

    def choose_message_length(self) -> int:
        """Return a random number of words."""
        return self._random.randint(20, 150)
