"""A load balancer learns the names of what fails, and nothing more."""

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

from config import health
from tests.ports import free_port

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def nothing_known(monkeypatch: pytest.MonkeyPatch) -> None:
    """No result of an earlier test answers."""
    monkeypatch.setattr(health, "READINESS", health.Readiness())


def redis_layer(port: int) -> dict[str, object]:
    config = {"hosts": [f"redis://:secret-word@127.0.0.1:{port}/0"]}
    return {"default": {"BACKEND": "channels_redis.core.RedisChannelLayer", "CONFIG": config}}


@pytest.fixture
def redis_port() -> Iterator[int]:
    """A real Redis on loopback, for one test."""
    if shutil.which("redis-server") is None:
        pytest.skip("redis-server is not installed")
    port = free_port()
    command = ["redis-server", "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--requirepass", "secret-word"]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
        deadline = time.monotonic() + 10
        while time.monotonic() < deadline:
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.02)
        yield port
        process.terminate()


@pytest.fixture
def silent_port() -> Iterator[int]:
    """A port that takes connections and never says a word."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


def test_process_is_up(client: Client) -> None:
    response = client.get("/healthz")
    assert (response.status_code, response.json()) == (200, {"status": "ok"})


def test_server_is_ready_when_all_can_be_reached(client: Client, settings: Settings, tmp_path: Path) -> None:
    settings.MEDIA_ROOT = tmp_path / "media"
    response = client.get("/readyz")
    assert response.status_code == 200
    assert response.json() == {"status": "ok", "checked": ["database", "channel_layer", "storage"], "failing": []}
    assert list(tmp_path.iterdir()) == []


def test_folder_that_cannot_be_written_is_named(client: Client, settings: Settings, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    settings.MEDIA_ROOT = tmp_path / "file"
    response = client.get("/readyz")
    assert (response.status_code, response.json()["failing"]) == (503, ["storage"])
    assert str(tmp_path) not in response.content.decode()


def test_database_that_cannot_be_opened_is_named(
    client: Client, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for worker in health.WORKERS.values():
        worker.submit(connections.close_all).result()
    monkeypatch.setitem(connections.settings["default"], "NAME", str(tmp_path / "no" / "folder.sqlite3"))
    response = client.get("/readyz")
    assert (response.status_code, response.json()["failing"]) == (503, ["database"])


def test_redis_is_ready_when_a_message_comes_back(client: Client, settings: Settings, redis_port: int) -> None:
    settings.CHANNEL_LAYERS = redis_layer(redis_port)
    assert client.get("/readyz").status_code == 200


def test_redis_that_refuses_is_named_without_its_password(client: Client, settings: Settings) -> None:
    settings.CHANNEL_LAYERS = redis_layer(free_port())
    response = client.get("/readyz")
    assert (response.status_code, response.json()["failing"]) == (503, ["channel_layer"])
    assert "secret-word" not in response.content.decode()


def test_silence_counts_as_failing_within_the_limit(
    client: Client, settings: Settings, silent_port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(health, "LIMIT_S", 0.3)
    settings.CHANNEL_LAYERS = redis_layer(silent_port)
    began_at = time.monotonic()
    response = client.get("/readyz")
    assert (response.status_code, response.json()["failing"]) == (503, ["channel_layer"])
    assert time.monotonic() - began_at < 2


class Counted:
    """A check that counts its runs."""

    def __init__(self, *, lasts_s: float = 0.0) -> None:
        self.runs = 0
        self._lasts_s = lasts_s

    def __call__(self) -> None:
        self.runs += 1
        time.sleep(self._lasts_s)


def test_result_answers_for_two_seconds(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    storage, now_s = Counted(), 1000.0
    monkeypatch.setattr(health, "CHECKS", {"storage": storage})
    monkeypatch.setattr(time, "monotonic", lambda: now_s)
    for later_s, runs in ((0.0, 1), (1.9, 1), (0.2, 2), (1.0, 2), (60.0, 3)):
        now_s += later_s
        assert client.get("/readyz").status_code == 200
        assert storage.runs == runs


def test_many_who_ask_at_once_make_one_check(monkeypatch: pytest.MonkeyPatch) -> None:
    storage = Counted(lasts_s=0.1)
    monkeypatch.setattr(health, "CHECKS", {"storage": storage})
    results: list[list[str]] = []
    threads = [threading.Thread(target=lambda: results.append(health.READINESS.failing())) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (storage.runs, results) == (1, [[]] * 8)


@pytest.mark.parametrize("path", ["/healthz", "/readyz"])
def test_answers_are_not_kept_by_caches(client: Client, path: str) -> None:
    assert "no-store" in client.get(path).headers["Cache-Control"]
    assert client.post(path).status_code == 405
