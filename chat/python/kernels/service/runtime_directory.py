"""Creates and removes the gateway's folder for connection files and sockets, also one that a killed gateway left."""

from __future__ import annotations

import os
import shutil
import tempfile
from contextlib import suppress
from pathlib import Path

from chat.python.kernels.sandbox import SandboxUnavailable

_LINK = "run"
_LONGEST_NAME = "k-12345678/s-1"
_SOCKET_PATH_LIMIT_BYTES = 107
"""Maximum length of the path of a Unix socket on Linux: `sun_path` has 108 bytes with its final NUL."""


def create(directory: Path) -> Path:
    """Create the folder, which only this user can open. Raises OSError if that fails.

    It is `run` in the service's folder. If paths of sockets there would be too long, `run` is a link to a folder with a
    short path. Raises SandboxUnavailable if there is none.
    """
    remove(directory)
    path = directory / _LINK
    if _is_short(path):
        path.mkdir(mode=0o700)
        return path
    target = create_short()
    path.symlink_to(target)
    return target


def create_short() -> Path:
    """Create a folder at a path short enough for sockets. Raises SandboxUnavailable if no such folder is writable."""
    for parent in (os.environ.get("XDG_RUNTIME_DIR", ""), tempfile.gettempdir(), "/tmp"):
        if parent and _is_short(Path(parent) / "plotline-12345678") and os.access(parent, os.W_OK | os.X_OK):
            return Path(tempfile.mkdtemp(prefix="plotline-", dir=parent))
    raise SandboxUnavailable("There is no folder to make sockets in: make XDG_RUNTIME_DIR or /tmp writable.")


def _is_short(path: Path) -> bool:
    return len(os.fsencode(path / _LONGEST_NAME)) <= _SOCKET_PATH_LIMIT_BYTES


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
