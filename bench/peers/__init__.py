"""Other chat products beside Plotline, on the same upstream in OpenAI's form, each spoken to as its own page does.

None of them is installed by this project. Install one into an environment of its own (`python3 -m venv DIR`, then
`DIR/bin/pip install chainlit openai`, or `gradio openai`, or `open-webui`), and name it: `--peer
chainlit=DIR/bin/python`.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from bench.answers import Level
from bench.client import Door, Opener
from bench.figures import Observed
from bench.peers import chainlit, gradio, openwebui
from bench.processes import BenchError, PinnedProcess, cores, free_port, plain_environment
from bench.targets import Upstream, observe, running

APPS = Path(__file__).with_name("apps")

START_LIMIT_S = 180.0
"""Open WebUI's first start compiles and imports all it has."""


@dataclass(frozen=True, slots=True)
class Recipe:
    """How a product is started, and spoken to; {app}, {port}, {folder} and {upstream} are filled in."""

    opener: Opener
    command: tuple[str, ...]
    """After `python`."""
    variables: Mapping[str, str] = field(default_factory=dict)


PEERS = {
    "chainlit": Recipe(
        chainlit.open_line,
        ("-m", "chainlit", "run", "{app}", "--headless", "--host", "127.0.0.1", "--port", "{port}"),
    ),
    "gradio": Recipe(gradio.open_line, ("{app}", "{port}")),
    "open-webui": Recipe(
        openwebui.open_line,
        # What its own command runs.
        ("-c", "from open_webui import app; app()", "serve", "--host", "127.0.0.1", "--port", "{port}"),
        openwebui.VARIABLES,
    ),
}


@dataclass(frozen=True, slots=True)
class Peer:
    """Another product, or the smallest app of it that relays an answer."""

    process: PinnedProcess
    upstream: Upstream
    url: str
    opener: Opener

    def run(self, level: Level) -> Observed:
        """See `Target.run`; every answer is the first of a visit. No graphs: OpenAI's form has none."""
        level = replace(level, answer=replace(level.answer, graphs=0))
        doors = [self.door(number) for number in range(level.conversations)]
        try:
            return observe(self.process, self.upstream, doors, level)
        except (BenchError, TimeoutError) as error:
            # Of these levels some are too much for it; the others are measured all the same.
            self.process.check()
            print(f"  {level.name}: {error or 'it did not come to its end'}", file=sys.stderr)
            return Observed(
                asked_per_s=level.conversations * level.answer.rate, lost=level.conversations * level.answer.stamps
            )

    def door(self, number: int) -> Door:
        """The way in of one person, where the product knows people."""
        headers = {openwebui.EMAIL_HEADER: f"visitor-{number}@example.org"}
        return Door(self.url, headers, is_product=False, opener=self.opener)


@contextmanager
def running_peer(name: str, python: str, upstream: Upstream, folder: Path) -> Iterator[Peer]:
    """That product for the length of the block, run by the named environment's Python in a folder of its own."""
    folder.mkdir()
    recipe, port = PEERS[name], free_port()
    values = {
        "app": str(APPS / f"{name}_app.py"),
        "port": str(port),
        "folder": str(folder),
        "upstream": upstream.url,
    }
    # They call home otherwise.
    quiet = {"GRADIO_ANALYTICS_ENABLED": "False", "HF_HUB_OFFLINE": "1", "ANONYMIZED_TELEMETRY": "False"}
    own = {variable: value.format(**values) for variable, value in recipe.variables.items()}
    process = PinnedProcess(
        [part.format(**values) for part in recipe.command],
        core=cores()[0],
        variables=plain_environment(BENCH_UPSTREAM_URL=upstream.url, **quiet, **own),
        log=folder / "server.log",
        python=python,
        cwd=folder,
    )
    with running(process):
        process.wait_for(port, limit_s=START_LIMIT_S)
        yield Peer(process, upstream, f"ws://127.0.0.1:{port}/", recipe.opener)
