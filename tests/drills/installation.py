"""An installation: two web processes behind Caddy, two upload workers, PostgreSQL, Redis, Swift and the emulator."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from tests.drills.services import Caddy, DrillError, PgBouncer, PostgreSQL, Redis, Worker
from tests.drills.swift import Swift
from tests.drills.tabs import close_open_tabs
from tests.emulator_server import running_emulator
from tests.environment import ROOT
from tests.kernel_service import shared_service
from tests.live_server import LiveServer, Visitor
from tests.ports import free_port
from tests.server_databases import environment

PROCESSES = 2
WORKERS = 2
USERS = ("first", "second")
"""Two users are needed, because one user may have eight live answers."""
PASSWORD = "a long pass word 9"
DRAIN_SECONDS = 60


@dataclass
class Installation:
    """The running parts, which a drill stops, kills and starts again."""

    var_dir: Path
    """The folder of the web processes and workers, with their logs."""
    database: PostgreSQL
    redis: Redis
    storage: Swift
    web: list[LiveServer]
    workers: list[Worker]
    front: LiveServer
    """Caddy's address as a `LiveServer`, for its queries. It has no process of its own."""
    visitors: list[Visitor] = field(default_factory=list)
    """One client of Caddy for each user."""

    def log_lines(self) -> int:
        """Return the number of lines in the log of the web processes, and of the workers."""
        paths = (self.var_dir / "server.log", self.var_dir / "worker.log")
        return sum(path.read_bytes().count(b"\n") for path in paths if path.exists())


def wait_for_exit(server: LiveServer, limit_s: float) -> None:
    """Wait until a web process has ended. Raise DrillError if it does not end in time."""
    assert server.process
    try:
        server.process.wait(limit_s)
    except subprocess.TimeoutExpired:
        raise DrillError(f"a web process did not end within {limit_s} s of SIGTERM") from None


@contextmanager
def running_installation(*, has_pool: bool = False, pace: float = 1.0, **variables: str) -> Iterator[Installation]:
    """Run an installation during the block.

    `has_pool`: the web processes and workers reach the database through PgBouncer. `pace`: factor for the pauses of the
    emulator; 1 is that of the shipped one. `variables`: settings of the installation.
    """
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="drill-", dir="/tmp")))
        # PostgreSQL and PgBouncer run as other users, who must read this folder.
        folder.chmod(0o755)
        database = PostgreSQL(folder / "postgresql", free_port())
        redis = Redis(folder, free_port())
        storage = Swift(folder / "swift")
        pool = PgBouncer(folder, free_port(), database) if has_pool else None
        for service in (database, redis, storage, pool):
            if service:
                service.start()
                stack.callback(service.stop)
        if pool:
            database.set_role_timeouts()
        storage.create_bucket()
        var_dir = folder / "var"
        emulator_url = stack.enter_context(running_emulator(pace=pace))
        settings = {
            "DEBUG": "0",
            "DATABASE_URL": pool.url if pool else database.url,
            "REDIS_URL": redis.url,
            "GOOGLE_GEMINI_BASE_URL": emulator_url,
            "KERNEL_SERVICE_DIR": str(shared_service().directory),
            "UPLOAD_RETRY_LIMIT_S": "2",
            "DRAIN_SECONDS": str(DRAIN_SECONDS),
            **storage.variables,
            **variables,
        }
        # Management commands bypass the pool, because migrations keep a connection for more than one transaction.
        for command in ("migrate", "collectstatic"):
            run_command(var_dir, settings | {"DATABASE_URL": database.url}, command)
        web = [LiveServer(var_dir, settings) for _ in range(PROCESSES)]
        for server in web:
            stack.callback(server.stop)
            server.start()
        worker_variables = environment(var_dir, **settings)
        workers = [Worker(worker_variables, var_dir / "worker.log") for _ in range(WORKERS)]
        for worker in workers:
            stack.callback(worker.stop)
        caddy = Caddy(folder, free_port(), [server.port for server in web])
        caddy.start()
        stack.callback(caddy.stop)
        queries = {"DATABASE_URL": database.url}
        installation = Installation(
            var_dir, database, redis, storage, web, workers, LiveServer(var_dir, queries, caddy.port)
        )
        stack.callback(close_open_tabs)
        installation.visitors = [Visitor.signed_up(installation.front, name, PASSWORD) for name in USERS]
        yield installation


def run_command(var_dir: Path, settings: dict[str, str], command: str) -> None:
    """Run a management command. Raise DrillError if it fails."""
    completed = subprocess.run(
        [sys.executable, "manage.py", command, "--no-input", "--verbosity=0"],
        cwd=ROOT,
        env=environment(var_dir, **settings),
        capture_output=True,
        text=True,
    )
    if completed.returncode:
        raise DrillError(f"{command}: {completed.stderr[-2000:]}")
