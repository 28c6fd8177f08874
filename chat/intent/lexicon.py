"""Which of the words of `chat.intent.words` a text says, and which of them it opens with.

Pure; looks at no more than `HEAD_CHARS` + `TAIL_CHARS` of a text, whatever its size.
"""

from __future__ import annotations

import re
from typing import Final, TypeAlias

from chat.intent.words import POLITE, WORDS

HEAD_CHARS: Final = 500
TAIL_CHARS: Final = 300
"""A request stands at the start or at the end of a text; what is pasted lies between."""

FULL_WIDTH: Final = re.compile(r"[\uff01-\uff5e]")
WORD_START: Final = re.compile(r"[ \u3400-\u9fff]")
BETWEEN_WORDS: Final = re.compile(r"[\W_]++")
CHINESE: Final = re.compile(r"[\u3400-\u9fff]")
WORD_EDGE: Final = re.compile(r"(?<=[\u3400-\u9fff])(?=[a-z0-9])|(?<=[a-z0-9])(?=[\u3400-\u9fff])")

KEY_CHARS: Final = 4
CHINESE_KEY_CHARS: Final = 2
"""How much of a needle is its key in `INDEX`: the space before a word counts."""

Said: TypeAlias = tuple[str, str]
"""(needle, name of its group)."""


def window(text: str) -> str:
    """The head and tail that a decision looks at, in lower case; full-width characters become ASCII."""
    if len(text) > HEAD_CHARS + TAIL_CHARS:
        text = f"{text[:HEAD_CHARS]}\n{text[-TAIL_CHARS:]}"
    return FULL_WIDTH.sub(lambda found: chr(ord(found[0]) - 0xFEE0), text).lower()


def folded(text: str) -> str:
    """Umlauts written out, as in the word lists."""
    return text.replace("ß", "ss").replace("ä", "ae").replace("ö", "oe").replace("ü", "ue")


def normalised(text: str) -> str:
    """Lower case, words parted by single spaces, umlauts written out, a space at both ends."""
    words = BETWEEN_WORDS.sub(" ", folded(text.lower()))
    return f" {WORD_EDGE.sub(' ', words).strip()} "


def _needles(words: str) -> tuple[str, ...]:
    """The strings to look for in a normalised text."""
    needles = []
    for word in words.split(","):
        plain = " ".join(word.split())
        if CHINESE.search(plain):
            needles.append(WORD_EDGE.sub(" ", plain.strip("*")))
            continue
        start, end = "" if plain.startswith("*") else " ", "" if plain.endswith("*") else " "
        needles.append(f"{start}{plain.strip('* ')}{end}")
    return tuple(dict.fromkeys(needles))


def _indexed() -> tuple[dict[str, list[Said]], tuple[Said, ...]]:
    """All (needle, name) by how a needle starts, and those whose start is open."""
    by_start: dict[str, list[Said]] = {}
    open_start: list[Said] = []
    for name, words in WORDS.items():
        for needle in _needles(words):
            if needle.startswith(" "):
                by_start.setdefault(needle[:KEY_CHARS], []).append((needle, name))
            elif CHINESE.match(needle):
                by_start.setdefault(needle[:CHINESE_KEY_CHARS], []).append((needle, name))
            else:
                open_start.append((needle, name))
    return by_start, tuple(open_start)


INDEX, OPEN_START = _indexed()
POLITE_START: Final = re.compile(
    "(?:"
    + "|".join(
        f" ?{needle}" if CHINESE.match(needle) else f"{needle.rstrip()}(?= )"
        for needle in sorted(_needles(POLITE), key=len, reverse=True)
    )
    + ")*+"
)


def opening(plain: str) -> str:
    """A normalised text without the polite words that a request may start with."""
    return POLITE_START.sub("", plain, count=1)


def said_in(plain: str) -> set[Said]:
    """The (needle, name) found in a normalised text, in one pass over it."""
    found = {entry for entry in OPEN_START if entry[0] in plain}
    for start in WORD_START.finditer(plain):
        at = start.start()
        longest = KEY_CHARS if start[0] == " " else CHINESE_KEY_CHARS
        for entry in INDEX.get(plain[at : at + longest], ()):
            if plain.startswith(entry[0], at):
                found.add(entry)
        if start[0] in INDEX:  # Chinese words of one character
            found.update(INDEX[start[0]])
    return found
