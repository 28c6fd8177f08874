"""The n-grams of a text, which the classifier weighs.

The module is pure and knows no language. Words are compared without accents, and every number counts as `0`. Text
without spaces between words, such as Chinese and Japanese, is taken in pieces of a few characters.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final

from chat.answering.prompt.intent.patterns import NUMBER

ACCENTS: Final = str.maketrans("àáâãäåçèéêëìíîïñòóôõöùúûüýÿ’‘“”„«»", 'aaaaaaceeeeiiiinooooouuuuyy\'\'"""""')
"""Accents and quotation marks are replaced, because users type them in many ways."""
SPACELESS: Final = r"\u3005-\u30ff\u3400-\u9fff"
TOKEN: Final = re.compile(rf"0?[{SPACELESS}][0{SPACELESS}]*+|[^\W\d_{SPACELESS}]++|[^\w\s]|0")
SPACELESS_TOKEN: Final = re.compile(rf"0?[{SPACELESS}]")

HEAD_CHARS: Final = 300
TAIL_CHARS: Final = 200
"""Maximum number of characters that are read at the start and at the end of a longer text."""
OPENING_TOKENS: Final = 3
CLOSING_TOKENS: Final = 2
OPENING_CHARS: Final = (2, 3, 4, 5)
CLOSING_CHARS: Final = (1, 2, 3, 4, 5)
RUN_CHARS: Final = (1, 2)
LONG_RUN_CHARS: Final = (3, 4)
WORD_CHARS: Final = (4, 5, 6)
SHOWN_LETTERS: Final = 3
"""Minimum number of letters of a word that is shown to readers."""


def find_ngrams(prose: str, contexts: Iterable[str]) -> set[str]:
    """Return the n-grams of a lower-case text.

    `contexts`: names of circumstances, such as an attached table. In each context, words and pairs of words are
    additional n-grams, because "thanks" or "how many" mean something else there.
    """
    tokens = TOKEN.findall(NUMBER.sub("0", _head_and_tail(prose).translate(ACCENTS)))
    words = {f"{previous} {token}" for previous, token in zip(["^", *tokens], [*tokens, "$"], strict=True)}
    parts: set[str] = set()
    for token in set(tokens):
        if SPACELESS_TOKEN.match(token):
            words |= _pieces(token, RUN_CHARS)
            parts |= _pieces(token, LONG_RUN_CHARS)
        else:
            words.add(f" {token} ")
            parts |= _pieces(f" {token} ", WORD_CHARS)
    ngrams = words | parts | _edges(tokens)
    for context in contexts:
        ngrams.update([f"{context}:{word}" for word in words])
    return ngrams


def find_words(prose: str) -> dict[str, set[str]]:
    """Return the words of a lower-case text as a reader knows them, each with its n-grams.

    In text without spaces, the words are its pieces of `LONG_RUN_CHARS`.
    """
    words: dict[str, set[str]] = {}
    for token in set(TOKEN.findall(_head_and_tail(prose))):
        if SPACELESS_TOKEN.match(token):
            words |= {piece: _pieces(piece, RUN_CHARS + LONG_RUN_CHARS) for piece in _pieces(token, LONG_RUN_CHARS)}
        elif len(token) >= SHOWN_LETTERS and token.isalpha():
            plain = f" {token.translate(ACCENTS)} "
            words[token] = {plain} | _pieces(plain, WORD_CHARS)
    return words


def _head_and_tail(prose: str) -> str:
    return prose if len(prose) <= HEAD_CHARS + TAIL_CHARS else f"{prose[:HEAD_CHARS]} {prose[-TAIL_CHARS:]}"


def _edges(tokens: Sequence[str]) -> set[str]:
    """Return the n-grams of the start and the end of a text."""
    edges: set[str] = set()
    for position, token in enumerate(tokens):
        if not SPACELESS_TOKEN.match(token):
            if position < OPENING_TOKENS:
                edges.add(f"^{token}")
        elif position == 0:
            edges.update(f"^{token[:size]}" for size in OPENING_CHARS)
        if position >= len(tokens) - CLOSING_TOKENS and SPACELESS_TOKEN.match(token):
            edges.update(f"{token[-size:]}$" for size in CLOSING_CHARS)
    return edges


def _pieces(text: str, sizes: Iterable[int]) -> set[str]:
    """Return all pieces of these lengths."""
    return {text[start : start + size] for size in sizes for start in range(len(text) - size + 1)}
