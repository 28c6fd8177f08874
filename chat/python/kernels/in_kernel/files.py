"""Runs inside a kernel: reads and writes regular files of the working directory in pieces.

Names of files that are written are labels without folders. Files that are read may lie in folders below the working
directory. Pipes, devices and links are refused, also links among the folders.
"""

from __future__ import annotations

import base64
import contextlib
import os
import stat
from collections.abc import Mapping
from typing import Any

from chat.python.kernels.in_kernel.file_names import shown_name

_PREFIX = ".plotline-"


def write_piece(token: str, offset: int, data: str) -> dict[str, object]:
    """Append data, given as base64, to a temporary file; offset 0 creates the file."""
    flags = os.O_WRONLY | os.O_NOFOLLOW | os.O_APPEND
    descriptor = os.open(_PREFIX + token, flags | (0 if offset else os.O_CREAT | os.O_EXCL), 0o644)
    with os.fdopen(descriptor, "ab", buffering=0) as file:
        if os.fstat(descriptor).st_size != offset:
            raise OSError("The file changed while it was written.")
        remaining = memoryview(base64.b64decode(data))
        while remaining:
            remaining = remaining[file.write(remaining) :]
    return {}


def finish_file(token: str, name: str) -> dict[str, object]:
    """Give a temporary file its name; a file, a link or a pipe of that name is replaced."""
    os.replace(_PREFIX + token, name)
    return {}


def drop_file(token: str) -> dict[str, object]:
    """Remove a temporary file."""
    with contextlib.suppress(FileNotFoundError):
        os.unlink(_PREFIX + token)
    return {}


def open_shown(path: str) -> int:
    """Open the file whose path `shown_path` shows as `path`, and return its descriptor.

    Raises OSError if it cannot be opened.
    """
    folder = os.open(".", os.O_RDONLY | os.O_DIRECTORY)
    *folders, name = path.split("/")
    try:
        for one in folders:
            inner = os.open(real_name(one, folder), os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=folder)
            os.close(folder)
            folder = inner
        # Opening a pipe without O_NONBLOCK waits for a writer.
        return os.open(real_name(name, folder), os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=folder)
    finally:
        os.close(folder)


def real_name(name: str, folder: int) -> str:
    """Return the real name of the entry that `shown_name` shows as `name`.

    Raises FileNotFoundError for names such as `..`.
    """
    if name in ("", ".", ".."):
        raise FileNotFoundError("It is not the name of a file.")
    with contextlib.suppress(OSError):
        os.stat(name, dir_fd=folder, follow_symlinks=False)
        return name
    return next((entry for entry in os.listdir(folder) if shown_name(entry) == name), name)


def read_piece(name: str, offset: int, size: int) -> dict[str, object]:
    """Return a piece of a file as base64, the file's size, and its device and inode numbers as `identity`.

    `name`: its path as `shown_path` shows it.
    """
    descriptor = open_shown(name)
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise FileNotFoundError("It is not a regular file.")
        data = os.pread(descriptor, size, offset)
    finally:
        os.close(descriptor)
    identity = f"{status.st_dev}:{status.st_ino}"
    return {"data": base64.b64encode(data).decode(), "size": status.st_size, "identity": identity}


def main(namespace: Mapping[str, object], operation: str, *arguments: Any) -> dict[str, object]:
    """Run one operation and return its result. An error of the file system is returned as `error`."""
    operations = (write_piece, finish_file, drop_file, read_piece)
    try:
        return next(each for each in operations if each.__name__ == operation)(*arguments)
    except OSError as error:
        return {"error": error.strerror or str(error)}
