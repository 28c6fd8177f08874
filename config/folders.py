"""The folders of the project and of its data."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from config.env import Env

env = Env()

BASE_DIR = Path(__file__).resolve().parent.parent

#: The folder for the database and uploaded files. Plotline writes no log files: it logs to standard error.
VAR_DIR = Path(env.text("PLOTLINE_VAR_DIR", str(BASE_DIR / "var")))

# Only this system account may read conversations and files. This covers new files, and the folder itself, which an
# earlier version may have made readable for all.
os.umask(0o077)
VAR_DIR.mkdir(parents=True, exist_ok=True)
_status = VAR_DIR.stat()
# The mode is set only if it differs, because the file system of a container may be read-only.
if _status.st_uid == os.geteuid() and stat.S_IMODE(_status.st_mode) != 0o700:
    VAR_DIR.chmod(0o700)

NODE_MODULES = BASE_DIR / "node_modules"
"""The folder where npm installs the scripts that the server runs, see package.json."""
