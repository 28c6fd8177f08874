"""What can be measured: something that answers a level of conversations, on the server's core."""

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
from bench.client import Door, run_level
from bench.figures import Observed, Sample
from bench.processes import PinnedProcess, cores, environment, free_port


class Target(Protocol):
    """A process under test."""

    @property
    def process(self) -> PinnedProcess:
        """It, with its children."""
        ...

    def run(self, level: Level) -> Observed:
        """Run one level to its end."""
        ...


@dataclass(frozen=True, slots=True)
class Upstream:
    """The stamping server."""

    url: str
    process: PinnedProcess


@contextmanager
def running(process: PinnedProcess) -> Iterator[PinnedProcess]:
    """End the process after the block, however it ends."""
    try:
        yield process
    finally:
        process.stop()


@contextmanager
def running_upstream(folder: Path) -> Iterator[Upstream]:
    """The upstream, on the client's core."""
    port = free_port()
    arguments = ["-m", "bench.upstream", str(port)]
    process = PinnedProcess(arguments, core=cores()[1], variables=environment(), log=folder / "upstream.log")
    with running(process):
        process.wait_for(port)
        yield Upstream(f"http://127.0.0.1:{port}", process)


def observe(process: PinnedProcess, upstream: Upstream, doors: Sequence[Door], level: Level) -> Observed:
    """Run a level by the socket client."""
    observed = uvloop.run(run_level(doors, level, partial(sample, process, upstream)))
    process.check()
    return observed


def sample(process: PinnedProcess, upstream: Upstream) -> Sample:
    """What server, upstream and this process have used by now."""
    return Sample(process.cpu_s(), process.rss_bytes(), upstream.process.cpu_s(), time.process_time())
