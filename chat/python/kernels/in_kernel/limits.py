"""Runs inside a kernel: reports the limits that Linux and the sizes of the folders set for its code."""

from __future__ import annotations

import os
import resource
import tempfile
from collections.abc import Mapping


def main(namespace: Mapping[str, object]) -> dict[str, int]:
    """Return the limits that are set, by the names that `chat.python.kernels.limit_sentences` uses."""
    limits = {
        "processes": resource.getrlimit(resource.RLIMIT_NPROC)[0],
        "open_files": resource.getrlimit(resource.RLIMIT_NOFILE)[0],
        "file_bytes": resource.getrlimit(resource.RLIMIT_FSIZE)[0],
        "address_space_bytes": resource.getrlimit(resource.RLIMIT_AS)[0],
    }
    limits = {name: value for name, value in limits.items() if value != resource.RLIM_INFINITY}
    for name, path in (("working_directory_bytes", "."), ("temporary_directory_bytes", tempfile.gettempdir())):
        status = os.statvfs(path)
        limits[name] = status.f_blocks * status.f_frsize
    return limits
