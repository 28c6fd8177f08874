"""The cost of calls of the Python session through the whole product: from a REST call to the last event."""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

from bench.processes import ROOT, BenchError, build_product_environment, select_cores
from bench.product import Template, make_template, run_python, run_server
from bench.targets import run_upstream

CALL_LIMIT_S = 60.0
LINES = 2_000
LINES_RUNS = 5
PRINT_LINES = f"for number in range({LINES}): print(number, flush=True)"
_opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))


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
            run_server(template, upstream, template.folder, select_cores()[0]) as (_, port),
        ):
            url = f"http://127.0.0.1:{port}"
            conversation_id = template.conversations[0].conversation_id
            # The first calls start the kernel and fill caches.
            times = [_time_call(url, conversation_id, token, "1+1", "2") for _ in range(calls + 3)][3:]
            lines = [_time_call(url, conversation_id, token, PRINT_LINES, f"{LINES - 1}") for _ in range(LINES_RUNS)]
    finally:
        service.terminate()
        service.wait()
    return {
        "call of 1+1 through the whole product: p50, ms": statistics.median(times),
        "call of 1+1 through the whole product: p95, ms": sorted(times)[round(0.95 * (calls - 1))],
        f"{LINES:,} lines through the whole product: slowest, s": max(lines) / 1000,
    }


def _time_call(url: str, conversation_id: str, token: str, code: str, last_line: str) -> float:
    """Run code and return the milliseconds until its last event. Raise BenchError without this last line of output."""
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    started_s = time.perf_counter()
    body = json.dumps({"code": code}).encode()
    request = urllib.request.Request(f"{url}/api/v1/conversations/{conversation_id}/session/run/", body, headers)
    with _opener.open(request, timeout=CALL_LIMIT_S) as response:
        events_url = json.load(response)["events_url"]
    with _opener.open(urllib.request.Request(url + events_url, headers=headers), timeout=CALL_LIMIT_S) as response:
        events = response.read().decode()
    duration_ms = (time.perf_counter() - started_s) * 1000
    outputs = [
        json.loads(line.removeprefix("data:")) for line in events.splitlines() if "code_execution_output" in line
    ]
    if not outputs or outputs[-1]["code_execution_output"].split()[-1:] != [last_line]:
        raise BenchError(f"the output does not end with {last_line}: {events[-500:]}")
    return duration_ms
