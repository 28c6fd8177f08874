"""Runs a command with an empty PostgreSQL server of its own: `python -m tests.with_postgresql COMMAND...`.

The command gets `DATABASE_URL` of a user who may create databases. The server and its data end with the command.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.drills.services import PostgreSQL
from tests.ports import free_port


def main(command: list[str]) -> int:
    """Run the command and return its exit status."""
    with TemporaryDirectory(prefix="postgresql-") as folder:
        # Let another user enter the folder, because the server may run as another user.
        Path(folder).chmod(0o711)
        server = PostgreSQL(Path(folder) / "server", free_port())
        server.start()
        try:
            return subprocess.run(command, env=os.environ | {"DATABASE_URL": server.url}, check=False).returncode
        finally:
            server.stop()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
