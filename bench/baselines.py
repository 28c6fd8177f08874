"""The baselines: (a) the SDK reading alone, (b) a bare relay of its chunks under Daphne, (c) one without the SDK."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from bench.answers import Level
from bench.client import Door
from bench.figures import Observed
from bench.processes import BenchError, PinnedProcess, cores, environment, free_port
from bench.targets import Upstream, observe, running


@dataclass(frozen=True, slots=True)
class SdkAlone:
    """A process that reads and throws away."""

    process: PinnedProcess
    upstream: Upstream

    def run(self, level: Level) -> Observed:
        """See `Target.run`."""
        pipes = self.process.popen
        assert pipes.stdin
        assert pipes.stdout
        cpu_s, upstream_cpu_s = self.process.cpu_s(), self.upstream.process.cpu_s()
        pipes.stdin.write(json.dumps(asdict(level)) + "\n")
        pipes.stdin.flush()
        line = pipes.stdout.readline()
        if not line:
            raise BenchError(f"the reader ended: {self.process.told()}")
        observed = Observed(**json.loads(line))
        observed.cpu_s = self.process.cpu_s() - cpu_s
        observed.server_share = observed.cpu_s / observed.wall_s
        observed.upstream_share = (self.upstream.process.cpu_s() - upstream_cpu_s) / observed.wall_s
        return observed


@dataclass(frozen=True, slots=True)
class Relay:
    """Daphne and a reader, nothing else."""

    process: PinnedProcess
    upstream: Upstream
    port: int

    def run(self, level: Level) -> Observed:
        """See `Target.run`."""
        door = Door(f"ws://127.0.0.1:{self.port}/", {}, is_product=False)
        return observe(self.process, self.upstream, [door] * level.conversations, level)


@contextmanager
def running_sdk_alone(upstream: Upstream, folder: Path) -> Iterator[SdkAlone]:
    """Baseline (a) for the length of the block."""
    arguments = ["-m", "bench.reader", upstream.url]
    log = folder / "reader.log"
    process = PinnedProcess(arguments, core=cores()[0], variables=environment(), log=log, pipes=True)
    with running(process):
        yield SdkAlone(process, upstream)


@contextmanager
def running_relay(way: str, upstream: Upstream, folder: Path) -> Iterator[Relay]:
    """Baseline (b), `sdk`, or (c), `lean`, for the length of the block."""
    port = free_port()
    variables = environment(BENCH_UPSTREAM_URL=upstream.url)
    arguments = ["-m", "bench.relay", way, str(port)]
    process = PinnedProcess(arguments, core=cores()[0], variables=variables, log=folder / f"{way}.log")
    with running(process):
        process.wait_for(port)
        yield Relay(process, upstream, port)
