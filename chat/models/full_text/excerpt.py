"""Builds the excerpt of a text that contains a match, as pieces of plain text in which matches are marked."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TypeAlias
from unicodedata import category

from chat.models.full_text.plain_text import find_window, read_plain_text
from chat.models.full_text.query import Term, join_terms, make_exact
from chat.models.full_text.words import (
    ARABIC,
    EMOJI,
    IGNORED,
    LETTER,
    MARKER,
    NON_JOINER,
    SIGNS,
    fold,
    split_pieces,
)

EXCERPT_CHARS = 140
BEFORE_CHARS = 40
"""Maximum length of the text before the first match."""

PHRASE_WORDS = 12
"""Maximum number of words of a phrase that are marked, because the regular expression may compare each of them at every
position of a long text.
"""

NO_MATCH = 3
"""The rank of a text without a match."""

WORD_END = f"(?!{LETTER})"
IS_LETTERS = re.compile(LETTER)
IS_EMOJI = re.compile(f"[{EMOJI}\u200d]")
IS_SIGNS = re.compile(f"[{SIGNS}]")
GAP = f"[ {SIGNS}{NON_JOINER}]*"
"""Pattern of the text between two words of a phrase, if no sign was typed between them."""

_MARKS = "".join(chr(code) for code in range(0x300, 0x1F000) if category(chr(code)).startswith("M"))
_ADDED = f"[{_MARKS}{IGNORED}\u0e33\u0eb3\u1160-\u11ff\u3099\u309a\uff9e\uff9f]"
_SKIN = f"[{IGNORED}]*+"
CLUSTER = re.compile(
    rf"\$[{{(]|(?<=[{ARABIC}]){NON_JOINER}(?=[{ARABIC}])"
    rf"|[\U0001f1e6-\U0001f1ff]{{2}}|[{EMOJI}]{_SKIN}(?>(?:\u200d[{EMOJI}]{_SKIN})*)"
    rf"|.(?>(?:{_ADDED}|\u200d|{NON_JOINER}(?![{ARABIC}]))*)",
    re.DOTALL,
)
"""Characters that are folded together: one character as people see it, with its marks and parts."""

FoldedText: TypeAlias = tuple[str, list[tuple[int, int]] | None]
"""A folded text, and for each of its characters the span in the source. `None` if both texts have the same offsets."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of an excerpt or a title."""

    text: str
    is_match: bool


def mark_matches(text: str, terms: Sequence[Term]) -> tuple[Piece, ...]:
    """Return the whole text as pieces, with the matches marked."""
    return _split_pieces(text, _find_matches(_fold_with_spans(text), terms), 0, len(text))


def build_excerpt(text: str, terms: Sequence[Term], *, has_tags: bool = True) -> tuple[Piece, ...]:
    """Return one line of the text around its best match, or its beginning if there is no match.

    The line is plain text without Markdown. If the Markdown matches better, for example in the address of a link, the
    line is the Markdown. `has_tags`: see `read_plain_text`.
    """
    text = MARKER.sub(" ", text)
    rank, first, last = _find_best(_fold_with_spans(text), terms)
    start, stop = find_window(text, first, last)
    is_cut = (start > 0, stop < len(text))
    plain = " ".join(read_plain_text(text, start, stop, has_tags=has_tags).split())
    plain_folded = _fold_with_spans(plain)
    plain_rank, first, last = _find_best(plain_folded, terms)
    if plain_rank > rank:
        plain = " ".join(text[start:stop].split())
        plain_folded = _fold_with_spans(plain)
        _, first, last = _find_best(plain_folded, terms)
    return _cut_line(plain, plain_folded, terms, (first, last), is_cut)


def _cut_line(
    text: str, folded: FoldedText, terms: Sequence[Term], best: tuple[int, int], is_cut: tuple[bool, bool]
) -> tuple[Piece, ...]:
    first, last = best
    start = max(0, first - BEFORE_CHARS)
    if start and (space := text.find(" ", start, first)) >= 0:
        start = space + 1
    end = min(len(text), max(start + EXCERPT_CHARS, last))
    pieces = _split_pieces(text, _find_matches(folded, terms), start, end)
    before = (Piece("…", False),) if start or is_cut[0] else ()
    after = (Piece("…", False),) if end < len(text) or is_cut[1] else ()
    return (*before, *pieces, *after)


def match_rank(text: str, terms: Sequence[Term]) -> int:
    """Return how well a text matches: 0 for all terms as a phrase, 1 for a whole word, 2 for a prefix, or NO_MATCH."""
    return _find_best(_fold_with_spans(text), terms)[0]


def _split_pieces(text: str, spans: Sequence[tuple[int, int]], start: int, end: int) -> tuple[Piece, ...]:
    """Return `text[start:end]` as pieces. A match that overlaps another one, or the end, is not marked."""
    pieces, position = [], start
    for first, last in spans:
        if first < position or last > end:
            continue
        pieces += [Piece(text[position:first], False), Piece(text[first:last], True)]
        position = last
    pieces.append(Piece(text[position:end], False))
    return tuple(piece for piece in pieces if piece.text)


def _find_best(folded: FoldedText, terms: Sequence[Term]) -> tuple[int, int, int]:
    """Return the rank of the best match, see `match_rank`, and its span. The span is empty if there is no match."""
    ranked = ((join_terms(terms),) if terms else (), make_exact(terms), terms)
    for rank, tried in enumerate(ranked):
        for first, last in _find_matches(folded, tried, limit=1):
            return rank, first, last
    return NO_MATCH, 0, 0


def _find_matches(folded: FoldedText, terms: Sequence[Term], limit: int | None = None) -> list[tuple[int, int]]:
    """Return the first `limit` spans at which terms match, in order; all without `limit`."""
    if not terms:
        return []
    pattern = re.compile("|".join(map(_build_term_pattern, terms)))
    text, spans = folded
    matches = (match.span() for match in pattern.finditer(text))
    whole = (span for span in matches if spans is None or _is_whole(text, spans, *span))
    return [(spans[first][0], spans[last - 1][1]) if spans else (first, last) for first, last in islice(whole, limit)]


def _is_whole(text: str, spans: Sequence[tuple[int, int]], first: int, last: int) -> bool:
    """Return whether a match neither begins nor ends within an emoji."""
    borders = [border for border in (first, last) if 0 < border < len(text) and IS_EMOJI.match(text, border - 1)]
    return all(spans[border - 1] != spans[border] for border in borders)


def _fold_with_spans(text: str) -> FoldedText:
    """Return the folded text, and the span of each of its characters. The span includes the marks after the
    character.
    """
    if text.isascii() and "${" not in text and "$(" not in text:
        return fold(text), None
    folds: dict[str, str] = {NON_JOINER: NON_JOINER}
    spans: list[tuple[int, int]] = []
    pieces: list[str] = []
    for match in CLUSTER.finditer(text):
        cluster = match[0]
        if (plain := folds.get(cluster)) is None:
            plain = folds[cluster] = fold(cluster)
        if plain:
            pieces.append(plain)
            spans += [match.span()] * len(plain)
        elif spans:
            spans[-1] = (spans[-1][0], match.end())
    return "".join(pieces), spans


def _build_term_pattern(term: Term) -> str:
    """Return the regular expression of a term in folded text."""
    sources = (term.source, *term.others)
    return "|".join(_build_source_pattern(source, is_prefix=term.is_prefix) for source in sources)


def _build_source_pattern(source: str, *, is_prefix: bool) -> str:
    pattern, words = "", 0
    for chunk in split_pieces(fold(MARKER.sub(" ", source))):
        for number, piece in enumerate(chunk):
            is_sign = IS_SIGNS.match(piece) is not None
            # A run of signs without a word beside it is not searched for.
            if words == PHRASE_WORDS or (is_sign and len(chunk) == 1):
                continue
            is_gap = words and (number == 0 or not (is_sign or IS_SIGNS.match(chunk[number - 1])))
            words += not is_sign
            pattern += (GAP if is_gap else "") + _build_piece_pattern(piece)
    return pattern.removesuffix(WORD_END) if is_prefix and words < PHRASE_WORDS else pattern


def _build_piece_pattern(piece: str) -> str:
    return f"(?<!{LETTER}){re.escape(piece)}{WORD_END}" if IS_LETTERS.match(piece) else re.escape(piece)
