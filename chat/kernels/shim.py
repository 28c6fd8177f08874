"""The first program inside the sandbox: gives up what bubblewrap cannot take, then becomes the kernel.

Stands alone: it is handed over by its text, imports nothing of ours, and runs before any code of a model.

    python shim.py kernel       become an ipykernel on /rt/c.json
    python shim.py FILE ...     become this script (the self-test's probes), under the same limits

Exit status 70 with a sentence on stderr: a wall that must stand could not be built, nothing was run.
"""

from __future__ import annotations

import base64
import ctypes
import os
import resource
import runpy
import select
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

MIB = 1024 * 1024
LIMITS = {
    resource.RLIMIT_NPROC: 64,
    # Address space, not memory: scipy alone maps hundreds of MiB. The watchdog outside counts memory.
    resource.RLIMIT_AS: 2048 * MIB,
    resource.RLIMIT_FSIZE: 64 * MIB,
    resource.RLIMIT_NOFILE: 256,
    resource.RLIMIT_CORE: 0,
    resource.RLIMIT_MEMLOCK: 0,
    resource.RLIMIT_MSGQUEUE: 0,
}

# Landlock: numbers are the same on every architecture. Source: linux/landlock.h
CREATE_RULESET, ADD_RULE, RESTRICT_SELF = 444, 445, 446
EXECUTE, WRITE_FILE, READ_FILE, READ_DIR = 1 << 0, 1 << 1, 1 << 2, 1 << 3
REMOVE_FILE, MAKE_CHAR, MAKE_SOCK, MAKE_BLOCK, IOCTL_DEV = 1 << 5, 1 << 6, 1 << 9, 1 << 11, 1 << 15
RIGHTS_OF_ABI = {1: 13, 2: 14, 3: 15, 4: 15, 5: 16}
SCOPE_ABSTRACT_SOCKETS, SCOPE_SIGNALS = 1, 2

NICENESS = 15
"""The server has twenty-eight times a cell's share of a busy core."""
PIECE_CHARS = 1_000_000
CELL_CHARS = 17 * PIECE_CHARS
"""A little above the host's limit, so that the host sees the flood and stops the cell."""
IMAGE_TYPES = {".png": "image/png", ".jpg": "image/jpeg", ".jpeg": "image/jpeg"}
IMAGE_LIMIT_BYTES = 10 * MIB


class Ruleset(ctypes.Structure):
    """`struct landlock_ruleset_attr`."""

    _fields_ = [("fs", ctypes.c_uint64), ("net", ctypes.c_uint64), ("scoped", ctypes.c_uint64)]


class PathBeneath(ctypes.Structure):
    """`struct landlock_path_beneath_attr`."""

    _pack_ = 1
    _layout_ = "ms"
    _fields_ = [("access", ctypes.c_uint64), ("parent", ctypes.c_int32)]


def fail(sentence: str) -> None:
    """End with the status that says: nothing was run."""
    sys.stderr.write(f"{sentence}\n")
    sys.stderr.flush()
    os._exit(70)


def restrict_resources() -> None:
    """Limit this process and all it starts, and be the first to go when the machine's memory ends."""
    for limit, value in LIMITS.items():
        resource.setrlimit(limit, (value, value))
    Path("/proc/self/oom_score_adj").write_text("1000")


def restrict_files() -> None:
    """Build the Landlock wall: files may be made in /box, /tmp and /dev/shm only; /rt takes sockets only.

    TCP is left alone: the network namespace is empty, and output of forked children crosses its loopback.
    """
    libc = ctypes.CDLL(None, use_errno=True)
    abi = libc.syscall(CREATE_RULESET, None, 0, 1)
    if abi < 1:
        fail("This kernel has no Landlock (Linux 5.13 and later, `lsm=` with landlock): no code can be isolated.")
    every = (1 << RIGHTS_OF_ABI[min(abi, 5)]) - 1
    scoped = SCOPE_ABSTRACT_SOCKETS | SCOPE_SIGNALS if abi >= 6 else 0
    wanted = Ruleset(every, 0, scoped)
    ruleset = libc.syscall(CREATE_RULESET, ctypes.byref(wanted), ctypes.c_size_t(ctypes.sizeof(wanted)), 0)
    if ruleset < 0:
        fail(f"Landlock refused its rules: {os.strerror(ctypes.get_errno())}.")
    files = every & ~(MAKE_CHAR | MAKE_BLOCK | IOCTL_DEV)
    rules = {
        "/": EXECUTE | READ_FILE | READ_DIR,
        "/dev": READ_FILE | READ_DIR | WRITE_FILE | (IOCTL_DEV & every),
        "/box": files,
        "/tmp": files,
        "/dev/shm": files,
        "/rt": READ_FILE | READ_DIR | MAKE_SOCK | REMOVE_FILE,
    }
    for path, access in rules.items():
        parent = os.open(path, os.O_PATH | os.O_CLOEXEC)
        rule = PathBeneath(access, parent)
        if libc.syscall(ADD_RULE, ruleset, 1, ctypes.byref(rule), 0):
            fail(f"Landlock refused its rule for {path}: {os.strerror(ctypes.get_errno())}.")
        os.close(parent)
    if libc.syscall(RESTRICT_SELF, ruleset, 0):
        fail(f"Landlock could not be set up: {os.strerror(ctypes.get_errno())}.")
    os.close(ruleset)


def leave_host_streams(*descriptors: int) -> None:
    """Let nothing of the code reach the pipes that the server reads while it starts us."""
    null = os.open("/dev/null", os.O_RDWR)
    for descriptor in descriptors:
        os.dup2(null, descriptor)
    os.close(null)


def limit_writes(stream: Any) -> Callable[[], None]:  # noqa: ANN401 - ipykernel's OutStream, not yet importable
    """Send a stream in pieces that the server's socket takes, and drop what passes a cell's limit; returns the reset.

    A message above the socket's limit would break the connection, and so cost the session its variables.
    """
    write = stream.write
    counts = {"cell": 0, "piece": 0}

    def limited(text: str) -> int:
        if not isinstance(text, str):
            return int(write(text))
        for start in range(0, min(len(text), CELL_CHARS), PIECE_CHARS):
            piece = text[start : start + PIECE_CHARS]
            if counts["cell"] > CELL_CHARS:
                break
            counts["cell"] += len(piece)
            counts["piece"] += len(piece)
            write(piece)
            if counts["piece"] >= PIECE_CHARS:
                counts["piece"] = 0
                stream.flush()
        return len(text)

    def reset() -> None:
        counts["cell"] = counts["piece"] = 0

    stream.write = limited
    return reset


def saved_images() -> dict[str, int]:
    """Image files in the two writable folders and when they were last written."""
    found = {}
    for folder in ("/box", "/tmp"):
        with os.scandir(folder) as entries:
            for entry in entries:
                if Path(entry.name).suffix.lower() in IMAGE_TYPES and entry.is_file(follow_symlinks=False):
                    found[entry.path] = entry.stat(follow_symlinks=False).st_mtime_ns
    return found


def become_kernel() -> None:
    """Start ipykernel in this process, with its output limited and saved images shown; returns when it ends."""
    from ipykernel.kernelapp import IPKernelApp  # noqa: PLC0415 - only after the walls stand
    from IPython.display import display  # noqa: PLC0415

    app: Any = IPKernelApp.instance()
    show: Callable[..., None] = display
    leave_host_streams(0, 1, 2)
    app.initialize(
        [
            "-f=/rt/c.json",
            "--HistoryManager.enabled=False",
            "--InteractiveShell.colors=nocolor",
            "--InteractiveShell.xmode=Plain",
            "--InteractiveShell.cache_size=0",
        ]
    )
    # `exit()` would end the kernel a moment later, in the middle of the next cell; so it ends its cell, as `sys.exit`.
    app.shell.ask_exit = sys.exit
    resets = [limit_writes(stream) for stream in (sys.stdout, sys.stderr)]
    known: dict[str, int] = {}

    def before() -> None:
        for reset in resets:
            reset()

    def after() -> None:
        images = saved_images()
        fresh = [path for path, written in images.items() if known.get(path) != written]
        known.update(images)
        for path in sorted(fresh, key=lambda path: images[path])[:32]:
            data = Path(path).read_bytes()
            if 0 < len(data) <= IMAGE_LIMIT_BYTES:
                mime_type = IMAGE_TYPES[Path(path).suffix.lower()]
                bundle = {mime_type: base64.b64encode(data).decode()}
                show(bundle, metadata={"saved": True}, raw=True)

    app.shell.events.register("pre_execute", before)
    app.shell.events.register("post_execute", after)
    # Only now: starting is what somebody waits for.
    os.nice(NICENESS)
    app.start()


def main() -> None:
    """Build the walls, then run."""
    # The server holds the other end of stdin: at its end the server is gone, perhaps before death could be tied to it.
    if select.select([0], [], [], 0)[0]:
        fail("The server is gone.")
    restrict_resources()
    restrict_files()
    sys.path.pop(0)
    if sys.argv[1] == "kernel":
        become_kernel()
    else:
        sys.argv.pop(0)
        runpy.run_path(sys.argv[0], run_name="__main__")


if __name__ == "__main__":
    main()
