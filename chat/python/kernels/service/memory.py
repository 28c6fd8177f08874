"""Measures the memory that a kernel's processes hold, including memory that Linux charges to no process.

Three things count besides the processes: files in the sandbox's folders, which are in memory; their inodes; and the
buffers of sockets. They can be large: 720,000 empty files took 620 MiB, and the sockets of 50 processes 2 GiB. This
module opens no file inside a sandbox, because untrusted code controls these files.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

INODE_BYTES = 1024
"""Memory of one inode and its name in tmpfs; 900 bytes were measured for an empty file."""
_FOLDERS = ("box", "tmp", "dev/shm")
_DEFAULT_BUFFER_BYTES = 212_992


def process_tree(pid: int) -> Iterator[int]:
    """Yield a process and all its descendants."""
    yield pid
    try:
        threads = os.listdir(f"/proc/{pid}/task")
    except OSError:
        # The process has just exited.
        return
    for thread in threads:
        for child in _read(f"/proc/{pid}/task/{thread}/children").split():
            yield from process_tree(int(child))


def process_bytes(pids: tuple[int, ...]) -> int:
    """Return the resident memory and page tables of processes. It is fast, but counts a shared page in each process."""
    return sum(sum(_sizes_bytes(f"/proc/{pid}/status", ("VmRSS:", "VmPTE:"))) for pid in pids)


def proportional_bytes(pids: tuple[int, ...]) -> int:
    """Return the memory of processes with each shared page counted once (PSS). It takes milliseconds."""
    sources = (("smaps_rollup", "Pss:"), ("status", "VmPTE:"))
    return sum(sum(_sizes_bytes(f"/proc/{pid}/{file}", (name,))) for pid in pids for file, name in sources)


def find_sandboxed_process(pids: tuple[int, ...]) -> int | None:
    """Return a process that sees the sandbox's folders, or None if the sandbox is not set up yet."""
    own_namespace = os.stat("/proc/self/ns/mnt").st_ino
    for pid in reversed(pids):
        try:
            if os.stat(f"/proc/{pid}/ns/mnt").st_ino != own_namespace and (_root(pid) / "box").is_dir():
                return pid
        except OSError:
            continue
    return None


def file_bytes(pid: int) -> int:
    """Return the memory of files and inodes in the folders that a sandboxed process can write to."""
    total = 0
    for folder in _FOLDERS:
        try:
            numbers = os.statvfs(_root(pid) / folder)
        except OSError:
            continue
        total += (numbers.f_blocks - numbers.f_bfree) * numbers.f_frsize
        total += (numbers.f_files - numbers.f_ffree) * INODE_BYTES
    return total


def socket_bytes(pid: int) -> int:
    """Return the maximum memory that the sockets in a process's network namespace can use."""
    counts = _socket_counts(_read(f"/proc/{pid}/net/sockstat"))
    return counts.get("sockets", 0) * _socket_buffer_bytes() + counts.get("TCP", 0) * _tcp_buffer_bytes()


def host_memory_bytes() -> tuple[int, int]:
    """Return the available memory and the total memory of this machine."""
    # The sizes are in the order of the file, which has the total first.
    total_bytes, available_bytes = _sizes_bytes("/proc/meminfo", ("MemTotal:", "MemAvailable:"))
    return available_bytes, total_bytes


def _socket_counts(text: str) -> Mapping[str, int]:
    """Return the second number of each line of `sockstat`: `sockets: used 12`, `TCP: inuse 3 orphan 0 ...`."""
    counts = {}
    for line in text.splitlines():
        words = line.split()
        if len(words) >= 3:
            counts[words[0].rstrip(":")] = int(words[2])
    return counts


@cache
def _socket_buffer_bytes() -> int:
    # Linux doubles the value that a program sets, and both values have this limit.
    limits = [_read(f"/proc/sys/net/core/{name}_max").split() for name in ("wmem", "rmem")]
    return 2 * max(int(limit[0]) if limit else _DEFAULT_BUFFER_BYTES for limit in limits)


@cache
def _tcp_buffer_bytes() -> int:
    limits = [_read(f"/proc/sys/net/ipv4/tcp_{name}").split() for name in ("wmem", "rmem")]
    return sum(int(limit[-1]) if limit else 0 for limit in limits) // 2


def _root(pid: int) -> Path:
    """Return the path of the root folder as a process sees it."""
    return Path(f"/proc/{pid}/root")


def _sizes_bytes(path: str, names: tuple[str, ...]) -> list[int]:
    """Return the sizes in lines such as `VmRSS:  12 kB`, for lines that start with these names."""
    return [int(line.split()[1]) * 1024 for line in _read(path).splitlines() if line.startswith(names)]


def _read(path: str) -> str:
    """Return the text of a file below `/proc`, or an empty text if its process has just exited."""
    try:
        with open(path) as file:
            return file.read()
    except OSError:
        return ""
