"""The health endpoints name failed checks and reveal nothing more."""

from __future__ import annotations

import shutil
import socket
import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.db import connections
from django.test import Client
from pytest_django import Settings

from chat.answering.turns import draining
from chat.python.kernels.interpreter import DEFAULT_PATH
from config import health
from tests.child_processes import tied
from tests.kernel_service import running_service
from tests.polling import wait_until
from tests.ports import free_port

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def empty_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    """Discard the cached result of earlier tests."""
    monkeypatch.setattr(health, "READINESS", health.Readiness())


@pytest.fixture(autouse=True)
def no_sessions(settings: Settings) -> None:
    """Turn Python sessions off, whose service does not run here."""
    settings.KERNELS_LIMIT = 0


def is_listening(port: int) -> bool:
    """Return whether something accepts connections at this port of loopback."""
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def redis_layer(port: int) -> dict[str, object]:
    """Return the setting `CHANNEL_LAYERS` for a Redis on this port."""
    config = {"hosts": [f"redis://:secret-word@127.0.0.1:{port}/0"]}
    return {"default": {"BACKEND": "channels_redis.core.RedisChannelLayer", "CONFIG": config}}


@pytest.fixture
def redis_port() -> Iterator[int]:
    """Run a real Redis on loopback for one test, and return its port."""
    if shutil.which("redis-server") is None:
        pytest.skip("redis-server is not installed")
    port = free_port()
    command = ["redis-server", "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--requirepass", "secret-word"]
    with subprocess.Popen(tied(command), stdout=subprocess.DEVNULL) as process:
        wait_until(lambda: is_listening(port))
        yield port
        process.terminate()


@pytest.fixture
def silent_port() -> Iterator[int]:
    """Return a port that accepts connections and never responds."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


def test_healthz_responds(client: Client) -> None:
    response = client.get("/healthz")
    assert (response.status_code, response.json()) == (200, {"status": "ok"})


def test_server_is_ready_if_all_checks_pass(client: Client, settings: Settings, tmp_path: Path) -> None:
    settings.MEDIA_ROOT = tmp_path / "media"
    response = client.get("/readyz")
    assert response.status_code == 200
    checked = ["database", "channel_layer", "storage", "disk", "kernels"]
    assert response.json() == {"status": "ok", "checked": checked, "failing": [], "degraded": []}
    assert list(tmp_path.iterdir()) == []


def test_server_is_ready_without_its_storage(client: Client, settings: Settings, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    settings.MEDIA_ROOT = tmp_path / "file"
    response = client.get("/readyz")
    assert (response.status_code, response.json()["status"]) == (200, "degraded")
    assert (response.json()["failing"], response.json()["degraded"]) == ([], ["storage"])
    assert str(tmp_path) not in response.content.decode()


def test_unreachable_database_fails_its_check(client: Client, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for executor in health.EXECUTORS.values():
        executor.submit(connections.close_all).result()
    monkeypatch.setitem(connections.settings["default"], "NAME", str(tmp_path / "no" / "folder.sqlite3"))
    response = client.get("/readyz")
    assert (response.status_code, response.json()["failing"]) == (503, ["database"])


def test_readiness_reports_a_missing_kernel_service_and_a_full_disk(
    client: Client, settings: Settings, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    settings.KERNELS_LIMIT = 1
    settings.KERNEL_SERVICE_DIR = tmp_path
    monkeypatch.setattr(health, "DISK_RESERVE_BYTES", 1 << 80)
    response = client.get("/readyz")
    assert (response.status_code, response.json()["degraded"]) == (200, ["disk", "kernels"])


def test_readiness_reports_kernels_as_degraded_until_their_python_environment_exists(
    client: Client, settings: Settings, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    settings.KERNELS_LIMIT = 1
    monkeypatch.setattr(health, "RESULT_LIFETIME_S", 0.0)
    monkeypatch.setenv("KERNEL_PYTHON", str(tmp_path / "environment/bin/python"))
    with running_service("--health-interval", "0.1") as service:
        settings.KERNEL_SERVICE_DIR = service.directory
        wait_until(lambda: client.get("/readyz").json()["degraded"] == ["kernels"])
        (tmp_path / "environment").symlink_to(DEFAULT_PATH.parents[1])
        wait_until(lambda: client.get("/readyz").json()["status"] == "ok")
        assert service.place.status().state == "stopped"


def test_server_is_ready_with_a_kernel_gateway_that_requires_the_configured_token(
    client: Client, settings: Settings, tmp_path: Path
) -> None:
    settings.KERNELS_LIMIT = 1
    settings.JUPYTER_GATEWAY_TOKEN = "token-of-this-test"
    (tmp_path / "token").write_text(settings.JUPYTER_GATEWAY_TOKEN)
    address = f"127.0.0.1:{free_port()}"
    settings.JUPYTER_GATEWAY_URL = f"http://{address}"
    with running_service("--warm-kernels", "0", "--listen", address, "--token-file", str(tmp_path / "token")):
        wait_until(lambda: client.get("/readyz").json()["status"] == "ok")


def test_readiness_reports_a_jupyter_server_that_does_not_respond(client: Client, settings: Settings) -> None:
    settings.KERNELS_LIMIT = 1
    settings.JUPYTER_GATEWAY_URL = f"http://127.0.0.1:{free_port()}"
    assert client.get("/readyz").json()["degraded"] == ["kernels"]


def test_server_is_ready_if_redis_is_reachable(client: Client, settings: Settings, redis_port: int) -> None:
    settings.CHANNEL_LAYERS = redis_layer(redis_port)
    assert client.get("/readyz").json()["status"] == "ok"


def test_unreachable_redis_fails_its_check_and_its_password_is_not_shown(client: Client, settings: Settings) -> None:
    settings.CHANNEL_LAYERS = redis_layer(free_port())
    response = client.get("/readyz")
    assert (response.status_code, response.json()["degraded"]) == (200, ["channel_layer"])
    assert "secret-word" not in response.content.decode()


def test_health_check_that_gets_no_response_fails_at_the_time_limit(
    client: Client, settings: Settings, silent_port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(health, "CHECKS", {"channel_layer": health.check_channel_layer})
    monkeypatch.setattr(health, "CHECK_LIMIT_S", 0.3)
    settings.CHANNEL_LAYERS = redis_layer(silent_port)
    response = client.get("/readyz")
    assert (response.status_code, response.json()["degraded"]) == (200, ["channel_layer"])


def test_health_check_of_a_load_balancer_accepts_any_host_header(client: Client, settings: Settings) -> None:
    settings.ALLOWED_HOSTS = ["plotline.example.org"]
    assert client.get("/healthz", headers={"Host": "10.0.0.7:8000"}).status_code == 200
    assert client.get("/accounts/login/", headers={"Host": "10.0.0.7:8000"}).status_code == 400


def test_draining_server_passes_healthz_and_fails_readyz(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(draining, "_is_draining", True)
    response = client.get("/readyz")
    assert (response.status_code, response.json()["status"]) == (503, "draining")
    assert client.get("/healthz").status_code == 200


def test_status_503_of_a_draining_server_is_not_logged_as_an_error(
    client: Client, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(draining, "_is_draining", True)
    assert client.get("/readyz").status_code == 503
    assert caplog.messages == []


def test_check_is_logged_when_it_fails_and_when_it_passes_again(
    client: Client, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    is_failing = True

    def check() -> None:
        if is_failing:
            raise OSError("away")

    monkeypatch.setattr(health, "CHECKS", {"storage": check})
    monkeypatch.setattr(health, "RESULT_LIFETIME_S", 0.0)
    for _ in range(3):
        client.get("/readyz")
    is_failing = False
    for _ in range(3):
        client.get("/readyz")
    assert caplog.messages == ["Check failed: storage: OSError: away", "Check passes again: storage"]


class CountingCheck:
    """A check that counts its runs. It waits for the event, if there is one."""

    def __init__(self, *, may_end: threading.Event | None = None) -> None:
        self.runs = 0
        self._may_end = may_end

    def __call__(self) -> None:
        self.runs += 1
        if self._may_end is not None:
            self._may_end.wait()


def test_result_is_cached_for_two_seconds(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    check, now_s = CountingCheck(), 1000.0
    monkeypatch.setattr(health, "CHECKS", {"storage": check})
    monkeypatch.setattr(time, "monotonic", lambda: now_s)
    for elapsed_s, runs in ((0.0, 1), (1.9, 1), (0.2, 2), (1.0, 2), (60.0, 3)):
        now_s += elapsed_s
        assert client.get("/readyz").status_code == 200
        assert check.runs == runs


def test_concurrent_requests_share_one_run_of_the_checks(monkeypatch: pytest.MonkeyPatch) -> None:
    may_end = threading.Event()
    check = CountingCheck(may_end=may_end)
    monkeypatch.setattr(health, "CHECKS", {"storage": check})
    all_started = threading.Barrier(9)
    results: list[list[str]] = []

    def request() -> None:
        all_started.wait()
        results.append(health.READINESS.find_failing_checks())

    threads = [threading.Thread(target=request) for _ in range(8)]
    for thread in threads:
        thread.start()
    all_started.wait()
    may_end.set()
    for thread in threads:
        thread.join()
    assert (check.runs, results) == (1, [[]] * 8)


@pytest.mark.parametrize("path", ["/healthz", "/readyz"])
def test_responses_are_not_cached_and_allow_only_get(client: Client, path: str) -> None:
    assert "no-store" in client.get(path).headers["Cache-Control"]
    assert client.post(path).status_code == 405
