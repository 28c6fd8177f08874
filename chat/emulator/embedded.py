"""The emulator as a child process of the web server, for those who try Plotline without a key.

Uses the standard library only, for the web process imports it. The child ends when this process dies, however it
dies: it watches a pipe whose other end we hold. When the child crashes it is started again on the same port.
"""

from __future__ import annotations

import json
import logging
import os
import queue
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Sequence
from dataclasses import dataclass
from http.client import HTTPException
from pathlib import Path

START_LIMIT_S = 20.0
RESTART_PAUSE_S = 0.5
"""Pause before a restart; doubled each time the child dies young, up to RESTART_PAUSE_LIMIT_S."""
RESTART_PAUSE_LIMIT_S = 30.0
YOUNG_S = 10.0
KERNELS_PATH = "/emulator/kernels"
COUNT_LIMIT_S = 1.0

_ROOT = Path(__file__).resolve().parents[2]
_PASSED_ON = ("PATH", "HOME", "LANG", "LC_ALL", "TMPDIR", "XDG_RUNTIME_DIR", "XDG_CACHE_HOME", "PYTHONPATH")
"""The child runs strangers' code in kernels: keys and passwords of this process are not its business."""

logger = logging.getLogger(__name__)


class EmulatorFailed(Exception):
    """The emulator did not start; the text says why in a sentence."""


@dataclass(frozen=True, slots=True)
class KernelCount:
    """Kernels of one emulator."""

    alive: int
    """Those that live or are being started."""
    warm: int
    """Of them, those that wait for a first program."""


class EmbeddedEmulator:
    """A running child and the thread that keeps it running."""

    def __init__(self, arguments: Sequence[str] = ()) -> None:
        """Start the child with these arguments and wait until it takes connections; raises EmulatorFailed."""
        self._arguments = list(arguments)
        self._is_closed = False
        self._child, self.url = _launch(["--port", "0", *self._arguments])
        self._port = self.url.rpartition(":")[2]
        threading.Thread(target=self._supervise, name="emulator-supervisor", daemon=True).start()

    @property
    def pid(self) -> int:
        """The child's process id; another one after a restart."""
        return self._child.pid

    def close(self) -> None:
        """End the child and do not start it again."""
        self._is_closed = True
        _end(self._child)

    def _supervise(self) -> None:
        pause_s = RESTART_PAUSE_S
        while True:
            born = time.monotonic()
            status = self._child.wait()
            if self._is_closed:
                return
            _end(self._child)
            pause_s = RESTART_PAUSE_S if time.monotonic() - born > YOUNG_S else pause_s * 2
            logger.warning("The emulator ended with status %s; starting it again.", status)
            while not self._restart():
                pause_s = min(pause_s * 2, RESTART_PAUSE_LIMIT_S)
                time.sleep(pause_s)

    def _restart(self) -> bool:
        time.sleep(RESTART_PAUSE_S)
        if self._is_closed:
            return True
        try:
            self._child, _ = _launch(["--port", self._port, *self._arguments])
        except EmulatorFailed as fault:
            logger.error("%s", fault)
            return False
        if self._is_closed:
            _end(self._child)
        return True


_lock = threading.Lock()
_running: EmbeddedEmulator | None = None
#: Loopback, whatever proxy the environment names.
_direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))


def start() -> str:
    """The base URL of this process's emulator, started at the first call; raises EmulatorFailed."""
    global _running
    with _lock:
        if _running is None:
            _running = EmbeddedEmulator()
        return _running.url


def kernel_count() -> KernelCount | None:
    """The kernels of this process's emulator; None where it has none, or one that does not answer just now."""
    running = _running
    if running is None:
        return None
    try:
        with _direct.open(running.url + KERNELS_PATH, timeout=COUNT_LIMIT_S) as response:
            return KernelCount(**json.load(response))
    except (OSError, HTTPException, ValueError, TypeError):
        return None


def _launch(arguments: Sequence[str]) -> tuple[subprocess.Popen[str], str]:
    """Start a child and wait for the line that names its address."""
    environment = {name: os.environ[name] for name in _PASSED_ON if name in os.environ}
    child = subprocess.Popen(
        [sys.executable, "-m", "chat.emulator", "--end-with-stdin", *arguments],
        cwd=_ROOT,
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    said: queue.Queue[str] = queue.Queue()
    assert child.stdout is not None
    threading.Thread(target=lambda out: said.put(out.readline()), args=(child.stdout,), daemon=True).start()
    try:
        line = said.get(timeout=START_LIMIT_S)
    except queue.Empty:
        line = ""
    url = line.strip().rpartition(" ")[2]
    if not url.startswith("http://"):
        _end(child)
        raise EmulatorFailed(f"The emulator did not start within {START_LIMIT_S:.0f} s; its own log says why.")
    return child, url


def _end(child: subprocess.Popen[str]) -> None:
    """Ask the child to end, insist after two seconds, and close its pipes."""
    assert child.stdin is not None
    child.stdin.close()
    try:
        child.wait(timeout=2)
    except subprocess.TimeoutExpired:
        child.kill()
        child.wait()
    assert child.stdout is not None
    child.stdout.close()
