"""Reads prompts: the words that a plan has accounted for are taken out, and what remains must be without meaning.

This is what keeps the demo model from wrong answers: a plan counts only if it used every number and every word of the
prompt, except for the neutral words of `words.toml`.
"""

from __future__ import annotations

import re
import tomllib
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

_VOCABULARY = tomllib.loads(Path(__file__).with_name("words.toml").read_text(encoding="utf-8"))
LENGTH_LIMIT = 2_000
"""Longer prompts, counted without a pasted table, are not read."""
GAP, FORMULA_GAP = " ¦ ", " ∎ "
"""A character that replaces words that were taken from a prompt."""
NUMBER = r"(?:(?<![\w.,])-)?(?<![\w.])\d+(?:[.,]\d+)*(?!\w)"
"""A number in any notation, for `parse_number`."""
_GERMAN = (
    "bitte|der|die|das|den|dem|ein|eine|einen|einer|und|von|bis|mit|für|nach|pro|je|ist|sind|wie|viele|viel|was|zeige?|"
    "zeichne|berechne|bestimme|beschreibe|schätze|löse|mach|mache|nur|als|hallo|welche|welcher|über|erste|ersten|würfle|"
    r"durchschnitt\w*|mittelwert|summe|größte\w*|kleinste\w*"
)
_ENGLISH = (
    "the|a|an|of|and|is|are|to|from|with|what|how|many|show|draw|plot|make|me|please|by|for|in|roll|find|list|times"
)
_SYMBOLS = str.maketrans(
    {"²": "^2", "³": "^3", "×": "*", "·": "*", "÷": "/", "−": "-", "–": "-", "—": "-", "’": "'", "√": "sqrt "}
)


def word(name: str) -> str:
    """Return a pattern for a concept of `words.toml`, such as `charts.bar`."""
    group, _, concept = name.partition(".")
    return any_of([one.strip() for one in re.split(r"\s\|\s|\n", _VOCABULARY[group][concept])])


def any_of(alternatives: Iterable[str]) -> str:
    """Return a pattern for any of these words: whole words, except for those of Chinese."""
    longest_first = sorted(filter(None, alternatives), key=len, reverse=True)
    separate = [one for one in longest_first if not _is_chinese(one)]
    joined = [one for one in longest_first if _is_chinese(one)]
    return "(?:" + "|".join([*([rf"\b(?:{'|'.join(separate)})(?!\w)"] if separate else []), *joined]) + ")"


def _is_chinese(text: str) -> bool:
    return re.search("[\u4e00-\u9fff]", text) is not None


@dataclass(slots=True)
class Prompt:
    """The part of a prompt that a plan has not accounted for yet."""

    language: str
    """`en`, `de` or `zh`."""
    rest: str

    def copy(self) -> Prompt:
        """Return a copy, so that another plan can be tried."""
        return replace(self)

    def take(self, pattern: str) -> re.Match[str] | None:
        """Take the first match out of the prompt."""
        match = _compiled(pattern).search(self.rest)
        if match is not None:
            self.rest = self.rest[: match.start()] + GAP + self.rest[match.end() :]
        return match

    def take_all(self, pattern: str) -> bool:
        """Take all matches out of the prompt, and return whether there was one."""
        has_match = False
        while self.take(pattern):
            has_match = True
        return has_match

    def take_number(self, pattern: str) -> int | float | None:
        """Take a match, and return the number in its group `n`; `None` if there is none, or if it is ambiguous."""
        match = self.take(pattern)
        return None if match is None else parse_number(match["n"], self.language)

    def unknown_words(self, topic: str) -> list[str]:
        """Return the words and signs with a meaning that remain. A topic has neutral words of its own."""
        rest = _compiled(f"{word('neutral.all')}|{word(f'neutral.{topic}')}").sub(" ", self.rest)
        found = re.findall(r"[\w%]+|[^\w\s.,;:!?¦∎\"'()…-]", rest)
        return [word for word in found if unicodedata.category(word[0]) not in ("So", "Mn", "Sk")]


def read_prompt(text: str) -> Prompt:
    """Return the prompt in lower case, with one form of signs, and with spaces around Chinese."""
    normal = unicodedata.normalize("NFKC", text.translate(_SYMBOLS)).lower()
    spaced = re.sub(
        r"(?<=[\u4e00-\u9fff])(?=[^\u4e00-\u9fff\s])|(?<=[^\u4e00-\u9fff\s])(?=[\u4e00-\u9fff])", " ", normal
    )
    # The question in Gemini's documentation says its number twice.
    once = re.sub(r"\b(\d+)\b(.{1,200}?),? (?:and )?make sure (?:that )?you get all \1\b", r"\1\2", spaced)
    return Prompt(language_of(text[:LENGTH_LIMIT]), once)


def language_of(text: str) -> str:
    """Return `zh`, `de` or `en`, decided by the letters and some words of the text."""
    if _is_chinese(text):
        return "zh"
    german = len(re.findall(rf"\b(?:{_GERMAN})\b|[äöüß]|\w{{4}}(?:zahl|zahlen|diagramm|gramm)\b", text, re.IGNORECASE))
    return "de" if german > len(re.findall(rf"\b(?:{_ENGLISH})\b", text, re.IGNORECASE)) else "en"


def parse_number(text: str, language: str) -> int | float | None:
    """Return the number that a text means in a language; `None` if it is no number, or if it may mean two."""
    digits = text.lstrip("-")
    if len(digits) > 40:
        return None
    decimal, group = (",", ".") if language == "de" else (".", ",")
    if language == "de" and re.fullmatch(r"\d+\.\d+", digits):
        if re.fullmatch(r"[1-9]\d{0,2}\.\d{3}", digits):
            return None
        decimal, group = ".", ","
    if not re.fullmatch(rf"(?:\d+|\d{{1,3}}(?:\{group}\d{{3}})+)(?:\{decimal}\d+)?", digits):
        return None
    plain = text.replace(group, "").replace(decimal, ".")
    return float(plain) if "." in plain else int(plain)


def parse_numbers(text: str, language: str) -> list[int | float] | None:
    """Return the numbers of a typed list; `None` if a part of it is no number, or may mean two."""
    numbers: list[int | float] = []
    items = [item for item in re.split(r"[;、\s]+|,\s+|,$|\b(?:and|und)\b|和|&", text.strip()) if item]
    for item in items:
        number = parse_number(item, language)
        if len(items) == 1 and item.count(",") > 1 and number is not None:
            return None
        # In `1.5, 2,5` it is unclear what the comma without a space means.
        is_joined = number is None and len(items) == 1
        parts = [parse_number(part, language) for part in item.split(",")] if is_joined else [number]
        numbers += [part for part in parts if part is not None]
        if None in parts:
            return None
    return numbers


@lru_cache(1_000)
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)
