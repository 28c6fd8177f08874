"""The sandbox isolates programs, cleans up after them, and explains why it is unavailable."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from chat.kernels import interpreter, sandbox, seccomp
from chat.kernels.interpreter import Interpreter
from chat.kernels.sandbox import SandboxUnavailable, launch_error, make_socket_directory
from chat.kernels.session import Session
from tests.chat.kernels.isolation import attempt_escapes, open_targets
from tests.environment import ROOT
from tests.polling import wait_until

CANARY = "canary-of-the-servers-environment"

LAUNCHER = """
import asyncio
from chat.kernels.session import Session

async def main():
    session = await Session.start()
    print("ready", flush=True)
    await session.execute("import subprocess, time; subprocess.Popen(['setsid', 'sleep', '600']); print(1, flush=True);"
                          " time.sleep(600)", limit_s=600, on_output=lambda _: print("running", flush=True))

asyncio.run(main())
"""


def process_tree(pid: int) -> Iterator[int]:
    """Yield a process and all its descendants."""
    yield pid
    for children in Path(f"/proc/{pid}/task").glob("*/children"):
        try:
            pids = children.read_text().split()
        except (FileNotFoundError, ProcessLookupError):
            continue
        for child in pids:
            yield from process_tree(int(child))


def is_running(pid: int) -> bool:
    """Return whether a process exists and is not a zombie."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def survivors_of(pids: list[int]) -> list[int]:
    """Wait up to ten seconds until these processes have exited, and return those that still run."""
    with suppress(TimeoutError):
        wait_until(lambda: not any(map(is_running, pids)), limit_s=10)
    return [pid for pid in pids if is_running(pid)]


def arguments_of(pid: int) -> list[bytes]:
    """Return the command line of a process."""
    return Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")[:-1]


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


def test_escape_attempts_succeed_outside_the_sandbox() -> None:
    """Makes the harmless attempts outside, which shows that they detect what is reachable."""
    names = ["connect_to_host_over_tcp", "connect_to_an_abstract_socket_of_the_host", "read_a_file_of_the_host"]
    names += ["connect_to_a_socket_file_of_the_host", "read_the_servers_program", "find_secrets_in_environments"]
    names += ["see_processes_of_the_host", "signal_a_process_of_the_host"]
    with open_targets() as targets:
        arguments = [json.dumps({**targets, "environment": []}), *names]
        command = [sys.executable, "-m", "tests.chat.kernels.probes", *arguments]
        process = subprocess.run(command, cwd=ROOT, capture_output=True, check=True)
    results = json.loads(process.stdout)
    assert [name for name in names if results[name][0]] == []


async def test_no_secret_of_the_server_is_visible_in_the_sandbox(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PLOTLINE_CANARY", CANARY)
    code = (
        "import glob, os\nseen = repr(dict(os.environ))\n"
        "for path in glob.glob('/proc/[0-9]*/environ') + glob.glob('/proc/[0-9]*/cmdline'):\n"
        "    try: seen += repr(open(path, 'rb').read())\n    except OSError as error: seen += repr(error)\n"
        "print(seen)"
    )
    async with await Session.start() as session:
        text = (await session.execute(code)).text
    assert "MPLBACKEND" in text
    assert "CANARY" not in text
    assert CANARY not in text


async def test_the_kernel_is_not_root_on_the_host() -> None:
    other_pids = set(process_tree(os.getpid()))
    async with await Session.start():
        descendants = [pid for pid in process_tree(os.getpid()) if pid not in other_pids]
        owners = {uid_of(pid) for pid in descendants if arguments_of(pid)[1:] == [b"/bootstrap.py", b"kernel"]}
    assert owners == {sandbox.NOBODY if os.geteuid() == 0 else os.geteuid()}


async def test_all_processes_in_the_sandbox_end_when_a_session_closes() -> None:
    # Servers of other tests are also children of this process.
    other_pids = set(process_tree(os.getpid()))
    session = await Session.start()
    await session.execute("import subprocess; subprocess.Popen(['setsid', 'sleep', '600'])")
    descendants = [pid for pid in process_tree(os.getpid()) if pid not in other_pids]
    assert len(descendants) >= 3
    await session.close()
    assert survivors_of(descendants) == []


def test_all_processes_in_the_sandbox_end_with_a_killed_launcher() -> None:
    with subprocess.Popen([sys.executable, "-c", LAUNCHER], cwd=ROOT, stdout=subprocess.PIPE) as launcher:
        assert launcher.stdout is not None
        assert launcher.stdout.readline() == b"ready\n"
        assert launcher.stdout.readline() == b"running\n"
        descendants = [pid for pid in process_tree(launcher.pid) if pid != launcher.pid]
        assert len(descendants) >= 3
        launcher.send_signal(signal.SIGKILL)
    assert survivors_of(descendants) == []


@pytest.mark.parametrize("delay_s", [0.0, 0.01, 0.03, 0.1, 0.3])
def test_a_launcher_killed_during_a_start_leaves_no_process(delay_s: float, tmp_path: Path) -> None:
    code = LAUNCHER.replace("    session =", "    print('starting', flush=True)\n    session =")
    # The folder of sockets remains in this case, so it is created below `tmp_path`.
    environment = {**os.environ, "XDG_RUNTIME_DIR": str(tmp_path)}
    argv = [sys.executable, "-c", code]
    with subprocess.Popen(argv, cwd=ROOT, env=environment, stdout=subprocess.PIPE) as launcher:
        assert launcher.stdout is not None
        assert launcher.stdout.readline() == b"starting\n"
        time.sleep(delay_s)
        descendants = [pid for pid in process_tree(launcher.pid) if pid != launcher.pid]
        launcher.send_signal(signal.SIGKILL)
    assert survivors_of(descendants) == []


async def test_a_started_session_leaves_no_file_on_the_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    runtime_folder = tmp_path / "r"
    runtime_folder.mkdir()
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(runtime_folder))
    async with await Session.start() as session:
        assert list(runtime_folder.iterdir()) == []
        assert (await session.execute("print(1)")).text == "1\n"


def test_a_folder_with_a_long_path_is_not_used_for_sockets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    long_path = tmp_path / ("x" * 120)
    long_path.mkdir()
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(long_path))
    directory = make_socket_directory()
    assert not directory.is_relative_to(long_path)
    assert len(str(directory / "s-1").encode()) <= 107
    directory.rmdir()


async def test_missing_bubblewrap_is_reported_with_its_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")
    with pytest.raises(SandboxUnavailable, match="apt-get install bubblewrap"):
        await Session.start()


async def test_missing_libseccomp_is_reported_with_its_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(seccomp, "IS_AVAILABLE", False)
    with pytest.raises(SandboxUnavailable, match="apt-get install libseccomp2"):
        await Session.start()


async def test_missing_interpreter_is_reported_with_the_command_that_installs_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("KERNEL_PYTHON", raising=False)
    monkeypatch.setattr(interpreter, "DEFAULT_PATH", tmp_path / "python")
    with pytest.raises(SandboxUnavailable, match=r"Install it with `make \.venv-kernel/installed`"):
        await Session.start()


async def test_failure_of_bubblewrap_is_reported_in_its_own_words(monkeypatch: pytest.MonkeyPatch) -> None:
    broken = Interpreter(sys.executable, folders=("/nonexistent/bin",))
    monkeypatch.setattr(sandbox, "find_interpreter", lambda: broken)
    with pytest.raises(SandboxUnavailable, match="/nonexistent/bin"):
        await Session.start()


def test_blocked_user_namespaces_are_explained() -> None:
    stderr = b"bwrap: No permissions to create new namespace, likely because the kernel does not allow it"
    assert "AppArmor" in str(launch_error(stderr))
    assert "AppArmor" not in str(launch_error(b"bwrap: Can't find source path /x"))
