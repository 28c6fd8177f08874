"""Functions that change the database of the server under test."""

from __future__ import annotations

import subprocess
import sys

from tests.live_server import ROOT, LiveServer, environment


def run_in_shell(server: LiveServer, code: str) -> str:
    """Run code with `manage.py shell` on the server's database, and return what it printed."""
    command = [sys.executable, "manage.py", "shell", "-v0", "-c", code]
    completed = subprocess.run(command, cwd=ROOT, env=environment(server.var_dir), capture_output=True, text=True)
    assert completed.returncode == 0, completed.stderr
    return completed.stdout


def create_people(server: LiveServer, *names: str) -> None:
    """Create users whose passwords are their names, as `sign_in` expects."""
    people = f"[User.objects.create_user(name, password=name) for name in {names!r}]"
    run_in_shell(server, f"from chat.models import User; {people}")
