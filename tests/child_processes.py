"""Ends the processes that tests start."""

from __future__ import annotations

import subprocess


def terminate(process: subprocess.Popen[bytes] | subprocess.Popen[str], limit_s: float) -> None:
    """Send SIGTERM, wait until the process has ended, and kill it after `limit_s` seconds."""
    process.terminate()
    try:
        process.wait(limit_s)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
