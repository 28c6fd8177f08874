"""The emulator as a child process: it lives and dies with its parent."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from chat.emulator.embedded import EmbeddedEmulator, EmulatorFailed

ROOT = Path(__file__).resolve().parents[3]
PARENT = """
import time
from chat.emulator import embedded
url = embedded.start()
assert embedded.start() == url
print(url, embedded._running.pid, flush=True)
time.sleep(60)
"""


@pytest.fixture
def emulator() -> Iterator[EmbeddedEmulator]:
    child = EmbeddedEmulator(["--warm-kernels", "0"])
    yield child
    child.close()


def _answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(f"{url}/v1beta/models", timeout=5) as response:
            return bool(response.status == 200)
    except (urllib.error.URLError, ConnectionError):
        return False


def _runs(pid: int) -> bool:
    stat = Path(f"/proc/{pid}/stat")
    return stat.exists() and stat.read_text().rpartition(")")[2].split()[0] != "Z"


def _within(limit_s: float, condition: object) -> bool:
    deadline = time.monotonic() + limit_s
    while time.monotonic() < deadline:
        if callable(condition) and condition():
            return True
        time.sleep(0.05)
    return False


def test_child_dies_when_its_parent_is_killed() -> None:
    parent = subprocess.Popen([sys.executable, "-c", PARENT], cwd=ROOT, stdout=subprocess.PIPE, text=True)
    assert parent.stdout
    with parent.stdout:
        url, pid = parent.stdout.readline().split()
        assert _answers(url)
        parent.kill()
        parent.wait()
    assert _within(5, lambda: not _runs(int(pid)))
    assert not _answers(url)


def test_crashed_child_is_started_again_on_the_same_port(emulator: EmbeddedEmulator) -> None:
    pid = emulator.pid
    os.kill(pid, signal.SIGKILL)
    assert _within(20, lambda: emulator.pid != pid and _answers(emulator.url))


def test_closed_child_is_not_started_again(emulator: EmbeddedEmulator) -> None:
    pid = emulator.pid
    emulator.close()
    assert not _runs(pid)
    assert not _within(1.0, lambda: _answers(emulator.url))


def test_child_knows_none_of_the_parents_secrets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GEMINI_API_KEY", "not-for-children")
    child = EmbeddedEmulator(["--warm-kernels", "0"])
    try:
        assert b"not-for-children" not in Path(f"/proc/{child.pid}/environ").read_bytes()
    finally:
        child.close()


def test_child_that_cannot_start_is_reported() -> None:
    with pytest.raises(EmulatorFailed):
        EmbeddedEmulator(["--no-such-argument"])
