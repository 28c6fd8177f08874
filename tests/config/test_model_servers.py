"""Settings of the servers that run the models: which are set, and the defaults of the others."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest
from django.core.exceptions import ImproperlyConfigured

from config.env import Env
from config.model_servers import choose_default_model, complete_openai_url
from tests.environment import ROOT

PRINT_SETTINGS = """
import json
from config import settings

names = ("OPENAI_BASE_URL", "OPENAI_MODELS", "DEFAULT_MODEL", "ENDPOINT_API_KEYS")
print(json.dumps({name: getattr(settings, name) for name in names}))
"""


@pytest.mark.parametrize(
    ("base_url", "api_key", "expected"),
    [
        ("", "", ""),
        ("", "k", "https://api.openai.com/v1"),
        ("http://localhost:11434/v1/", "", "http://localhost:11434/v1"),
        ("http://localhost:11434/v1", "k", "http://localhost:11434/v1"),
    ],
)
def test_openai_endpoint_is_configured_by_a_url_or_by_a_key_alone(base_url: str, api_key: str, expected: str) -> None:
    assert complete_openai_url(base_url, api_key, []) == expected


def test_openai_models_without_a_base_url_are_a_configuration_error() -> None:
    with pytest.raises(ImproperlyConfigured, match="OPENAI_MODELS names models, but no server: set OPENAI_BASE_URL"):
        complete_openai_url("", "", ["m"])


@pytest.mark.parametrize(
    ("gemini_model", "openai_models", "is_emulated", "expected"),
    [
        ("flash", ["m"], True, "flash"),
        ("flash", ["m"], False, "flash"),
        ("", ["m", "n"], True, "m"),
        ("", [], True, "plotline-demo"),
        ("", ["m"], False, ""),
    ],
)
def test_default_model_depends_on_which_model_servers_are_configured(
    gemini_model: str, openai_models: list[str], is_emulated: bool, expected: str
) -> None:
    assert choose_default_model(gemini_model, openai_models, is_emulated=is_emulated) == expected


def test_variables_that_end_in_api_key_are_read_as_endpoint_keys_except_listed_ones() -> None:
    variables = {"A_API_KEY": "a", "EMPTY_API_KEY": "", "OWN_API_KEY": "o", "SECRET_KEY": "s", "A_TOKEN": "t"}
    assert Env(variables).secrets("_API_KEY", except_for={"OWN_API_KEY"}) == {"A_API_KEY": "a"}


def test_settings_are_read_from_the_environment() -> None:
    variables = {
        "OPENAI_API_KEY": "own",
        "OPENAI_MODELS": "gpt-x, gpt-y",
        "MISTRAL_API_KEY": "m",
        "PLOTLINE_TEST_API_KEY_FILE": str(ROOT / "LICENSE"),
    }
    done = subprocess.run(
        [sys.executable, "-c", PRINT_SETTINGS],
        cwd=ROOT,
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    values = json.loads(done.stdout)
    assert values["OPENAI_BASE_URL"] == "https://api.openai.com/v1"
    assert (values["OPENAI_MODELS"], values["DEFAULT_MODEL"]) == (["gpt-x", "gpt-y"], "gpt-x")
    keys = values["ENDPOINT_API_KEYS"]
    assert keys["MISTRAL_API_KEY"] == "m"
    assert keys["PLOTLINE_TEST_API_KEY"].startswith("MIT License")
    assert "OPENAI_API_KEY" not in keys
