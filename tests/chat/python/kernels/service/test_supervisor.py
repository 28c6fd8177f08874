"""The supervisor starts, watches and ends the gateway, and reports its state."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import cast

import pytest

from chat.python.kernels.errors import KernelsUnavailable
from chat.python.kernels.places import LocalService
from chat.python.kernels.service import runtime_directory, supervisor
from chat.python.kernels.service.gateway_process import GatewayProcess
from chat.python.kernels.service.options import GatewayOptions
from chat.python.kernels.service.supervisor import HealthCheck, Supervisor
from tests.chat.python.kernels.processes import gateway_pid, process_tree, survivors_of
from tests.chat.python.kernels.service.raw_kernel import connected, open_client, running_kernel, start_kernel
from tests.environment import ROOT
from tests.kernel_service import KernelServiceProcess, running_service
from tests.polling import wait_until, wait_until_async
from tests.ports import free_port
from tests.sampling import sampled

FAST_CHECKS = ("--health-interval", "0.1", "--health-limit", "1")
LIMIT_S = 60.0


@pytest.fixture
def service() -> Iterator[KernelServiceProcess]:
    """A service of its own for a test that kills or stops it."""
    with running_service(*FAST_CHECKS, "--warm-kernels", "0") as running:
        yield running


def run_service(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a service that is expected to exit with an error."""
    command = [sys.executable, "-m", "chat.python.kernels.service", *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=LIMIT_S)


async def test_gateway_is_started_when_a_client_asks_for_its_address(service: KernelServiceProcess) -> None:
    assert service.place.status().state == "stopped"
    address = await service.place.address()
    status = service.place.status()
    assert (status.state, status.url, status.is_sandboxed) == ("running", address.url, True)
    assert address.url.startswith("http://127.0.0.1:")
    assert await service.place.address() == address


async def test_stopped_service_starts_again_only_after_a_start_command(service: KernelServiceProcess) -> None:
    first = await service.place.address()
    processes = [pid for pid in process_tree(service.pid) if pid != service.pid]
    assert service.place.stop().state == "stopped"
    # A process that was just being started ends a moment later.
    assert wait_until(lambda: not survivors_of(processes), LIMIT_S)
    with pytest.raises(KernelsUnavailable, match="stopped"):
        await service.place.address()
    assert service.place.start().state == "running"
    second = await service.place.address()
    assert second.token != first.token


async def test_killed_gateway_is_restarted_and_its_kernels_end(service: KernelServiceProcess) -> None:
    async with running_kernel(service.place) as kernel:
        gateway = gateway_pid(service.pid)
        processes = list(process_tree(gateway))
        assert len(processes) >= 3
        os.kill(gateway, signal.SIGKILL)
        assert survivors_of(processes) == []
        wait_until(lambda: service.place.status().restarts == 1, LIMIT_S)
        status = service.place.start()
        assert (status.state, status.kernels) == ("running", 0)
        assert "ended" in status.error
        address = await service.place.address()
        async with open_client(address) as http:
            async with http.get(f"{address.url}/api/kernels/{kernel.kernel_id}") as response:
                assert response.status == 404
            async with connected(http, address, await start_kernel(http, address)) as next_kernel:
                assert await next_kernel.run("1 + 1") == "2"


@pytest.mark.drill
async def test_hanging_gateway_is_killed_and_restarted(service: KernelServiceProcess) -> None:
    await service.place.address()
    gateway = gateway_pid(service.pid)
    os.kill(gateway, signal.SIGSTOP)
    await wait_until_async(lambda: service.place.status().restarts == 1, LIMIT_S)
    assert survivors_of([gateway]) == []
    assert service.place.start().state == "running"
    assert "did not answer" in service.place.status().error


def begin_start(service: KernelServiceProcess, delay_s: float) -> subprocess.Popen[bytes]:
    """Let another process start the gateway, and return that process after `delay_s` seconds of the start.

    On a fast machine the gateway may have started by then.
    """
    start = subprocess.Popen([sys.executable, "-c", _START, str(service.directory)], cwd=ROOT)
    wait_until(lambda: service.place.status().state == "starting", LIMIT_S)
    with suppress(subprocess.TimeoutExpired):
        start.wait(delay_s + 0.001)
    return start


@pytest.mark.parametrize("delay_s", sampled([0.0, 0.1, 0.2, 0.4], 1))
def test_all_processes_end_if_the_supervisor_is_killed_during_a_start(delay_s: float) -> None:
    with running_service() as service:
        start = begin_start(service, delay_s)
        processes = list(process_tree(service.pid))
        service.kill()
        assert survivors_of(processes) == []
        start.wait(LIMIT_S)


@pytest.mark.parametrize("delay_s", sampled([0.0, 0.1, 0.2, 0.4], 1))
def test_service_can_be_ended_while_it_starts(delay_s: float) -> None:
    with running_service() as service:
        start = begin_start(service, delay_s)
        processes = list(process_tree(service.pid))
        service.process.terminate()
        assert service.process.wait(LIMIT_S) == 0
        assert survivors_of(processes) == []
        assert not (service.directory / "run").exists()
        start.wait(LIMIT_S)


_START = """
import sys
from pathlib import Path
from chat.python.kernels.errors import KernelsUnavailable
from chat.python.kernels.places import LocalService
try:
    LocalService(Path(sys.argv[1])).start()
except KernelsUnavailable:
    pass
"""


async def test_all_processes_end_if_the_supervisor_is_killed_and_the_next_one_removes_its_files() -> None:
    with running_service() as service:
        async with running_kernel(service.place) as kernel:
            await kernel.run("import subprocess; subprocess.Popen(['setsid', 'sleep', '600'])")
            processes = list(process_tree(service.pid))
            service.kill()
            assert survivors_of(processes) == []
            assert list((service.directory / "run").iterdir())
            with running_service("--warm-kernels", "0", directory=service.directory) as successor:
                assert not (service.directory / "run").exists()
                await successor.place.address()
        assert not (service.directory / "run").exists()


async def test_service_ends_all_processes_on_sigterm_and_leaves_no_socket(service: KernelServiceProcess) -> None:
    await service.place.address()
    processes = list(process_tree(service.pid))
    service.process.terminate()
    assert service.process.wait(LIMIT_S) == 0
    assert survivors_of(processes) == []
    assert not (service.directory / "run").exists()


def test_second_service_with_the_same_folder_exits_with_an_error_message(service: KernelServiceProcess) -> None:
    second = run_service("--directory", str(service.directory))
    assert second.returncode == 1
    assert "Another service for Python sessions runs" in second.stderr
    assert service.place.status().state == "stopped"


async def test_service_runs_kernels_in_a_folder_with_a_long_path(tmp_path: Path) -> None:
    directory = tmp_path / ("long-" * 30)
    with running_service("--warm-kernels", "0", directory=directory) as service:
        async with running_kernel(service.place) as kernel:
            assert await kernel.run("1 + 1") == "2"
        target = (directory / "run").readlink()
    assert not target.exists()


def test_folder_of_sockets_is_created_elsewhere_if_their_paths_in_the_runtime_folder_would_be_too_long(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    long_path = Path(str(tmp_path / "x").ljust(85, "x"))
    long_path.mkdir()
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(long_path))
    directory = runtime_directory.create_short()
    assert not directory.is_relative_to(long_path)
    assert len(str(directory / "k-12345678/s-1").encode()) <= 107
    directory.rmdir()


def test_folder_and_socket_of_the_service_are_closed_to_other_users(tmp_path: Path) -> None:
    directory = tmp_path / "shared"
    directory.mkdir()
    directory.chmod(0o777)
    with running_service(directory=directory):
        assert directory.stat().st_mode & 0o777 == 0o770
        assert (directory / "control.sock").stat().st_mode & 0o777 == 0o660


async def test_error_about_missing_bubblewrap_contains_the_command_that_installs_it(tmp_path: Path) -> None:
    programs = tmp_path / "bin"
    programs.mkdir()
    (programs / "setpriv").symlink_to("/usr/bin/setpriv")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PATH", str(programs))
        with running_service() as service:
            with pytest.raises(KernelsUnavailable, match="apt-get install bubblewrap"):
                await service.place.address()
            assert service.place.status().state in ("error", "starting")
            assert "bubblewrap" in service.place.status().error
            assert service.place.stop().error == ""


async def test_error_about_an_unreachable_service_contains_the_command_that_starts_it(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with pytest.raises(KernelsUnavailable, match=r"python -m chat\.python\.kernels\.service --directory") as refusal:
        await LocalService(tmp_path).address()
    # Readers and models see the sentence. The path is in the log.
    assert str(tmp_path) not in str(refusal.value)
    assert str(tmp_path) in caplog.text


async def test_gateway_with_a_configured_address_starts_without_waiting_for_a_client(tmp_path: Path) -> None:
    token = "a token of sixteen or more characters"
    (tmp_path / "token").write_text(f"{token}\n")
    port = free_port()
    options = ("--listen", f"127.0.0.1:{port}", "--token-file", str(tmp_path / "token"), "--warm-kernels", "0")
    with running_service(*options) as service:
        wait_until(lambda: service.place.status().state == "running", LIMIT_S)
        address = await service.place.address()
        assert (address.url, address.token) == (f"http://127.0.0.1:{port}", token)
        os.kill(gateway_pid(service.pid), signal.SIGKILL)
        wait_until(lambda: (status := service.place.status()).restarts == 1 and status.state == "running", LIMIT_S)
        assert await service.place.address() == address


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--listen", "127.0.0.1:0"], "--listen and --token-file belong together"),
        (["--listen", "nowhere", "--token-file", "/dev/null"], "--listen must be HOST:PORT"),
        (["--listen", "127.0.0.1:0", "--token-file", "/nonexistent"], "cannot be read"),
        (["--listen", "127.0.0.1:0", "--token-file", "/dev/null"], "too short"),
    ],
)
def test_invalid_options_prevent_the_start_with_an_error_message(
    arguments: list[str], sentence: str, tmp_path: Path
) -> None:
    result = run_service("--directory", str(tmp_path), *arguments)
    assert result.returncode != 0
    assert sentence in result.stderr


def test_url_of_a_gateway_at_an_ipv6_address_has_the_address_in_brackets() -> None:
    process = cast("asyncio.subprocess.Process", None)
    assert GatewayProcess(process, GatewayOptions(host="::1", port=8888)).url == "http://[::1]:8888"


class FakeGateway:
    """A gateway that runs until it is ended."""

    url = "http://127.0.0.1:1"

    async def wait(self) -> int:
        """Never return."""
        await asyncio.Event().wait()
        return 0

    async def check(self, limit_s: float) -> None:
        """Answer nothing."""

    async def end(self) -> None:
        """Do nothing."""


async def test_state_is_error_if_the_start_fails_unexpectedly(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def fail(self: Supervisor) -> str:
        raise RuntimeError("unexpected")

    monkeypatch.setattr(supervisor, "BACKOFF_S", (LIMIT_S,))
    monkeypatch.setattr(Supervisor, "_run_once", fail)
    service = Supervisor(tmp_path, GatewayOptions())
    async with asyncio.timeout(LIMIT_S):
        assert (await service.start()).state == "error"
        await service.close()


async def test_folder_that_cannot_be_removed_does_not_restart_the_gateway(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def start(self: Supervisor, options: GatewayOptions) -> FakeGateway:
        return FakeGateway()

    def fail_once(directory: Path) -> None:
        monkeypatch.setattr(runtime_directory, "remove", lambda directory: None)
        raise PermissionError(directory)

    monkeypatch.setattr(Supervisor, "_start_gateway", start)
    monkeypatch.setattr(runtime_directory, "create", lambda directory: directory)
    monkeypatch.setattr(runtime_directory, "remove", fail_once)
    service = Supervisor(tmp_path, GatewayOptions(), HealthCheck(interval_s=LIMIT_S))
    async with asyncio.timeout(LIMIT_S):
        assert (await service.start()).state == "running"
        await service.close()
    assert (await service.status()).state == "stopped"
