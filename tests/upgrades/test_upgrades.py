"""A database of each release, with its files, is upgraded to the code as it is now."""

from __future__ import annotations

import gzip
import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.environment import ROOT
from tests.server_databases import SQLITE_FILE, environment
from tests.upgrades.processes import call
from tests.upgrades.rows import ANSWER, QUESTION

RELEASES = sorted(path for path in Path(__file__).parent.iterdir() if (path / "database.gz").exists())


@pytest.mark.parametrize("release", RELEASES, ids=[path.name for path in RELEASES])
def test_database_and_files_of_each_release_can_be_upgraded_completely(release: Path, tmp_path: Path) -> None:
    (tmp_path / SQLITE_FILE).write_bytes(gzip.decompress((release / "database.gz").read_bytes()))
    shutil.copytree(release / "media", tmp_path / "media")
    variables = environment(tmp_path, DATABASE_URL="", DJANGO_SETTINGS_MODULE="config.settings")
    subprocess.run([sys.executable, "manage.py", "migrate"], cwd=ROOT, env=variables, check=True, timeout=60)
    assert json.loads(call("read", tmp_path)) == {
        "page": [True, True, True],
        "graph": True,
        "messages": [QUESTION, ANSWER],
        "found": ["A sine"],
    }
