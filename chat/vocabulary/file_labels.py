"""Names of files in a kernel's working directory.

Pure. A name from a user or a program becomes a label and is never used as a path: labels contain no folder and no
character that hides or changes how the name looks, such as U+202E, and they do not start with a dot.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

from chat.vocabulary.unique_names import UniqueNames

_LABEL_LIMIT_CHARS = 100
_SUFFIX_LIMIT_CHARS = 20
_FORBIDDEN_CATEGORIES = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
"""Control and format characters, halves of surrogate pairs, separators of lines and paragraphs."""


_UNUSUAL = re.compile(r"^\W|[^\w .-]")


def native_name(label: str) -> str:
    """Return a file's name for Google's sandbox, without unusual characters: `data (1).csv` becomes `data _1_.csv`.

    The sandbox stores a file with unusual characters in its name as `input_file_0.csv`.
    """
    return _UNUSUAL.sub("_", label)


PATH_LIMIT_CHARS = 255
"""Maximum length of the path of a file; `imports.parts` and attachments have the same limit."""
_FOLDERS_LIMIT = 6


def is_file_path(path: str) -> bool:
    """Return whether this is a label, or several labels joined by `/` such as `out/plots/line.png`."""
    names = path.split("/")
    is_short = len(path) <= PATH_LIMIT_CHARS and len(names) <= _FOLDERS_LIMIT
    return is_short and all(file_labels([name]) == [name] for name in names)


def file_labels(names: Iterable[str]) -> list[str]:
    """Return distinct labels for names, in order: `../../a.csv`, `b\\a.csv` become `a.csv`, `a-2.csv`."""
    unique = UniqueNames()
    labels: list[str] = []
    for name in names:
        basename = re.split(r"[/\\]", name.rstrip("/\\"))[-1]
        visible = "".join(one for one in basename if unicodedata.category(one) not in _FORBIDDEN_CATEGORIES)
        label = visible.strip().lstrip(".") or "file"
        stem, dot, extension = label.rpartition(".")
        if not dot:
            stem, extension = label, ""
        suffix = f"{dot}{extension[:_SUFFIX_LIMIT_CHARS]}"
        labels.append(unique.give(stem[: _LABEL_LIMIT_CHARS - len(suffix)], suffix))
    return labels
