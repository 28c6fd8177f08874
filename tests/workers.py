"""How the tests are divided among the workers of pytest-xdist, and in which order. Loaded by `-p tests.workers`.

One worker runs all tests of a file, so that servers of a module are started once. One worker runs all browser tests,
because one browser and one server serve them all. Each worker has a folder, a database and ports of its own
(`tests.environment`, `tests.ports`). Tests share nothing else, and do not depend on the state of the whole machine.
"""

from __future__ import annotations

import gc
import importlib
import os
from collections import Counter
from contextlib import suppress
from pathlib import Path

import pytest
from xdist.scheduler import LoadFileScheduling

from tests.environment import ROOT

#: Maximum number of workers. Each needs 0.8 GB of memory, and its servers and browser as much.
MOST_WORKERS = 8

#: Seconds and path of each group of tests that takes long, written by `make test ARGS=--measure-order`. Groups begin
#: in this order, so that short ones end the run. Another order only takes more time.
ORDER_FILE = Path(__file__).with_name("order.txt")
SHORTEST_S = 2.0
BROWSER_TESTS = "tests/browser"


def group_of(test_id: str) -> str:
    """Return the group of a test, which one worker runs: its file, or the folder of the browser tests."""
    path = test_id.partition("::")[0]
    return BROWSER_TESTS if path.startswith(f"{BROWSER_TESTS}/") else path


class GroupScheduling(LoadFileScheduling):  # type: ignore[misc]
    """Gives each worker one group after another."""

    def _split_scope(self, nodeid: str) -> str:
        return group_of(nodeid)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> GroupScheduling:
    """Divide the tests by groups, whatever `--dist` says."""
    return GroupScheduling(config, log)


@pytest.hookimpl(tryfirst=True, optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """`-n auto`: one more than there are cores for this process, since tests mostly wait for other processes."""
    return min(len(os.sched_getaffinity(0)) + 1, MOST_WORKERS)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option that measures the order."""
    parser.addoption(
        "--measure-order", action="store_true", help="write how long groups of tests take to tests/order.txt"
    )


def pytest_configure(config: pytest.Config) -> None:
    """If asked for, measure the groups in the main process, which gets the reports of all workers."""
    if config.getoption("--measure-order") and not hasattr(config, "workerinput"):
        config.pluginmanager.register(GroupSeconds())


@pytest.hookimpl(tryfirst=True)
def pytest_collection(session: pytest.Session) -> None:
    """Stop the garbage collector, which takes a third of the time that collecting takes, and frees nothing.

    Each worker imports its share of the modules first. So only one worker rewrites the assertions of a module, and the
    others find the result in pytest's cache.
    """
    gc.disable()
    if worker := os.environ.get("PYTEST_XDIST_WORKER"):
        workers = int(os.environ["PYTEST_XDIST_WORKER_COUNT"])
        paths = sorted(path for folder in session.config.args for path in (ROOT / folder).rglob("test_*.py"))
        for path in paths[int(worker.removeprefix("gw")) :: workers]:
            # Pytest reports errors when it imports the module itself.
            with suppress(Exception):
                importlib.import_module(".".join(path.relative_to(ROOT).with_suffix("").parts))


@pytest.hookimpl(trylast=True)
def pytest_collection_finish() -> None:
    """Start the garbage collector again. Objects of the collected tests are excluded from it."""
    gc.freeze()
    gc.enable()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """If there are workers, begin with the groups that take longest. Otherwise keep the order of the arguments."""
    if hasattr(config, "workerinput"):
        seconds = read_order()
        items.sort(key=lambda item: -seconds.get(group_of(item.nodeid), 0.0))


def read_order() -> dict[str, float]:
    """Return the measured seconds of each group in `ORDER_FILE`."""
    lines = ORDER_FILE.read_text().splitlines() if ORDER_FILE.exists() else []
    return {group: float(seconds) for seconds, group in (line.split(maxsplit=1) for line in lines)}


class GroupSeconds:
    """Adds up the seconds of each group and writes `ORDER_FILE` at the end."""

    def __init__(self) -> None:
        self._seconds: Counter[str] = Counter()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Add one phase of one test."""
        self._seconds[group_of(report.nodeid)] += report.duration  # type: ignore[assignment]

    def pytest_sessionfinish(self) -> None:
        """Write the groups, the longest first."""
        rows = [f"{seconds:.0f} {group}\n" for group, seconds in self._seconds.most_common() if seconds >= SHORTEST_S]
        ORDER_FILE.write_text("".join(rows))
