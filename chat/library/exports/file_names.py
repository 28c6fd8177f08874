"""Makes names of exported files. Every file system accepts them, and no name leads out of its folder. Pure."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from itertools import takewhile

from attachments.validation import safe_name
from chat.vocabulary.unique_names import UniqueNames

STEM_LIMIT_CHARS = 60
UNTITLED = "conversation"

_FORBIDDEN_BY_WINDOWS = re.compile(r'[<>:"|?*\x00-\x1f]')
"""Characters that Windows refuses in names. `safe_name` removes other dangerous characters."""
_NOT_IN_STEMS = re.compile(r"[^\w]+")


def file_label(name: str) -> str:
    """Return a file's name for an archive: without folders, names of devices, and characters that systems refuse."""
    return safe_name(_FORBIDDEN_BY_WINDOWS.sub("_", name), "file")


def file_stem(title: str) -> str:
    """Return a short file name without extension for a title: the words of any script, joined by `-`."""
    words = _NOT_IN_STEMS.sub(_keep_marks, unicodedata.normalize("NFC", title)).strip("-_")
    return safe_name(words[:STEM_LIMIT_CHARS].strip("-_") or UNTITLED, UNTITLED)


def _keep_marks(match: re.Match[str]) -> str:
    """Return the combining marks at the start of the match, such as vowel signs; then a hyphen if more follows."""
    marks = "".join(takewhile(lambda c: unicodedata.category(c).startswith("M"), match[0])) if match.start() else ""
    return marks if marks == match[0] else f"{marks}-"


def make_unique(names: Iterable[str]) -> list[str]:
    """Return the names in their order. A name that differs from an earlier one only in case gets a number."""
    unique = UniqueNames(str.casefold)
    result = []
    for name in names:
        stem, dot, suffix = name.rpartition(".")
        result.append(unique.give(stem, f"{dot}{suffix}") if stem else unique.give(name, ""))
    return result
