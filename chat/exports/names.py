"""Names of exported files: labels that every file system takes, and none that leads out of its folder. Pure."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

from attachments.validation import safe_name

STEM_LIMIT_CHARS = 60
#: What Windows takes in no name; the rest of what is dangerous `safe_name` has taken out.
_RESERVED = re.compile(r'[<>:"|?*\x00-\x1f]')
_NOT_IN_STEMS = re.compile(r"[^\w]+")


def file_label(name: str) -> str:
    """A file's name as it stands in an archive: no folder, no device, nothing that a file system refuses."""
    return safe_name(_RESERVED.sub("_", name), "file")


def stem(title: str, default: str = "conversation") -> str:
    """A short file name made of a title, without an extension: letters and digits of any script, joined by `-`."""
    words = _NOT_IN_STEMS.sub("-", unicodedata.normalize("NFC", title)).strip("-_")
    return safe_name(words[:STEM_LIMIT_CHARS].strip("-_") or default, default)


def distinct(names: Iterable[str]) -> list[str]:
    """The names in their order, with a number where one was there before; case alone makes none different."""
    taken: set[str] = set()
    result = []
    for name in names:
        base, dot, suffix = name.rpartition(".")
        base, suffix = (base, f"{dot}{suffix}") if base else (name, "")
        free, number = name, 1
        while free.casefold() in taken:
            number += 1
            free = f"{base}-{number}{suffix}"
        taken.add(free.casefold())
        result.append(free)
    return result
