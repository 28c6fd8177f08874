"""The walls, from both sides."""

from __future__ import annotations

import json
import os
import runpy
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from chat.kernels import sandbox, seccomp
from chat.kernels.sandbox import SandboxUnavailable, failure, make_directory, self_test
from chat.kernels.session import Session

CANARY = "canary-of-the-servers-environment"
PROJECT = Path(__file__).resolve().parents[3]

STARTER = """
import asyncio
from chat.kernels.session import Session

async def main():
    session = await Session.start()
    print("ready", flush=True)
    await session.execute("import subprocess, time; subprocess.Popen(['setsid', 'sleep', '600']); print(1, flush=True);"
                          " time.sleep(600)", limit_s=600, on_output=lambda _: print("running", flush=True))

asyncio.run(main())
"""


def family(pid: int) -> Iterator[int]:
    """A process and all below it."""
    yield pid
    for children in Path(f"/proc/{pid}/task").glob("*/children"):
        try:
            pids = children.read_text().split()
        except (FileNotFoundError, ProcessLookupError):
            continue
        for child in pids:
            yield from family(int(child))


def is_running(pid: int) -> bool:
    """Whether a process exists and is no zombie that only waits to be collected."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def left_of(pids: list[int]) -> list[int]:
    """Those of the processes that still run after ten seconds; usually an empty list after a few milliseconds."""
    deadline = time.monotonic() + 10
    while (left := [pid for pid in pids if is_running(pid)]) and time.monotonic() < deadline:
        time.sleep(0.02)
    return left


def arguments_of(pid: int) -> list[bytes]:
    """A process's command line."""
    return Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")[:-1]


def uid_of(pid: int) -> int:
    """The real user id of a process, as the host counts."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("Uid:"))


def test_every_probe_is_denied(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PLOTLINE_CANARY", CANARY)
    results = self_test()
    assert [result for result in results if not result.is_denied] == []
    assert len(results) >= 45
    assert {"call_shmget", "call_semget", "call_msgget", "call_mq_open"} <= {result.name for result in results}


def test_the_probes_do_find_what_is_open(tmp_path: Path) -> None:
    """The same probes outside the sandbox, those that harm nothing: else "denied" would prove little."""
    (tmp_path / "file").write_text("x")
    with socket.create_server(("127.0.0.1", 0)) as tcp, socket.socket(socket.AF_UNIX) as abstract:
        abstract.bind(f"\0plotline-test-{os.getpid()}")
        abstract.listen()
        targets = {
            "tcp_port": tcp.getsockname()[1],
            "abstract_socket": abstract.getsockname()[1:].decode(),
            "file_path": str(tmp_path / "file"),
            "project_path": str(PROJECT),
            "pid": os.getpid(),
            "environment": [],
        }
        code = (
            "import json, runpy, sys\n"
            "probes = runpy.run_path(sys.argv.pop(1))['PROBES']\n"
            "print(json.dumps({name: str(probes[name]()) for name in sys.argv[2:]}))"
        )
        names = ["connect_to_host_over_tcp", "connect_to_an_abstract_socket_of_the_host", "read_a_file_of_the_host"]
        names += ["read_the_servers_program", "find_secrets_in_environments", "see_processes_of_the_host"]
        names += ["signal_a_process_of_the_host"]
        done = subprocess.run(
            [sys.executable, "-c", code, str(PROJECT / "chat/kernels/probes.py"), json.dumps(targets), *names],
            capture_output=True,
            check=True,
        )
    assert set(json.loads(done.stdout)) == set(names)


async def test_no_secret_of_the_server_is_visible_inside(monkeypatch: pytest.MonkeyPatch) -> None:
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


async def test_the_kernel_is_not_root_on_the_host_either() -> None:
    others = set(family(os.getpid()))
    async with await Session.start():
        below = [pid for pid in family(os.getpid()) if pid not in others]
        owners = {uid_of(pid) for pid in below if arguments_of(pid)[1:] == [b"/shim.py", b"kernel"]}
    assert owners == {sandbox.NOBODY if os.geteuid() == 0 else os.geteuid()}


async def test_everything_in_the_sandbox_dies_when_a_session_closes() -> None:
    # Servers of other tests are children of this process too.
    others = set(family(os.getpid()))
    session = await Session.start()
    await session.execute("import subprocess; subprocess.Popen(['setsid', 'sleep', '600'])")
    below = [pid for pid in family(os.getpid()) if pid not in others]
    assert len(below) >= 3
    await session.close()
    assert left_of(below) == []


def test_everything_in_the_sandbox_dies_with_a_killed_starter() -> None:
    with subprocess.Popen([sys.executable, "-c", STARTER], cwd=PROJECT, stdout=subprocess.PIPE) as starter:
        assert starter.stdout is not None
        assert starter.stdout.readline() == b"ready\n"
        assert starter.stdout.readline() == b"running\n"
        below = [pid for pid in family(starter.pid) if pid != starter.pid]
        assert len(below) >= 3
        starter.send_signal(signal.SIGKILL)
    assert left_of(below) == []


@pytest.mark.parametrize("delay_s", [0.0, 0.01, 0.03, 0.1, 0.3])
def test_a_starter_killed_while_it_starts_leaves_no_process(delay_s: float, tmp_path: Path) -> None:
    code = STARTER.replace("    session =", "    print('starting', flush=True)\n    session =")
    # Its folder of sockets does stay behind then; here that is not in the machine's own.
    environment = {**os.environ, "XDG_RUNTIME_DIR": str(tmp_path)}
    argv = [sys.executable, "-c", code]
    with subprocess.Popen(argv, cwd=PROJECT, env=environment, stdout=subprocess.PIPE) as starter:
        assert starter.stdout is not None
        assert starter.stdout.readline() == b"starting\n"
        time.sleep(delay_s)
        below = [pid for pid in family(starter.pid) if pid != starter.pid]
        starter.send_signal(signal.SIGKILL)
    assert left_of(below) == []


async def test_nothing_of_a_session_is_left_on_the_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "r"
    folder.mkdir()
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(folder))
    async with await Session.start() as session:
        assert list(folder.iterdir()) == []
        assert (await session.execute("print(1)")).text == "1\n"


def test_a_long_path_is_not_used_for_sockets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    long = tmp_path / ("x" * 120)
    long.mkdir()
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(long))
    directory = make_directory()
    assert not directory.is_relative_to(long)
    assert len(str(directory / "s-1").encode()) <= 107
    directory.rmdir()


async def test_without_bubblewrap_the_sentence_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")
    with pytest.raises(SandboxUnavailable, match="apt-get install bubblewrap"):
        await Session.start()


async def test_without_libseccomp_the_sentence_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(seccomp, "IS_AVAILABLE", False)
    with pytest.raises(SandboxUnavailable, match="apt-get install libseccomp2"):
        await Session.start()


async def test_a_bubblewrap_that_fails_is_reported_in_its_own_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sandbox, "_python_folders", lambda: ("/nonexistent/bin",))
    sandbox._system.cache_clear()
    with pytest.raises(SandboxUnavailable, match="/nonexistent/bin"):
        await Session.start()
    sandbox._system.cache_clear()


def test_blocked_user_namespaces_are_explained() -> None:
    said = b"bwrap: No permissions to create new namespace, likely because the kernel does not allow it"
    assert "AppArmor" in str(failure(said))
    assert "AppArmor" not in str(failure(b"bwrap: Can't find source path /x"))


def test_the_probes_and_the_shim_import_nothing_of_ours() -> None:
    for name in ("shim", "probes"):
        source = (PROJECT / f"chat/kernels/{name}.py").read_text()
        assert "chat" not in source
        assert "django" not in source
    assert runpy.run_path(str(PROJECT / "chat/kernels/shim.py"))["LIMITS"]
