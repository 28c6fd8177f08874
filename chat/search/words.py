"""How text becomes the words that are searched: pure, and on SQLite the one place that says it.

Letters lose case and accents. A word is a run of letters and digits; a character of a script that is written without
blanks is a word of its own, so that two of them beside each other are found as a phrase, wherever they stand.
What is already stored was indexed by these rules: whoever changes them fills the index anew in a migration.
"""

from __future__ import annotations

import re
import unicodedata

#: Of longer texts only the beginning is searched: a limit of PostgreSQL (1 MB in one index entry), kept everywhere.
SEARCHED_CHARS = 200_000

#: Thai, Lao, Burmese, Khmer, kana, Han, Hangul: the inside of a character class.
UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\u2fdf\u3005-\u3007\u3040-\u30ff\u3100-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U000323af"
)
ACCENTS = "\u0300-\u036f"

MARKER = re.compile(r"\[(?:GRAPH|IMAGE):\d+\]")
WORD = re.compile(f"[{UNSPACED}]|[^\\W_{UNSPACED}]+")

_accents = re.compile(f"[{ACCENTS}]+")


def words(text: str) -> str:
    """The words of a text, one blank between them; markers are none."""
    return " ".join(WORD.findall(fold(MARKER.sub(" ", text)[:SEARCHED_CHARS])[:SEARCHED_CHARS]))


def fold(text: str) -> str:
    """Without case, accents and compatible forms; it may have another length."""
    if text.isascii():
        return text.lower()
    # Composed again: Hangul and voiced kana fall apart too, and are to stay whole.
    return unicodedata.normalize("NFKC", _accents.sub("", unicodedata.normalize("NFKD", text))).casefold()
