"""Attempts to read the host's files and to write outside the working directory."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from tests.chat.python.kernels.probes.registry import Targets, attempt, deny


def read_start(path: str) -> str:
    """Return the first names of a folder or the first bytes of a file."""
    return str(os.listdir(path)[:3]) if Path(path).is_dir() else repr(os.read(os.open(path, os.O_RDONLY), 8))


def create_file(path: str) -> str:
    """Create a file and return a sentence about it."""
    Path(path).write_bytes(b"x")
    return f"wrote {path}"


@attempt
def read_a_file_of_the_host(targets: Targets) -> object:
    """Read a file that every user of the host may read."""
    return read_start(targets["file_path"])


@attempt
def read_the_servers_program(targets: Targets) -> object:
    """Read the project's folder, which also holds its `.env` and its database."""
    return read_start(targets["project_path"])


@attempt
def read_system_files(targets: Targets) -> object:
    """Read passwords, keys, home folders and logs."""
    contents = []
    for path in ("/etc/passwd", "/etc/shadow", "/root/.ssh", "/home", "/var", "/sys", "/run", "/root/.bashrc"):
        try:
            contents.append(read_start(path))
        except OSError:
            continue
    return contents or deny("every path")


@attempt
def read_the_first_process(targets: Targets) -> object:
    """Read bubblewrap's own memory through /proc."""
    return read_start("/proc/1/mem")


@attempt
def write_outside_the_working_directory(targets: Targets) -> object:
    """Write to the root, system folders, the interpreter, devices and switches of the Linux kernel."""
    paths = ("/x", "/usr/x", "/dev/x", "/proc/sys/kernel/core_pattern", "/proc/sysrq-trigger", "/bootstrap.py")
    results = []
    scratch_device = os.stat("/tmp").st_dev
    for path in (*paths, f"{sys.prefix}/x", f"{sys.prefix}/lib/x", f"{sys.base_prefix}/lib/x"):
        try:
            if os.stat(os.path.dirname(path)).st_dev == scratch_device:
                # If the checkout is below /tmp, this folder is the sandbox's own scratch space and not the host's disk.
                continue
            results.append(create_file(path))
        except OSError:
            continue
    return results or deny("every path")


@attempt
def write_a_file_to_the_hosts_disk(targets: Targets) -> object:
    """Create a file in `/rt`, which is a folder of the host."""
    return create_file("/rt/x")


@attempt
def plant_a_link_on_the_hosts_disk(targets: Targets) -> object:
    """Create a symbolic link for the server to follow."""
    os.symlink("/etc/shadow", "/rt/out.png")
    return "planted"


@attempt
def make_a_device(targets: Targets) -> object:
    """Create a device file for the host's disk."""
    os.mknod("/box/disk", 0o60600, os.makedev(254, 0))
    return "made"
