"""Starts and ends processes of tests."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence


def tied(command: Sequence[str]) -> list[str]:
    """Return the command with which Linux kills the process as soon as the thread that has started it ends.

    So nothing is left of a test process that was killed.
    """
    return ["setpriv", "--pdeathsig", "KILL", *command] if sys.platform == "linux" else list(command)


def terminate(process: subprocess.Popen[bytes] | subprocess.Popen[str], limit_s: float) -> None:
    """Send SIGTERM, wait until the process has ended, and kill it after `limit_s` seconds."""
    process.terminate()
    try:
        process.wait(limit_s)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
