"""What a person types into the search box, as terms: pure, and there is no input that is an error."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from chat.search.words import words

#: More are not looked for: each is a search of its own.
TERMS_LIMIT = 10

_QUOTES = str.maketrans(dict.fromkeys("“”„«»「」『』＂", '"'))
_CHUNK = re.compile(r'"([^"]*)("|\Z)|([^\s"]+)')


@dataclass(frozen=True, slots=True)
class Term:
    """Words that stand beside each other."""

    words: str
    """As `chat.search.words.words` makes them; never empty."""
    is_prefix: bool
    """Whether the last one may go on: it was not quoted, or its quote is still being typed."""
    typed: str = field(default="", compare=False)
    """For a database that has words of its own making."""


def parse(text: str) -> tuple[Term, ...]:
    """The terms that must all be found, in their order; none where nothing that was typed is a word."""
    terms = []
    # What no database takes as text, but JSON can spell.
    text = text.replace("\x00", " ").encode(errors="replace").decode()
    for quoted, close, bare in _CHUNK.findall(text.translate(_QUOTES)):
        typed = quoted or bare
        if found := words(typed):
            terms.append(Term(found, is_prefix=not (quoted and close), typed=typed))
    return tuple(dict.fromkeys(terms))[:TERMS_LIMIT]
