"""How `tests/runner.py` handles failures, tested with small suites in separate folders."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from tests.environment import ROOT

SETTINGS = """
[pytest]
addopts = -q -p xdist.plugin -p pytest_timeout -p tests.failure_records --max-worker-restart 2 -m "not drill"
markers = drill
timeout = {timeout_s}
"""
IS_FIRST = "import os, signal, pytest\nis_first = not os.environ['PLOTLINE_TEST_SECOND_CHANCE']\n"
"""The beginning of a module whose tests fail only the first time."""


class Suite:
    """A folder with one test module."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def run(self, code: str, *options: str, timeout_s: float = 60, **variables: str) -> tuple[int, str]:
        """Run the runner with two workers and these options; return its exit status and output."""
        (self.folder / "pytest.ini").write_text(SETTINGS.format(timeout_s=timeout_s))
        (self.folder / "test_it.py").write_text(code)
        done = subprocess.run(
            [sys.executable, "-m", "tests.runner", "-n", "2", *options],
            cwd=self.folder,
            env=os.environ | {"PYTHONPATH": str(ROOT), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"} | variables,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=170,
        )
        return done.returncode, done.stdout


@pytest.fixture
def suite(tmp_path: Path) -> Suite:
    return Suite(tmp_path)


def test_test_that_passes_the_second_time_is_reported_and_the_run_passes(suite: Suite) -> None:
    status, output = suite.run(f"{IS_FIRST}def test_flaky(): assert not is_first, 'the first time'\n")
    assert status == 0
    assert output.splitlines()[-1] == "FLAKY test_it.py::test_flaky"
    assert "AssertionError: the first time" in output[output.index("Once more") :]


def test_test_that_fails_twice_fails_the_run(suite: Suite) -> None:
    status, output = suite.run("def test_broken(): assert False\ndef test_fine(): pass\n")
    assert status == 1
    assert output.splitlines()[-1] == "FAILED twice test_it.py::test_broken"


def test_failing_drill_is_run_a_second_time_like_other_tests(suite: Suite) -> None:
    code = f"{IS_FIRST}@pytest.mark.drill\ndef test_flaky(): assert not is_first\n"
    status, output = suite.run(code, "-m", "drill")
    assert status == 0
    assert output.splitlines()[-1] == "FLAKY test_it.py::test_flaky"
    assert "1 passed" in output


def test_failing_test_with_the_no_rerun_mark_is_not_run_again(suite: Suite) -> None:
    status, output = suite.run(f"{IS_FIRST}@pytest.mark.no_rerun\ndef test_protected(): assert not is_first\n")
    assert status == 1
    assert "No second chance" in output
    assert "FLAKY" not in output


def test_failing_tests_are_not_run_again_if_there_are_too_many(suite: Suite) -> None:
    status, output = suite.run(
        f"{IS_FIRST}@pytest.mark.parametrize('number', range(6))\ndef test_broken(number): assert not is_first\n"
    )
    assert status == 1
    assert "too many for a second chance" in output


@pytest.mark.drill
def test_hanging_test_fails_and_its_stack_is_printed(suite: Suite) -> None:
    status, output = suite.run("import time\ndef test_hangs():\n    time.sleep(100)  # hangs here\n", timeout_s=2)
    assert status == 1
    assert "Timeout" in output
    assert "hangs here" in output


@pytest.mark.drill
def test_test_run_above_the_time_limit_prints_stacks_and_fails(suite: Suite) -> None:
    code = "import time\ndef test_hangs():\n    time.sleep(100)\n"
    status, output = suite.run(code, PLOTLINE_TEST_RUN_LIMIT_S="8")
    assert status == 124
    assert "The run has taken 8 s" in output
    assert "in test_hangs" in output


def test_test_is_run_again_if_its_worker_is_killed(suite: Suite) -> None:
    status, output = suite.run(
        f"{IS_FIRST}def test_kills():\n    if is_first: os.kill(os.getpid(), signal.SIGKILL)\ndef test_after(): pass\n"
    )
    assert status == 0
    assert output.splitlines()[-1] == "FLAKY test_it.py::test_kills"


def test_tests_of_a_fixture_that_failed_once_are_run_again_and_count_as_one_failure(suite: Suite) -> None:
    tests = "".join(f"def test_{number}(server): pass\n" for number in range(7))
    status, output = suite.run(
        f"{IS_FIRST}@pytest.fixture(scope='module')\ndef server(): assert not is_first, 'did not start'\n{tests}"
    )
    assert status == 0
    assert output.count("\nFLAKY") == 7


def test_runner_names_and_ends_a_process_that_a_test_leaves_running(suite: Suite) -> None:
    status, output = suite.run(
        "import pathlib, subprocess\n"
        "def test_leaves():\n"
        "    process = subprocess.Popen(['setsid', 'sleep', '317'])\n"
        "    pathlib.Path('pid').write_text(str(process.pid))\n"
    )
    assert status == 0
    assert "Left running, ended now: sleep 317" in output
    assert not psutil.pid_exists(int((suite.folder / "pid").read_text()))
