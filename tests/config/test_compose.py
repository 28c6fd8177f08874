"""What the installation with Docker Compose promises (docs/deployment.md), read from deploy/compose.yaml."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from tests.live_server import ROOT

COMPOSE: dict[str, Any] = yaml.safe_load((ROOT / "deploy" / "compose.yaml").read_text(encoding="utf-8"))
SERVICES: dict[str, dict[str, Any]] = COMPOSE["services"]
DRAIN_S = 30
"""The default of DRAIN_SECONDS."""
END_S = 10
"""The longest time in which a web process ends after it has drained."""
WITHOUT_LIMIT_OF_DISK = {"postgres"}
"""The image of PostgreSQL writes outside of its volume."""


def default(value: str) -> str:
    """Return the value of `${NAME:-value}` where the environment has no NAME."""
    return value.rpartition(":-")[2].removesuffix("}")


def test_services_are_those_of_an_installation() -> None:
    always = {name for name, service in SERVICES.items() if "profiles" not in service}
    assert always == {"migrate", "web", "web2", "worker", "kernels", "postgres", "redis", "caddy"}


def test_only_the_proxy_has_ports_of_the_host() -> None:
    assert [name for name, service in SERVICES.items() if "ports" in service] == ["caddy"]
    assert not [name for name, service in SERVICES.items() if service.get("network_mode") or service.get("privileged")]


@pytest.mark.parametrize("name", sorted(SERVICES))
def test_service_is_bounded(name: str) -> None:
    service = SERVICES[name]
    assert service["mem_limit"]
    assert service["pids_limit"]
    assert name in WITHOUT_LIMIT_OF_DISK or service["read_only"] is True


@pytest.mark.parametrize("name", ["migrate", "web", "web2", "worker"])
def test_process_of_plotline_has_no_privileges(name: str) -> None:
    service = SERVICES[name]
    assert service["cap_drop"] == ["ALL"]
    assert "no-new-privileges:true" in service["security_opt"]
    assert service["volumes"] == ["media:/app/var/media"]


@pytest.mark.parametrize("name", ["web", "web2", "worker", "kernels", "postgres", "redis"])
def test_service_is_checked_and_started_again(name: str) -> None:
    assert SERVICES[name]["healthcheck"]["test"]
    assert SERVICES[name]["restart"] == "unless-stopped"


@pytest.mark.parametrize("name", ["web", "web2"])
def test_web_process_has_the_time_to_drain(name: str) -> None:
    grace = default(SERVICES[name]["stop_grace_period"])
    assert int(grace.removesuffix("s")) >= DRAIN_S + END_S
    assert "/healthz" in SERVICES[name]["healthcheck"]["test"][-1]


def test_web_processes_start_after_the_migration() -> None:
    assert SERVICES["migrate"]["command"][-1] == "migrate"
    for name in ("web", "web2", "worker"):
        assert SERVICES[name]["depends_on"]["migrate"] == {"condition": "service_completed_successfully"}


def test_kernels_reach_no_other_service_and_get_no_secret_but_the_token() -> None:
    kernels = SERVICES["kernels"]
    assert kernels["networks"] == ["kernels"]
    assert COMPOSE["networks"]["kernels"] == {"internal": True}
    assert "env_file" not in kernels
    assert kernels["secrets"] == ["jupyter_gateway_token"]


def test_worker_is_healthy_only_while_it_touches_its_file() -> None:
    worker = SERVICES["worker"]
    assert worker["command"][-2] == "--heartbeat"
    assert worker["command"][-1] in worker["healthcheck"]["test"][-1]
