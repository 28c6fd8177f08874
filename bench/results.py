"""Where results go: what machine they were taken on, and JSON files under `var/bench/`."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Mapping
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

from bench.processes import ROOT, cores

PACKAGES = ("django", "channels", "daphne", "google-genai", "aiohttp", "uvloop")


def machine() -> dict[str, object]:
    """What was measured on, and with which packages."""
    return {
        "at": datetime.now(UTC).isoformat(timespec="seconds"),
        "machine": {
            "cpu": cpu_name(),
            "cores": os.cpu_count(),
            "pinned": cores(),
            "load": os.getloadavg()[0],
            "python": platform.python_version(),
        },
        "packages": {name: version(name) for name in PACKAGES},
    }


def cpu_name() -> str:
    """The processor's name as Linux gives it."""
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    return next((line.partition(": ")[2] for line in lines if line.startswith("model name")), platform.machine())


def write(kind: str, document: Mapping[str, object], path: Path | None = None) -> Path:
    """Write a result as JSON, by default to `var/bench/<date>-<kind>.json`; where it went."""
    path = path or ROOT / "var" / "bench" / f"{datetime.now(UTC):%Y-%m-%d-%H%M%S}-{kind}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(document, indent=1))
    return path
