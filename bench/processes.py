"""Processes on a core of their own: started, measured from outside, and ended by their id."""

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

import psutil

ROOT = Path(__file__).resolve().parent.parent
START_LIMIT_S = 60.0

#: Read by SDKs themselves, past our settings.
FOREIGN = ("AWS_", "GOOGLE_", "GEMINI_", "OPENAI_", "JUPYTER_", "CLOUDSDK_", "VERTEX")


class BenchError(Exception):
    """The measurement cannot go on; the message says why."""


@cache
def cores() -> tuple[int, int]:
    """Core of the server under test, and core of upstream and client; the same one where there is no other.

    As they were when first asked: later this process keeps to one.
    """
    usable = sorted(os.sched_getaffinity(0))
    return usable[0], usable[-1]


def settle_here() -> None:
    """Make this process a client: on the client's core, and without pauses that would be counted as the server's."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(100_000)
    server_core, own_core = cores()
    os.sched_setaffinity(0, {own_core})
    if server_core == own_core:
        print("There is only one core: server and client disturb each other.", file=sys.stderr)


class Stolen:
    """What the machine below gave to others of this one's time, since this was made; 0 where nobody says."""

    def __init__(self) -> None:
        self._began = psutil.cpu_times()

    def share(self) -> float:
        """Of all cores' time."""
        began, now = self._began, psutil.cpu_times()
        passed_s = sum(now[:8]) - sum(began[:8])
        return (now.steal - began.steal) / passed_s if passed_s else 0.0


def free_port() -> int:
    """A port that nothing listens on."""
    with closing(socket.socket()) as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def environment(**variables: str) -> dict[str, str]:
    """This process's environment, with every setting of the product at its default but those given."""
    # Empty, not absent: an absent one would be read from `.env`.
    return plain_environment() | dict.fromkeys(_settings(), "") | variables


def plain_environment(**variables: str) -> dict[str, str]:
    """This process's environment without any setting of the product: for other programs."""
    ours = _settings()
    inherited = {name: value for name, value in os.environ.items() if name not in ours and not name.startswith(FOREIGN)}
    return inherited | {"NO_PROXY": "127.0.0.1", "no_proxy": "127.0.0.1"} | variables


def _settings() -> frozenset[str]:
    example = (ROOT / ".env.example").read_text()
    return frozenset(re.findall(r"^#?([A-Z][A-Z0-9_]*)=", example, flags=re.MULTILINE))


class PinnedProcess:
    """A Python process of this project on one core."""

    def __init__(
        self,
        arguments: Sequence[str],
        *,
        core: int,
        variables: Mapping[str, str],
        log: Path,
        pipes: bool = False,
        python: str = sys.executable,
        cwd: Path = ROOT,
    ) -> None:
        """Start `python ARGUMENTS`; with `pipes` its stdin and stdout are ours, else all it writes goes to `log`."""
        self._log = log
        with log.open("ab") as file:
            self.popen = subprocess.Popen(
                [python, *arguments],
                cwd=cwd,
                env=dict(variables),
                stdin=subprocess.PIPE if pipes else subprocess.DEVNULL,
                stdout=subprocess.PIPE if pipes else file,
                stderr=file,
                text=True,
            )
        self._process = psutil.Process(self.popen.pid)
        self._process.cpu_affinity([core])

    def wait_for(self, port: int, limit_s: float = START_LIMIT_S) -> None:
        """Wait until it listens. Raises BenchError when that takes longer than `limit_s`."""
        give_up_at = time.monotonic() + limit_s
        while time.monotonic() < give_up_at:
            self.check()
            with closing(socket.socket()) as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    return
            time.sleep(0.05)
        raise BenchError(f"nothing listened after {limit_s} s: {self.told()}")

    def check(self) -> None:
        """Raises BenchError when it has ended."""
        if self.popen.poll() is not None:
            raise BenchError(f"{self.popen.args!r} ended with status {self.popen.returncode}: {self.told()}")

    def told(self) -> str:
        """The end of what it wrote."""
        return self._log.read_text(errors="replace")[-3000:]

    def _tree(self) -> list[psutil.Process]:
        return [self._process, *self._process.children(recursive=True)]

    def cpu_s(self) -> float:
        """CPU time of it and its children, user and system, in steps of 0.01 s."""
        return sum(times.user + times.system for times in (process.cpu_times() for process in self._tree()))

    def rss_bytes(self) -> int:
        """Resident memory of it and its children."""
        return sum(process.memory_info().rss for process in self._tree())

    def stop(self) -> None:
        """End it, by force when it takes too long."""
        for pipe in (self.popen.stdin, self.popen.stdout):
            if pipe:
                pipe.close()
        self.popen.terminate()
        try:
            self.popen.wait(10)
        except subprocess.TimeoutExpired:
            self.popen.kill()
            self.popen.wait()
