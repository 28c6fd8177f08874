"""The seccomp filter of the sandbox: the system calls that programs in the sandbox may not use.

The filter is a deny list, because no complete list exists of the calls that pandas, numpy and similar libraries need.
It denies calls that reach deep into the kernel or into other processes, and calls that allocate uncounted memory.
"""

from __future__ import annotations

import errno
import socket
import tempfile
from functools import cache

try:
    import pyseccomp
except (ImportError, OSError, RuntimeError):
    # pyseccomp loads libseccomp.so at import. If either is missing, the sandbox reports what to install.
    pyseccomp = None

IS_AVAILABLE = pyseccomp is not None

_OTHER_PROCESSES = ("ptrace", "process_vm_readv", "process_vm_writev", "process_madvise", "kcmp", "pidfd_getfd")
_LARGE_SURFACES = (
    *("bpf", "perf_event_open", "userfaultfd", "io_uring_setup", "io_uring_enter", "io_uring_register"),
    *("keyctl", "add_key", "request_key", "open_by_handle_at", "name_to_handle_at", "personality"),
)
_MOUNTS = (
    *("mount", "umount2", "mount_setattr", "move_mount", "open_tree", "fsopen", "fsconfig", "fsmount", "fspick"),
    *("pivot_root", "chroot", "unshare", "setns"),
)
_MACHINE = (
    *("kexec_load", "kexec_file_load", "init_module", "finit_module", "delete_module", "reboot", "syslog", "acct"),
    *("swapon", "swapoff", "quotactl", "settimeofday", "clock_settime", "clock_adjtime", "adjtimex", "iopl", "ioperm"),
)
_UNCOUNTED_MEMORY = (
    *("memfd_create", "memfd_secret", "shmget", "semget", "semop", "semtimedop", "semctl"),
    *("msgget", "msgsnd", "msgrcv", "msgctl"),
    *("mq_open", "mq_unlink", "mq_timedsend", "mq_timedreceive", "mq_notify", "mq_getsetattr"),
)
"""Calls that allocate memory outside of processes, which `service.memory` would not count."""

_NEW_NAMESPACE_FLAGS = (0x80, 0x20000, 0x2000000, 0x4000000, 0x8000000, 0x10000000, 0x20000000, 0x40000000)
_TERMINAL_INJECTIONS = (0x5412, 0x541C)
"""The ioctl requests TIOCSTI and TIOCLINUX, which type into the terminal that started the server."""
_SOCKET_FAMILIES = (socket.AF_UNIX, socket.AF_INET, socket.AF_INET6, socket.AF_NETLINK)
"""The address families that stay allowed. libzmq aborts without INET; the network namespace isolates that family."""


@cache
def build_filter() -> bytes:
    """Return the filter as a BPF program of one or two KB; it is compiled once, in a few milliseconds."""
    rules = pyseccomp.SyscallFilter(pyseccomp.ALLOW)
    refuse = pyseccomp.ERRNO(errno.EPERM)
    for name in (*_OTHER_PROCESSES, *_LARGE_SURFACES, *_MOUNTS, *_MACHINE, *_UNCOUNTED_MEMORY):
        # libseccomp rejects rules for names that it or this architecture does not know.
        if _is_known(name):
            rules.add_rule(refuse, name)
    # ENOSYS makes libc use `clone` instead. A filter can read the flags of `clone`, but not those of `clone3`.
    rules.add_rule(pyseccomp.ERRNO(errno.ENOSYS), "clone3")
    for flag in _NEW_NAMESPACE_FLAGS:
        rules.add_rule(refuse, "clone", pyseccomp.Arg(0, pyseccomp.MASKED_EQ, flag, flag))
    for request in _TERMINAL_INJECTIONS:
        rules.add_rule(refuse, "ioctl", pyseccomp.Arg(1, pyseccomp.MASKED_EQ, 0xFFFFFFFF, request))
    last = max(_SOCKET_FAMILIES)
    for family in range(last):
        if family not in _SOCKET_FAMILIES:
            rules.add_rule(refuse, "socket", pyseccomp.Arg(0, pyseccomp.EQ, family))
    rules.add_rule(refuse, "socket", pyseccomp.Arg(0, pyseccomp.GT, last))
    with tempfile.TemporaryFile() as file:
        rules.export_bpf(file)
        file.seek(0)
        return file.read()


def _is_known(name: str) -> bool:
    try:
        number: int = pyseccomp.resolve_syscall(pyseccomp.Arch.NATIVE, name)
    except ValueError:
        return False
    return number >= 0
