"""Variables are read from the environment or `.env` and converted; an invalid value gives an error with its name."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from django.core.exceptions import ImproperlyConfigured

from config import env as env_module
from config.env import Env


@pytest.fixture
def env_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make `Env` read a file of the test instead of `.env`, and return its path."""
    path = tmp_path / ".env"
    monkeypatch.setattr(env_module, "ENV_FILE", path)
    return path


def test_env_file_is_read(env_file: Path) -> None:
    env_file.write_text('# a comment\nPLOTLINE_TEST_A=one\nexport PLOTLINE_TEST_B="two words"\n')
    env = Env()
    assert (env.text("PLOTLINE_TEST_A"), env.text("PLOTLINE_TEST_B")) == ("one", "two words")


@pytest.mark.parametrize("value", ["from the shell", ""])
def test_environment_overrides_env_file(env_file: Path, monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    env_file.write_text("PLOTLINE_TEST_A=from the file\n")
    monkeypatch.setenv("PLOTLINE_TEST_A", value)
    assert Env().text("PLOTLINE_TEST_A") == value


def test_variables_of_the_env_file_are_not_added_to_the_process_environment(env_file: Path) -> None:
    env_file.write_text("PLOTLINE_TEST_A=one\n")
    Env()
    assert "PLOTLINE_TEST_A" not in os.environ


def test_values_of_env_file_are_not_interpolated(env_file: Path) -> None:
    env_file.write_text("PLOTLINE_TEST_A=pa${HOME}$$ss\n")
    assert Env().text("PLOTLINE_TEST_A") == "pa${HOME}$$ss"


def test_env_file_is_optional(env_file: Path) -> None:
    assert Env().text("PLOTLINE_TEST_A", "default") == "default"


def test_secret_is_read_from_a_file(tmp_path: Path) -> None:
    path = tmp_path / "secret"
    path.write_text("word\n")
    assert Env({"KEY_FILE": str(path), "KEY": "other"}).secret("KEY") == "word"


def test_error_for_an_unreadable_secret_file_names_the_variable(tmp_path: Path) -> None:
    with pytest.raises(ImproperlyConfigured, match="KEY_FILE names"):
        Env({"KEY_FILE": str(tmp_path / "absent")}).secret("KEY")
    (tmp_path / "binary").write_bytes(b"\xff")
    with pytest.raises(ImproperlyConfigured, match="it is not text"):
        Env({"KEY_FILE": str(tmp_path / "binary")}).secret("KEY")


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("1", True),
        ("true", True),
        ("YES", True),
        (" on ", True),
        ("0", False),
        ("False", False),
        ("", True),
        (" ", True),
    ],
)
def test_boolean_variable_accepts_several_words_for_true_and_false(value: str, expected: bool) -> None:
    assert Env({"FLAG": value}).boolean("FLAG", default=True) is expected


@pytest.mark.parametrize(
    "read",
    [
        lambda env: env.boolean("NAME", default=False),
        lambda env: env.integer("NAME", 1),
        lambda env: env.url("NAME", ("http", "https")),
    ],
)
def test_error_for_an_invalid_value_names_the_variable(read: Callable[[Env], object]) -> None:
    with pytest.raises(ImproperlyConfigured, match="NAME must be"):
        read(Env({"NAME": "maybe"}))


def test_error_for_an_invalid_url_does_not_show_its_password() -> None:
    with pytest.raises(ImproperlyConfigured) as caught:
        Env({"NAME": "mysql://someone:secret@host/name"}).url("NAME", ("sqlite", "postgres"))
    assert "secret" not in str(caught.value)


def test_number_below_its_minimum_is_refused() -> None:
    with pytest.raises(ImproperlyConfigured, match="at least 2"):
        Env({"NAME": "1"}).integer("NAME", 5, minimum=2)


def test_list_in_a_variable_is_split_at_commas() -> None:
    assert Env({"NAMES": " a, b ,,c"}).words("NAMES") == ["a", "b", "c"]


@pytest.mark.parametrize(
    "value", ["https://chat.example.org", "chat.example.org:8443", "site.example/plotline", "a.example b.example"]
)
def test_host_name_with_scheme_port_or_path_in_a_variable_is_refused(value: str) -> None:
    assert Env({"HOSTS": "*, .example.org,[::1]"}).hosts("HOSTS", []) == ["*", ".example.org", "[::1]"]
    with pytest.raises(ImproperlyConfigured, match="HOSTS must have host names without scheme"):
        Env({"HOSTS": f"localhost,{value}"}).hosts("HOSTS", [])


@pytest.mark.parametrize("value", ["chat.example.org", "https://site.example/plotline", "https://a.example b.example"])
def test_origins_are_normalized_to_scheme_host_and_port_and_others_are_refused(value: str) -> None:
    origins = Env({"ORIGINS": "https://Chat.example.org/, https://*.example.org:8443"}).origins("ORIGINS")
    assert origins == ["https://chat.example.org", "https://*.example.org:8443"]
    with pytest.raises(ImproperlyConfigured, match="ORIGINS must have scheme and host without a path"):
        Env({"ORIGINS": value}).origins("ORIGINS")
