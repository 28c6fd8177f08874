"""Names of exported files. Every file system accepts them, and none leads out of its folder. Pure."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

from attachments.validation import safe_name
from chat.unique_names import UniqueNames

STEM_LIMIT_CHARS = 60

_FORBIDDEN_BY_WINDOWS = re.compile(r'[<>:"|?*\x00-\x1f]')
"""Windows refuses these in names. `safe_name` removes the other dangerous characters."""
_NOT_IN_STEMS = re.compile(r"[^\w]+")


def file_label(name: str) -> str:
    """Return a file's name for an archive: without folders, names of devices, and characters that systems refuse."""
    return safe_name(_FORBIDDEN_BY_WINDOWS.sub("_", name), "file")


def file_stem(title: str, default: str = "conversation") -> str:
    """Return a short file name without extension for a title: letters and digits of any script, joined by `-`."""
    words = _NOT_IN_STEMS.sub("-", unicodedata.normalize("NFC", title)).strip("-_")
    return safe_name(words[:STEM_LIMIT_CHARS].strip("-_") or default, default)


def make_unique(names: Iterable[str]) -> list[str]:
    """Return the names in their order. A name that differs from an earlier one only in case gets a number."""
    unique = UniqueNames(str.casefold)
    result = []
    for name in names:
        stem, dot, suffix = name.rpartition(".")
        result.append(unique.give(stem, f"{dot}{suffix}") if stem else unique.give(name, ""))
    return result
