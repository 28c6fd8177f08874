"""`manage.py gemini_emulator` serves like `python -m chat.emulator`."""

from __future__ import annotations

import json
import subprocess
import sys
import urllib.request

from tests.child_processes import tied
from tests.emulator_server import ROOT


def test_management_command_serves_on_the_port_that_it_prints() -> None:
    with subprocess.Popen(
        tied([sys.executable, "manage.py", "gemini_emulator", "--port", "0"]),
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
    ) as server:
        assert server.stdout
        url = server.stdout.readline().split()[-1]
        with urllib.request.urlopen(f"{url}/v1beta/models", timeout=60) as response:
            assert json.load(response)["models"][0]["name"] == "models/plotline-demo"
        server.terminate()
        assert server.wait(timeout=60) == 0
