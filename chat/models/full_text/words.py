"""Splits text into the words that are indexed and searched. SQLite's index calls this module.

Case and accents are removed. A word is a run of letters and digits. In scripts that are written without spaces, each
character is a word of its own, so a query of several such characters is searched as a phrase. The stored index follows
these rules: a change of them needs a migration that fills the index again.
"""

from __future__ import annotations

import re
import unicodedata

INDEXED_CHARS = 200_000
"""Only the first characters of a text are indexed, because PostgreSQL limits an index entry to 1 MB."""

UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\u2fdf\u3005-\u3007\u3040-\u30ff\u3100-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U000323af"
)
"""Scripts written without spaces, as the content of a character class: Thai, Lao, Burmese, Khmer, kana, Han, Hangul."""

ACCENTS = "\u0300-\u036f"

MARKER = re.compile(r"\[(?:GRAPH|IMAGE):\d+\]")
WORD = re.compile(f"[{UNSPACED}]|[^\\W_{UNSPACED}]+")

_ACCENT_RUN = re.compile(f"[{ACCENTS}]+")


def extract_words(text: str) -> str:
    """Return the words of a text, separated by single spaces. Markers of graphs and images are left out."""
    return " ".join(WORD.findall(fold(MARKER.sub(" ", text)[:INDEXED_CHARS])[:INDEXED_CHARS]))


def fold(text: str) -> str:
    """Return the text without case, accents and compatibility forms. Its length may change."""
    if text.isascii():
        return text.lower()
    # NFKD also decomposes Hangul and voiced kana; NFKC composes them again.
    return unicodedata.normalize("NFKC", _ACCENT_RUN.sub("", unicodedata.normalize("NFKD", text))).casefold()
