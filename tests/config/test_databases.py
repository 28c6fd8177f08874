"""Settings of the database: limits of servers, none for commands, and options of the operator."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from config.databases import database_settings
from tests.live_server import ROOT

URL = "postgres://someone:secret@db/plotline"


def test_database_statements_of_servers_have_a_timeout(tmp_path: Path) -> None:
    limited = database_settings(URL, tmp_path)["OPTIONS"]["options"]
    assert limited == "-c lock_timeout=2000 -c statement_timeout=30000"


def test_database_statements_of_management_commands_have_no_timeout() -> None:
    command = [sys.executable, "manage.py", "diffsettings", "--output", "unified"]
    variables = os.environ | {"DATABASE_URL": URL}
    done = subprocess.run(command, cwd=ROOT, env=variables, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert "-c lock_timeout=2000 -c statement_timeout=0'" in done.stdout


def test_options_in_the_database_url_override_the_default_options(tmp_path: Path) -> None:
    url = f"{URL}?options=-c%20search_path%3Dours%20-c%20statement_timeout%3D5&connect_timeout=9&sslmode=require"
    options = database_settings(url, tmp_path)["OPTIONS"]
    # PostgreSQL heeds the last of several values.
    assert options["options"].endswith("statement_timeout=30000 -c search_path=ours -c statement_timeout=5")
    assert (str(options["connect_timeout"]), options["sslmode"]) == ("9", "require")


def test_server_side_cursors_are_disabled_on_postgresql(tmp_path: Path) -> None:
    assert database_settings(URL, tmp_path)["DISABLE_SERVER_SIDE_CURSORS"]
