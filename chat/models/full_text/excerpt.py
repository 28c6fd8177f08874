"""Builds the excerpt of a text that shows a match, as pieces of plain text with the matches marked."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TypeAlias

from chat.models.full_text.query import Term, join_terms, make_exact
from chat.models.full_text.words import LETTER, MARKER, SIGNS, fold, split_pieces

EXCERPT_CHARS = 140
BEFORE_CHARS = 40
"""Maximum length of the text before the first match."""

PHRASE_WORDS = 12
"""Only so many words of a phrase are marked, because the regular expression may compare each of them at every position
of a long text.
"""

NO_MATCH = 3
"""The rank of a text without a match."""

WORD_END = f"(?!{LETTER})"
IS_LETTERS = re.compile(LETTER)
IS_SIGNS = re.compile(f"[{SIGNS}]")
GAP = f"[ {SIGNS}]*"
"""What may separate two words of a phrase between which no sign was typed."""

FoldedText: TypeAlias = tuple[str, list[tuple[int, int]] | None]
"""A folded text, and for each of its characters the span of its source. None: folding changes no offset."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of an excerpt or a title."""

    text: str
    is_match: bool


def mark_matches(text: str, terms: Sequence[Term]) -> tuple[Piece, ...]:
    """Return the whole text as pieces, with the matches marked."""
    return _split_pieces(text, _find_matches(_fold_with_spans(text), terms), 0, len(text))


def build_excerpt(text: str, terms: Sequence[Term]) -> tuple[Piece, ...]:
    """Return one line of the text around its best match, or its beginning if there is no match."""
    text = " ".join(MARKER.sub(" ", text).split())
    folded = _fold_with_spans(text)
    _, first, last = _find_best(folded, terms)
    start = max(0, first - BEFORE_CHARS)
    if start and (space := text.find(" ", start, first)) >= 0:
        start = space + 1
    end = min(len(text), max(start + EXCERPT_CHARS, last))
    pieces = _split_pieces(text, _find_matches(folded, terms), start, end)
    before = (Piece("…", False),) if start else ()
    after = (Piece("…", False),) if end < len(text) else ()
    return (*before, *pieces, *after)


def match_rank(text: str, terms: Sequence[Term]) -> int:
    """Return how well a text matches: 0 for all terms as a phrase, 1 for a whole word, 2 for a prefix, or NO_MATCH."""
    return _find_best(_fold_with_spans(text), terms)[0]


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


def _find_best(folded: FoldedText, terms: Sequence[Term]) -> tuple[int, int, int]:
    """Return the rank of the best match, as `match_rank`, and its span; an empty span if there is none."""
    ranked = ((join_terms(terms),) if terms else (), make_exact(terms), terms)
    for rank, tried in enumerate(ranked):
        for first, last in _find_matches(folded, tried, limit=1):
            return rank, first, last
    return NO_MATCH, 0, 0


def _find_matches(folded: FoldedText, terms: Sequence[Term], limit: int | None = None) -> list[tuple[int, int]]:
    """Return the first `limit` spans of a text in which terms match, in order."""
    if not terms:
        return []
    pattern = re.compile("|".join(map(_build_term_pattern, terms)))
    text, spans = folded
    matches = (match.span() for match in islice(pattern.finditer(text), limit))
    return [(spans[first][0], spans[last - 1][1]) if spans else (first, last) for first, last in matches]


def _fold_with_spans(text: str) -> FoldedText:
    """Return the folded text and the spans of its characters, each with the marks after it."""
    if text.isascii():
        return fold(text), None
    folds = {character: fold(character) for character in set(text)}
    spans: list[tuple[int, int]] = []
    for offset, character in enumerate(text):
        if plain := folds[character]:
            spans += [(offset, offset + 1)] * len(plain)
        elif spans:
            spans[-1] = (spans[-1][0], offset + 1)
    return "".join(folds[character] for character in text), spans


def _build_term_pattern(term: Term) -> str:
    """Return the regular expression of a term in folded text."""
    pattern, words = "", 0
    for chunk in split_pieces(fold(MARKER.sub(" ", term.source))):
        for number, piece in enumerate(chunk):
            is_sign = IS_SIGNS.match(piece) is not None
            # A run of signs alone is not searched for.
            if words == PHRASE_WORDS or (is_sign and len(chunk) == 1):
                continue
            is_gap = words and (number == 0 or not (is_sign or IS_SIGNS.match(chunk[number - 1])))
            words += not is_sign
            pattern += (GAP if is_gap else "") + _build_piece_pattern(piece)
    return pattern.removesuffix(WORD_END) if term.is_prefix and words < PHRASE_WORDS else pattern


def _build_piece_pattern(piece: str) -> str:
    return f"(?<!{LETTER}){re.escape(piece)}{WORD_END}" if IS_LETTERS.match(piece) else re.escape(piece)
