"""Translates stored sentences when a page shows them. They are made, stored and sent to programs in English. So code
that makes a sentence need not know the language of its readers. Pure except for the active language.

`sentences.txt` lists them, one on each line. A name in braces stands for any text: for a number if it begins with
`number`, for a day if it is `date`, and for a phrase of the list if it is one of `PHRASES`.

Message ids or lazy translations would not do. The same English text is stored, logged, and read by programs and models.
People of several languages read it, and processes without Django make some sentences.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache, lru_cache
from pathlib import Path

from django.utils.translation import get_language, gettext

from chat.vocabulary.number_text import localize_date, localize_number

TABLE = Path(__file__).with_name("sentences.txt")
LENGTH_LIMIT_CHARS = 2_000
"""Longer texts are shown as they are."""

NUMBER = "number"
"""Names of placeholders for numbers begin with this word."""
DATE = "date"
"""The name of the placeholder for a day such as `1 December 2026`."""
PHRASES = frozenset({"amount", "duration", "kind", "limit", "model", "reason", "what"})
"""Names of placeholders for phrases of the table. Values of other placeholders, such as names of files, are not
translated.
"""

_PLACEHOLDER = re.compile(r"\{(\w+)\}")
_BETWEEN_SENTENCES = re.compile(r"(?<=[.!?…]) (?=[A-Z“])")
_WITHOUT_SPACES = ("zh", "ja")
"""Languages that put no space between sentences."""


def known_sentences() -> list[str]:
    """Return the lines of `sentences.txt`."""
    return [line for line in TABLE.read_text().splitlines() if line and not line.startswith("#")]


def translate_sentence(text: object) -> str:
    """Return a sentence in the active language. Text that is not in the table stays as it is."""
    language = get_language() or "en"
    return str(text) if language.startswith("en") else _translate(language, str(text))


@lru_cache(maxsize=4096)
def _translate(language: str, text: str) -> str:
    """Translate sentences that follow one another. A text that is one phrase, or has a full stop inside, is translated
    as a whole.
    """
    if len(text) > LENGTH_LIMIT_CHARS:
        return text
    sentences = _BETWEEN_SENTENCES.split(text)
    translated = [_known(language, sentence) for sentence in sentences]
    if None not in translated:
        return ("" if language.startswith(_WITHOUT_SPACES) else " ").join(one for one in translated if one)
    whole = _known(language, text)
    if whole is not None:
        return whole
    return " ".join(one or sentence for one, sentence in zip(translated, sentences, strict=True))


def _known(language: str, text: str) -> str | None:
    """Return the translation of a sentence; `None` if the table has none."""
    fixed, patterns = _table()
    if text in fixed:
        return gettext(text)
    for sentence, expression in patterns.items():
        if match := expression.fullmatch(text):
            return _fill(language, gettext(sentence), match.groupdict())
    return None


def _fill(language: str, text: str, values: Mapping[str, str]) -> str:
    """Return the text with the values of its placeholders inserted. Phrases are translated, and numbers are
    localized.
    """

    def value_of(placeholder: re.Match[str]) -> str:
        name, value = placeholder[1], values.get(placeholder[1], placeholder[0])
        if name.startswith(NUMBER):
            return localize_number(value)
        if name == DATE:
            return localize_date(value)
        return _translate(language, value) if name.rstrip("0123456789") in PHRASES else value

    return _PLACEHOLDER.sub(value_of, text)


@cache
def _table() -> tuple[frozenset[str], Mapping[str, re.Pattern[str]]]:
    """Return all lines of the table, and an expression for each with placeholders, in order of their fixed characters:
    the line with most of them comes first.
    """
    lines = known_sentences()
    with_placeholders = sorted(
        (line for line in lines if _PLACEHOLDER.search(line)), key=lambda line: -len(_PLACEHOLDER.sub("", line))
    )
    return frozenset(lines), {line: _expression(line) for line in with_placeholders}


def _expression(line: str) -> re.Pattern[str]:
    """Return a regular expression whose time is linear in the length of the text.

    A placeholder ends at the first occurrence of the text after it, and never at a later one (an atomic group). Only a
    placeholder that is the last one, or that comes before a number, may end later.
    """
    pieces = _PLACEHOLDER.split(line)
    expression = re.escape(pieces[0])
    for index in range(1, len(pieces), 2):
        name, text, following = pieces[index], re.escape(pieces[index + 1]), pieces[index + 2 : index + 3]
        if name.startswith(NUMBER):
            expression += f"(?P<{name}>[0-9][0-9,.]*){text}"
        elif name == DATE:
            expression += f"(?P<{name}>[0-9]+ [A-Za-z]+ [0-9]+){text}"
        elif following and not following[0].startswith(NUMBER):
            expression += f"(?>(?P<{name}>.*?){text})"
        else:
            expression += f"(?P<{name}>.*?){text}"
    return re.compile(expression, re.DOTALL)
