"""Targets: servers that can run a level of conversations on the server's core."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Protocol

import uvloop

from bench.answers import Level
from bench.client import Endpoint, run_level
from bench.figures import LevelResult, ResourceSample
from bench.processes import PinnedProcess, build_product_environment, find_free_port, select_cores


class Target(Protocol):
    """A server under test."""

    @property
    def process(self) -> PinnedProcess:
        """The server's process. Its children are measured with it."""
        ...

    def run(self, level: Level) -> LevelResult:
        """Run one level to its end."""
        ...


@dataclass(frozen=True, slots=True)
class Upstream:
    """The server that stands in for the model API and stamps each chunk."""

    url: str
    process: PinnedProcess


@contextmanager
def run_upstream(folder: Path) -> Iterator[Upstream]:
    """Run the upstream on the client's core until the block ends."""
    port = find_free_port()
    with PinnedProcess(
        ["-m", "bench.upstream", str(port)],
        core=select_cores()[1],
        variables=build_product_environment(),
        log_path=folder / "upstream.log",
    ) as process:
        process.wait_for_port(port)
        yield Upstream(f"http://127.0.0.1:{port}", process)


def measure_level(
    process: PinnedProcess, upstream: Upstream, endpoints: Sequence[Endpoint], level: Level
) -> LevelResult:
    """Run a level with the websocket client, and raise BenchError if the server's process has ended."""
    result = uvloop.run(run_level(endpoints, level, partial(take_sample, process, upstream)))
    process.check_is_running()
    return result


def take_sample(process: PinnedProcess, upstream: Upstream) -> ResourceSample:
    """Return the CPU time and memory that the server, the upstream and this process have used so far."""
    return ResourceSample(
        process.read_cpu_s(), process.read_rss_bytes(), upstream.process.read_cpu_s(), time.process_time()
    )
