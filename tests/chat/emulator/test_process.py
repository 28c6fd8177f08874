"""The shipped emulator as a process: what it serves, its memory limit, and the count of its kernels."""

from __future__ import annotations

import json
import resource
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from chat.emulator.kernel_counts import KernelCount, kernel_count
from chat.emulator.server import MEMORY_LIMIT_BYTES
from tests.emulator_server import EmulatorProcess

MANY_FRAMES = """```python
kernel = get_ipython().kernel
frames = [memoryview(bytes(15_000_000))] * 200
kernel.session.send(kernel.iopub_socket, "stream", {"name": "stdout", "text": "x"}, buffers=frames)
import time
time.sleep(60)
```"""


@pytest.fixture
def emulator() -> Iterator[EmulatorProcess]:
    process = EmulatorProcess("chat.emulator", "--warm-kernels", "0", "--pace", "0")
    yield process
    process.stop()


def _get(url: str) -> str:
    with urllib.request.urlopen(url, timeout=5) as response:
        return str(response.read().decode())


def _ask(url: str, model: str, prompt: str) -> str:
    """Return the body of an answer with code execution, or an empty text if the emulator died."""
    body = {"contents": [{"parts": [{"text": prompt}]}], "tools": [{"codeExecution": {}}]}
    request = urllib.request.Request(f"{url}/v1beta/models/{model}:generateContent", json.dumps(body).encode())
    try:
        with urllib.request.urlopen(request, timeout=60) as response:
            return str(response.read().decode())
    except (urllib.error.URLError, ConnectionError):
        return ""


def _resident_bytes(pid: int) -> int:
    try:
        pages = Path(f"/proc/{pid}/statm").read_text().split()[1]
    except (FileNotFoundError, ProcessLookupError):
        return 0
    return int(pages) * resource.getpagesize()


def test_only_the_demo_model_is_listed(emulator: EmulatorProcess) -> None:
    models = json.loads(_get(f"{emulator.url}/v1beta/models"))["models"]
    assert [model["name"] for model in models] == ["models/plotline-demo"]


def test_scenarios_and_the_journal_are_not_shipped(emulator: EmulatorProcess) -> None:
    assert "demo model" in _ask(emulator.url, "scenario-unavailable", "between you and me")
    with pytest.raises(urllib.error.HTTPError) as caught:
        _get(f"{emulator.url}/emulator/calls")
    with caught.value:
        assert caught.value.code == 404


def test_kernels_are_counted(emulator: EmulatorProcess) -> None:
    assert kernel_count(emulator.url) == kernel_count(f"{emulator.url}/") == KernelCount(alive=0, warm=0)
    emulator.stop()
    assert kernel_count(emulator.url) is None
    assert kernel_count("") is None


def test_memory_is_limited_and_the_emulator_is_killed_before_the_web_server(emulator: EmulatorProcess) -> None:
    assert resource.prlimit(emulator.pid, resource.RLIMIT_DATA) == (MEMORY_LIMIT_BYTES, MEMORY_LIMIT_BYTES)
    assert int(Path(f"/proc/{emulator.pid}/oom_score_adj").read_text()) >= 500


def test_message_of_many_frames_cannot_fill_the_memory(emulator: EmulatorProcess) -> None:
    """The kernel sends 200 frames of 15 MB, each of which is allowed: 3 GB, of which it stores 15 MB."""
    limit_bytes = 512 * 1024 * 1024
    resource.prlimit(emulator.pid, resource.RLIMIT_DATA, (limit_bytes, limit_bytes))
    resident_bytes = [0]
    answers: list[str] = []
    thread = threading.Thread(target=lambda: answers.append(_ask(emulator.url, "plotline-demo", MANY_FRAMES)))
    thread.start()
    while thread.is_alive():
        resident_bytes.append(_resident_bytes(emulator.pid))
        thread.join(0.01)
    assert limit_bytes / 2 < max(resident_bytes) < limit_bytes * 1.25
    # Either ZeroMQ dropped the message and the kernel was ended, or the emulator died; `deploy/run` restarts it.
    if emulator.is_running:
        assert "more at once than can be read" in answers[0]
        assert "42" in _ask(emulator.url, "plotline-demo", "```python\nprint(6 * 7)\n```")


def test_invalid_arguments_are_reported() -> None:
    with pytest.raises(RuntimeError, match="The emulator did not start"):
        EmulatorProcess("chat.emulator", "--no-such-argument")


def test_emulator_for_tests_ends_with_its_standard_input() -> None:
    emulator = EmulatorProcess("tests.gemini_emulator", "--end-with-stdin")
    try:
        assert emulator.close_stdin_and_wait() == 0
    finally:
        emulator.stop()
