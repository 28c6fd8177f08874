"""The scripts in `deploy/` that set up a machine: they set it up, or say in a sentence what to do."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.drills.services import DrillError, postgresql_programs
from tests.environment import ROOT

RECORDER = '#!/bin/sh\necho "$(basename "$0") $*" >> "$RECORD"\n'
"""A program that writes its command line into a file."""


class Machine:
    """A folder that replaces the system's folders, and programs that replace the real ones."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.record = folder / "record"
        self.record.touch()
        self.add("proc/sys/kernel/apparmor_restrict_unprivileged_userns", "1\n")
        self.add("sys/kernel/security/apparmor/profiles")
        self.add("etc/apparmor.d/flatpak", "profile flatpak /usr/bin/flatpak {\n  /usr/bin/bwrap rix,\n}\n")
        self.add_program("apparmor_parser", RECORDER)
        self.add_program("bwrap", RECORDER)

    def add(self, name: str, text: str = "") -> Path:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def add_program(self, name: str, text: str) -> None:
        self.add(f"programs/{name}", text).chmod(0o755)

    def run(self, *command: str | Path) -> subprocess.CompletedProcess[str]:
        """Run a command. It finds these programs before all others."""
        variables = {"PATH": f"{self.folder / 'programs'}:{os.environ['PATH']}", "RECORD": str(self.record)}
        environment = os.environ | variables | {"PLOTLINE_TEST_ROOT": str(self.folder)}
        return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)

    @property
    def profiles(self) -> set[str]:
        return {path.name for path in (self.folder / "etc/apparmor.d").iterdir()}


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    """A machine whose AppArmor restricts user namespaces, and has no profile for bubblewrap."""
    machine = Machine(tmp_path)
    machine.add_program("id", "#!/bin/sh\necho 0\n")
    return machine


def test_profile_for_bubblewrap_is_installed_once_if_apparmor_restricts_it(machine: Machine) -> None:
    first, second = machine.run("deploy/system-packages", "run"), machine.run("deploy/system-packages", "run")
    profile = machine.folder / "etc/apparmor.d/plotline-bwrap"
    assert (first.returncode, first.stderr, second.returncode, second.stdout) == (0, "", 0, "")
    assert "Wrote /etc/apparmor.d/plotline-bwrap" in first.stdout
    assert "Undo: sudo apparmor_parser --remove" in first.stdout
    assert profile.read_text() == (ROOT / "deploy/apparmor.profile").read_text()
    assert machine.record.read_text() == f"apparmor_parser --replace {profile}\n"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("proc/sys/kernel/apparmor_restrict_unprivileged_userns", "0\n"),
        ("etc/apparmor.d/bwrap-userns-restrict", "profile bwrap /usr/bin/bwrap flags=(attach_disconnected) {\n"),
    ],
)
def test_no_apparmor_profile_is_installed_if_none_is_needed(machine: Machine, name: str, text: str) -> None:
    machine.add(name, text)
    before = machine.profiles
    assert machine.run("deploy/apparmor-profile").returncode == 0
    assert (machine.profiles, machine.record.read_text()) == (before, "")


def test_script_replaces_its_own_apparmor_profile_and_reports_a_profile_of_another_source(machine: Machine) -> None:
    assert "Wrote" in machine.run("deploy/apparmor-profile").stdout
    assert "Wrote" in machine.run("deploy/apparmor-profile").stdout
    other = machine.add("etc/apparmor.d/bwrap-userns-restrict", "profile bwrap /usr/bin/bwrap flags=(unconfined) {\n")
    assert f"Bubblewrap has the profile {other}" in machine.run("deploy/apparmor-profile").stderr


def test_profile_file_that_apparmor_refuses_is_removed_again(machine: Machine) -> None:
    machine.add_program("apparmor_parser", "#!/bin/sh\nexit 1\n")
    result = machine.run("deploy/apparmor-profile")
    assert (result.returncode, machine.profiles) == (1, {"flatpak"})
    assert "no code can run" in result.stderr


def test_command_is_printed_if_this_user_may_not_install_the_profile(machine: Machine) -> None:
    machine.add_program("id", "#!/bin/sh\necho 1000\n")
    machine.add_program("sudo", "#!/bin/sh\nexit 1\n")
    result = machine.run("deploy/apparmor-profile")
    assert (result.returncode, machine.profiles) == (1, {"flatpak"})
    assert result.stderr.endswith("with: sudo deploy/apparmor-profile\n")


def test_script_prints_one_sentence_on_other_systems_than_linux(machine: Machine) -> None:
    machine.add_program("uname", "#!/bin/sh\necho Darwin\n")
    result = machine.run("deploy/virtual-environment", sys.executable, machine.folder / "environment")
    assert (result.returncode, result.stdout, result.stderr.count("\n")) == (1, "", 1)
    assert 'README.md says under "macOS and Windows"' in result.stderr
    assert "\n## macOS and Windows\n" in (ROOT / "README.md").read_text()


def test_error_names_a_package_without_a_suitable_version_and_install_is_not_retried(machine: Machine) -> None:
    machine.add("packages/demo-1-py3-none-any.whl")
    for name, words in (("pip", "-m pip"), ("python", "")):
        machine.add_program(name, f'#!/bin/sh\nexec {sys.executable} {words} "$@"\n')
    machine.add_program("sleep", RECORDER)
    source = ("--no-index", "--find-links", machine.folder / "packages", "--target", machine.folder / "new")
    result = machine.run("deploy/retry", machine.folder / "programs/pip", "install", "-qq", *source, "demo==2")
    version = ".".join(map(str, sys.version_info[:3]))
    assert (result.returncode, machine.record.read_text(), result.stderr.count("\n")) == (1, "", 1)
    assert result.stderr.startswith(f"There is no demo==2 for Python {version} in this index of packages.")


def test_error_names_the_package_that_needs_another_python_and_the_python_in_use(machine: Machine) -> None:
    text = """\
ERROR: Ignored the following versions that require a different python version: 4.1.1 Requires-Python >=3.11.5
ERROR: Could not find a version that satisfies the requirement soupsieve==4.1.1 (from versions: 0.4, 2.10)
ERROR: No matching distribution found for soupsieve==4.1.1"""
    machine.add_program("pip", f"#!/bin/sh\necho '{text}' >&2\nexit 1\n")
    machine.add_program("python", "#!/bin/sh\necho Python 3.11.2\n")
    result = machine.run("deploy/retry", machine.folder / "programs/pip", "install", "soupsieve==4.1.1")
    assert (result.returncode, result.stderr.count("\n")) == (1, 1)
    assert result.stderr.startswith("Python 3.11.2 cannot have soupsieve==4.1.1. Use another Python: rm -rf .venv")


def test_installation_is_tried_three_times_if_the_package_server_is_away(machine: Machine) -> None:
    """Without a connection, pip prints the same error as for an unknown package, with an empty list of versions."""
    text = "Could not find a version that satisfies the requirement demo (from versions: none)"
    machine.add_program("pip", f'#!/bin/sh\necho "pip $*" >> "$RECORD"\necho "ERROR: {text}" >&2\nexit 1\n')
    machine.add_program("sleep", RECORDER)
    result = machine.run("deploy/retry", machine.folder / "programs/pip", "install", "demo")
    assert (result.returncode, result.stderr.count(text)) == (1, 3)
    assert machine.record.read_text() == "pip install demo\nsleep 10\n" * 2 + "pip install demo\n"


def test_images_are_pinned_by_the_digests_that_docker_reports(machine: Machine) -> None:
    names = ("Dockerfile", "compose.yaml")
    for name in ("pin-images", *names):
        machine.add(f"deploy/{name}", (ROOT / "deploy" / name).read_text()).chmod(0o755)
    for digest in (f"sha256:{'0' * 64}", f"sha256:{'a' * 64}"):
        machine.add_program("docker", f"#!/bin/sh\necho {digest}\n")
        assert machine.run(machine.folder / "deploy/pin-images").returncode == 0
        text = "".join((machine.folder / "deploy" / name).read_text() for name in names)
        tagged = re.findall(r"^ *(?:image: |ARG BASE=)(\S+:\S+)$", text, re.MULTILINE)
        assert len(tagged) == 5
        assert [image for image in tagged if not re.fullmatch(rf"[^@]+:[^@]+@{digest}", image)] == []
    machine.add_program("docker", "#!/bin/sh\necho null\n")
    failed = machine.run(machine.folder / "deploy/pin-images")
    assert (failed.returncode, failed.stderr.count("\n")) == (1, 1)
    assert "".join((machine.folder / "deploy" / name).read_text() for name in names) == text


@pytest.mark.parametrize(("installed", "newest"), [(["9.6", "15", "17", "16"], "17"), (["15"], "15"), (["13"], "")])
def test_newest_installed_postgresql_of_at_least_version_15_is_used(
    machine: Machine, installed: list[str], newest: str
) -> None:
    folder = machine.folder / "usr/lib/postgresql"
    for version in installed:
        machine.add(f"usr/lib/postgresql/{version}/bin/postgres").chmod(0o755)
    machine.add_program("id", "#!/bin/sh\necho 1000\n")
    machine.add_program("sudo", "#!/bin/sh\nexit 1\n")
    missing = machine.run("deploy/system-packages", "test-postgresql").stderr.replace(".", "").split()
    assert ("postgresql" in missing) is (not newest)
    if newest:
        assert postgresql_programs(folder) == folder / newest / "bin"
    else:
        with pytest.raises(DrillError, match="PostgreSQL 15 or newer is not installed"):
            postgresql_programs(folder)
