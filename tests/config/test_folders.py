"""Only the account of the server can read the data folder."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.live_server import ROOT, environment

PROGRAM = """
from config.folders import VAR_DIR
(VAR_DIR / "media").mkdir()
(VAR_DIR / "media" / "graph.png").write_bytes(b"")
"""


@pytest.mark.parametrize("exists", [False, True])
def test_other_accounts_of_the_machine_cannot_read_stored_files(tmp_path: Path, exists: bool) -> None:
    var_dir = tmp_path / "var"
    if exists:
        var_dir.mkdir()
        var_dir.chmod(0o755)
    subprocess.run([sys.executable, "-c", PROGRAM], cwd=ROOT, env=environment(var_dir), check=True)
    modes = [path.stat().st_mode & 0o777 for path in (var_dir, var_dir / "media", var_dir / "media" / "graph.png")]
    assert modes == [0o700, 0o700, 0o600]
