"""Parses the text of the search box into terms. Every input is valid."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from chat.models.full_text.words import extract_words

TERMS_LIMIT = 10
"""Further terms are ignored, because each term is a separate index search."""

_QUOTES = str.maketrans(dict.fromkeys("“”„«»「」『』＂", '"'))
_CHUNK = re.compile(r'"([^"]*)("|\Z)|([^\s"]+)')


@dataclass(frozen=True, slots=True)
class Term:
    """A sequence of words to find next to each other."""

    words: str
    """The result of `extract_words`; never empty."""
    is_prefix: bool
    """Whether the last word is a prefix: the term has no quotes, or its closing quote is missing."""
    source: str = field(default="", compare=False)
    """The text as typed, for PostgreSQL, which splits words in SQL."""


def parse(text: str) -> tuple[Term, ...]:
    """Return the terms, all of which a conversation must contain, in their order and without duplicates.

    The result is empty if the text has no words.
    """
    terms = []
    # JSON can express null characters and lone surrogates, which no database accepts as text.
    text = text.replace("\x00", " ").encode(errors="replace").decode()
    for quoted, close, bare in _CHUNK.findall(text.translate(_QUOTES)):
        source = quoted or bare
        if words := extract_words(source):
            terms.append(Term(words, is_prefix=not (quoted and close), source=source))
    return tuple(dict.fromkeys(terms))[:TERMS_LIMIT]
