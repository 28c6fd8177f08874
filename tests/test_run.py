"""`deploy/run`, which `make run` calls: it starts and ends all processes of Plotline together."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil
import pytest
import requests

from chat.python.kernels.places import LocalService
from tests.environment import ROOT
from tests.polling import wait_until
from tests.ports import free_port
from tests.server_databases import create_database, create_empty_database, drop_database, server_url

LIMIT_S = 60.0
WEB, WORKER, EMULATOR, KERNELS = "config.serve", "attachments_worker", "chat.emulator", "chat.python.kernels.service"
GATEWAY = "chat.python.kernels.service.gateway"
"""Each of these five words is in the command line of a child process."""


class Run:
    """`deploy/run` in a session of its own, as a terminal starts it."""

    def __init__(self, var_dir: Path, **variables: str) -> None:
        """Start it with these environment variables."""
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.output = var_dir / "output"
        environment = os.environ | {"PLOTLINE_VAR_DIR": str(var_dir), "PORT": str(self.port)} | variables
        environment["DATABASE_URL"] = server_url(var_dir)
        with self.output.open("wb") as output:
            # Reset SIGINT: tests in the background ignore it, and a shell cannot trap signals ignored at its start.
            command = ["env", "--default-signal=INT", "deploy/run"]
            self.process = subprocess.Popen(
                command, cwd=ROOT, env=environment, stdout=output, stderr=output, start_new_session=True
            )
        self._descendants: dict[int, psutil.Process] = {}

    def living_descendants(self) -> list[psutil.Process]:
        """Return all living descendants, also those that have lost their parent since an earlier call."""
        if psutil.pid_exists(self.process.pid) and self.process.poll() is None:
            try:
                children = psutil.Process(self.process.pid).children(recursive=True)
            except psutil.NoSuchProcess:
                children = []
            self._descendants |= {child.pid: child for child in children}
        return [child for child in self._descendants.values() if is_alive(child)]

    def children(self, word: str) -> list[psutil.Process]:
        """Return the living descendants that have this word in their command line."""
        return [child for child in self.living_descendants() if word in command_line(child)]

    def has_printed(self, text: str) -> bool:
        """Return whether the output contains this text."""
        return text in self.output.read_text()

    def wait_until(self, condition: Callable[[], bool]) -> None:
        """Wait for a condition; fails after LIMIT_S seconds."""
        try:
            wait_until(condition, LIMIT_S)
        except TimeoutError as error:
            error.add_note(f"{[command_line(child) for child in self.living_descendants()]} {self.output.read_text()}")
            raise

    def kill_and_wait_for_restart(self, word: str) -> psutil.Process:
        """Kill a child and return the one that replaces it."""
        [child] = self.children(word)
        child.kill()
        self.wait_until(lambda: any(other != child for other in self.children(word)))
        return self.children(word)[0]

    def wait_until_all_have_ended(self) -> None:
        """Wait until the script and all its descendants have ended."""
        self.wait_until(lambda: self.process.poll() is not None and not self.living_descendants())


def is_alive(process: psutil.Process) -> bool:
    """Return whether a process runs and is no zombie."""
    try:
        return bool(process.is_running() and process.status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False


def command_line(process: psutil.Process) -> list[str]:
    """Return the words of a command line; none if the process has ended meanwhile."""
    try:
        return process.cmdline()
    except psutil.NoSuchProcess:
        return []


def answers(url: str) -> bool:
    """Return whether a server responds with status 200."""
    with suppress(requests.ConnectionError):
        return requests.get(url, timeout=60).status_code == 200
    return False


@contextmanager
def running(var_dir: Path, **variables: str) -> Iterator[Run]:
    """Run the script during the block, which begins once it serves."""
    run = Run(var_dir, **variables)
    try:
        run.wait_until(lambda: run.process.poll() is not None or run.has_printed("Plotline: "))
        yield run
    finally:
        for process in run.living_descendants():
            with suppress(psutil.NoSuchProcess):
                process.kill()
        if run.process.poll() is None:
            run.process.kill()
        run.process.wait()


@pytest.fixture
def var_dir(tmp_path: Path) -> Iterator[Path]:
    """A folder with a database, as after an earlier run."""
    create_database(tmp_path)
    yield tmp_path
    drop_database(tmp_path)


@pytest.fixture
def empty_var_dir(tmp_path: Path) -> Iterator[Path]:
    """A folder without a database, or an empty database on a server of PostgreSQL."""
    create_empty_database(tmp_path)
    yield tmp_path
    drop_database(tmp_path)


@pytest.mark.drill
def test_killed_worker_is_restarted_and_all_processes_end_at_ctrl_c(empty_var_dir: Path) -> None:
    with running(empty_var_dir) as run:
        assert re.search(rf"Plotline: {run.url} +user: demo +password: demo", run.output.read_text())
        assert answers(f"{run.url}/accounts/login/")
        run.kill_and_wait_for_restart(WORKER)
        second = subprocess.run(
            ["deploy/run"], cwd=ROOT, env=os.environ | {"PORT": str(run.port)}, capture_output=True, text=True
        )
        assert (second.returncode, "already" in second.stderr) == (1, True)
        run.living_descendants()
        os.killpg(run.process.pid, signal.SIGINT)
        run.wait_until_all_have_ended()
        assert run.process.returncode == 0


def test_emulator_process_gets_no_secrets_and_is_restarted_on_the_same_port_if_killed(var_dir: Path) -> None:
    with running(var_dir, AWS_SECRET_ACCESS_KEY="not-for-the-emulator") as run:
        [web], [emulator] = run.children(WEB), run.children(EMULATOR)
        url = web.environ()["GOOGLE_GEMINI_BASE_URL"]
        assert answers(f"{url}/v1beta/models")
        assert web.environ()["AWS_SECRET_ACCESS_KEY"] == "not-for-the-emulator"
        assert emulator.environ().keys() & {"AWS_SECRET_ACCESS_KEY", "SECRET_KEY", "DATABASE_URL"} == set()
        run.kill_and_wait_for_restart(EMULATOR)
        run.wait_until(lambda: answers(f"{url}/v1beta/models"))


def test_kernel_service_process_gets_no_secrets_and_is_restarted_if_killed(var_dir: Path) -> None:
    with running(var_dir, GEMINI_API_KEY="any") as run:
        place = LocalService(var_dir / "kernels")
        assert place.start().state == "running"
        [supervisor], [gateway] = run.children(KERNELS), run.children(GATEWAY)
        for process in (supervisor, gateway):
            assert process.environ().keys() & {"GEMINI_API_KEY", "SECRET_KEY", "DATABASE_URL"} == set()
        supervisor.kill()
        run.wait_until(lambda: not is_alive(gateway) and any(run.children(KERNELS)))
        # The killed service has left its socket file, and `address` waits for the restarted one.
        assert asyncio.run(place.address()).token


@pytest.mark.drill
def test_no_kernel_service_is_started_if_a_jupyter_server_is_configured(var_dir: Path) -> None:
    with running(var_dir, GEMINI_API_KEY="any", JUPYTER_GATEWAY_URL="http://127.0.0.1:1") as run:
        assert run.children(WEB)
        assert run.children(KERNELS) == []


@pytest.mark.drill
def test_no_emulator_is_started_if_a_key_is_set(var_dir: Path) -> None:
    with running(var_dir, GEMINI_API_KEY="any") as run:
        assert run.children(WEB)
        assert run.children(EMULATOR) == []


def test_all_child_processes_end_if_the_run_script_is_killed(var_dir: Path) -> None:
    with running(var_dir) as run:
        assert all(run.children(word) for word in (WEB, WORKER, EMULATOR, KERNELS))
        run.process.kill()
        run.wait_until_all_have_ended()


@pytest.mark.drill
def test_all_processes_end_if_the_web_server_is_killed(var_dir: Path) -> None:
    with running(var_dir) as run:
        [web] = run.children(WEB)
        web.kill()
        run.wait_until_all_have_ended()
        assert run.process.returncode == 1
