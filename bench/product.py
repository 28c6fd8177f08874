"""Plotline as it is served: `config.serve` on one core, with SQLite in its own folder, `DEBUG` off and no API key."""

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
from typing import NamedTuple

from bench.answers import Level
from bench.client import Endpoint
from bench.figures import LevelResult
from bench.processes import (
    ROOT,
    BenchError,
    PinnedProcess,
    build_product_environment,
    find_free_port,
    select_cores,
)
from bench.targets import Upstream, measure_level

DATABASE = "plotline.sqlite3"

GEMINI = "gemini"
GEMINI_MODELS = {GEMINI: "bench", "interactions": "bench-interactions"}
"""Protocol -> model. The second model is a row that `bench.seed` creates."""
OPENAI_MODELS = {"openai": "bench", "responses": "bench-responses"}
"""Protocol -> model. The upstream answers that the second one needs the Responses API (`bench.upstream`)."""
PROTOCOLS = (*GEMINI_MODELS, *OPENAI_MODELS)

#: Offset of iChange in the index of SQLite's write-ahead log: a counter, in the machine's byte order, that SQLite
#: increments with each transaction.
CHANGE_COUNTER_OFFSET = 8


class SignedInConversation(NamedTuple):
    """An empty conversation and the session cookie of its owner. Each is used once."""

    cookie: str
    conversation_id: str


@dataclass(frozen=True, slots=True)
class Template:
    """A folder with collected static files and a migrated database of users and conversations. Each run copies it."""

    folder: Path
    variables: dict[str, str]
    """The environment of the server."""
    conversations: list[SignedInConversation]


def make_template(folder: Path, *, users: int, conversations_per_user: int) -> Template:
    """Create a template in a new folder, which takes some seconds."""
    folder.mkdir()
    variables = build_product_environment(
        DEBUG="0", HTTPS="0", SECRET_KEY=secrets.token_urlsafe(60), GEMINI_MODEL="bench", PLOTLINE_VAR_DIR=str(folder)
    )
    run_python(variables, "manage.py", "migrate", "--verbosity=0")
    run_python(variables, "manage.py", "collectstatic", "--noinput", "--verbosity=0")
    output = run_python(variables, "-m", "bench.with_django", "bench.seed", str(users), str(conversations_per_user))
    # Move the write-ahead log into the database file, so that the template can be copied as one file.
    with closing(sqlite3.connect(folder / DATABASE)) as database:
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return Template(folder, variables, [SignedInConversation(*pair) for pair in json.loads(output)])


def run_python(variables: Mapping[str, str], *arguments: str) -> str:
    """Run a Python command of this project and return its output. Raise BenchError if it fails."""
    completed = subprocess.run([sys.executable, *arguments], cwd=ROOT, env=variables, capture_output=True, text=True)
    if completed.returncode:
        raise BenchError(f"{arguments}: {completed.stderr[-3000:]}")
    return completed.stdout


@dataclass(slots=True)
class Product:
    """A running Plotline server and the conversations that have not been used yet."""

    process: PinnedProcess
    upstream: Upstream
    port: int
    var_dir: Path
    conversations: Iterator[SignedInConversation] = field(repr=False)
    protocol: str = GEMINI

    def run(self, level: Level) -> LevelResult:
        """Run one level. Every answer is the first of its conversation, and every conversation has another owner."""
        level = level if self.protocol == GEMINI else level.without_graphs()
        conversations = islice(self.conversations, level.conversations)
        endpoints = [self.make_endpoint(conversation) for conversation in conversations]
        if len(endpoints) < level.conversations:
            raise BenchError("there are not enough conversations for this plan")
        database = self.var_dir / DATABASE
        commits_before = count_commits(database)
        result = measure_level(self.process, self.upstream, endpoints, level)
        result.commits = count_commits(database) - commits_before
        return result

    def make_endpoint(self, conversation: SignedInConversation) -> Endpoint:
        """Return the socket of an empty conversation."""
        address = f"127.0.0.1:{self.port}"
        # An empty conversation has revision 0. A page that knows this revision needs no snapshot.
        url = f"ws://{address}/ws/conversations/{conversation.conversation_id}/?revision=0"
        headers = {"Cookie": conversation.cookie, "Origin": f"http://{address}"}
        return Endpoint(url, headers, is_plotline=True)


def count_commits(database: Path) -> int:
    """Return the number of write transactions that SQLite has counted since a database in WAL mode was opened."""
    with database.with_name(f"{database.name}-shm").open("rb") as wal_index:
        wal_index.seek(CHANGE_COUNTER_OFFSET)
        return int(struct.unpack("=I", wal_index.read(4))[0])


@contextmanager
def run_product(
    template: Template,
    upstream: Upstream,
    var_dir: Path,
    *,
    protocol: str = GEMINI,
) -> Iterator[Product]:
    """Run Plotline on a copy of the template until the block ends. `var_dir` must not exist.

    `protocol`: one of `PROTOCOLS`, which requests to its model use.
    """
    shutil.copytree(template.folder / "static", var_dir / "static")
    shutil.copy(template.folder / DATABASE, var_dir)
    # SQLite deletes the WAL index, and with it the commit count, when the last connection closes. Keep one open.
    with (
        run_server(template, upstream, var_dir, protocol=protocol) as (process, port),
        closing(sqlite3.connect(var_dir / DATABASE)) as open_connection,
    ):
        open_connection.execute("SELECT count(*) FROM chat_conversation").fetchall()
        yield Product(process, upstream, port, var_dir, iter(template.conversations), protocol)


@contextmanager
def run_server(
    template: Template,
    upstream: Upstream,
    var_dir: Path,
    *,
    protocol: str = GEMINI,
) -> Iterator[tuple[PinnedProcess, int]]:
    """Run one server process until the block ends, and yield the process and its port."""
    port = find_free_port()
    variables = template.variables | {
        "PLOTLINE_VAR_DIR": str(var_dir),
        "GOOGLE_GEMINI_BASE_URL": upstream.url,
        "DRAIN_SECONDS": "0",
    }
    variables["GEMINI_MODEL"] = GEMINI_MODELS.get(protocol, "")
    if protocol in OPENAI_MODELS:
        # With these settings, the first model of the endpoint is the default.
        variables |= {"OPENAI_BASE_URL": f"{upstream.url}/v1", "OPENAI_MODELS": OPENAI_MODELS[protocol]}
    arguments = ["-m", "config.serve", "--bind", "127.0.0.1", "--port", str(port)]
    log_path = var_dir / "server.log"
    with PinnedProcess(arguments, core=select_cores()[0], variables=variables, log_path=log_path) as process:
        process.wait_for_port(port)
        yield process, port
