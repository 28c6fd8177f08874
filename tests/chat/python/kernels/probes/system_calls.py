"""Attempts to make system calls that the seccomp filter refuses, with arguments that do no harm."""

from __future__ import annotations

import ctypes
import errno
import os
import platform

from tests.chat.python.kernels.probes.registry import ATTEMPTS, Attempt, Targets

LIBC = ctypes.CDLL(None, use_errno=True)
NEW_USER_NAMESPACE = 0x10000000
NUMBERS = {
    # name: number on x86_64, number on aarch64
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "bpf": (321, 280),
    "perf_event_open": (298, 241),
    "userfaultfd": (323, 282),
    "io_uring_setup": (425, 425),
    "keyctl": (250, 219),
    "add_key": (248, 217),
    "mount": (165, 40),
    "pivot_root": (155, 41),
    "chroot": (161, 51),
    "unshare": (272, 97),
    "setns": (308, 268),
    "clone3": (435, 435),
    "kexec_load": (246, 104),
    "init_module": (175, 105),
    "open_by_handle_at": (304, 265),
    "memfd_create": (319, 279),
    "shmget": (29, 194),
    "semget": (64, 190),
    "msgget": (68, 186),
    "mq_open": (240, 180),
    "pidfd_getfd": (438, 438),
    "syslog": (103, 116),
}
ARGUMENTS: dict[str, tuple[int | bytes, ...]] = {
    "ptrace": (16, 1, 0, 0),
    "keyctl": (0, -3, 1),
    "unshare": (NEW_USER_NAMESPACE,),
    "memfd_create": (b"x", 0),
    "shmget": (0, 4096, 0o1600),
    "semget": (0, 1, 0o1600),
    "mq_open": (b"x", 0),
    "syslog": (10, 0, 0),
    "chroot": (b"/box",),
}
"""Arguments by the name of the call; other calls get five zeros."""


def make_call(name: str) -> int:
    """Make a system call by its number; raises OSError if it fails."""
    number = NUMBERS[name][platform.machine() == "aarch64"]
    arguments = ARGUMENTS.get(name, (0, 0, 0, 0, 0))
    words = [ctypes.c_long(word) if isinstance(word, int) else word for word in arguments]
    result = int(LIBC.syscall(number, *words))
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))
    return result


def call_attempt(name: str) -> Attempt:
    """Return an attempt to make a call; an error such as "invalid argument" does not count as a denial."""

    def try_call(targets: Targets) -> object:
        try:
            return make_call(name)
        except OSError as error:
            if error.errno in (errno.EPERM, errno.EACCES, errno.ENOSYS):
                raise
            return f"not refused: {error}"

    return try_call


ATTEMPTS.update({f"call_{name}": call_attempt(name) for name in NUMBERS})
