"""The cost of open pages in Redis, for Plotline's bridge and for groups of the channel layer.

`python -m bench open-pages`. Two processes share one Redis. Half of the pages are opened in each, every page with a
conversation of its own. Then one process publishes frames of conversations that the other one follows.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
import uuid
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import redis

from bench.processes import ROOT, build_product_environment
from bench.redis_server import run_redis
from bench.results import describe_environment, write_result
from bench.tables import format_markdown_table, format_number

CARRIERS = ("bridge", "groups", "pubsub-groups")
PAGES = (100, 1_000, 5_000)
OPENED_PER_S = 400.0
TURNS = 20
FRAMES = 100
"""Frames of each turn, which are published at 25 per second."""
FRAME_TEXT = "x" * 400
REST_S = 6.0


@dataclass(frozen=True, slots=True)
class Costs:
    """The cost of open pages in Redis for one carrier and one number of pages."""

    carrier: str
    pages: int
    open_commands: float
    """Commands that Redis executes for each page that opens."""
    open_kb: float
    """KB to and from Redis for all pages together, while they open."""
    memory_kb: float
    """Memory of Redis with all pages open, above that of an empty Redis."""
    peak_kb: float
    """The most memory while pages opened."""
    connections: int
    rest_kb_per_s: float
    """KB to and from Redis while nothing happens."""
    frame_commands: float
    frame_cpu_ms: float
    """CPU time of both processes for each frame."""
    delay_p50_ms: float
    delay_p99_ms: float
    lost: int


COLUMNS = (
    ("open_commands", "commands per page", 1),
    ("open_kb", "KB to open", 0),
    ("memory_kb", "memory, KB", 0),
    ("peak_kb", "peak, KB", 0),
    ("connections", "connections", 0),
    ("rest_kb_per_s", "KB/s at rest", 1),
    ("frame_commands", "commands per frame", 1),
    ("frame_cpu_ms", "CPU per frame, ms", 2),
    ("delay_p50_ms", "delay p50, ms", 1),
    ("delay_p99_ms", "p99, ms", 1),
    ("lost", "lost", 0),
)
"""Columns of the table: the figure, its label and its decimal places."""


class Process:
    """A child process that follows and publishes."""

    def __init__(self, popen: subprocess.Popen[str]) -> None:
        self._popen = popen

    def begin(self, *command: object) -> None:
        """Send a command."""
        assert self._popen.stdin
        self._popen.stdin.write(json.dumps(command) + "\n")
        self._popen.stdin.flush()

    def finish(self) -> dict[str, object]:
        """Wait for the result of the command."""
        assert self._popen.stdout
        result: dict[str, object] | None = json.loads(self._popen.stdout.readline())
        return result or {}

    def call(self, *command: object) -> dict[str, object]:
        """Send a command and return its result."""
        self.begin(*command)
        return self.finish()


@contextmanager
def _run_process(carrier: str, redis_url: str) -> Iterator[Process]:
    command = [sys.executable, "-m", "bench.with_django", "bench.open_pages_process", carrier, redis_url]
    variables = build_product_environment(DEBUG="1", REDIS_URL=redis_url)
    popen = subprocess.Popen(command, cwd=ROOT, env=variables, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    with popen:
        yield Process(popen)
        popen.terminate()


class RedisMeter:
    """Reads the counters of Redis. Its own commands count little."""

    def __init__(self, url: str) -> None:
        self._client = redis.Redis.from_url(url)
        self._memory_bytes = int(self.read()["used_memory"])

    def read(self) -> dict[str, float]:
        """Return the counters."""
        info: dict[str, float] = self._client.info()
        info["transferred"] = info["total_net_input_bytes"] + info["total_net_output_bytes"]
        return info

    def memory_kb(self, name: str = "used_memory") -> float:
        """Return memory above that of the empty Redis."""
        return (self.read()[name] - self._memory_bytes) / 1000


def measure(carrier: str, pages: int, folder: Path) -> Costs:
    """Open pages in two processes, then publish frames."""
    conversations = [str(uuid.uuid4()) for _ in range(pages)]
    with ExitStack() as stack:
        url = stack.enter_context(run_redis(folder))
        time.sleep(0.5)
        meter = RedisMeter(url)
        one, other = (stack.enter_context(_run_process(carrier, url)) for _ in range(2))
        processes = (one, other)
        for process in processes:
            process.call("report")
        before = meter.read()
        for process, part in zip(processes, (conversations[::2], conversations[1::2]), strict=True):
            process.begin("follow", part, OPENED_PER_S / 2)
        for process in processes:
            process.finish()
        time.sleep(1)
        opened = meter.read()
        memory_kb, peak_kb = meter.memory_kb(), meter.memory_kb("used_memory_peak")
        time.sleep(REST_S)
        rested = meter.read()
        cpu_s = sum(float(str(process.call("report")["cpu_s"])) for process in processes)
        frames = TURNS * FRAMES
        published = meter.read()
        one.call("publish", conversations[1 : 2 * TURNS : 2], FRAMES, FRAME_TEXT)
        time.sleep(1)
        ended = meter.read()
        reports = [process.call("report") for process in processes]
        delays = reports[1]["delays_ms"]
        assert isinstance(delays, list)
        delays = delays or [0.0]
        return Costs(
            carrier=carrier,
            pages=pages,
            open_commands=(opened["total_commands_processed"] - before["total_commands_processed"]) / pages,
            open_kb=(opened["transferred"] - before["transferred"]) / 1000,
            memory_kb=memory_kb,
            peak_kb=peak_kb,
            # Without the meter's own connection.
            connections=int(ended["connected_clients"]) - 1,
            rest_kb_per_s=(rested["transferred"] - opened["transferred"]) / 1000 / REST_S,
            frame_commands=(ended["total_commands_processed"] - published["total_commands_processed"]) / frames,
            frame_cpu_ms=(sum(float(str(report["cpu_s"])) for report in reports) - cpu_s) * 1000 / frames,
            delay_p50_ms=delays[len(delays) // 2],
            delay_p99_ms=delays[int(len(delays) * 0.99)],
            lost=frames - len(delays),
        )


def main(argv: Sequence[str]) -> None:
    """Measure, write the result and print a table."""
    parser = argparse.ArgumentParser(prog="python -m bench open-pages", description=__doc__)
    parser.add_argument("--tiny", action="store_true", help="only test the harness")
    options = parser.parse_args(argv)
    costs = []
    with TemporaryDirectory(prefix="plotline-bench-", ignore_cleanup_errors=True) as path:
        for carrier in CARRIERS:
            for pages in (40,) if options.tiny else PAGES:
                costs.append(measure(carrier, pages, Path(path)))
                print(costs[-1], file=sys.stderr, flush=True)
    rows: list[tuple[str, ...]] = [("frames go by, with pages", *(label for _, label, _ in COLUMNS))]
    for one in costs:
        figures = asdict(one)
        cells = (format_number(figures[name], digits) for name, _, digits in COLUMNS)
        rows.append((f"{one.carrier}, {one.pages:,}", *cells))
    print(format_markdown_table(rows))
    document = describe_environment() | {"open_pages": [asdict(one) for one in costs]}
    print(f"\nWritten to {write_result('open-pages', document)}", file=sys.stderr)
