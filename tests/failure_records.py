"""The part of `tests/runner.py` that runs inside pytest: it records each failure at once. Loaded by `-p`."""

from __future__ import annotations

import faulthandler
import json
import os
import signal
from pathlib import Path

import pytest

FAILURES_FILE = "PLOTLINE_TEST_FAILURES_FILE"
"""Environment variable with the path of a file to which one line of JSON for each failure is appended."""
SECOND_CHANCE = "PLOTLINE_TEST_SECOND_CHANCE"
"""Environment variable that is set while a failed test is run again."""

# Pytest redirects file descriptor 2 while a test runs. This module is imported before that, in all workers.
_stderr = os.fdopen(os.dup(2), "w")
faulthandler.register(signal.SIGUSR1, file=_stderr, all_threads=True)


class FailureRecords:
    """Appends each failed report to a file."""

    def __init__(self, path: Path) -> None:
        """`path`: path of the file, which is created with the first failure."""
        self._path = path

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Append a failed report. Pytest calls this in the main process, also for a test whose worker crashed."""
        if not report.failed:
            return
        # Only the report of a crash has another phase. The test was running then.
        phase = report.when if report.when in ("setup", "teardown") else "call"
        record = {"id": report.nodeid, "phase": phase, "text": report.longreprtext}
        with self._path.open("a") as file:
            file.write(json.dumps(record) + "\n")


def pytest_configure(config: pytest.Config) -> None:
    """If the runner asks for it, record failures in the main process, which gets the reports of all workers."""
    config.addinivalue_line("markers", "no_rerun: fails the run even if the test would pass a second time")
    path = os.environ.get(FAILURES_FILE)
    if path and not hasattr(config, "workerinput"):
        config.pluginmanager.register(FailureRecords(Path(path)))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Refuse to run protected tests a second time."""
    protected = [item.nodeid for item in items if item.get_closest_marker("no_rerun")]
    if os.environ.get(SECOND_CHANCE) and protected:
        raise pytest.UsageError(f"No second chance, because it is marked no_rerun: {' '.join(protected)}")
