"""The processes of sandboxes, as the host sees them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from tests.polling import wait_until


def process_tree(pid: int) -> Iterator[int]:
    """Yield a process and all its descendants."""
    yield pid
    for children in Path(f"/proc/{pid}/task").glob("*/children"):
        try:
            pids = children.read_text().split()
        except (FileNotFoundError, ProcessLookupError):
            continue
        for child in pids:
            yield from process_tree(int(child))


def is_running(pid: int) -> bool:
    """Return whether a process exists and is not a zombie."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def survivors_of(pids: list[int]) -> list[int]:
    """Wait up to a minute until these processes have exited, and return those that still run."""
    with suppress(TimeoutError):
        wait_until(lambda: not any(map(is_running, pids)), limit_s=60)
    return [pid for pid in pids if is_running(pid)]


def gateway_pid(supervisor_pid: int) -> int:
    """Return the process id of the gateway of a service, by that of its supervisor."""
    [pid] = [pid for pid in process_tree(supervisor_pid) if b"chat.python.kernels.service.gateway" in arguments_of(pid)]
    return pid


def arguments_of(pid: int) -> list[bytes]:
    """Return the arguments of a process; empty if it has exited."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
    except (FileNotFoundError, ProcessLookupError):
        return []


def processes_naming(text: str) -> list[int]:
    """Return all processes of this machine that have the text in their arguments: sandboxes name their folder there."""
    pids = [int(path.name) for path in Path("/proc").iterdir() if path.name.isdigit()]
    return [pid for pid in pids if any(text.encode() in argument for argument in arguments_of(pid))]
