"""Mails are sent through the server that EMAIL_URL names."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.mail_server import running_mail_server
from tests.server_databases import ROOT, environment


def test_mail_arrives_at_the_server_of_the_url(tmp_path: Path) -> None:
    with running_mail_server() as mail_server:
        variables = {"EMAIL_URL": mail_server.url, "EMAIL_FROM": "plotline@example.org"}
        subprocess.run(
            [sys.executable, "manage.py", "sendtestemail", "ann@example.org"],
            cwd=ROOT,
            env=environment(tmp_path, **variables),
            check=True,
            timeout=60,
        )
        assert "it was successful" in mail_server.take_text()
