"""The first program inside the sandbox: adds the limits that bubblewrap cannot set, then becomes the kernel.

`sandbox` passes this file's text into the sandbox, where the project is not visible. The file therefore imports only
the standard library and ipykernel. It runs before any code of a user or a model.

    python bootstrap.py kernel MIB            become an ipykernel on /rt/c.json; MIB: address space of each process
    python bootstrap.py kernel MIB preload    import and draw once before, for a kernel that waits for its first cell
    python bootstrap.py FILE ...              run this script under the same limits, as the service's self-test does

Exit status 70 with a sentence on stderr means that a limit could not be set and nothing was run.
"""

from __future__ import annotations

import ctypes
import inspect
import os
import resource
import runpy
import select
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    from ipykernel.iostream import OutStream
    from IPython.core.interactiveshell import InteractiveShell

MIB = 1024 * 1024
LIMITS = {
    resource.RLIMIT_NPROC: 64,
    # Limit of the address space of scripts. It is not memory: scipy alone maps hundreds of MiB. `service.options` has
    # the limit of kernels.
    resource.RLIMIT_AS: 2048 * MIB,
    resource.RLIMIT_FSIZE: 64 * MIB,
    resource.RLIMIT_NOFILE: 256,
    resource.RLIMIT_CORE: 0,
    resource.RLIMIT_MEMLOCK: 0,
    resource.RLIMIT_MSGQUEUE: 0,
}

# Landlock's system calls and flags, which are the same on every architecture. Source: linux/landlock.h
CREATE_RULESET, ADD_RULE, RESTRICT_SELF = 444, 445, 446
EXECUTE, WRITE_FILE, READ_FILE, READ_DIR = 1 << 0, 1 << 1, 1 << 2, 1 << 3
REMOVE_FILE, MAKE_CHAR, MAKE_SOCK, MAKE_BLOCK, IOCTL_DEV = 1 << 5, 1 << 6, 1 << 9, 1 << 11, 1 << 15
RIGHTS_OF_ABI = {1: 13, 2: 14, 3: 15, 4: 15, 5: 16}
SCOPE_ABSTRACT_SOCKETS, SCOPE_SIGNALS = 1, 2

NICENESS = 15
"""Nice value of a cell. On a busy core the server gets 28 times the CPU time of a cell: the weights are 1024 and 36."""
CHUNK_CHARS = 1_000_000
"""Maximum number of characters in one message. A message above the server's frame limit would break the connection."""
CELL_LIMIT_CHARS = 17 * CHUNK_CHARS
"""Text of a cell in stdout, or in stderr, after which further text is dropped. It exceeds the server's limit of 16 MB,
so that the server notices and stops the cell."""
FLUSH_INTERVAL_S = 0.02
SEND_S = 0.005
"""Pause after a flush, in which ZeroMQ sends the text. With FLUSH_INTERVAL_S, pauses take at most 20 % of time."""
PRELOAD = """
def _preload():
    import numpy, pandas
    import matplotlib.pyplot as plt
    figure = plt.figure()
    figure.gca().set_title("a")
    figure.canvas.draw()
    plt.close(figure)
_preload()
del _preload
"""
"""Code that a kernel runs while it waits for its first cell: imports, the font list and a first drawing take seconds.
"""


class Ruleset(ctypes.Structure):
    """The C type `struct landlock_ruleset_attr`."""

    _fields_ = [("fs", ctypes.c_uint64), ("net", ctypes.c_uint64), ("scoped", ctypes.c_uint64)]


class PathBeneath(ctypes.Structure):
    """The C type `struct landlock_path_beneath_attr`."""

    _pack_ = 1
    _layout_ = "ms"
    _fields_ = [("access", ctypes.c_uint64), ("parent", ctypes.c_int32)]


def fail(sentence: str) -> NoReturn:
    """Exit with this sentence on stderr and status 70, which means that nothing was run."""
    sys.stderr.write(f"{sentence}\n")
    sys.stderr.flush()
    os._exit(70)


def restrict_resources(address_space_bytes: int) -> None:
    """Limit this process and its children, and make them the first victims when the machine is out of memory."""
    # Raise the soft limit of data to the hard limit: it is the service's own, and may be too low for a kernel.
    own = {resource.RLIMIT_AS: address_space_bytes, resource.RLIMIT_DATA: resource.getrlimit(resource.RLIMIT_DATA)[1]}
    for limit, value in (LIMITS | own).items():
        resource.setrlimit(limit, (value, value))
    Path("/proc/self/oom_score_adj").write_text("1000")


def restrict_files() -> None:
    """Set Landlock rules: files may be created only in /box, /tmp and /dev/shm, and /rt accepts only sockets.

    TCP is not restricted, because the network namespace is empty and forked children send output over its loopback.
    """
    libc = ctypes.CDLL(None, use_errno=True)
    abi = libc.syscall(CREATE_RULESET, None, 0, 1)
    if abi < 1:
        fail("This kernel has no Landlock (Linux 5.13 and later, `lsm=` with landlock): no code can be isolated.")
    all_rights = (1 << RIGHTS_OF_ABI[min(abi, 5)]) - 1
    scopes = SCOPE_ABSTRACT_SOCKETS | SCOPE_SIGNALS if abi >= 6 else 0
    attributes = Ruleset(all_rights, 0, scopes)
    ruleset = libc.syscall(CREATE_RULESET, ctypes.byref(attributes), ctypes.c_size_t(ctypes.sizeof(attributes)), 0)
    if ruleset < 0:
        fail(f"Landlock refused its rules: {os.strerror(ctypes.get_errno())}.")
    file_rights = all_rights & ~(MAKE_CHAR | MAKE_BLOCK | IOCTL_DEV)
    rules = {
        "/": EXECUTE | READ_FILE | READ_DIR,
        "/dev": READ_FILE | READ_DIR | WRITE_FILE | (IOCTL_DEV & all_rights),
        "/box": file_rights,
        "/tmp": file_rights,
        "/dev/shm": file_rights,
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


def detach_streams() -> None:
    """Redirect stdin, stdout and stderr to /dev/null, so that no code reaches the pipes that the server reads."""
    null = os.open("/dev/null", os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(null, descriptor)
    os.close(null)


def limit_writes(stream: OutStream) -> Callable[[], None]:
    """Make a stream send text in chunks, and drop text above CELL_LIMIT_CHARS.

    Returns a function that resets the counts, to be called when a cell starts.
    """
    # Keep the stream's original flush, which always sends. `limit_flushes` later replaces `stream.flush` by one that
    # skips most calls; with it, many chunks would gather in one message, which is too long for the connection.
    write, flush = stream.write, stream.flush
    cell_chars = chunk_chars = 0

    def write_chunks(text: str) -> int:
        nonlocal cell_chars, chunk_chars
        if not isinstance(text, str):
            return write(text)
        for start in range(0, min(len(text), CELL_LIMIT_CHARS), CHUNK_CHARS):
            chunk = text[start : start + CHUNK_CHARS]
            if cell_chars > CELL_LIMIT_CHARS:
                break
            cell_chars += len(chunk)
            chunk_chars += len(chunk)
            write(chunk)
            if chunk_chars >= CHUNK_CHARS:
                chunk_chars = 0
                flush()
        return len(text)

    def reset() -> None:
        nonlocal cell_chars, chunk_chars
        cell_chars = chunk_chars = 0

    # Replace the method, because ipykernel has no hook to limit its streams.
    stream.write = write_chunks
    return reset


def limit_flushes(stream: OutStream) -> None:
    """Skip frequent flushes by the code; ipykernel itself flushes within 0.2 s.

    Each flush sends a message. If the server cannot read them in time, ZeroMQ drops messages, and output would be lost.
    """
    flush = stream.flush
    flushed_at = 0.0

    def flush_rarely() -> None:
        nonlocal flushed_at
        frame = inspect.currentframe()
        caller = frame.f_back.f_globals.get("__name__", "") if frame and frame.f_back else ""
        # Jupyter flushes before it sends a graph or the end of a cell, to keep the order. These flushes do not set
        # `flushed_at`, so the first flush of the next cell is not skipped: the process may end after it.
        if caller.startswith(("ipykernel.", "IPython.")):
            flush()
        elif time.monotonic() - flushed_at >= FLUSH_INTERVAL_S:
            flush()
            # ZeroMQ sends in a thread of its own. The next line of the code may end the process.
            time.sleep(SEND_S)
            flushed_at = time.monotonic()

    stream.flush = flush_rarely


def limit_cells(shell: InteractiveShell) -> None:
    """Limit the output of each cell."""
    for stream in (sys.stdout, sys.stderr):
        shell.events.register("pre_execute", limit_writes(stream))
        limit_flushes(stream)


def become_kernel(*, is_preloaded: bool) -> None:
    """Run ipykernel in this process until it ends, with limited output."""
    from ipykernel.kernelapp import IPKernelApp  # imported only once the limits are set

    app = IPKernelApp.instance()
    detach_streams()
    shell = [f"--InteractiveShell.{option}" for option in ("colors=nocolor", "xmode=Plain", "cache_size=0")]
    app.initialize(["-f=/rt/c.json", "--HistoryManager.enabled=False", *shell])
    if is_preloaded:
        os.nice(NICENESS)
        app.shell.run_cell(PRELOAD, silent=True, store_history=False)
    limit_cells(app.shell)
    if not is_preloaded:
        # The priority is lowered only after the start, because a person waits for it.
        os.nice(NICENESS)
    app.start()


def main() -> None:
    """Set all limits, then run the kernel or a script."""
    # The server holds the other end of stdin. If it is closed, the server died before `--die-with-parent` took effect.
    if select.select([0], [], [], 0)[0]:
        fail("The server has exited.")
    is_kernel = sys.argv[1] == "kernel"
    restrict_resources(int(sys.argv[2]) * MIB if is_kernel else LIMITS[resource.RLIMIT_AS])
    restrict_files()
    if is_kernel:
        # Code in cells must not import files from the root folder, where this file lies.
        sys.path.pop(0)
        become_kernel(is_preloaded="preload" in sys.argv)
    else:
        sys.argv.pop(0)
        runpy.run_path(sys.argv[0], run_name="__main__")


if __name__ == "__main__":
    main()
