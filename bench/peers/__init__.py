"""Other chat products on the same upstream, in OpenAI's wire format. The client behaves like the page of each product.

This project installs none of them. Install a product into its own virtual environment (`python3 -m venv DIR`, then
`DIR/bin/pip install chainlit openai`, or `open-webui`), and select it with `--peer chainlit=DIR/bin/python`.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

from bench.answers import Level
from bench.client import Connector, Endpoint
from bench.figures import LevelResult
from bench.peers import chainlit, openwebui
from bench.processes import BenchError, PinnedProcess, build_plain_environment, find_free_port, select_cores
from bench.targets import Upstream, measure_level, run_upstream

APPS = Path(__file__).with_name("apps")

#: Open WebUI compiles and imports all of its modules at its first start.
START_TIMEOUT_S = 180.0

#: These variables stop the products from sending requests to the internet.
OFFLINE_VARIABLES = {"HF_HUB_OFFLINE": "1", "ANONYMIZED_TELEMETRY": "False"}


@dataclass(frozen=True, slots=True)
class PeerDefinition:
    """The commands that start a product, and the way to connect to it.

    In the command and the variables, {app}, {port}, {folder} and {upstream} are replaced.
    """

    connector: Connector
    command: tuple[str, ...]
    """Arguments of the product's Python."""
    variables: Mapping[str, str] = field(default_factory=dict)


PEERS = {
    "chainlit": PeerDefinition(
        chainlit.connect_page,
        ("-m", "chainlit", "run", "{app}", "--headless", "--host", "127.0.0.1", "--port", "{port}"),
    ),
    "open-webui": PeerDefinition(
        openwebui.connect_page,
        # The `open-webui` program runs the same code.
        ("-c", "from open_webui import app; app()", "serve", "--host", "127.0.0.1", "--port", "{port}"),
        openwebui.VARIABLES,
    ),
}


@dataclass(frozen=True, slots=True)
class Peer:
    """A running product, or the smallest app built with it that relays an answer."""

    process: PinnedProcess
    upstream: Upstream
    url: str
    connector: Connector

    def run(self, level: Level) -> LevelResult:
        """Run one level without graphs, which OpenAI's format lacks. Every answer is the first one of a session.

        A level that overloads the product is reported to stderr, and all of its chunks count as lost.
        """
        level = level.without_graphs()
        endpoints = [self._make_endpoint(number) for number in range(level.conversations)]
        try:
            return measure_level(self.process, self.upstream, endpoints, level)
        except (BenchError, TimeoutError) as error:
            self.process.check_is_running()
            print(f"  {level.name}: {error or 'it did not end in time'}", file=sys.stderr)
            return LevelResult(
                requested_per_s=level.conversations * level.answer.rate,
                lost_chunks=level.conversations * level.answer.stamp_count,
            )

    def _make_endpoint(self, user_number: int) -> Endpoint:
        """Return the endpoint of one user. Products without users ignore the header."""
        headers = {openwebui.EMAIL_HEADER: f"visitor-{user_number}@example.org"}
        return Endpoint(self.url, headers, is_plotline=False, connector=self.connector)


@contextmanager
def run_peer(name: str, python: str, upstream: Upstream, folder: Path) -> Iterator[Peer]:
    """Run a product with the given Python, in a new folder, until the block ends."""
    folder.mkdir()
    definition, port = PEERS[name], find_free_port()
    values = {
        "app": str(APPS / f"{name}_app.py"),
        "port": str(port),
        "folder": str(folder),
        "upstream": upstream.url,
    }
    variables = {variable: value.format(**values) for variable, value in definition.variables.items()}
    with PinnedProcess(
        [argument.format(**values) for argument in definition.command],
        core=select_cores()[0],
        variables=build_plain_environment(BENCH_UPSTREAM_URL=upstream.url, **OFFLINE_VARIABLES, **variables),
        log_path=folder / "server.log",
        python=python,
        cwd=folder,
    ) as process:
        process.wait_for_port(port, timeout_s=START_TIMEOUT_S)
        yield Peer(process, upstream, f"ws://127.0.0.1:{port}/", definition.connector)


def check_peer(name: str, python: str) -> None:
    """Start a product and end it again, before anything is measured. Raise BenchError if it does not start."""
    with TemporaryDirectory(prefix="plotline-bench-", ignore_cleanup_errors=True) as path:
        folder = Path(path)
        try:
            with run_upstream(folder) as upstream, run_peer(name, python, upstream, folder / name):
                pass
        except BenchError as error:
            # The last line of a traceback is its reason.
            reason = str(error).rstrip().rpartition("\n")[2]
            raise BenchError(f"{name} cannot start with {python}: {reason}") from error
