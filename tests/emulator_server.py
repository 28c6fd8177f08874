"""Runs an emulator as a separate process on a free port, for tests that connect to it over a real socket."""

from __future__ import annotations

import atexit
import select
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from functools import cache
from pathlib import Path

from tests.child_processes import terminate, tied
from tests.kernel_service import shared_service

ROOT = Path(__file__).resolve().parent.parent
START_LIMIT_S = 60.0
"""Time limit for the start, generous for a busy machine. An emulator that ends is noticed at once."""
STOP_LIMIT_S = 60.0


class EmulatorProcess:
    """An emulator that runs until `stop`."""

    def __init__(self, module: str, *arguments: str, environment: Mapping[str, str] | None = None) -> None:
        """Run `python -m module --port 0` with these arguments, and wait until it accepts connections.

        Raises RuntimeError if it ends before that; its standard error is that of the tests.
        """
        self._process = subprocess.Popen(
            tied([sys.executable, "-m", module, "--port", "0", *arguments]),
            cwd=ROOT,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.url = self._read_url()

    @property
    def pid(self) -> int:
        """The process id."""
        return self._process.pid

    @property
    def is_running(self) -> bool:
        """Whether the process has not ended."""
        return self._process.poll() is None

    def close_stdin_and_wait(self) -> int:
        """Close standard input and return the exit status; raises subprocess.TimeoutExpired if it does not end."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        return self._process.wait(STOP_LIMIT_S)

    def stop(self) -> None:
        """End the process and close its pipes."""
        terminate(self._process, STOP_LIMIT_S)
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                pipe.close()

    def _read_url(self) -> str:
        output = self._process.stdout
        assert output is not None
        line = output.readline() if select.select([output], [], [], START_LIMIT_S)[0] else ""
        url = line.strip().rpartition(" ")[2]
        if not url.startswith("http://"):
            self.stop()
            raise RuntimeError(f"The emulator did not start: it printed {line!r}.")
        return url


@contextmanager
def running_emulator(
    recordings: Path | None = None,
    pace: float = 0.0,
    code_limit_s: float = 30.0,
    kernel_service_directory: Path | None = None,
) -> Iterator[str]:
    """Run the emulator for tests during the block; yields its base URL, `http://127.0.0.1:PORT`.

    Start and first answers take two seconds of CPU time, so use `shared_emulator` if its options are sufficient.
    `tests.gemini_emulator` describes its models and the recordings. It also ends if the test process is killed.
    """
    arguments = ["--pace", str(pace), "--code-limit", str(code_limit_s)]
    arguments += ["--kernel-service", str(kernel_service_directory or shared_service().directory)]
    if recordings is not None:
        arguments += ["--recordings", str(recordings.resolve())]
    emulator = EmulatorProcess("tests.gemini_emulator", "--end-with-stdin", *arguments)
    try:
        yield emulator.url
    finally:
        emulator.stop()


@cache
def shared_emulator() -> str:
    """Return the base URL of the emulator of this test process, which has no pauses and runs until the process ends."""
    stack = ExitStack()
    url = stack.enter_context(running_emulator())
    atexit.register(stack.close)
    return url
