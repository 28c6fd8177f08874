"""The words of prompts and the texts of answers, in English, German and Chinese.

Words that a plan has used are removed from a prompt, and the remaining words must have no meaning. This prevents wrong
answers: a plan counts only if it used every number and every word of the prompt, except for the neutral words of
`words.toml`.
"""

from __future__ import annotations

import re
import tomllib
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

VOCABULARY: dict[str, dict[str, str]] = tomllib.loads(Path(__file__).with_name("words.toml").read_text("utf-8"))
TEXTS: dict[str, Any] = tomllib.loads(Path(__file__).with_name("texts.toml").read_text("utf-8"))
PROGRAMS: dict[str, Any] = tomllib.loads(Path(__file__).with_name("programs.toml").read_text("utf-8"))
LENGTH_LIMIT = 2_000
"""Maximum number of characters of a prompt without its pasted table. Longer prompts are not parsed."""
GAP, FORMULA_GAP = " ¦ ", " ∎ "
"""The marks that replace removed words, and removed formulas, in a prompt."""
NUMBER = r"(?:(?<![\w.,])-)?(?<![\w.])\d+(?:[.,]\d+)*(?!\w)"
"""A number in any notation, for `parse_number`."""
_BOUND = r"((?:- ?)?(?<![\w.])(?:\d{1,15}(?:[.,]\d{1,15})?(?!\d)(?: ?\*? ?(?:pi|π))?|pi|π)(?: ?/ ?\d{1,15})?)"
_PLACES = {"{n}": r"(\d{1,7})", "{d}": r"(?<![\w.])(\d+(?:\.\d+)?)(?![\w.])", "{b}": _BOUND}
"""Placeholders in `words.toml` for a whole number, for any number, and for the bound of an interval."""
_CHINESE = "[\u4e00-\u9fff]"
_SYMBOLS = str.maketrans("×·÷−–—’⟦⟧⟪⟫", "**/---'    ") | str.maketrans({"²": "^2", "³": "^3", "√": "sqrt "})
"""Replacements of signs in a prompt. Only `tables` writes brackets like `⟦`, as marks of names."""


@lru_cache(1_000)
def word(name: str) -> str:
    """Return a pattern for a concept of `words.toml`, such as `charts.bar`. Words of Latin letters are whole words."""
    group, _, concept = name.partition(".")
    words = VOCABULARY[group][concept]
    for place, pattern in _PLACES.items():
        words = words.replace(place, pattern)
    longest_first = sorted(filter(None, map(str.strip, re.split(r"\s\|\s|\n", words))), key=len, reverse=True)
    joined = [one for one in longest_first if re.search(_CHINESE, one) or not re.search(r"[^\W_]", one)]
    separate = "|".join(one for one in longest_first if one not in joined)
    return "(?:" + "|".join([*([rf"\b(?:{separate})(?!\w)"] if separate else []), *joined]) + ")"


@dataclass(slots=True)
class Prompt:
    """The part of a prompt that a plan has not used yet."""

    language: str
    """`en`, `de` or `zh`."""
    rest: str

    def take(self, pattern: str) -> re.Match[str] | None:
        """Remove the first match from the prompt and return it."""
        match = re.search(pattern, self.rest)
        if match is not None:
            self.rest = self.rest[: match.start()] + GAP + self.rest[match.end() :]
        return match

    def take_all(self, name: str) -> bool:
        """Remove all words for a concept from the prompt, and return whether there was one."""
        self.rest, count = re.subn(word(name), GAP, self.rest)
        return count > 0

    def take_whole(self, name: str) -> int:
        """Remove the first words for a concept with a whole number, and return the number; 0 if there are none."""
        match = self.take(word(name))
        return int(next(filter(None, match.groups()))) if match else 0

    def take_names(self, group: str) -> tuple[str, ...]:
        """Remove one word for each concept of a group, and return the concepts that had one, in the group's order."""
        return tuple(name for name in VOCABULARY[group] if self.take(word(f"{group}.{name}")))

    def unknown_words(self, topic: str) -> list[str]:
        """Return the remaining words and signs that have a meaning. Which words are neutral depends on the topic."""
        rest = re.sub(f"{word('neutral.all')}|{word(f'neutral.{topic}')}", " ", self.rest)
        found = re.findall(r"[\w%]+|[^\w\s.,;:!?¦∎\"'()…-]", rest)
        return [word for word in found if unicodedata.category(word[0]) not in ("So", "Mn", "Sk")]


def normalize(text: str) -> str:
    """Return a text in lower case, with one character for signs of equal meaning, and with spaces around Chinese."""
    normal = unicodedata.normalize("NFKC", text.translate(_SYMBOLS)).lower()
    return re.sub(rf"(?<={_CHINESE})(?=[^\u4e00-\u9fff\s])|(?<=[^\u4e00-\u9fff\s])(?={_CHINESE})", " ", normal)


def read_prompt(text: str) -> Prompt:
    """Return the normalized prompt with its language. `10,000 rolls` becomes `10000 rolls`."""
    spaced = re.sub(r"(?<![\d,])(?<![\d,] )(\d{1,3}),000(?![,\d])", r"\g<1>000", normalize(text))
    # The question in Gemini's documentation says its number twice. Remove the second one.
    once = re.sub(r"\b(\d+)\b(.{1,200}?),? (?:and )?make sure (?:that )?you get all \1\b", r"\1\2", spaced)
    # Ignore names in quotes, which may be of any language.
    head = re.sub(r'"[^"]*"', " ", spaced[:LENGTH_LIMIT])
    german = len(re.findall(f"[äöüß]|{word('languages.de')}", head))
    is_german = german > len(re.findall(word("languages.en"), head))
    return Prompt("zh" if re.search(_CHINESE, head) else "de" if is_german else "en", once)


def parse_number(text: str, language: str) -> int | float | None:
    """Return the number that a text means in a language; `None` if it is no number, or could mean two numbers."""
    if language == "de" and not re.fullmatch(r"-?(?![1-9]\d{0,2}\.\d{3}$)\d+\.\d+", text):
        text = "" if re.fullmatch(r"-?\d+\.\d+", text) else text.translate(str.maketrans(".,", ",."))
    if len(text) > 40 or not re.fullmatch(r"-?(?:\d+|\d{1,3}(?:,\d{3})+)(?:\.\d+)?", text):
        return None
    plain = text.replace(",", "")
    return float(plain) if "." in plain else int(plain)


@dataclass(frozen=True, slots=True)
class Plan:
    """The program that an answer runs, and the texts around it."""

    thought: str
    intro: str
    program: str
    comment: str
    """A template that quotes the printed values. If it is empty, the answer describes the execution instead."""
    request: object = None
    """The functions and bounds of curves, which a later prompt may change, or the question about a table."""
    remarks: tuple[str, ...] = ()
    """Templates of further sentences. Each is written only if the program printed all values that it quotes."""
    file: str = ""
    """The name of the file that the program reads."""
    language: str = "en"


def make_plan(kind: str, language: str, program: str, request: object = None, comment: str = "", **facts: str) -> Plan:
    """Return the plan for a kind of answer. Its introduction quotes the facts. `comment` replaces the usual comment."""
    texts = TEXTS[kind][language]
    thought = f"**{texts['title']}**\n\n{texts['thought']}\n\n\n"
    return Plan(
        thought, _fill(texts["intro"], facts) + "\n\n", program, comment or texts["comment"], request, language=language
    )


def quoted_names(names: Sequence[str]) -> str:
    """Return up to 30 names in backticks."""
    more = ", …" if len(names) > 30 else ""
    return ", ".join(f"`{' '.join(name.replace('`', '').split())[:60]}`" for name in names[:30]) + more


def sentence(name: str, language: str, operation: str = "", **facts: str | Sequence[str]) -> str:
    """Return a sentence of a comment with its facts. `{value}` becomes a field for a value that the program prints."""
    # Facts are quoted without line ends and backticks.
    quoted = {
        name: " ".join(fact.replace("`", "'").split())[:400] if isinstance(fact, str) else quoted_names(fact)
        for name, fact in facts.items()
    }
    written = {name: re.sub("[{}]", r"\g<0>\g<0>", fact) for name, fact in quoted.items()}
    if operation:
        written |= {"operation": TEXTS["names"][operation][language], "value": f"{{{operation}}}"}
    return _fill(TEXTS["comments"][name][language], written)


def _fill(template: str, facts: Mapping[str, str]) -> str:
    """Return a text with these facts filled in. Fields of values that the program prints are kept."""
    return re.sub(r"\{(\w+)\}", lambda field: facts.get(field[1], field[0]), template)
