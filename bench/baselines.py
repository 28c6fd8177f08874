"""The baselines: (a) the SDK alone, (b) a bare relay that uses the SDK, and (c) a lean relay without the SDK."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from bench.answers import Level
from bench.client import Endpoint
from bench.figures import LevelResult
from bench.processes import BenchError, PinnedProcess, build_product_environment, find_free_port, select_cores
from bench.targets import Upstream, measure_level


@dataclass(frozen=True, slots=True)
class SdkBaseline:
    """Baseline (a): a process that reads answers with the SDK and discards them."""

    process: PinnedProcess
    upstream: Upstream

    def run(self, level: Level) -> LevelResult:
        """Run one level. Raise BenchError if the process has ended."""
        pipes = self.process.popen
        assert pipes.stdin
        assert pipes.stdout
        cpu_s, upstream_cpu_s = self.process.read_cpu_s(), self.upstream.process.read_cpu_s()
        pipes.stdin.write(json.dumps(asdict(level)) + "\n")
        pipes.stdin.flush()
        line = pipes.stdout.readline()
        if not line:
            raise BenchError(f"the SDK reader ended: {self.process.read_log_tail()}")
        result = LevelResult(**json.loads(line))
        result.cpu_s = self.process.read_cpu_s() - cpu_s
        result.server_share = result.cpu_s / result.wall_s
        result.upstream_share = (self.upstream.process.read_cpu_s() - upstream_cpu_s) / result.wall_s
        return result


@dataclass(frozen=True, slots=True)
class RelayBaseline:
    """Baseline (b) or (c): Daphne and an ASGI application that relays text."""

    process: PinnedProcess
    upstream: Upstream
    port: int

    def run(self, level: Level) -> LevelResult:
        """Run one level to its end."""
        endpoint = Endpoint(f"ws://127.0.0.1:{self.port}/", {}, is_plotline=False)
        return measure_level(self.process, self.upstream, [endpoint] * level.conversations, level)


@contextmanager
def run_sdk_baseline(upstream: Upstream, folder: Path) -> Iterator[SdkBaseline]:
    """Run baseline (a) until the block ends."""
    with PinnedProcess(
        ["-m", "bench.sdk_reader", upstream.url],
        core=select_cores()[0],
        variables=build_product_environment(),
        log_path=folder / "sdk-reader.log",
        has_pipes=True,
    ) as process:
        yield SdkBaseline(process, upstream)


@contextmanager
def run_relay_baseline(stream_reader: str, upstream: Upstream, folder: Path) -> Iterator[RelayBaseline]:
    """Run baseline (b), for the stream reader `sdk`, or (c), for `lean`, until the block ends."""
    port = find_free_port()
    with PinnedProcess(
        ["-m", "bench.bare_relay", stream_reader, str(port)],
        core=select_cores()[0],
        variables=build_product_environment(BENCH_UPSTREAM_URL=upstream.url),
        log_path=folder / f"{stream_reader}-relay.log",
    ) as process:
        process.wait_for_port(port)
        yield RelayBaseline(process, upstream, port)
