"""Other chat products beside Plotline, on the same upstream in OpenAI's form, each spoken to as its own page does.

None of them is installed by this project. Install one into an environment of its own (`python3 -m venv DIR`, then
`DIR/bin/pip install chainlit openai`, or `gradio openai`), and name it: `--peer chainlit --peer-python DIR/bin/python`.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from bench.answers import Level
from bench.client import Door, Opener
from bench.figures import Observed
from bench.peers import chainlit, gradio
from bench.processes import PinnedProcess, cores, environment, free_port
from bench.targets import Upstream, observe, running

APPS = Path(__file__).with_name("apps")

#: By name: how its socket is opened, and its command after `python`, where {app} and {port} are filled in.
PEERS: dict[str, tuple[Opener, tuple[str, ...]]] = {
    "chainlit": (
        chainlit.open_line,
        ("-m", "chainlit", "run", "{app}", "--headless", "--host", "127.0.0.1", "--port", "{port}"),
    ),
    "gradio": (gradio.open_line, ("{app}", "{port}")),
}


@dataclass(frozen=True, slots=True)
class Peer:
    """Another product as the smallest app that relays an answer."""

    process: PinnedProcess
    upstream: Upstream
    door: Door

    def run(self, level: Level) -> Observed:
        """See `Target.run`; every answer is the first of a visit. Nothing of a graph: their form has none."""
        return observe(self.process, self.upstream, [self.door] * level.conversations, level)


@contextmanager
def running_peer(name: str, python: str, upstream: Upstream, folder: Path) -> Iterator[Peer]:
    """That product for the length of the block, run by the named environment's Python in a folder of its own."""
    folder.mkdir()
    opener, command = PEERS[name]
    port = free_port()
    values = {"app": str(APPS / f"{name}_app.py"), "port": str(port)}
    # They call home otherwise.
    quiet = {"GRADIO_ANALYTICS_ENABLED": "False", "HF_HUB_OFFLINE": "1", "ANONYMIZED_TELEMETRY": "False"}
    process = PinnedProcess(
        [part.format(**values) for part in command],
        core=cores()[0],
        variables=environment(BENCH_UPSTREAM_URL=upstream.url, **quiet),
        log=folder / "server.log",
        python=python,
        cwd=folder,
    )
    with running(process):
        process.wait_for(port)
        yield Peer(process, upstream, Door(f"ws://127.0.0.1:{port}/", {}, is_product=False, opener=opener))
