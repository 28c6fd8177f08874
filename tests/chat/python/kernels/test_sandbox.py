"""The sandbox isolates programs, cleans up after them, and explains why it is unavailable."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from chat.python.kernels import interpreter, sandbox, seccomp
from chat.python.kernels.interpreter import Interpreter
from chat.python.kernels.places import LocalService
from chat.python.kernels.sandbox import SandboxUnavailable, launch, launch_error
from chat.python.kernels.service import runtime_directory
from tests.chat.python.kernels.isolation import attempt_escapes, open_targets
from tests.chat.python.kernels.processes import arguments_of, process_tree
from tests.chat.python.kernels.service.raw_kernel import running_kernel
from tests.environment import ROOT

CANARY = "canary-of-the-servers-environment"
ORDINARY_UID = 12_345
ATTEMPT_ESCAPES = """
import dataclasses, json, os
from tests.chat.python.kernels.isolation import attempt_escapes
print(json.dumps({"uid": os.geteuid(), "results": [dataclasses.asdict(result) for result in attempt_escapes()]}))
"""


@pytest.fixture
def directory() -> Iterator[Path]:
    """A folder of sockets."""
    directory = runtime_directory.create_short()
    yield directory
    directory.rmdir()


def as_ordinary_user(*command: str) -> list[str]:
    """Return a command that runs another one as an ordinary user, who can read Python even if it is in root's home."""
    home, prefix = Path("/root"), Path(sys.base_prefix)
    shown = ["--tmpfs", str(home), "--ro-bind", str(prefix), str(prefix)] if prefix.is_relative_to(home) else []
    parents = [parent for parent in reversed(prefix.parents) if parent != home and parent.is_relative_to(home)]
    shown[2:2] = [word for parent in parents if shown for word in ("--dir", str(parent))]
    variables = [f"{name}={os.environ[name]}" for name in ("PATH", "KERNEL_PYTHON") if os.environ.get(name)]
    ids = ("--reuid", str(ORDINARY_UID), "--regid", str(ORDINARY_UID), "--clear-groups", "--inh-caps", "-all")
    return [
        *("bwrap", "--die-with-parent", "--dev-bind", "/", "/", *shown),
        *("setpriv", *ids, "env", "-i", *variables, *command),
    ]


def uid_of(pid: int) -> int:
    """Return the real user ID of a process on the host."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("Uid:"))


def test_every_escape_attempt_is_denied(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PLOTLINE_CANARY", CANARY)
    results = attempt_escapes()
    assert [result for result in results if not result.is_denied] == []
    assert len(results) >= 45
    assert {"call_shmget", "call_semget", "call_msgget", "call_mq_open"} <= {result.name for result in results}


@pytest.mark.drill
@pytest.mark.skipif(os.geteuid() != 0, reason="An ordinary user's launch is tested above.")
def test_every_escape_attempt_is_denied_if_an_ordinary_user_launches_the_sandbox() -> None:
    """A server that is not root launches bubblewrap directly, without the outer one that gives up root."""
    process = subprocess.run(as_ordinary_user(sys.executable, "-c", ATTEMPT_ESCAPES), cwd=ROOT, capture_output=True)
    assert process.returncode == 0, process.stderr.decode()
    answer = json.loads(process.stdout)
    assert answer["uid"] == ORDINARY_UID
    assert [result for result in answer["results"] if not result["is_denied"]] == []
    assert len(answer["results"]) >= 45


def test_escape_attempts_succeed_outside_the_sandbox() -> None:
    """Makes the harmless attempts outside, which shows that they detect what is reachable."""
    names = ["connect_to_host_over_tcp", "connect_to_an_abstract_socket_of_the_host", "read_a_file_of_the_host"]
    names += ["connect_to_a_socket_file_of_the_host", "read_the_servers_program", "find_secrets_in_environments"]
    names += ["see_processes_of_the_host", "signal_a_process_of_the_host"]
    with open_targets() as targets:
        arguments = [json.dumps({**targets, "environment": []}), *names]
        command = [sys.executable, "-m", "tests.chat.python.kernels.probes", *arguments]
        process = subprocess.run(command, cwd=ROOT, capture_output=True, check=True)
    results = json.loads(process.stdout)
    assert [name for name in names if results[name][0]] == []


async def test_code_in_the_sandbox_is_not_root_on_the_host(kernel_service: LocalService) -> None:
    async with running_kernel(kernel_service):
        descendants = process_tree(os.getpid())
        owners = {uid_of(pid) for pid in descendants if b"/bootstrap.py" in arguments_of(pid)[1:2]}
    assert owners == {sandbox.NOBODY if os.geteuid() == 0 else os.geteuid()}


def test_error_about_missing_libseccomp_contains_the_command_that_installs_it(
    directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(seccomp, "IS_AVAILABLE", False)
    with pytest.raises(SandboxUnavailable, match="apt-get install libseccomp2"):
        launch(directory, "kernel")


def test_error_about_a_missing_interpreter_contains_the_command_that_installs_it(
    directory: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("KERNEL_PYTHON", raising=False)
    monkeypatch.setattr(interpreter, "DEFAULT_PATH", tmp_path / "python")
    with pytest.raises(SandboxUnavailable, match=r"Install it with `make \.venv-kernel/installed`"):
        launch(directory, "kernel")


def test_error_contains_the_message_of_bubblewrap_without_its_paths(
    directory: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    broken = Interpreter(sys.executable, folders=("/nonexistent/bin",), links=())
    monkeypatch.setattr(sandbox, "find_interpreter", lambda: broken)
    with launch(directory, "kernel", "2048") as process:
        assert process.stderr is not None
        stderr = process.stderr.read()
    assert process.returncode != 0
    sentence = str(launch_error(stderr))
    assert "bwrap: Can't find source path …: No such file or directory" in sentence
    assert "/nonexistent/bin" in caplog.text


def test_error_says_that_user_namespaces_are_blocked() -> None:
    stderr = b"bwrap: No permissions to create new namespace, likely because the kernel does not allow it"
    assert "User namespaces are blocked" in str(launch_error(stderr))
    assert "User namespaces" not in str(launch_error(b"bwrap: Can't find source path /x"))


def test_error_about_namespaces_restricted_by_apparmor_contains_the_command_that_allows_them(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "restriction").write_text("1\n")
    monkeypatch.setattr(sandbox, "_APPARMOR_RESTRICTION", tmp_path / "restriction")
    [command] = re.findall(
        r"`sudo (\S+)`", str(launch_error(b"bwrap: loopback: Failed RTM_NEWADDR: Operation not permitted"))
    )
    assert os.access(ROOT / command, os.X_OK)
