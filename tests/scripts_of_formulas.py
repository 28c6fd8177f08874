"""Checks that a test run has Temml, which renders formulas. It may be missing only without npm's registry."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
WITHOUT_SCRIPTS = "PLOTLINE_TEST_WITHOUT_SCRIPTS"
"""Set by the runner if the tests of formulas are skipped."""
SCRIPTS = ROOT / "node_modules" / "temml"
PING = ("deploy/npm", "ping", "--fetch-retries=0", "--loglevel=silent")
PING_LIMIT_S = 120


def are_here_or_cannot_be_fetched() -> bool:
    """Return whether the tests may run. Print why they may not, or that tests of formulas are skipped."""
    if SCRIPTS.is_dir():
        return True
    if _answers():
        print(
            'Temml is missing, which draws formulas, but npm\'s registry answers: run "make setup" again.', flush=True
        )
        return False
    print("Temml is missing, and npm's registry cannot be reached: the tests of formulas are skipped.", flush=True)
    os.environ[WITHOUT_SCRIPTS] = "1"
    return True


def _answers() -> bool:
    try:
        return subprocess.run(PING, cwd=ROOT, capture_output=True, timeout=PING_LIMIT_S).returncode == 0
    except subprocess.TimeoutExpired:
        return False
