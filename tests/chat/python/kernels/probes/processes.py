"""Attempts to see or signal the host's processes, to gain privileges, and to exceed resource limits."""

from __future__ import annotations

import ctypes
import errno
import fcntl
import os
import platform
import resource
import signal
import subprocess
from pathlib import Path

from tests.chat.python.kernels.probes.registry import Targets, attempt, deny
from tests.chat.python.kernels.probes.system_calls import LIBC, NEW_USER_NAMESPACE


@attempt
def find_secrets_in_environments(targets: Targets) -> object:
    """Search the environment of every visible process, including the launcher's, for unknown names."""
    names = set()
    for path in Path("/proc").glob("[0-9]*/environ"):
        try:
            names |= {entry.split(b"=")[0].decode() for entry in path.read_bytes().split(b"\0") if entry}
        except OSError:
            continue
    unknown = names - set(targets["environment"]) - {"PWD", "LC_CTYPE", "OLDPWD"}
    return sorted(unknown) or deny("only known names")


@attempt
def see_processes_of_the_host(targets: Targets) -> object:
    """Count the visible processes: a fresh sandbox has only a few."""
    pids = [int(path.name) for path in Path("/proc").glob("[0-9]*")]
    return pids if len(pids) > 8 else deny(f"{len(pids)} processes")


@attempt
def signal_a_process_of_the_host(targets: Targets) -> object:
    """Signal the launcher by its process ID on the host."""
    os.kill(targets["pid"], 0)
    return "the process exists"


@attempt
def hold_capabilities(targets: Targets) -> object:
    """Hold a capability, or be able to regain one from a set-uid program."""
    status = Path("/proc/self/status").read_text()
    lines = dict(line.split(":\t", 1) for line in status.splitlines() if ":\t" in line)
    held = {name: lines[name] for name in ("CapPrm", "CapEff", "CapInh", "CapBnd", "CapAmb") if int(lines[name], 16)}
    return held or lines["NoNewPrivs"] != "1" or deny("no capability, and no new privileges")


@attempt
def be_root(targets: Targets) -> object:
    """Have the user ID 0, or change to it."""
    if os.getuid() == 0:
        return "is root"
    os.setuid(0)
    return "became root"


@attempt
def make_a_user_namespace_by_clone(targets: Targets) -> object:
    """Create a user namespace, which many exploits of the Linux kernel need; the child exits at once."""
    number = {"x86_64": 56, "aarch64": 220}[platform.machine()]
    pid = LIBC.syscall(number, ctypes.c_long(NEW_USER_NAMESPACE | signal.SIGCHLD), None, None, None, None)
    if pid == 0:
        os._exit(0)
    return f"child {pid}" if pid > 0 else deny(os.strerror(ctypes.get_errno()))


@attempt
def run_bubblewrap_again(targets: Targets) -> object:
    """Start a sandbox inside the sandbox, in which the program would be root."""
    result = subprocess.run(
        ["/usr/bin/bwrap", "--unshare-user", "--ro-bind", "/", "/", "true"], capture_output=True, check=False
    )
    return "it ran" if result.returncode == 0 else deny(result.stderr.decode().strip())


@attempt
def type_into_the_terminal(targets: Targets) -> object:
    """Type into the operator's terminal by TIOCSTI."""
    try:
        return fcntl.ioctl(0, 0x5412, b"x")
    except OSError as error:
        return deny(error) if error.errno == errno.EPERM else f"not refused: {error}"


@attempt
def write_a_large_file(targets: Targets) -> object:
    """Create a file above the size limit."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    try:
        os.truncate(os.open("/box/large", os.O_CREAT | os.O_RDWR), 65 * 1024 * 1024)
    finally:
        os.unlink("/box/large")
    return "written"


@attempt
def fork_without_end(targets: Targets) -> object:
    """Start a hundred children, and kill them all."""
    children: list[int] = []
    try:
        for _ in range(100):
            pid = os.fork()
            if pid == 0:
                signal.pause()
                os._exit(0)
            children.append(pid)
    finally:
        for pid in children:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
    return f"{len(children)} children"


@attempt
def take_all_memory(targets: Targets) -> object:
    """Allocate 64 GiB at once."""
    return len(bytearray(64 * 1024**3))


@attempt
def raise_a_limit(targets: Targets) -> object:
    """Raise the limit of processes."""
    try:
        resource.setrlimit(resource.RLIMIT_NPROC, (4096, 4096))
    except ValueError as error:
        deny(error)
    return "raised"
