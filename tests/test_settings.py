"""`tests.settings`: variables with which tests replace settings of the servers that they start."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tests.environment import ROOT

PROGRAM = "from django.conf import settings; print(settings.TURN_LEASE_S)"


def read_lease(**variables: str) -> subprocess.CompletedProcess[str]:
    """Print the setting `TURN_LEASE_S` in a process with these variables."""
    command = [sys.executable, "-c", PROGRAM]
    return subprocess.run(command, cwd=ROOT, env=os.environ | variables, capture_output=True, text=True)


@pytest.mark.parametrize(("module", "expected"), [("tests.settings", "2"), ("config.settings", "6")])
def test_variable_replaces_a_setting_in_test_settings_and_not_in_product_settings(module: str, expected: str) -> None:
    done = read_lease(DJANGO_SETTINGS_MODULE=module, SETTING_TURN_LEASE_S="2")
    assert done.stdout.strip() == expected, done.stderr


def test_variable_for_an_unknown_setting_is_refused() -> None:
    assert "there is no setting TURN_LEASE_H" in read_lease(SETTING_TURN_LEASE_H="2").stderr
