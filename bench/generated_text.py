"""Texts of invented words, for benchmarks with many messages. They are the same in every run."""

from __future__ import annotations

import random

#: A search term that occurs in one of 100 messages.
PHRASE = "gradient descent"

#: Words after the phrase: with special characters, an emoji, vowel marks, letter variants and accents.
MARKED_WORDS = "in C++ C# .NET /etc/nginx 🎉 قَوَاعِدَ أحمد علی שָׁלוֹם काल đường ışık"

#: A search term that the benchmark of a large database puts into one message.
RARE_WORD = "zugzwang"


class TextGenerator:
    """Generates texts of invented words, whose frequencies fall with their rank as in natural languages."""

    def __init__(self) -> None:
        self._random = random.Random(20)
        syllables = [a + b for a in "bcdfghklmnprstvw" for b in ("a", "e", "i", "o", "u", "ein", "ung", "er")]
        words = ["".join(self._random.choices(syllables, k=self._random.randint(1, 4))) for _ in range(20_000)]
        self.most_common_word = words[0]
        self._words = self._random.choices(words, [1 / (rank + 1) for rank in range(len(words))], k=400_000)

    def generate(self, length: int) -> str:
        """Return a text of `length` words."""
        start = self._random.randrange(len(self._words) - length)
        text = " ".join(self._words[start : start + length])
        return f"{text} {PHRASE} {MARKED_WORDS}" if self._random.random() < 0.01 else text

    def choose_message_length(self) -> int:
        """Return a random number of words."""
        return self._random.randint(20, 150)
