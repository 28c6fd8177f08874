"""Runs inside a kernel: finds words of a text that are cells of private files."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from chat.python.kernels.in_kernel.private_cells import CJK, KEY_CHARS, PREFIX_CHARS, Texts, folded, is_long

WORD = re.compile(
    r"\\[nrt]|&(?:[a-z]{2,6}|#x?[0-9a-fA-F]{2,6});|(?P<word>[\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff]"
    r"|(?:[^\W_\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff]|[\u0300-\u036f]|\\u[0-9a-fA-F]{4}|\\x[0-9a-f]{2})+)"
)
"""A word, or an escape code before a word. Each Chinese, Japanese or Korean character is one word."""
ESCAPED = re.compile(r"\\u([0-9a-fA-F]{4})|\\x([0-9a-f]{2})")
CUT_END = re.compile(r"(?:\.{3}|…)[^\s'\",]+|(?<=\d)\.\d+")
"""The end of a text whose middle is an ellipsis, or decimals of a number: hidden with the words before them."""
FIELD_START = re.compile(r"(?:^|[\t,;|=(\[{'\":]|  |\d) ?$")
FIELD_END = re.compile(r" ?(?:$|[\t,;|=)\]}'\":\n]|  |-?\d)")
COMMON = frozenset(
    re.findall(
        r"\w+",
        "a an and are as at be by for from has i in is it no not of on or s the to was were with x y n m"
        " count mean std min max sum median total dtype name length index rows columns column row value values int"
        " object str float string category true false none nan nat inf error key file line cell if else return import"
        " def class lambda most recent call last input traceback",
    )
)
"""Words that are common in messages and tables. A cell that is such a word is found only alone between separators."""


class Word(NamedTuple):
    """A word in a text: its place, and its letters and digits in small letters without accents."""

    start: int
    end: int
    text: str


class Hidden(NamedTuple):
    """A part of a text that is a cell, and the key of this cell."""

    start: int
    end: int
    key: str


def words_of(text: str) -> list[Word]:
    """Return the words of a text."""
    found = ((match, match["word"]) for match in WORD.finditer(text))
    return [Word(*match.span(), folded(unescaped(word))) for match, word in found if word]


def unescaped(word: str) -> str:
    """Return a word with characters in place of the escape codes of `json.dumps` and of `repr` of bytes."""
    if "\\" not in word:
        return word
    plain = ESCAPED.sub(lambda match: chr(int(match[1] or match[2], 16)), word)
    try:
        return plain.encode("latin-1").decode() if "\\x" in word else plain
    except ValueError:
        return plain


class WordFilter:
    """Finds texts of cells, except those that the model already knows."""

    def __init__(self, texts: Texts, known: str) -> None:
        """`known`: text that the model has written or was sent."""
        self._texts = texts
        words = words_of(known)
        self._known = f" {' '.join(word.text for word in words)} "
        self._known_short = {known[word.start : word.end] for word in words}

    def find(self, text: str) -> Iterator[Hidden]:
        """Yield the parts of a text that are cells, in order, without overlaps."""
        words = words_of(text)
        breaks = [match.start() for match in re.finditer("\n", text)] + [len(text)]
        at = line = 0
        while at < len(words):
            while breaks[line] < words[at].start:
                line += 1
            end = self._cell_end(text, words, at, breaks[line]) or self._sequence_end(words, at)
            if end > at:
                key = self._texts.whole("".join(word.text for word in words[at:end])[:KEY_CHARS])
                cut = CUT_END.match(text, words[end - 1].end)
                yield Hidden(words[at].start, cut.end() if cut else words[end - 1].end, key)
            at = max(end, at + 1)

    def _cell_end(self, text: str, words: list[Word], at: int, line_end: int) -> int:
        """Return the index after the longest run of words from `at` on that is a cell of a file, or the beginning of
        a cell; 0 if there is none.
        """
        joined, lengths, last_end = "", list[int](), words[at].start
        for word in words[at : at + KEY_CHARS]:
            gap = text[last_end : word.start]
            last_end = word.end
            is_next_value = "," in gap and ("'" in gap or '"' in gap)
            if word.start >= line_end or len(joined) >= KEY_CHARS or is_next_value:
                break
            joined += word.text
            lengths.append(len(joined))
        shared = self._texts.common_length(joined[:KEY_CHARS])
        for count in range(len(lengths), 0, -1):
            key = joined[: min(lengths[count - 1], KEY_CHARS)]
            if len(key) <= shared and self._is_cell(text, words[at : at + count], key):
                return at + count
        return 0

    def _is_cell(self, text: str, words: list[Word], key: str) -> bool:
        is_whole = self._texts.has(key)
        limit = PREFIX_CHARS if key[0] < CJK else PREFIX_CHARS // 3
        if (not is_whole and (len(key) < limit or key.isdigit())) or self._knows(words, key, text):
            return False
        start, end = words[0].start, words[-1].end
        is_exact = not is_long(key) or (len(words) > 1 and key.isdigit())
        if is_whole and is_exact and text[start:end] not in self._texts.short:
            return False
        if len(words) > 1 or key not in COMMON:
            return is_whole or not all(word.text in COMMON for word in words)
        before = text[max(0, text.rfind("\n", 0, start) + 1) : start]
        return bool(FIELD_START.search(before) and FIELD_END.match(text, end))

    def _sequence_end(self, words: list[Word], at: int) -> int:
        """Return the index after the words from `at` on that follow each other in a long cell; 0 if there are none."""
        end = 0
        while (
            len(three := words[at : at + 3]) == 3 and hash(tuple(word.text for word in three)) in self._texts.sequences
        ):
            if not end and (self._knows(three) or all(word.text in COMMON for word in three)):
                return 0
            at, end = at + 1, at + 3
        return end

    def _knows(self, words: list[Word], key: str = "", text: str = "") -> bool:
        if key and not is_long(key):
            return text[words[0].start : words[-1].end] in self._known_short
        return f" {' '.join(word.text for word in words)} " in self._known
