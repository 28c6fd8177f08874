"""Builds the excerpt of a text that shows a match, as pieces of plain text with the matches marked."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from chat.models.full_text.query import Term
from chat.models.full_text.words import MARKER, UNSPACED, fold

EXCERPT_CHARS = 140
BEFORE_CHARS = 40
"""Maximum length of the text before the first match."""

PHRASE_WORDS = 12
"""Only so many words of a phrase are marked, because the regular expression may compare each of them at every position
of a long text.
"""

UNSPACED_WORD = re.compile(f"[{UNSPACED}]")
LETTER = f"[^\\W_{UNSPACED}]"
WORD_END = f"(?!{LETTER})"


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of an excerpt or a title."""

    text: str
    is_match: bool


def mark_matches(text: str, terms: Sequence[Term]) -> tuple[Piece, ...]:
    """Return the whole text as pieces, with the matches marked."""
    return _split_pieces(text, _find_matches(text, terms), 0, len(text))


def build_excerpt(text: str, terms: Sequence[Term]) -> tuple[Piece, ...]:
    """Return one line of the text around its first match, or its beginning if there is no match."""
    text = " ".join(MARKER.sub(" ", text).split())
    spans = _find_matches(text, terms)
    start = max(0, spans[0][0] - BEFORE_CHARS) if spans else 0
    if start and (space := text.find(" ", start, spans[0][0])) >= 0:
        start = space + 1
    end = min(len(text), max(start + EXCERPT_CHARS, spans[0][1] if spans else 0))
    pieces = _split_pieces(text, spans, start, end)
    before = (Piece("…", False),) if start else ()
    after = (Piece("…", False),) if end < len(text) else ()
    return (*before, *pieces, *after)


def find_match(text: str, terms: Sequence[Term]) -> int | None:
    """Return the index of the first match in a text; `None` if there is none."""
    return next((first for first, _ in _find_matches(text, terms)), None)


def _split_pieces(text: str, spans: Sequence[tuple[int, int]], start: int, end: int) -> tuple[Piece, ...]:
    """Return `text[start:end]` as pieces. Matches that overlap another one or the end are not marked."""
    pieces, position = [], start
    for first, last in spans:
        if first < position or last > end:
            continue
        pieces += [Piece(text[position:first], False), Piece(text[first:last], True)]
        position = last
    pieces.append(Piece(text[position:end], False))
    return tuple(piece for piece in pieces if piece.text)


def _find_matches(text: str, terms: Sequence[Term]) -> list[tuple[int, int]]:
    """Return the spans of `text` in which terms match, in order."""
    if not terms:
        return []
    pattern = re.compile("|".join(map(_build_term_pattern, terms)))
    folded, offsets = _fold_with_offsets(text)
    spans = (match.span() for match in pattern.finditer(folded))
    if offsets is None:
        return list(spans)
    return [(offsets[first], offsets[last - 1] + 1) for first, last in spans]


def _fold_with_offsets(text: str) -> tuple[str, list[int] | None]:
    """Return the folded text and, for each of its characters, the offset in `text`.

    The offsets are None if folding changes no offset.
    """
    if text.isascii():
        return text.lower(), None
    folds = {character: fold(character) for character in set(text)}
    folded = [folds[character] for character in text]
    offsets = [offset for offset, characters in enumerate(folded) for _ in characters]
    return "".join(folded), offsets


def _build_term_pattern(term: Term) -> str:
    """Return the regular expression of a term in folded text. Any non-word characters may separate its words."""
    words = term.words.split()
    pattern = r"[\W_]*".join(map(_build_word_pattern, words[:PHRASE_WORDS]))
    return pattern.removesuffix(WORD_END) if term.is_prefix and len(words) <= PHRASE_WORDS else pattern


def _build_word_pattern(word: str) -> str:
    return re.escape(word) if UNSPACED_WORD.match(word) else f"(?<!{LETTER}){re.escape(word)}{WORD_END}"
