"""Runs a function of `rows` in a process of its own, with the database and the files of a folder."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.environment import ROOT
from tests.server_databases import environment


def call(function: str, var_dir: Path) -> str:
    """Run `make` or `read` on the database and the files of this folder; return what it prints."""
    program = f"from tests.upgrades import rows; rows.{function}()"
    return subprocess.run(
        [sys.executable, "manage.py", "shell", "--no-imports", "-c", program],
        cwd=ROOT,
        env=environment(var_dir, DATABASE_URL="", DJANGO_SETTINGS_MODULE="config.settings"),
        check=True,
        capture_output=True,
        text=True,
        timeout=60,
    ).stdout
