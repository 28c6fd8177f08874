"""Runs pytest in a process of its own, then each failed test once more, alone. `python -m tests.runner ARGS`.

The arguments go to pytest. A test that fails twice fails the run. A test that passes the second time is reported as
`FLAKY`, and the run passes. There is no second run for tests marked `no_rerun`, if more than five tests or three
files fail, or if pytest ends for another reason than failed tests. `tests/failure_records.py` is the part that
runs inside pytest.

The runner also ends the run after `RUN_LIMIT_S`, and names and ends processes that the tests have left running.
"""

from __future__ import annotations

import ctypes
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType

import psutil

from tests.failure_records import FAILURES_FILE, SECOND_CHANCE
from tests.scripts_of_formulas import are_here_or_cannot_be_fetched

RUN_LIMIT_S = float(os.environ.get("PLOTLINE_TEST_RUN_LIMIT_S") or 25 * 60)
RERUN_LIMIT_S = 240.0
"""Time limit for the second run of one test or file; `timeout` in pyproject.toml limits each test to less."""
STACKS_S = 2.0
"""All processes have this time to print their stacks before they are killed."""
MOST_FAILURES = 5
MOST_FILES = 3

TESTS_FAILED, USAGE_ERROR, TIMED_OUT = 1, 4, 124
"""Exit statuses: two of pytest's, and the one of coreutils' `timeout`."""

SET_CHILD_SUBREAPER = 36
"""`PR_SET_CHILD_SUBREAPER` of Linux's prctl(2)."""


@dataclass
class Failure:
    """Tests that are run again together, and their first traceback."""

    ids: list[str]
    text: str


@dataclass
class Verdict:
    """The results of the second runs."""

    flaky: list[Failure] = field(default_factory=list)
    failed: list[Failure] = field(default_factory=list)


def main(arguments: Sequence[str]) -> int:
    """Run pytest with these arguments and return the exit status of the run."""
    become_reaper()
    signal.signal(signal.SIGTERM, _exit_on_signal)
    if not are_here_or_cannot_be_fetched():
        return USAGE_ERROR
    # Sockets in this folder may have paths of at most 107 bytes, so its own path is short.
    folder = Path(tempfile.mkdtemp(prefix="pl-", dir="/tmp"))
    # Servers that refuse to run as root run as another user, in folders below this one.
    folder.chmod(0o711)
    os.environ["TMPDIR"] = str(folder)
    try:
        return _run(arguments, folder)
    finally:
        end_children()
        shutil.rmtree(folder, ignore_errors=True)


def _run(arguments: Sequence[str], folder: Path) -> int:
    deadline = time.monotonic() + RUN_LIMIT_S
    failures_file = folder / "failures.jsonl"
    status = run_pytest(arguments, {FAILURES_FILE: str(failures_file), SECOND_CHANCE: ""}, RUN_LIMIT_S)
    end_children()
    failures = read_failures(failures_file)
    if status != TESTS_FAILED or not failures:
        return status
    files = {failure.ids[0].partition("::")[0] for failure in failures}
    if len(failures) > MOST_FAILURES or len(files) > MOST_FILES:
        print(f"{len(failures)} failures in {len(files)} files: too many for a second chance.", flush=True)
        return status
    verdict = run_again(failures, deadline)
    report(verdict)
    return TESTS_FAILED if verdict.failed else 0


def become_reaper() -> None:
    """Become the parent of all descendants whose own parent ends, so that none of them can outlive the run."""
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def run_pytest(arguments: Iterable[str], variables: dict[str, str], limit_s: float) -> int:
    """Run pytest in a process group of its own and return its exit status, or `TIMED_OUT` after `limit_s` seconds.

    Then all processes of the group print their stacks before they are killed.
    """
    command = [sys.executable, "-m", "pytest", *arguments]
    process = subprocess.Popen(command, env=os.environ | variables, process_group=0)
    try:
        return process.wait(limit_s)
    except subprocess.TimeoutExpired:
        print(f"\nThe run has taken {limit_s:.0f} s and is ended now. What it was doing:", flush=True)
        os.killpg(process.pid, signal.SIGUSR1)
        time.sleep(STACKS_S)
        return TIMED_OUT
    except KeyboardInterrupt:
        # Ctrl-C sends SIGINT only to the runner's process group, so pass it on.
        os.killpg(process.pid, signal.SIGINT)
        return process.wait(STACKS_S * 5)
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def read_failures(path: Path) -> list[Failure]:
    """Return the failures. Errors of fixtures count once for their file, whose tests are then run again together."""
    failures: dict[str, Failure] = {}
    lines = path.read_text().splitlines() if path.exists() else []
    for line in lines:
        record = json.loads(line)
        key = record["id"] if record["phase"] == "call" else record["id"].partition("::")[0]
        failure = failures.setdefault(key, Failure([], record["text"]))
        if record["id"] not in failure.ids:
            failure.ids.append(record["id"])
    return list(failures.values())


def run_again(failures: Iterable[Failure], deadline: float) -> Verdict:
    """Run each failure alone, in a new process, while nothing else runs. `deadline`: of the monotonic clock."""
    verdict = Verdict()
    for failure in failures:
        print(f"\nOnce more, alone: {' '.join(failure.ids)}", flush=True)
        limit_s = min(RERUN_LIMIT_S, max(deadline - time.monotonic(), 0))
        variables = {FAILURES_FILE: "", SECOND_CHANCE: "1"}
        # Without the marker, a drill would be left out.
        arguments = ["-n", "0", "-p", "no:cacheprovider", "-m", "drill or not drill", *failure.ids]
        status = run_pytest(arguments, variables, limit_s)
        end_children()
        (verdict.failed if status else verdict.flaky).append(failure)
    return verdict


def report(verdict: Verdict) -> None:
    """Print the tests that failed twice. Then print those that failed once, with their first traceback."""
    for failure in verdict.failed:
        print("\n".join(f"FAILED twice {test_id}" for test_id in failure.ids))
    for failure in verdict.flaky:
        print(failure.text)
        print("\n".join(f"FLAKY {test_id}" for test_id in failure.ids))
    sys.stdout.flush()


def end_children() -> None:
    """Print and kill all children of this process. Their children become ours, and are killed too."""
    while children := psutil.Process().children():
        for child in children:
            try:
                print(f"Left running, ended now: {' '.join(child.cmdline())[:200]}", flush=True)
                child.kill()
            except psutil.NoSuchProcess:
                continue
        psutil.wait_procs(children, timeout=60)


def _exit_on_signal(number: int, _frame: FrameType | None) -> None:
    sys.exit(128 + number)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
