"""Runs inside a kernel: finds the files that code wrote, in a folder and those below it."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator

FOLDERS_LIMIT = 6
"""Maximum number of parts in a file's path. Files in deeper folders are not listed."""
SCANNED_ENTRIES_LIMIT = 10_000
_LEFT_OUT = frozenset({"__pycache__", "node_modules"})


def written_entries(root: str) -> Iterator[tuple[str, os.stat_result]]:
    """Yield the path of each regular file, relative to `root`, and its `os.stat` result; files of `root` itself first.

    Hidden names, links, names in `_LEFT_OUT` and folders that are too deep are left out. At most
    `SCANNED_ENTRIES_LIMIT` entries are read.
    """
    folders = [""]
    scanned = 0
    for prefix in folders:
        # Opening fails if the code has opened too many files, or if another process has just removed the folder.
        with contextlib.suppress(OSError), os.scandir(os.path.join(root, prefix)) as entries:
            for entry in entries:
                scanned += 1
                if scanned > SCANNED_ENTRIES_LIMIT:
                    return
                if entry.name.startswith(".") or entry.name in _LEFT_OUT:
                    continue
                if entry.is_file(follow_symlinks=False):
                    with contextlib.suppress(FileNotFoundError):
                        yield prefix + entry.name, entry.stat(follow_symlinks=False)
                elif entry.is_dir(follow_symlinks=False) and prefix.count("/") < FOLDERS_LIMIT - 1:
                    folders.append(f"{prefix}{entry.name}/")
