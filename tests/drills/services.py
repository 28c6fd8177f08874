"""The services of an installation, as processes that a drill can stop, pause, kill and start again on the same port."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import closing, suppress
from pathlib import Path

import psutil
import psycopg
from psycopg.sql import SQL, Identifier

from tests.child_processes import terminate, tied
from tests.environment import ROOT
from tests.polling import wait_until

START_LIMIT_S = 90.0
STOP_LIMIT_S = 30.0
POSTGRESQL_USER = "postgres"
POSTGRESQL_FOLDER = Path("/usr/lib/postgresql")
OLDEST_POSTGRESQL = 15
DATABASE_USER = "plotline"
ROLE_TIMEOUTS = {"lock_timeout": "2s", "statement_timeout": "30s"}


class DrillError(Exception):
    """A drill cannot be run. The message gives the reason."""


class Service:
    """One process that listens on a port of this machine."""

    def __init__(
        self, command: Sequence[str], port: int, log_path: Path, variables: Mapping[str, str] | None = None
    ) -> None:
        """`variables`: environment of the process; by default the environment of the drill."""
        self.port = port
        self._command, self._log_path, self._variables = list(command), log_path, variables
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start the process and wait until it accepts connections. Raise DrillError if it ends instead."""
        with self._log_path.open("ab") as log:
            self._process = subprocess.Popen(tied(self._command), cwd=ROOT, env=self._variables, stdout=log, stderr=log)
        wait_until(self.is_ready, START_LIMIT_S)

    def is_ready(self) -> bool:
        """Return whether the process accepts connections. Raise DrillError if it has ended."""
        assert self._process
        if self._process.poll() is not None:
            tail = self._log_path.read_text(errors="replace")[-2000:]
            raise DrillError(f"{self._command[0]} ended with status {self._process.returncode}: {tail}")
        with closing(socket.socket()) as probe:
            return probe.connect_ex(("127.0.0.1", self.port)) == 0

    def send_signal(self, number: signal.Signals) -> None:
        """Send a signal to the process and to all its children."""
        assert self._process
        parent = psutil.Process(self._process.pid)
        # Signal the parent first: while it is stopped, it starts no further children.
        parent.send_signal(number)
        for child in parent.children(recursive=True):
            with suppress(psutil.NoSuchProcess):
                child.send_signal(number)

    def pause(self) -> None:
        """Stop the process without ending it, so that its clients wait."""
        self.send_signal(signal.SIGSTOP)

    def resume(self) -> None:
        """Continue after `pause`."""
        self.send_signal(signal.SIGCONT)

    def crash(self, number: signal.Signals = signal.SIGKILL) -> None:
        """End the process at once, by a signal to it alone, and wait until it has ended."""
        assert self._process
        self._process.send_signal(number)
        self._process.wait(STOP_LIMIT_S)

    def stop(self) -> None:
        """Terminate the process, if it runs, and kill it if it does not end."""
        if self._process is None or self._process.poll() is not None:
            return
        self._process.send_signal(signal.SIGCONT)
        self._process.terminate()
        try:
            self._process.wait(STOP_LIMIT_S)
        except subprocess.TimeoutExpired:
            self.send_signal(signal.SIGKILL)
            self._process.wait()


def postgresql_programs(folder: Path = POSTGRESQL_FOLDER) -> Path:
    """Return the folder of the newest PostgreSQL's programs. Raises DrillError if there is none of version 15 or later.

    `folder`: has a folder for each installed version, as in Debian and Ubuntu.
    """
    newest = max((int(path.parents[1].name) for path in folder.glob("[0-9][0-9]/bin/postgres")), default=0)
    if newest < OLDEST_POSTGRESQL:
        raise DrillError(f"PostgreSQL {OLDEST_POSTGRESQL} or newer is not installed below {folder}.")
    return folder / str(newest) / "bin"


class PostgreSQL(Service):
    """A server of the newest installed PostgreSQL, with its own data folder. It never runs as root."""

    def __init__(self, folder: Path, port: int) -> None:
        """Create the data folder."""
        programs = postgresql_programs()
        folder.mkdir()
        as_user = unprivileged()
        if as_user:
            shutil.chown(folder, POSTGRESQL_USER)
        data = str(folder / "data")
        options = ["-D", data, "-U", DATABASE_USER, "--auth=trust", "--encoding=UTF8", "--no-sync"]
        subprocess.run([*as_user, str(programs / "initdb"), *options], cwd=folder, check=True, capture_output=True)
        settings = {
            "port": port,
            "listen_addresses": "127.0.0.1",
            "unix_socket_directories": "",
            # Drills crash the server, not the machine, so nothing is lost without fsync.
            "fsync": "off",
        }
        command = [*as_user, str(programs / "postgres"), "-D", data]
        command += [argument for name, value in settings.items() for argument in ("-c", f"{name}={value}")]
        super().__init__(command, port, folder.with_suffix(".log"))

    @property
    def url(self) -> str:
        """`DATABASE_URL` of an installation."""
        return f"postgres://{DATABASE_USER}@127.0.0.1:{self.port}/postgres"

    def is_ready(self) -> bool:
        """Return whether the server takes queries: it listens before it has recovered from a crash."""
        if not super().is_ready():
            return False
        try:
            psycopg.connect(self.url).close()
        except psycopg.OperationalError:
            return False
        return True

    def set_role_timeouts(self) -> None:
        """Give new connections the timeouts that docs/deployment.md asks for behind a pool."""
        with psycopg.connect(self.url, autocommit=True) as database:
            for name, value in ROLE_TIMEOUTS.items():
                database.execute(
                    SQL("ALTER ROLE {} SET {} = {}").format(Identifier(DATABASE_USER), Identifier(name), value)
                )

    def stop_immediately(self) -> None:
        """Stop as `pg_ctl stop -m immediate` does: all connections break, and the next start recovers."""
        self.crash(signal.SIGQUIT)


class Redis(Service):
    """A Redis server that stores nothing on disk."""

    def __init__(self, folder: Path, port: int) -> None:
        options = ["--port", str(port), "--bind", "127.0.0.1", "--save", "", "--dir", str(folder)]
        super().__init__([find_program("redis-server"), *options], port, folder / "redis.log")

    @property
    def url(self) -> str:
        """`REDIS_URL` of an installation."""
        return f"redis://127.0.0.1:{self.port}/0"


CADDYFILE = """
{{
	admin off
	auto_https off
}}
http://127.0.0.1:{port} {{
	reverse_proxy {upstreams} {{
		lb_policy round_robin
		lb_try_duration 10s
		health_uri /readyz
		health_interval 1s
	}}
}}
"""


class Caddy(Service):
    """The proxy in front of the web processes. It sends new connections only to processes that are ready."""

    def __init__(self, folder: Path, port: int, upstream_ports: Sequence[int]) -> None:
        upstreams = " ".join(f"127.0.0.1:{upstream}" for upstream in upstream_ports)
        path = folder / "Caddyfile"
        path.write_text(CADDYFILE.format(port=port, upstreams=upstreams))
        command = [find_program("caddy"), "run", "--config", str(path), "--adapter", "caddyfile"]
        variables = os.environ | {"XDG_DATA_HOME": str(folder), "XDG_CONFIG_HOME": str(folder)}
        super().__init__(command, port, folder / "caddy.log", variables)


PGBOUNCER_SETTINGS = """
[databases]
postgres = host=127.0.0.1 port={database_port} dbname=postgres user={user}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {port}
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = 10
max_client_conn = 200
ignore_startup_parameters = extra_float_digits,options
"""


class PgBouncer(Service):
    """A connection pool in transaction mode in front of PostgreSQL."""

    def __init__(self, folder: Path, port: int, database: PostgreSQL) -> None:
        path = folder / "pgbouncer.ini"
        path.write_text(PGBOUNCER_SETTINGS.format(port=port, database_port=database.port, user=DATABASE_USER))
        # Another user must read it, but Plotline's settings restrict the permissions of new files.
        path.chmod(0o644)
        command = [*unprivileged(), find_program("pgbouncer"), str(path)]
        super().__init__(command, port, folder / "pgbouncer.log")

    @property
    def url(self) -> str:
        """`DATABASE_URL` of an installation."""
        return f"postgres://{DATABASE_USER}@127.0.0.1:{self.port}/postgres"


class Worker:
    """An upload worker."""

    def __init__(self, variables: Mapping[str, str], log_path: Path) -> None:
        self._variables, self._log_path = variables, log_path
        self.process = self._start()

    def _start(self) -> subprocess.Popen[bytes]:
        command = [sys.executable, "manage.py", "attachments_worker"]
        with self._log_path.open("ab") as log:
            return subprocess.Popen(tied(command), cwd=ROOT, env=self._variables, stdout=log, stderr=log)

    def kill_and_restart(self) -> None:
        """Kill the worker with SIGKILL, and start another one."""
        self.process.kill()
        self.process.wait()
        self.process = self._start()

    def stop(self) -> None:
        """Terminate the worker, and kill it if it does not end."""
        terminate(self.process, STOP_LIMIT_S)


def unprivileged() -> list[str]:
    """Return the prefix of a command that runs it as another user, for programs that refuse to run as root."""
    if os.geteuid() != 0:
        return []
    # A change of user clears the death signal of a process (`tied`), so it is set again.
    user = [f"--reuid={POSTGRESQL_USER}", f"--regid={POSTGRESQL_USER}", "--clear-groups"]
    return ["setpriv", *user, *tied([])]


def find_program(name: str) -> str:
    """Return the path of an installed program. Raise DrillError if there is none."""
    path = shutil.which(name, path=f"{os.environ.get('PATH', '')}:/usr/sbin:/usr/local/sbin")
    if path is None:
        raise DrillError(f"{name} is not installed. `make drills` installs it if this user may do so.")
    return path
