"""Creates and removes the gateway's folder for connection files and sockets, also one that a killed gateway left."""

from __future__ import annotations

import os
import shutil
from contextlib import suppress
from pathlib import Path

from chat.python.kernels.sandbox import make_socket_directory

_LINK = "run"
_LONGEST_NAME = "k-12345678/s-1"
_SOCKET_PATH_LIMIT_BYTES = 107


def create(directory: Path) -> Path:
    """Create the folder, which only this user can open. Raises OSError if that fails.

    It is `run` in the service's folder. Paths of Unix sockets are limited to 107 bytes. If the path would
    be longer, `run` is a link to a folder with a short path. Raises SandboxUnavailable if there is none.
    """
    remove(directory)
    path = directory / _LINK
    if len(os.fsencode(path / _LONGEST_NAME)) <= _SOCKET_PATH_LIMIT_BYTES:
        path.mkdir(mode=0o700)
        return path
    target = make_socket_directory()
    path.symlink_to(target)
    return target


def remove(directory: Path) -> None:
    """Remove the folder, if there is one."""
    path = directory / _LINK
    if path.is_symlink():
        with suppress(OSError):
            target = path.readlink()
            if target.name.startswith("plotline-") and target.stat().st_uid == os.geteuid():
                shutil.rmtree(target, ignore_errors=True)
        path.unlink()
    elif path.exists():
        shutil.rmtree(path)
