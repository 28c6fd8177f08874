"""Makes the database and the files of a release: `python -m tests.upgrades 1.1.0`."""

from __future__ import annotations

import gzip
import shutil
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.upgrades.processes import call

FOLDER = Path(__file__).parent


def main(version: str) -> None:
    """Make the folder of this version, which must not exist."""
    folder = FOLDER / version
    folder.mkdir()
    with TemporaryDirectory() as name:
        var_dir = Path(name)
        call("make", var_dir)
        # The time is left out, so that the same database gives the same file.
        packed = gzip.compress((var_dir / "plotline.sqlite3").read_bytes(), mtime=0)
        (folder / "database.gz").write_bytes(packed)
        shutil.copytree(var_dir / "media", folder / "media")


if __name__ == "__main__":
    main(*sys.argv[1:])
