"""The emulator as a child process: it lives and dies with its parent."""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from chat.emulator.embedded import EmbeddedEmulator, EmulatorFailed
from chat.emulator.server import MEMORY_LIMIT_BYTES

ROOT = Path(__file__).resolve().parents[3]
PARENT = """
import time
from chat.emulator import embedded
url = embedded.start()
assert embedded.start() == url
print(url, embedded._running.pid, flush=True)
time.sleep(60)
"""
MANY_FRAMES = """```python
kernel = get_ipython().kernel
frames = [memoryview(bytes(15_000_000))] * 200
kernel.session.send(kernel.iopub_socket, "stream", {"name": "stdout", "text": "x"}, buffers=frames)
import time
time.sleep(60)
```"""


@pytest.fixture
def emulator() -> Iterator[EmbeddedEmulator]:
    child = EmbeddedEmulator(["--warm-kernels", "0", "--pace", "0"])
    yield child
    child.close()


def _answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(f"{url}/v1beta/models", timeout=5) as response:
            return bool(response.status == 200)
    except (urllib.error.URLError, ConnectionError):
        return False


def _ask(url: str, model: str, prompt: str) -> str:
    """The body of an answer with code execution; empty where the emulator died over it."""
    body = {"contents": [{"parts": [{"text": prompt}]}], "tools": [{"codeExecution": {}}]}
    request = urllib.request.Request(f"{url}/v1beta/models/{model}:generateContent", json.dumps(body).encode())
    try:
        with urllib.request.urlopen(request, timeout=60) as response:
            return str(response.read().decode())
    except (urllib.error.URLError, ConnectionError):
        return ""


def _resident_bytes(pid: int) -> int:
    statm = Path(f"/proc/{pid}/statm")
    words = statm.read_text().split() if _runs(pid) else []
    return int(words[1]) * resource.getpagesize() if words else 0


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


def test_child_keeps_nothing_of_what_users_wrote(emulator: EmbeddedEmulator) -> None:
    _ask(emulator.url, "scenario-text", "between you and me")
    with urllib.request.urlopen(f"{emulator.url}/emulator/calls/1", timeout=5) as response:
        entry = json.load(response)
    assert (entry["model"], entry["state"], entry["request"]) == ("scenario-text", "done", {})


def test_child_is_bound_in_memory_and_goes_before_its_parent(emulator: EmbeddedEmulator) -> None:
    assert resource.prlimit(emulator.pid, resource.RLIMIT_DATA) == (MEMORY_LIMIT_BYTES, MEMORY_LIMIT_BYTES)
    assert int(Path(f"/proc/{emulator.pid}/oom_score_adj").read_text()) >= 500


def test_one_message_of_many_frames_cannot_fill_the_memory(emulator: EmbeddedEmulator) -> None:
    """Each frame is allowed, the kernel holds the same one over and over: 3 GB for the price of 15 MB."""
    bound_bytes = 512 * 1024 * 1024
    resource.prlimit(emulator.pid, resource.RLIMIT_DATA, (bound_bytes, bound_bytes))
    pid, resident_bytes = emulator.pid, [0]
    answers: list[str] = []
    asking = threading.Thread(target=lambda: answers.append(_ask(emulator.url, "plotline-demo", MANY_FRAMES)))
    asking.start()
    while asking.is_alive():
        resident_bytes.append(_resident_bytes(pid))
        time.sleep(0.01)
    # Either ZeroMQ gave the message up and its kernel was ended, or the emulator died and was started again.
    assert bound_bytes / 2 < max(resident_bytes) < bound_bytes * 1.25
    assert emulator.pid != pid or "more at once than can be read" in answers[0]
    assert _within(20, lambda: _answers(emulator.url))
    assert "42" in _ask(emulator.url, "plotline-demo", "```python\nprint(6 * 7)\n```")


def test_child_that_cannot_start_is_reported() -> None:
    with pytest.raises(EmulatorFailed):
        EmbeddedEmulator(["--no-such-argument"])
