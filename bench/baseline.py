"""The baseline: a bare relay that uses the SDK."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from bench.answers import Level
from bench.client import Endpoint
from bench.figures import LevelResult
from bench.processes import PinnedProcess, build_product_environment, find_free_port, select_cores
from bench.targets import Upstream, measure_level


@dataclass(frozen=True, slots=True)
class BareRelay:
    """Daphne and an ASGI application that relays text."""

    process: PinnedProcess
    upstream: Upstream
    port: int

    def run(self, level: Level) -> LevelResult:
        """Run one level to its end."""
        endpoint = Endpoint(f"ws://127.0.0.1:{self.port}/", {}, is_plotline=False)
        return measure_level(self.process, self.upstream, [endpoint] * level.conversations, level)


@contextmanager
def run_bare_relay(upstream: Upstream, folder: Path) -> Iterator[BareRelay]:
    """Run the bare relay until the block ends."""
    port = find_free_port()
    with PinnedProcess(
        ["-m", "bench.bare_relay", str(port)],
        core=select_cores()[0],
        variables=build_product_environment(BENCH_UPSTREAM_URL=upstream.url),
        log_path=folder / "relay.log",
    ) as process:
        process.wait_for_port(port)
        yield BareRelay(process, upstream, port)
