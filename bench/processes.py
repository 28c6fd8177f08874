"""Processes that are pinned to one CPU core and measured from outside."""

from __future__ import annotations

import gc
import os
import re
import socket
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import closing
from functools import cache
from pathlib import Path
from types import TracebackType
from typing import Self

import psutil

ROOT = Path(__file__).resolve().parent.parent
START_TIMEOUT_S = 60.0
LOG_TAIL_CHARACTERS = 3000

#: Prefixes of variables that SDKs read themselves, without Plotline's settings.
SDK_VARIABLE_PREFIXES = ("AWS_", "GOOGLE_", "GEMINI_", "OPENAI_", "JUPYTER_", "CLOUDSDK_", "VERTEX")


class BenchError(Exception):
    """The benchmark cannot continue. The message gives the reason."""


@cache
def select_cores() -> tuple[int, int]:
    """Return the core of the server under test and the core of upstream and client.

    Both are the same if only one core is usable. The result is cached because `pin_client_process` later restricts
    this process to one core.
    """
    usable = sorted(os.sched_getaffinity(0))
    return usable[0], usable[-1]


def pin_client_process() -> None:
    """Pin this process to the client's core and make garbage collection rare.

    A collection pause of the client would be counted as a delay of the server.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(100_000)
    server_core, client_core = select_cores()
    os.sched_setaffinity(0, {client_core})
    if server_core == client_core:
        print("There is only one core: server and client disturb each other.", file=sys.stderr)


class StealTimeMeter:
    """Measures steal time: CPU time that the hypervisor gave to other virtual machines."""

    def __init__(self) -> None:
        self._start = psutil.cpu_times()

    def compute_share(self) -> float:
        """Return steal time as a share of all cores' time since this object was created; 0 if it is not reported."""
        start, now = self._start, psutil.cpu_times()
        elapsed_s = sum(now[:8]) - sum(start[:8])
        return (now.steal - start.steal) / elapsed_s if elapsed_s else 0.0


def find_free_port() -> int:
    """Return a loopback port on which no process listens."""
    with closing(socket.socket()) as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def build_product_environment(**variables: str) -> dict[str, str]:
    """Return this process's environment with every Plotline setting at its default, except the given ones."""
    # An absent variable would be read from `.env`; an empty one is not.
    return build_plain_environment() | dict.fromkeys(_read_setting_names(), "") | variables


def build_plain_environment(**variables: str) -> dict[str, str]:
    """Return this process's environment without Plotline's settings, for other programs."""
    settings = _read_setting_names()
    inherited = {
        name: value
        for name, value in os.environ.items()
        if name not in settings and not name.startswith(SDK_VARIABLE_PREFIXES)
    }
    return inherited | {"NO_PROXY": "127.0.0.1", "no_proxy": "127.0.0.1"} | variables


def _read_setting_names() -> frozenset[str]:
    example = (ROOT / ".env.example").read_text()
    return frozenset(re.findall(r"^#?([A-Z][A-Z0-9_]*)=", example, flags=re.MULTILINE))


class PinnedProcess:
    """A Python process on one core. As a context manager it stops the process at the end of the block."""

    def __init__(
        self,
        arguments: Sequence[str],
        *,
        core: int,
        variables: Mapping[str, str],
        log_path: Path,
        python: str = sys.executable,
        cwd: Path = ROOT,
    ) -> None:
        """Start `python ARGUMENTS`. Its output goes to `log_path`."""
        self._log_path = log_path
        with log_path.open("ab") as file:
            self.popen = subprocess.Popen(
                [python, *arguments],
                cwd=cwd,
                env=dict(variables),
                stdin=subprocess.DEVNULL,
                stdout=file,
                stderr=file,
            )
        self._process = psutil.Process(self.popen.pid)
        self._process.cpu_affinity([core])

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, error_type: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.stop()

    def wait_for_port(self, port: int, timeout_s: float = START_TIMEOUT_S) -> None:
        """Wait until a process listens on the port. Raise BenchError on a timeout or if this process ends."""
        deadline = time.monotonic() + timeout_s
        while time.monotonic() < deadline:
            self.check_is_running()
            with closing(socket.socket()) as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    return
            time.sleep(0.05)
        raise BenchError(f"no process listened on port {port} after {timeout_s} s: {self.read_log_tail()}")

    def check_is_running(self) -> None:
        """Raise BenchError if the process has ended."""
        if self.popen.poll() is not None:
            raise BenchError(f"{self.popen.args!r} ended with status {self.popen.returncode}: {self.read_log_tail()}")

    def read_log_tail(self) -> str:
        """Return the last characters of the log."""
        return self._log_path.read_text(errors="replace")[-LOG_TAIL_CHARACTERS:]

    def _find_process_tree(self) -> list[psutil.Process]:
        return [self._process, *self._process.children(recursive=True)]

    def read_cpu_s(self) -> float:
        """Return user and system CPU seconds of the process and its children, in steps of 0.01 s."""
        return sum(times.user + times.system for times in (each.cpu_times() for each in self._find_process_tree()))

    def read_rss_bytes(self) -> int:
        """Return the resident memory of the process and its children."""
        return sum(each.memory_info().rss for each in self._find_process_tree())

    def stop(self) -> None:
        """Terminate the process, and kill it after 10 s."""
        self.popen.terminate()
        try:
            self.popen.wait(10)
        except subprocess.TimeoutExpired:
            self.popen.kill()
            self.popen.wait()
