"""What of a text is shown of a match: pure; pieces of plain text, those that match told apart."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from chat.search.query import Term
from chat.search.words import MARKER, UNSPACED, fold

EXCERPT_CHARS = 140
BEFORE_CHARS = 40
#: Of a longer phrase its beginning is marked: each word may be compared at each place of a long text.
PHRASE_WORDS = 12

UNSPACED_WORD = re.compile(f"[{UNSPACED}]")
LETTER = f"[^\\W_{UNSPACED}]"
WORD_END = f"(?!{LETTER})"


@dataclass(frozen=True, slots=True)
class Piece:
    """A run of text."""

    text: str
    is_match: bool


def marked(text: str, terms: Sequence[Term]) -> tuple[Piece, ...]:
    """The whole of a short text."""
    return _pieces(text, _matches(text, terms), 0, len(text))


def excerpt(text: str, terms: Sequence[Term]) -> tuple[Piece, ...]:
    """Some of a text, on one line, around its first match; its beginning where none is seen."""
    text = " ".join(MARKER.sub(" ", text).split())
    spans = _matches(text, terms)
    start = max(0, spans[0][0] - BEFORE_CHARS) if spans else 0
    if start and (blank := text.find(" ", start, spans[0][0])) >= 0:
        start = blank + 1
    end = min(len(text), max(start + EXCERPT_CHARS, spans[0][1] if spans else 0))
    pieces = _pieces(text, spans, start, end)
    before = (Piece("…", False),) if start else ()
    after = (Piece("…", False),) if end < len(text) else ()
    return (*before, *pieces, *after)


def _pieces(text: str, spans: Sequence[tuple[int, int]], start: int, end: int) -> tuple[Piece, ...]:
    pieces, at = [], start
    for first, last in spans:
        if first < at or last > end:
            continue
        pieces += [Piece(text[at:first], False), Piece(text[first:last], True)]
        at = last
    pieces.append(Piece(text[at:end], False))
    return tuple(piece for piece in pieces if piece.text)


def _matches(text: str, terms: Sequence[Term]) -> list[tuple[int, int]]:
    """Where terms stand, as spans of `text`, in order."""
    if not terms:
        return []
    pattern = re.compile("|".join(map(_pattern, terms)))
    folded, places = _aligned(text)
    found = (match.span() for match in pattern.finditer(folded))
    if places is None:
        return list(found)
    return [(places[first], places[last - 1] + 1) for first, last in found]


def _aligned(text: str) -> tuple[str, list[int] | None]:
    """A text folded, and of each of its characters the place in `text`; None: the same."""
    if text.isascii():
        return text.lower(), None
    known = {character: fold(character) for character in set(text)}
    folded = [known[character] for character in text]
    places = [place for place, characters in enumerate(folded) for _ in characters]
    return "".join(folded), places


def _pattern(term: Term) -> str:
    """What a term looks like in folded text: between its words stands anything that is none."""
    sought = term.words.split()
    pattern = r"[\W_]*".join(map(_word, sought[:PHRASE_WORDS]))
    return pattern.removesuffix(WORD_END) if term.is_prefix and len(sought) <= PHRASE_WORDS else pattern


def _word(word: str) -> str:
    return re.escape(word) if UNSPACED_WORD.match(word) else f"(?<!{LETTER}){re.escape(word)}{WORD_END}"
