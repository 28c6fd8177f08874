"""Writes results as JSON files under `var/bench/`, with a description of the machine."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Mapping
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

from bench.processes import ROOT, select_cores

PACKAGES = ("django", "channels", "daphne", "google-genai", "aiohttp", "uvloop")


def describe_environment() -> dict[str, object]:
    """Return the time, the machine and the versions of the packages that affect the figures."""
    return {
        "at": datetime.now(UTC).isoformat(timespec="seconds"),
        "machine": {
            "cpu": read_cpu_name(),
            "cores": os.cpu_count(),
            "pinned": select_cores(),
            "load": os.getloadavg()[0],
            "python": platform.python_version(),
        },
        "packages": {name: version(name) for name in PACKAGES},
    }


def read_cpu_name() -> str:
    """Return the name of the processor from /proc/cpuinfo, or its architecture if there is no name."""
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    return next((line.partition(": ")[2] for line in lines if line.startswith("model name")), platform.machine())


def write_result(command: str, document: Mapping[str, object], path: Path | None = None) -> Path:
    """Write a result as JSON and return its path, by default `var/bench/<date>-<command>.json`."""
    path = path or ROOT / "var" / "bench" / f"{datetime.now(UTC):%Y-%m-%d-%H%M%S}-{command}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(document, indent=1))
    return path
