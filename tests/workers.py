"""How `make test` is shared out: how many workers, and which files they begin with. Loaded by `-p tests.workers`.

Each file is one worker's, so that what a module starts is started once. Each worker has a folder, a database and ports
of its own (`tests.environment`, `tests.ports`); nothing else may be shared, nor looked at for the whole machine.
"""

from __future__ import annotations

import os

import pytest

#: No gain beyond it: the longest file ends last.
MOST_WORKERS = 8

#: What takes long, the longest first, so that the file begun last is short. Another order costs time only.
LONG = (
    "tests/chat/test_storage_outage.py",
    "tests/chat/test_sockets.py",
    "tests/browser/",
    "tests/chat/turns/test_strict.py",
    "tests/chat/test_ends.py",
    "tests/test_run.py",
    "tests/attachments/test_worker.py",
    "tests/chat/rendering/test_stream.py",
    "tests/chat/test_kill.py",
    "tests/attachments/storage/test_s3.py",
    "tests/chat/turns/",
    "tests/attachments/test_image_reencoding.py",
    "tests/chat/test_admin.py",
    "tests/chat/kernels/",
    "tests/chat/emulator/",
)


@pytest.hookimpl(tryfirst=True, optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """`-n auto`: one more than there are cores for this process, since tests mostly wait for other processes."""
    return min(len(os.sched_getaffinity(0)) + 1, MOST_WORKERS)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Put `LONG` first where there are workers; a run without them keeps the order of its arguments."""
    if hasattr(config, "workerinput"):
        items.sort(key=place)


def place(item: pytest.Item) -> int:
    """The place of a test's file in `LONG`, or behind it."""
    return next((number for number, path in enumerate(LONG) if item.nodeid.startswith(path)), len(LONG))
