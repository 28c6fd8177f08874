"""Plotline as `make run` starts it, with the demo model."""

from __future__ import annotations

import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bench.processes import ROOT, BenchError, build_product_environment, find_free_port

START_LIMIT_S = 180.0


@contextmanager
def run_demo_site(folder: Path) -> Iterator[str]:
    """Run what `make run` runs, with data in this folder, until the block ends, and yield its address."""
    port, log = find_free_port(), folder / "log"
    variables = build_product_environment(PORT=str(port), PLOTLINE_VAR_DIR=str(folder), DEBUG="1")
    with log.open("wb") as file:
        process = subprocess.Popen(["bash", "deploy/run"], cwd=ROOT, env=variables, stdout=file, stderr=file)
    try:
        give_up_at = time.monotonic() + START_LIMIT_S
        while "Plotline: http" not in log.read_text():
            if process.poll() is not None or time.monotonic() > give_up_at:
                raise BenchError(f"Plotline did not start: {log.read_text()}")
            time.sleep(0.1)
        yield f"http://127.0.0.1:{port}"
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait()
