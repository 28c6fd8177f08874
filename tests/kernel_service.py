"""Runs the service for Python sessions as separate processes, for tests that connect to its real sockets.

`shared_service` gives one for each test process, started when it is first needed. The fixture `kernel_service` returns
the same. Tests that kill or stop a service start their own with `running_service`.
"""

from __future__ import annotations

import atexit
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import pytest

from chat.python.kernels.client import JupyterClient
from chat.python.kernels.errors import KernelGone, KernelsUnavailable
from chat.python.kernels.places import LocalService
from tests.child_processes import terminate
from tests.environment import ROOT
from tests.polling import wait_until

START_LIMIT_S = 60.0
STOP_LIMIT_S = 60.0


class KernelServiceProcess:
    """A supervisor in an empty environment, which has not started its gateway yet. `stop` ends it."""

    def __init__(self, *arguments: str, directory: Path | None = None) -> None:
        """Start the supervisor with these arguments, and wait until it answers."""
        self._own_directory = None if directory else Path(tempfile.mkdtemp(prefix="plk-", dir="/tmp"))
        self.directory = directory or self._own_directory or Path()
        environment = {name: os.environ[name] for name in ("PATH", "KERNEL_PYTHON") if os.environ.get(name)}
        # With `--pdeathsig`, the service also ends if the tests are killed.
        command = ["setpriv", "--pdeathsig", "TERM", sys.executable, "-m", "chat.python.kernels.service"]
        self.process = subprocess.Popen(
            [*command, "--directory", str(self.directory), *arguments], cwd=ROOT, env=environment
        )
        self.place = LocalService(self.directory)
        try:
            wait_until(self._answers, START_LIMIT_S)
        except BaseException:
            self.stop()
            raise

    @property
    def pid(self) -> int:
        """The supervisor's process id."""
        return self.process.pid

    def kill(self) -> None:
        """Kill the supervisor as `kill -9` does."""
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def stop(self) -> None:
        """End the service with all kernels, and remove its folder."""
        terminate(self.process, STOP_LIMIT_S)
        if self._own_directory is not None:
            shutil.rmtree(self._own_directory, ignore_errors=True)

    def _answers(self) -> bool:
        if self.process.poll() is not None:
            raise RuntimeError(f"The service ended with status {self.process.returncode}.")
        try:
            self.place.status()
        except KernelsUnavailable:
            return False
        return True


@contextmanager
def running_service(*arguments: str, directory: Path | None = None) -> Iterator[KernelServiceProcess]:
    """Run a service during the block."""
    service = KernelServiceProcess(*arguments, directory=directory)
    try:
        yield service
    finally:
        service.stop()


async def kernel_state(client: JupyterClient, kernel_id: str) -> str:
    """Return the state that a server reports for a kernel; empty if it does not know the kernel."""
    try:
        model = await (await client._kernel_api(kernel_id)).model()
    except KernelGone:
        return ""
    return "" if model is None else str(model["execution_state"])


@cache
def shared_service() -> LocalService:
    """Return the service of this test process, which runs until the process ends."""
    service = KernelServiceProcess()
    atexit.register(service.stop)
    return service.place


@pytest.fixture
def kernel_service() -> LocalService:
    """The service that all tests of this process share. It starts its gateway when a test asks for the address."""
    return shared_service()
