"""Settings of Python sessions: where kernels run, and how the service on this machine is started."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from django.conf import settings

from chat.emulator import demo_model
from chat.python.newer_files.run import RUNS_LIMIT
from chat.python.table_readings.kernel_reading import PREVIEWS_LIMIT
from tests.environment import ROOT

PRINT_SETTINGS = """
import json
from config import kernels, settings

print(json.dumps([settings.JUPYTER_GATEWAY_URL, str(settings.KERNEL_SERVICE_DIR), kernels.service_arguments()]))
"""


def read_settings(**variables: str) -> subprocess.CompletedProcess[str]:
    """Read the settings in a process of its own."""
    environment = os.environ | variables
    return subprocess.run(
        [sys.executable, "-c", PRINT_SETTINGS], cwd=ROOT, env=environment, capture_output=True, text=True
    )


def test_kernel_service_on_this_machine_with_a_sandbox_is_the_default() -> None:
    url, directory, arguments = json.loads(read_settings().stdout)
    assert url == ""
    assert directory == str(Path(os.environ["PLOTLINE_VAR_DIR"]).absolute() / "kernels")
    assert arguments[:2] == ["--directory", directory]
    assert "--without-sandbox" not in arguments


def test_kernel_service_is_not_started_if_the_settings_name_a_jupyter_server() -> None:
    url, _, arguments = json.loads(read_settings(JUPYTER_GATEWAY_URL="http://kernels:8888/").stdout)
    assert (url, arguments) == ("http://kernels:8888", [])


def test_code_runs_without_a_sandbox_only_if_the_setting_says_so() -> None:
    assert "--without-sandbox" in json.loads(read_settings(KERNELS_WITHOUT_SANDBOX="1").stdout)[2]


def test_kernel_limit_of_the_service_includes_kernels_of_demo_model_previews_and_reruns() -> None:
    arguments = json.loads(read_settings(KERNELS_LIMIT="50").stdout)[2]
    values = dict(zip(arguments[::2], arguments[1::2], strict=True))
    # One more kernel runs code again at night.
    assert int(values["--kernels-limit"]) == 50 + demo_model.KERNELS_LIMIT + PREVIEWS_LIMIT + RUNS_LIMIT + 1
    assert int(values["--idle-limit"]) == 3 * settings.KERNEL_IDLE_LIMIT_S


@pytest.mark.parametrize(
    ("variables", "sentence"),
    [
        ({"JUPYTER_GATEWAY_URL": "kernels:8888"}, "JUPYTER_GATEWAY_URL must begin with http:// or https://"),
        ({"JUPYTER_GATEWAY_TOKEN": "t"}, "JUPYTER_GATEWAY_TOKEN is set, but no server"),
        ({"KERNELS_WITHOUT_SANDBOX": "perhaps"}, "KERNELS_WITHOUT_SANDBOX must be 1 or 0"),
        ({"KERNEL_MEMORY_LIMIT_MIB": "10"}, "KERNEL_MEMORY_LIMIT_MIB must be at least 256"),
        (
            {"JUPYTER_GATEWAY_URL": "http://k", "KERNELS_WITHOUT_SANDBOX": "1"},
            "KERNELS_WITHOUT_SANDBOX is on, but the server at JUPYTER_GATEWAY_URL runs the kernels",
        ),
    ],
)
def test_invalid_value_stops_the_start_with_a_sentence(variables: dict[str, str], sentence: str) -> None:
    result = read_settings(**variables)
    assert result.returncode == 1
    assert sentence in result.stderr
