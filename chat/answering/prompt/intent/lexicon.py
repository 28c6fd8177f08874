"""Searches for the word groups of `chat.answering.prompt.intent.words` in a text.

The module is pure and examines at most the first `HEAD_CHARS` and the last `TAIL_CHARS` characters of a text.
"""

from __future__ import annotations

import re
from typing import Final, TypeAlias

from chat.answering.prompt.intent.words import POLITE, WORDS

HEAD_CHARS: Final = 500
TAIL_CHARS: Final = 300
"""Number of characters at the end of a text that are examined. A request is at the start or the end; pasted material is
between.
"""

FULL_WIDTH: Final = re.compile(r"[\uff01-\uff5e]")
WORD_START: Final = re.compile(r"[ \u3400-\u9fff]")
BETWEEN_WORDS: Final = re.compile(r"[\W_]++")
CHINESE: Final = re.compile(r"[\u3400-\u9fff]")
WORD_EDGE: Final = re.compile(r"(?<=[\u3400-\u9fff])(?=[a-z0-9])|(?<=[a-z0-9])(?=[\u3400-\u9fff])")

KEY_CHARS: Final = 4
CHINESE_KEY_CHARS: Final = 2
"""Both numbers: how many characters at the start of a needle, with the space before a word, are its key in `INDEX`."""

Entry: TypeAlias = tuple[str, str]
"""(needle, name of its word group)."""


def extract_window(text: str) -> str:
    """Return the head and tail of the text in lower case, with full-width characters replaced by ASCII."""
    if len(text) > HEAD_CHARS + TAIL_CHARS:
        text = f"{text[:HEAD_CHARS]}\n{text[-TAIL_CHARS:]}"
    return FULL_WIDTH.sub(lambda character: chr(ord(character[0]) - 0xFEE0), text).lower()


def replace_umlauts(text: str) -> str:
    """Replace umlauts and ß as in the word lists: ä becomes `ae`."""
    return text.replace("ß", "ss").replace("ä", "ae").replace("ö", "oe").replace("ü", "ue")


def normalize(text: str) -> str:
    """Return the words in lower case, with ä as `ae` and so on, separated by one space, with a space at both ends."""
    words = BETWEEN_WORDS.sub(" ", replace_umlauts(text.lower()))
    return f" {WORD_EDGE.sub(' ', words).strip()} "


def _parse_needles(words: str) -> tuple[str, ...]:
    """Return the strings by which a comma-separated word list is found in a normalized text."""
    needles = []
    for word in words.split(","):
        entry = " ".join(word.split())
        if CHINESE.search(entry):
            needles.append(WORD_EDGE.sub(" ", entry.strip("*")))
            continue
        start, end = "" if entry.startswith("*") else " ", "" if entry.endswith("*") else " "
        needles.append(f"{start}{entry.strip('* ')}{end}")
    return tuple(dict.fromkeys(needles))


def _build_index() -> tuple[dict[str, list[Entry]], tuple[Entry, ...]]:
    """Return all entries by the key of their needle, and the entries whose needle starts with a wildcard."""
    by_key: dict[str, list[Entry]] = {}
    suffix_entries: list[Entry] = []
    for group, words in WORDS.items():
        for needle in _parse_needles(words):
            if needle.startswith(" "):
                by_key.setdefault(needle[:KEY_CHARS], []).append((needle, group))
            elif CHINESE.match(needle):
                by_key.setdefault(needle[:CHINESE_KEY_CHARS], []).append((needle, group))
            else:
                suffix_entries.append((needle, group))
    return by_key, tuple(suffix_entries)


INDEX, SUFFIX_ENTRIES = _build_index()
POLITE_START: Final = re.compile(
    "(?>(?:"
    + "|".join(
        f" ?{needle}" if CHINESE.match(needle) else f"{needle.rstrip()}(?= )"
        for needle in sorted(_parse_needles(POLITE), key=len, reverse=True)
    )
    + ")*)"
)


def strip_polite_start(normalized_text: str) -> str:
    """Remove the polite words at the start of a request."""
    return POLITE_START.sub("", normalized_text, count=1)


def find_entries(normalized_text: str) -> set[Entry]:
    """Return the entries whose needle occurs in the text, in one pass over the text."""
    entries = {entry for entry in SUFFIX_ENTRIES if entry[0] in normalized_text}
    for word_start in WORD_START.finditer(normalized_text):
        position = word_start.start()
        key_chars = KEY_CHARS if word_start[0] == " " else CHINESE_KEY_CHARS
        for entry in INDEX.get(normalized_text[position : position + key_chars], ()):
            if normalized_text.startswith(entry[0], position):
                entries.add(entry)
        if word_start[0] in INDEX:  # Chinese words of one character
            entries.update(INDEX[word_start[0]])
    return entries
