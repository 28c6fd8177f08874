"""Ends a process together with the process that started it."""

from __future__ import annotations

import ctypes
import os
import signal

_PR_SET_PDEATHSIG = 1


def end_with_parent(parent_pid: int) -> None:
    """Let Linux kill this process when its parent ends, also by `kill -9`; end it now if the parent has ended.

    The signal follows the *thread* that forked this process, so the parent must fork in its main thread.
    """
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent_pid:
        os._exit(0)
