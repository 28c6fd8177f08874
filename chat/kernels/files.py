"""Names of files in a kernel's working directory.

Pure. A name that somebody chose is a label and never a path: no folder, no control character, no hidden file.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

_LABEL_LIMIT_CHARS = 100
_NOT_IN_LABELS = re.compile(r"[\x00-\x1f\x7f\ud800-\udfff]")


def file_labels(names: Iterable[str]) -> list[str]:
    """Make distinct labels of names, in order: `../../a.csv`, `b\\a.csv` become `a.csv`, `a-2.csv`."""
    labels: list[str] = []
    for name in names:
        last = re.split(r"[/\\]", name.rstrip("/\\"))[-1]
        label = _NOT_IN_LABELS.sub("", last).strip().lstrip(".") or "file"
        stem, dot, suffix = label.rpartition(".")
        if not dot:
            stem, suffix = label, ""
        suffix = f"{dot}{suffix[:20]}"
        label = stem = stem[: _LABEL_LIMIT_CHARS - len(suffix)]
        number = 1
        while label + suffix in labels:
            number += 1
            label = f"{stem}-{number}"
        labels.append(label + suffix)
    return labels
