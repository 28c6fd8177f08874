"""Splits text into the words that are indexed and searched. SQLite's index calls this module.

Folding removes case, accents, vowel marks and nuktas, and replaces each variant of a letter or a digit by one form. A
word is a run of letters, their remaining marks and digits. In the scripts of `UNSPACED`, each character is a word, and
so is each emoji as people see it. A query of several such characters is searched as a phrase.

The zero-width non-joiner of Persian separates words (`می‌خواهم`), and the word without it is indexed too.

A sign such as `+` beside a word is indexed too, as a signed word (`c++`, `/etc`), which a search reads only if the sign
was typed. The stored index follows these rules: a change of them needs a migration that fills the index again.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

INDEXED_CHARS = 200_000
"""Maximum number of characters of a text that are indexed, because PostgreSQL limits an index entry to 1 MB."""

WORD_LIMIT = 500
"""Longer words are not indexed. PostgreSQL allows a word of 2,046 bytes, which includes its owner and its signs."""

SIGNS_LIMIT = 3
"""Maximum number of signs beside a word that are indexed."""

# The following constants are used inside character classes of regular expressions for folded text.
UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\u2fdf\u3005-\u3007\u3040-\u30ff\u3100-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U000323af"
)
"""Scripts in which each character is a word: Thai, Lao, Burmese, Khmer, kana and Han, which are written without spaces,
and Hangul.
"""

EMOJI = "\u2300-\u23ff\u2600-\u27bf\u2b00-\u2bff\U0001f000-\U0001faff"
ARABIC = "\u0620-\u06ff"

_EMOJI = f"(?:[\U0001f1e6-\U0001f1ff]{{2}}|[{EMOJI}])"
EMOJI_WORD = f"{_EMOJI}(?:\u200d{_EMOJI})*"
"""A word that consists of one emoji as people see it. A flag is a pair of characters, and joiners combine several
characters.
"""

SIGNS = r"!#$%&*+\-./:<=>?@\\^_|~\u00a2-\u00a5\u00a7\u00b0\u20a0-\u20c0"
"""Signs that are indexed beside a word. Quotes, brackets, commas and semicolons never are."""

IGNORED = (
    "\u00ad\u0300-\u036f\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u061c\u0640\u064b-\u065f\u0670"
    "\u06d6-\u06dc\u06df-\u06e4\u06e7\u06e8\u06ea-\u06ed\u0730-\u074a\u08ca-\u08ff\u093c\u0a3c\u0abc\u0cbc"
    "\u1ab0-\u1aff\u1dc0-\u1dff\u200e\u200f"
    "\u202a-\u202e\u2060-\u206f\u20d0-\u20ff\ufe00-\ufe0f\ufe20-\ufe2f\ufeff\U0001f3fb-\U0001f3ff\U000e0001-\U000e01ef"
)
"""Accents, vowel marks of Hebrew, Arabic and Syriac, the Arabic tatweel, the nuktas of four Indian scripts, skin tones,
and characters without a width.
"""

SEPARATORS = (
    r"\x00-\x1f \"'(),;\[\]`{}\x7f"
    "\u0080-\u00a1\u00a6\u00a9-\u00ae\u00b1-\u00bf\u00d7\u00f7\u02c2-\u02c5\u02d2-\u02eb\u02ed\u02ef-\u02ff\u0375"
    "\u03f6\u0482\u055a-\u055f\u0589-\u05c6\u05f3-\u061f\u066a-\u066d\u06d4\u06dd-\u06de\u06e9\u06fd-\u06fe"
    "\u0700-\u070f\u07f6-\u07f9\u07fe-\u07ff\u0830-\u083e\u085e\u0888\u0890-\u0891\u0964-\u0965\u0970"
    "\u09f2-\u09f3\u09fa-\u09fb\u09fd\u0a76\u0af0-\u0af1\u0b70\u0bf3-\u0bfa\u0c77\u0c7f\u0c84\u0d4f\u0d79\u0df4"
    "\u0f01-\u0f17\u0f1a-\u0f1f\u0f34\u0f36\u0f38\u0f3a-\u0f3d\u0f85\u0fbe-\u0fc5\u0fc7-\u0fda\u10fb\u1360-\u1368"
    "\u1390-\u1399\u1400\u166d-\u166e\u1680\u169b-\u169c\u16eb-\u16ed\u1735-\u1736\u1800-\u180a\u180e"
    "\u1940-\u1945\u19de-\u19ff\u1a1e-\u1a1f\u1aa0-\u1aa6\u1aa8-\u1aad\u1b5a-\u1b6a\u1b74-\u1b7e\u1bfc-\u1bff"
    "\u1c3b-\u1c3f\u1c7e-\u1c7f\u1cc0-\u1cc7\u1cd3\u200b\u200e-\u205e\u2104-\u212e\u213a-\u214d\u214f\u218a-\u22ff"
    "\u2400-\u244a\u2500-\u25ff\u27c0-\u2aff\u2ce5-\u2cea\u2cf9-\u2cfc\u2cfe-\u2cff\u2d70\u2e00-\u2e2e"
    "\u2e30-\u2e5d\u2ff0-\u3004\u3008-\u3020\u3030\u3037\u303d-\u303f\u327f\u4dc0-\u4dff\ua490-\ua4c6"
    "\ua4fe-\ua4ff\ua60d-\ua60f\ua673\ua67e\ua6f2-\ua716\ua720-\ua721\ua789-\ua78a\ua828-\ua82b\ua836-\ua839"
    "\ua874-\ua877\ua8ce-\ua8cf\ua8f8-\ua8fa\ua8fc\ua92e-\ua92f\ua95f\ua9c1-\ua9cd\ua9de-\ua9df\uaa5c-\uaa5f"
    "\uaa77-\uaa79\uaade-\uaadf\uaaf0-\uaaf1\uab5b\uab6a-\uab6b\uabeb\ufbb2-\ufe46\ufff9-\ufffd"
    "\U0001cf50-\U0001d15d\U0001d16a-\U0001d16c\U0001d173-\U0001d17a\U0001d183-\U0001d184\U0001d18c-\U0001d1a9"
    "\U0001d1ae-\U0001d241\U0001d245\U0001d300-\U0001d356\U0001fb00-\U0001fbca"
    "\ufe10-\ufe1f\ufe30-\ufe6f"
)
"""All other characters that are neither letters, marks nor digits. They separate words."""

ZEROS = (
    "\u0660\u06f0\u07c0\u0966\u09e6\u0a66\u0ae6\u0b66\u0be6\u0c66\u0ce6\u0d66\u0de6\u0e50\u0ed0\u0f20\u1040\u1090\u17e0\u1810"
    "\u1946\u19d0\u1a80\u1a90\u1b50\u1bb0\u1c40\u1c50\ua620\ua8d0\ua900\ua9d0\ua9f0\uaa50\uabf0\U000104a0\U00011066\U0001e950"
)
"""The digit zero of each script. The digits 1 to 9 are the nine characters after it."""

_VARIANTS = {
    "đð": "d", "ħ": "h", "ı": "i", "ł": "l", "ø": "o", "ŧ": "t", "ς": "σ", "ß": "ss", "æ": "ae", "œ": "oe", "þ": "th",
    "ٱ": "ا", "ىیې": "ي", "کڪ": "ك", "ةہھە": "ه", "‐‑‒–−": "-", "ʼ": " ", "ँ": "ं", "ൌ": "ൗ",
    "װ": "וו", "ױ": "וי", "ײ": "יי", "ৎ": "ত্",
    "ൔ": "മ്", "ൕ": "യ്", "ൖ": "ഴ്", "ൺ": "ണ്", "ൻ": "ന്", "ർ": "ര്", "ൽ": "ല്", "ൾ": "ള്", "ൿ": "ക്",
}  # fmt: skip
"""Characters and what replaces them, such as letters that Unicode does not decompose, variants of Arabic letters,
dashes within words, digraphs of Yiddish, and letters of Bengali and Malayalam that stand for a letter and its virama.
"""

VARIANTS = str.maketrans(
    {variant: plain for variants, plain in _VARIANTS.items() for variant in variants}
    | {chr(ord(zero) + digit): str(digit) for zero in ZEROS for digit in range(10)}
)

MARKER = re.compile(r"\[(?:GRAPH|IMAGE):\d+\]")
NON_JOINER = "\u200c"
LETTER = f"[^ {SIGNS}{UNSPACED}{EMOJI}{NON_JOINER}\u200d]"
"""A letter or digit of folded text, except characters that are words of their own."""

PIECE = re.compile(f"{LETTER}+|[{UNSPACED}]|[{SIGNS}]+|{EMOJI_WORD}")
"""A word of folded text, or a run of signs."""

_WORD = re.compile(f"{LETTER}+|[{UNSPACED}]|{EMOJI_WORD}")
_CHUNK_WITH_SIGNS = re.compile(f"(?<![^ ])(?>[^ {SIGNS}]*)[{SIGNS}][^ ]*")
"""The text between two spaces, if it contains a sign."""
_NOT_ASCII = re.compile(r"([^\x00-\x7f]+)")
_SHORT_RUN = 4

_IGNORED_RUN = re.compile(f"[{IGNORED}]+")
_STRAY_JOINER = re.compile(
    f"(?<![{ARABIC}]){NON_JOINER}|{NON_JOINER}(?![{ARABIC}])|(?<![{EMOJI}])\u200d|\u200d(?![{EMOJI}])"
)
_ORDER = re.compile(
    "([\u0e48-\u0e4b\u0ec8-\u0ecb])([\u0e4d\u0ecd])|([\u0e32\u0eb2])([\u0e48-\u0e4b\u0ec8-\u0ecb])|(\u0d4d)\u0d4d+"
)
"""Tones of Thai and Lao beside part of a vowel, which are put into one order, and repeated viramas of Malayalam."""
_JOINED = re.compile(f"(?<!{LETTER})(?>{LETTER}+)(?>(?:{NON_JOINER}{LETTER}+)+)")
_SEPARATOR = re.compile(f"[{SEPARATORS}]")
_SIGN = re.compile(f"[{SIGNS}]")
_ASCII = str.maketrans(dict.fromkeys(_SEPARATOR.findall("".join(map(chr, range(1, 128)))), " "))
_SENTENCE_END = ".:!?"


def extract_words(text: str) -> str:
    """Return the words of a text, separated by single spaces. Markers of graphs and images are left out."""
    return " ".join(_split_words(_fold_beginning(text)))


def extract_index_words(text: str) -> str:
    """Return what is indexed of a text: its words, its signed words, and its words without non-joiners."""
    # The database calls this while an answer is stored, and other answers wait for it. It takes 2 ms for 10,000
    # characters.
    folded = _fold_beginning(text)
    # Few texts have a non-joiner, and searching for joined words takes a tenth of the whole time.
    joined = [word.replace(NON_JOINER, "") for word in (_JOINED.findall(folded) if NON_JOINER in folded else ())]
    signed = dict.fromkeys(
        word
        for before, signs, after in _find_signs(folded)
        for length in range(1, min(SIGNS_LIMIT, len(signs)) + 1)
        for word in (before and before + signs[:length], after and signs[-length:] + after)
        if word
    )
    return " ".join(
        [*_split_words(folded), *(word for word in dict.fromkeys(joined) if len(word) <= WORD_LIMIT), *signed]
    )


def extract_signed_words(text: str) -> tuple[str, ...]:
    """Return the signed words that are in every text that contains this text, in order and without duplicates."""
    return tuple(
        dict.fromkeys(
            word
            for before, signs, after in _find_signs(_fold_beginning(text))
            for word in (before and before + signs[:SIGNS_LIMIT], after and signs[-SIGNS_LIMIT:] + after)
            if word
        )
    )


def fold(text: str) -> str:
    """Return the text with plain letters, digits, signs that count, and spaces. Its length may change.

    A zero-width joiner remains within an emoji, and a non-joiner between Arabic letters.
    """
    # `${HOME}` and `$(HOME)` are indexed as `$HOME`.
    text = text.replace("${", " $").replace("$(", " $").replace("\0", " ")
    if text.isascii():
        return text.lower().translate(_ASCII)
    # Runs of ASCII are folded together, because the folding of an ASCII character does not depend on its neighbours.
    runs = _NOT_ASCII.split(text)
    runs[::2] = "\0".join(runs[::2]).lower().translate(_ASCII).split("\0")
    runs[1::2] = [_fold_short(run) if len(run) <= _SHORT_RUN else _fold_others(run) for run in runs[1::2]]
    return "".join(runs)


def _fold_others(text: str) -> str:
    """Fold characters that are not of ASCII."""
    # NFKD also decomposes Hangul and voiced kana; NFKC composes them again.
    plain = _IGNORED_RUN.sub("", unicodedata.normalize("NFKD", text))
    if NON_JOINER in plain or "\u200d" in plain:
        plain = _STRAY_JOINER.sub("", plain)
    plain = unicodedata.normalize("NFKC", plain).lower().translate(VARIANTS)
    return _SEPARATOR.sub(" ", _ORDER.sub(r"\2\1\4\3\5", plain))


_fold_short = lru_cache(maxsize=1000)(_fold_others)
"""The cache helps, because a text has the same short runs of non-ASCII characters again and again, such as
`ä` and `“`.
"""


def split_pieces(folded: str) -> list[list[str]]:
    """Return the words and the runs of signs in each chunk between spaces. Signs that end a sentence are left out."""
    return [PIECE.findall(chunk.rstrip(_SENTENCE_END)) for chunk in folded.split(" ")]


def _fold_beginning(text: str) -> str:
    return fold(MARKER.sub(" ", text)[:INDEXED_CHARS])[:INDEXED_CHARS]


def _split_words(folded: str) -> list[str]:
    return [word for word in _WORD.findall(folded) if len(word) <= WORD_LIMIT]


def _find_signs(folded: str) -> list[tuple[str, str, str]]:
    """Return each run of signs with the words before and after it. Equal chunks between spaces are read once.

    A word is empty if there is none, or if it is too long.
    """
    found = []
    for chunk in dict.fromkeys(_CHUNK_WITH_SIGNS.findall(folded)):
        pieces = PIECE.findall(chunk.rstrip(_SENTENCE_END))
        words = ["", *(piece if len(piece) <= WORD_LIMIT else "" for piece in pieces), ""]
        found += [
            (words[number], piece, words[number + 2]) for number, piece in enumerate(pieces) if _SIGN.match(piece)
        ]
    return found
