"""The system calls that are refused to code in a sandbox, as a program for the Linux kernel.

A list of what is denied, since pandas, numpy and their like call much that nobody has listed; what is on it reaches
deep into the kernel, into other processes, or to memory that nothing counts.
"""

from __future__ import annotations

import errno
import socket
import tempfile
from functools import cache

try:
    import pyseccomp
except (ImportError, OSError, RuntimeError):
    # It loads libseccomp.so at import; either may be absent, and the sandbox then says what to install.
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
"""Memory that belongs to no process, or to the Linux kernel itself: a count over processes would not see it."""

_NEW_NAMESPACE_FLAGS = (0x80, 0x20000, 0x2000000, 0x4000000, 0x8000000, 0x10000000, 0x20000000, 0x40000000)
_TERMINAL_INJECTIONS = (0x5412, 0x541C)
"""TIOCSTI and TIOCLINUX: typing into the terminal of whoever started the server."""
_SOCKET_FAMILIES = (socket.AF_UNIX, socket.AF_INET, socket.AF_INET6, socket.AF_NETLINK)
"""The only ones left. libzmq aborts without INET; for it the empty network namespace is the wall."""


@cache
def filter_program() -> bytes:
    """The refusals as BPF, some 2 KB; made in a few milliseconds, once."""
    rules = pyseccomp.SyscallFilter(pyseccomp.ALLOW)
    refuse = pyseccomp.ERRNO(errno.EPERM)
    for name in (*_OTHER_PROCESSES, *_LARGE_SURFACES, *_MOUNTS, *_MACHINE, *_UNCOUNTED_MEMORY):
        # A name that this libseccomp or this architecture does not know cannot be refused by name.
        if _is_known(name):
            rules.add_rule(refuse, name)
    # "Not implemented" makes libc fall back to `clone`, whose flags can be read here.
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
