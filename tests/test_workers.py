"""How `make test` is shared out."""

from __future__ import annotations

from itertools import groupby

from tests.environment import ROOT
from tests.workers import LONG


def test_every_long_file_exists_and_is_named_once() -> None:
    assert [path for path in LONG if not (ROOT / path).exists()] == []
    assert len(set(LONG)) == len(LONG)


def test_browser_tests_stand_together_so_that_no_worker_starts_a_second_browser() -> None:
    folders = [is_browser for is_browser, _ in groupby(path.startswith("tests/browser/") for path in LONG)]
    assert folders.count(True) == 1
    browser_tests = [path for path in LONG if path.startswith("tests/browser/")]
    assert browser_tests[-1] == "tests/browser/"
