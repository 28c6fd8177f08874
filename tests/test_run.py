"""`deploy/run`, which `make run` calls: server and worker start as one, and leave nothing behind."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil
import pytest
import requests

from tests.environment import ROOT
from tests.live_server import database_template
from tests.ports import free_port

LIMIT_S = 60.0


class Run:
    """`deploy/run` in a session of its own, as a terminal would start it."""

    def __init__(self, var_dir: Path, port: int) -> None:
        self.url = f"http://127.0.0.1:{port}"
        self.output = var_dir / "output"
        environment = os.environ | {"PLOTLINE_VAR_DIR": str(var_dir), "PORT": str(port)}
        with self.output.open("wb") as output:
            # A shell cannot trap what was ignored when it was started, as interrupts are for tests in the background.
            command = ["env", "--default-signal=INT", "deploy/run"]
            self.process = subprocess.Popen(
                command, cwd=ROOT, env=environment, stdout=output, stderr=output, start_new_session=True
            )
        self._known: dict[int, psutil.Process] = {}

    def family(self) -> list[psutil.Process]:
        """All processes under it that still live, those that lost their parent too."""
        if psutil.pid_exists(self.process.pid) and self.process.poll() is None:
            try:
                children = psutil.Process(self.process.pid).children(recursive=True)
            except psutil.NoSuchProcess:
                children = []
            self._known |= {child.pid: child for child in children}
        return [child for child in self._known.values() if is_alive(child)]

    def child(self, word: str) -> psutil.Process:
        """The process that has this word in its command line."""
        return next(child for child in self.family() if word in words_of(child))

    def says(self, sentence: str) -> bool:
        return sentence in self.output.read_text()

    def wait_until(self, condition: Callable[[], bool]) -> None:
        give_up_at = time.monotonic() + LIMIT_S
        while not condition():
            assert time.monotonic() < give_up_at, (
                f"{[words_of(one) for one in self.family()]} {self.output.read_text()}"
            )
            time.sleep(0.05)

    def wait_until_all_is_gone(self) -> None:
        self.wait_until(lambda: self.process.poll() is not None and not self.family())


def is_alive(process: psutil.Process) -> bool:
    try:
        return bool(process.is_running() and process.status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False


def words_of(process: psutil.Process) -> list[str]:
    """Its command line; empty once it has ended, as the script's pauses do at any moment."""
    try:
        return process.cmdline()
    except psutil.NoSuchProcess:
        return []


@contextmanager
def running(var_dir: Path) -> Iterator[Run]:
    """`deploy/run` until it serves, and for the length of the block."""
    run = Run(var_dir, free_port())
    try:
        run.wait_until(lambda: run.process.poll() is not None or run.says("Plotline: "))
        yield run
    finally:
        for process in run.family():
            with suppress(psutil.NoSuchProcess):
                process.kill()
        if run.process.poll() is None:
            run.process.kill()
        run.process.wait()


@pytest.fixture
def first_run(tmp_path: Path) -> Iterator[Run]:
    """In an empty folder."""
    with running(tmp_path) as run:
        yield run


@pytest.fixture
def run(tmp_path: Path) -> Iterator[Run]:
    """In a folder where it ran before."""
    shutil.copy(database_template(), tmp_path)
    with running(tmp_path) as run:
        yield run


def test_killed_worker_is_started_again_and_all_ends_with_the_terminal(first_run: Run) -> None:
    run = first_run
    assert re.search(rf"Plotline: {run.url} +user: demo +password: demo", run.output.read_text())
    assert requests.get(f"{run.url}/accounts/login/", timeout=10).status_code == 200
    worker = run.child("attachments_worker")
    worker.kill()
    run.wait_until(lambda: any("attachments_worker" in words_of(child) for child in run.family() if child != worker))
    second = subprocess.run(
        ["deploy/run"], cwd=ROOT, env=os.environ | {"PORT": run.url[-5:].lstrip(":")}, capture_output=True, text=True
    )
    assert (second.returncode, "already" in second.stderr) == (1, True)
    run.family()
    os.killpg(run.process.pid, signal.SIGINT)
    run.wait_until_all_is_gone()
    assert run.process.returncode == 0


def test_nothing_outlives_a_killed_parent(run: Run) -> None:
    assert len(run.family()) >= 2
    run.process.kill()
    run.wait_until_all_is_gone()


def test_worker_ends_with_a_killed_server(run: Run) -> None:
    run.family()
    run.child("config.serve").kill()
    run.wait_until_all_is_gone()
    assert run.process.returncode == 1
