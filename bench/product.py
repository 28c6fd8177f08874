"""Plotline itself, as it is served: `config.serve` on one core, SQLite in a folder of its own, DEBUG off, no key."""

from __future__ import annotations

import json
import secrets
import shutil
import sqlite3
import struct
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

from bench.answers import Answer, Level
from bench.client import Door
from bench.figures import Observed
from bench.processes import ROOT, BenchError, PinnedProcess, cores, environment, free_port
from bench.targets import Upstream, observe, running

DATABASE = "plotline.sqlite3"

#: Of SQLite's write-ahead log index: iChange, "counter incremented each transaction", in the machine's byte order.
CHANGES_OFFSET = 8


@dataclass(frozen=True, slots=True)
class Template:
    """A migrated database with people and conversations, and collected files, to be copied for each run."""

    folder: Path
    variables: dict[str, str]
    places: list[tuple[str, str]]
    """Cookie and conversation id, each to be used once."""


def make_template(folder: Path, *, people: int, conversations: int) -> Template:
    """Set one up; takes some seconds."""
    folder.mkdir()
    variables = environment(DEBUG="0", HTTPS="0", SECRET_KEY=secrets.token_urlsafe(60), GEMINI_MODEL="bench")
    variables["PLOTLINE_VAR_DIR"] = str(folder)
    run_python(variables, "manage.py", "migrate", "--verbosity=0")
    run_python(variables, "manage.py", "collectstatic", "--noinput", "--verbosity=0")
    places = json.loads(run_python(variables, "-m", "bench.seed", str(people), str(conversations)))
    # A database in WAL mode is three files until its last connection has closed it.
    with closing(sqlite3.connect(folder / DATABASE)) as database:
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return Template(folder, variables, [(cookie, conversation_id) for cookie, conversation_id in places])


def run_python(variables: Mapping[str, str], *arguments: str) -> str:
    """Run one of this project's commands to its end; what it printed. Raises BenchError when it fails."""
    done = subprocess.run([sys.executable, *arguments], cwd=ROOT, env=variables, capture_output=True, text=True)
    if done.returncode:
        raise BenchError(f"{arguments}: {done.stderr[-3000:]}")
    return done.stdout


@dataclass(slots=True)
class Product:
    """A server process with unused conversations."""

    process: PinnedProcess
    upstream: Upstream
    port: int
    var_dir: Path
    places: Iterator[tuple[str, str]] = field(repr=False)

    def run(self, level: Level) -> Observed:
        """See `Target.run`; every answer is the first of its conversation, which belongs to a person of its own."""
        doors = [self.door(cookie, key) for cookie, key in islice(self.places, level.conversations)]
        if len(doors) < level.conversations:
            raise BenchError("there are too few conversations for this plan")
        database = self.var_dir / DATABASE
        before = commits_of(database)
        observed = observe(self.process, self.upstream, doors, level)
        observed.commits = commits_of(database) - before
        return observed

    def run_tabs(self, tabs: int, answer: Answer) -> Observed:
        """One answer that so many tabs on one conversation read; the first of them asks."""
        place = next(self.places)
        doors = [self.door(*place, asks=number == 0) for number in range(tabs)]
        return observe(self.process, self.upstream, doors, Level("tabs", tabs, answer))

    def door(self, cookie: str, conversation_id: str, *, asks: bool = True) -> Door:
        """The way to an empty conversation."""
        address = f"127.0.0.1:{self.port}"
        # An empty conversation is at revision 0: the page shows all there is, and needs no snapshot.
        url = f"ws://{address}/ws/conversations/{conversation_id}/?revision=0"
        return Door(url, {"Cookie": cookie, "Origin": f"http://{address}"}, is_product=True, asks=asks)


def commits_of(database: Path) -> int:
    """Transactions that wrote to a database in WAL mode since it was opened, as SQLite itself counts them."""
    with database.with_name(f"{database.name}-shm").open("rb") as index:
        index.seek(CHANGES_OFFSET)
        return int(struct.unpack("=I", index.read(4))[0])


@contextmanager
def running_product(template: Template, upstream: Upstream, var_dir: Path, redis_url: str = "") -> Iterator[Product]:
    """Plotline for the length of the block, on a copy of the template in `var_dir`, which must not exist."""
    shutil.copytree(template.folder / "static", var_dir / "static")
    shutil.copy(template.folder / DATABASE, var_dir)
    # SQLite's index of its log goes when the last connection closes, and with it the count: keep one open.
    with (
        running_server(template, upstream, var_dir, cores()[0], redis_url) as (process, port),
        closing(sqlite3.connect(var_dir / DATABASE)) as keeper,
    ):
        keeper.execute("SELECT count(*) FROM chat_conversation").fetchall()
        yield Product(process, upstream, port, var_dir, iter(template.places))


@contextmanager
def running_server(
    template: Template, upstream: Upstream, var_dir: Path, core: int, redis_url: str = ""
) -> Iterator[tuple[PinnedProcess, int]]:
    """One server process on that core and its port; without Redis it must be the only one of its database."""
    port = free_port()
    variables = template.variables | {
        "PLOTLINE_VAR_DIR": str(var_dir),
        "GOOGLE_GEMINI_BASE_URL": upstream.url,
        "REDIS_URL": redis_url,
    }
    arguments = ["-m", "config.serve", "--bind", "127.0.0.1", "--port", str(port)]
    process = PinnedProcess(arguments, core=core, variables=variables, log=var_dir / f"server-{port}.log")
    with running(process):
        process.wait_for(port)
        yield process, port
