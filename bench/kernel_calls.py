"""Measures calls of the Python session through the whole product: from a REST call to the last event."""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import time
from pathlib import Path

import requests

from bench.processes import ROOT, BenchError, build_product_environment
from bench.product import Template, make_template, run_python, run_server
from bench.targets import run_upstream

CALL_LIMIT_S = 60.0
LINES = 2_000
LINES_RUNS = 5
PRINT_LINES = f"for number in range({LINES}): print(number, flush=True)"


def measure_calls(folder: Path, calls: int) -> dict[str, float]:
    """Return the times of a call of `1+1`, and of one that prints many lines.

    Code is stored and run in the session, and its outputs are stored and sent as events while it runs.
    """
    template = make_template(folder / "template", users=1, conversations_per_user=1)
    variables = template.variables | {"API_CALLS_PER_MINUTE": "100000", "API_WRITES_PER_MINUTE": "100000"}
    template = Template(template.folder, variables, template.conversations)
    token = run_python(variables, "manage.py", "create_api_token", "person-0").strip()
    kernels = folder / "template" / "kernels"
    service = subprocess.Popen(
        [sys.executable, "-m", "chat.python.kernels.service", "--directory", str(kernels)],
        cwd=ROOT,
        env=build_product_environment(),
    )
    try:
        with (
            run_upstream(folder) as upstream,
            run_server(template, upstream, template.folder) as (_, port),
            requests.Session() as client,
        ):
            client.trust_env = False
            client.headers["Authorization"] = f"Bearer {token}"
            site, conversation_id = f"http://127.0.0.1:{port}", template.conversations[0].conversation_id
            # The first calls start the kernel and fill caches.
            times = [_time_call(client, site, conversation_id, "1+1", "2") for _ in range(calls + 3)][3:]
            lines = [_time_call(client, site, conversation_id, PRINT_LINES, f"{LINES - 1}") for _ in range(LINES_RUNS)]
    finally:
        service.terminate()
        service.wait()
    return {
        "call of 1+1 through the whole product: p50, ms": statistics.median(times),
        "call of 1+1 through the whole product: p95, ms": sorted(times)[round(0.95 * (calls - 1))],
        f"{LINES:,} lines through the whole product: slowest, s": max(lines) / 1000,
    }


def _time_call(client: requests.Session, site: str, conversation_id: str, code: str, last_line: str) -> float:
    """Run code and return the milliseconds until its last event. Raise BenchError without this last line of output."""
    url = f"{site}/api/v1/conversations/{conversation_id}/session/run/"
    started_s = time.perf_counter()
    run = client.post(url, json={"code": code}, timeout=CALL_LIMIT_S)
    run.raise_for_status()
    events = client.get(site + run.json()["events_url"], timeout=CALL_LIMIT_S).text
    duration_ms = (time.perf_counter() - started_s) * 1000
    outputs = [
        json.loads(line.removeprefix("data:")) for line in events.splitlines() if "code_execution_output" in line
    ]
    if not outputs or outputs[-1]["code_execution_output"].split()[-1:] != [last_line]:
        raise BenchError(f"the output does not end with {last_line}: {events[-500:]}")
    return duration_ms
