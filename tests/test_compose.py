"""`deploy/compose.yaml` keeps what docs/deployment.md promises: read-only containers with limits behind one proxy."""

from __future__ import annotations

import re
import subprocess
from typing import Any

import pytest
import yaml

from tests.environment import ROOT

SERVICES: dict[str, dict[str, Any]] = yaml.safe_load((ROOT / "deploy" / "compose.yaml").read_text())["services"]
LASTING = sorted(name for name, service in SERVICES.items() if service["restart"] == "unless-stopped")
"""The services that run until they are stopped. The others end by themselves."""
DRAIN_SECONDS = re.compile(r'"DRAIN_SECONDS", (\d+)\)')
"""Matches the default in the settings. Tests run with another value."""


def seconds(text: str) -> int:
    """Return the number of seconds, or the default of a variable, such as `${WEB_STOP_GRACE:-45s}`."""
    match = re.fullmatch(r"(?:\$\{\w+:-)?(\d+)s\}?", text)
    assert match, text
    return int(match[1])


def test_docker_image_copies_every_folder_except_bench_deploy_docs_and_tests() -> None:
    tracked = subprocess.run(["git", "ls-files"], cwd=ROOT, check=True, capture_output=True, text=True).stdout.split()
    folders = {path.partition("/")[0] for path in tracked if "/" in path and not path.startswith(".")}
    copied = set(re.findall(r"^COPY (\w+) \1$", (ROOT / "deploy" / "Dockerfile").read_text(), re.MULTILINE))
    assert copied == folders - {"bench", "deploy", "docs", "tests"}


def test_every_part_of_plotline_is_a_service() -> None:
    assert set(LASTING) == {"web", "web2", "worker", "kernels", "emulator", "postgres", "redis", "s3", "caddy"}
    assert set(SERVICES) - set(LASTING) == {"migrate", "bucket"}
    optional = {name for name, service in SERVICES.items() if service.get("profiles")}
    assert optional == {"emulator", "s3", "bucket"}


@pytest.mark.parametrize("name", sorted(SERVICES))
def test_root_file_system_is_read_only(name: str) -> None:
    # PostgreSQL writes its socket and its process id outside its volume.
    assert SERVICES[name].get("read_only", False) is (name != "postgres")


@pytest.mark.parametrize("name", sorted(SERVICES))
def test_memory_and_processes_are_limited(name: str) -> None:
    assert SERVICES[name]["mem_limit"]
    assert SERVICES[name]["pids_limit"] > 0


@pytest.mark.parametrize("name", ["web", "web2", "worker", "migrate"])
def test_containers_of_plotline_have_no_capabilities_and_a_cpu_limit(name: str) -> None:
    assert SERVICES[name]["cap_drop"] == ["ALL"]
    assert SERVICES[name]["security_opt"] == ["no-new-privileges:true"]
    assert SERVICES[name]["cpus"]


def test_only_the_proxy_publishes_ports_on_the_host() -> None:
    assert [name for name, service in SERVICES.items() if "ports" in service] == ["caddy"]
    assert not [name for name, service in SERVICES.items() if "network_mode" in service or service.get("privileged")]


def test_kernel_container_has_no_secret_but_its_token_and_only_an_internal_network() -> None:
    kernels = SERVICES["kernels"]
    assert not {"env_file", "environment", "volumes"} & set(kernels)
    assert (kernels["networks"], kernels["secrets"]) == (["kernels"], ["jupyter_gateway_token"])
    compose = yaml.safe_load((ROOT / "deploy" / "compose.yaml").read_text())
    assert compose["networks"]["kernels"] == {"internal": True}
    assert {name for name, service in SERVICES.items() if "kernels" in service.get("networks", ())} == {
        *("web", "web2", "worker", "migrate", "bucket"),  # Services of Plotline itself.
        *("kernels", "emulator"),
    }


@pytest.mark.parametrize("name", ["web", "web2"])
def test_web_process_gets_enough_time_to_finish_answers_when_its_container_stops(name: str) -> None:
    default = DRAIN_SECONDS.search((ROOT / "config" / "processes.py").read_text())
    assert default
    assert seconds(SERVICES[name]["stop_grace_period"]) >= int(default[1]) + 10


def test_worker_gets_enough_time_to_finish_an_upload_when_its_container_stops() -> None:
    assert seconds(SERVICES["worker"]["stop_grace_period"]) > 12


@pytest.mark.parametrize("name", ["web", "web2", "worker", "kernels", "postgres", "redis", "s3"])
def test_every_service_has_a_health_check(name: str) -> None:
    assert SERVICES[name]["healthcheck"]["test"][0] in ("CMD", "CMD-SHELL")


def test_health_checks_use_the_web_servers_url_and_the_workers_heartbeat_file() -> None:
    assert "/healthz" in SERVICES["web"]["healthcheck"]["test"][-1]
    worker = SERVICES["worker"]
    beats = worker["command"][worker["command"].index("--heartbeat") + 1]
    assert f"'{beats}'" in worker["healthcheck"]["test"][-1]
    for name in ("web", "web2", "worker"):
        for program in SERVICES[name]["healthcheck"]["test"][3:]:
            compile(program, name, "exec")


def test_servers_start_only_after_the_migration_service_has_succeeded() -> None:
    for name in ("web", "web2", "worker"):
        assert SERVICES[name]["depends_on"]["migrate"] == {"condition": "service_completed_successfully"}
