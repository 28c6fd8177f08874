"""Ports that tests reserve."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.environment import ROOT
from tests.ports import free_port


@pytest.mark.skipif(sys.platform != "linux", reason="ports are reserved on Linux only")
def test_port_that_one_test_process_has_reserved_is_not_given_to_another() -> None:
    code = f"from tests.ports import reserve; print(reserve({free_port()}))"
    other = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert other.stdout == "False\n", other.stderr
