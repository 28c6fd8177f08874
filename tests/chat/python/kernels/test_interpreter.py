"""The Python of kernels: the default environment, or the one that KERNEL_PYTHON names."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from chat.python.kernels.interpreter import DEFAULT_PATH, InterpreterUnavailable, find_interpreter
from tests.chat.python.kernels.service.raw_kernel import running_kernel
from tests.environment import ROOT
from tests.kernel_service import running_service


@pytest.fixture
def environment_without_packages(tmp_path: Path) -> Path:
    """An interpreter in a virtual environment that has no packages."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", tmp_path / "environment"], check=True)
    return tmp_path / "environment/bin/python"


@pytest.mark.parametrize("value", ["", " "])
def test_default_environment_is_used_if_kernel_python_is_empty(monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    monkeypatch.setenv("KERNEL_PYTHON", value)
    default = find_interpreter()
    assert default.executable == str(DEFAULT_PATH)
    assert str(DEFAULT_PATH.parent.resolve()) in default.folders
    assert not any(ROOT.is_relative_to(folder) for folder in default.folders)


async def test_kernels_import_packages_of_their_own_environment_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KERNEL_PYTHON", "")
    code = (
        "import sys, importlib.util\nimport matplotlib, numpy, pandas, scipy, sympy\n"
        "names = ['django', 'daphne', 'google', 'psycopg']\n"
        "print(sys.executable, [name for name in names if importlib.util.find_spec(name)])"
    )
    with running_service("--warm-kernels", "0") as service:
        async with running_kernel(service.place) as kernel:
            assert await kernel.run(code) == f"{DEFAULT_PATH} []\n"


async def test_kernel_runs_on_an_interpreter_that_is_reached_through_several_symbolic_links(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    python, environment = DEFAULT_PATH.resolve(), tmp_path / "environment/bin/python"
    links = {
        tmp_path / "versions": python.parents[1],
        tmp_path / "shims/python": tmp_path / "versions/bin" / python.name,
        tmp_path / "launchers/python3": Path("../shims/python"),
        environment: tmp_path / "launchers/python3",
        tmp_path / "environment/lib": DEFAULT_PATH.parents[1] / "lib",
    }
    for link, target in links.items():
        link.parent.mkdir(parents=True, exist_ok=True)
        link.symlink_to(target)
    (tmp_path / "environment/pyvenv.cfg").write_text(f"home = {tmp_path}/launchers\n")
    # A service of root runs code as another user.
    for path in (tmp_path / "environment/bin", tmp_path / "environment/pyvenv.cfg"):
        path.chmod(0o755)
    monkeypatch.setenv("KERNEL_PYTHON", str(environment))
    with running_service("--warm-kernels", "0") as service:
        async with running_kernel(service.place) as kernel:
            assert await kernel.run("import numpy, sys\nprint(sys.executable)") == f"{environment}\n"


def test_relative_kernel_python_is_resolved_from_the_project_folder(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("KERNEL_PYTHON", str(DEFAULT_PATH.relative_to(ROOT)))
    monkeypatch.chdir(tmp_path)
    assert find_interpreter().executable == str(DEFAULT_PATH)


@pytest.mark.parametrize("name", ["absent", "", "file"])
def test_error_for_a_path_that_is_not_executable_mentions_kernel_python(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, name: str
) -> None:
    (tmp_path / "file").touch(mode=0o644)
    monkeypatch.setenv("KERNEL_PYTHON", str(tmp_path / name))
    with pytest.raises(InterpreterUnavailable, match="KERNEL_PYTHON does not name an executable file"):
        find_interpreter()


@pytest.mark.parametrize("script", ["#!/bin/sh\nexit 3\n", "#!/bin/sh\necho hello\n", "#!/nonexistent\n"])
def test_error_says_that_kernel_python_is_not_a_working_python_interpreter(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, script: str
) -> None:
    path = tmp_path / "python"
    path.write_text(script)
    path.chmod(0o755)
    monkeypatch.setenv("KERNEL_PYTHON", str(path))
    with pytest.raises(InterpreterUnavailable, match="does not work as a Python interpreter"):
        find_interpreter()


def test_error_about_missing_ipykernel_contains_the_command_that_installs_it(
    monkeypatch: pytest.MonkeyPatch, environment_without_packages: Path, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("KERNEL_PYTHON", str(environment_without_packages))
    with pytest.raises(InterpreterUnavailable, match=r"no ipykernel\. Install `requirements-kernel\.txt` there"):
        find_interpreter()
    assert f"{environment_without_packages} -m pip install -r requirements-kernel.txt" in caplog.text
