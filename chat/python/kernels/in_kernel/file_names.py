"""Runs inside a kernel: spells out hidden characters in the names of files that people and models see.

A character that has no width, breaks the line or changes the direction of text can make a name look like another one.
"""

from __future__ import annotations

import unicodedata

HIDDEN_CATEGORIES = ("Cc", "Cf", "Zl", "Zp")
"""Unicode categories: control and format characters (bidirectional, without width), line and paragraph separators."""


def shown_path(path: str) -> str:
    """Return a path below the working directory, with `shown_name` applied to the names of its folders and its file."""
    return "/".join(map(shown_name, path.split("/")))


def shown_name(name: str) -> str:
    """Return a name with its hidden characters spelled out, as `_u202e_`."""
    if name.isascii() and name.isprintable():
        return name
    return "".join(
        f"_u{ord(character):04x}_" if unicodedata.category(character) in HIDDEN_CATEGORIES else character
        for character in name
    )
