"""The product as a process of its own: Daphne on a free port, a database of its own, and clients that speak to it."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
import uuid
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory, mkdtemp
from typing import Any

import requests
from websockets.sync.client import ClientConnection, connect

from tests.ports import free_port

ROOT = Path(__file__).resolve().parent.parent
START_LIMIT_S = 90.0
"""Patience for a busy machine; a server that ends is noticed at once."""


def environment(var_dir: Path, **variables: str) -> dict[str, str]:
    """This run's environment with a folder of its own."""
    return os.environ | {"PLOTLINE_VAR_DIR": str(var_dir), "DEBUG": "1", "DATABASE_URL": ""} | variables


#: One process for both: each would take a second to start.
SET_UP = """
import django
from django.core.management import call_command

django.setup()
call_command("migrate", verbosity=0)
call_command("create_demo_user")
"""


@cache
def database_template() -> Path:
    """A migrated database with the demo user, made once by each worker; to be copied."""
    var_dir = Path(mkdtemp(prefix="template-", dir=os.environ["PLOTLINE_VAR_DIR"]))
    variables = environment(var_dir, DJANGO_SETTINGS_MODULE="config.settings")
    subprocess.run([sys.executable, "-c", SET_UP], cwd=ROOT, env=variables, check=True, capture_output=True)
    database_path = var_dir / "plotline.sqlite3"
    # A database in WAL mode is three files until its last connection has closed it.
    with closing(sqlite3.connect(database_path)) as database:
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return database_path


@dataclass
class LiveServer:
    """A server process that can be killed and started again on the same database and port."""

    var_dir: Path
    variables: dict[str, str] = field(default_factory=dict)
    port: int = field(default_factory=free_port)
    process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        """Start and wait until it answers."""
        with (self.var_dir / "server.log").open("ab") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "config.serve", "--bind", "127.0.0.1", "--port", str(self.port)],
                cwd=ROOT,
                env=environment(self.var_dir, **self.variables),
                stdout=log,
                stderr=log,
            )
        give_up_at = time.monotonic() + START_LIMIT_S
        while time.monotonic() < give_up_at:
            if self.process.poll() is not None:
                raise RuntimeError(f"the server ended: {self.log()[-2000:]}")
            try:
                requests.get(f"{self.url}/healthz", timeout=2)
            except requests.ConnectionError:
                time.sleep(0.05)
            else:
                return
        raise RuntimeError("the server did not answer in time")

    def kill(self) -> None:
        """`kill -9`."""
        assert self.process
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def stop(self) -> None:
        """End it."""
        if self.process and self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(10)
            except subprocess.TimeoutExpired:
                self.kill()

    def log(self) -> str:
        """What it wrote."""
        return (self.var_dir / "server.log").read_text(errors="replace")

    def rows(self, query: str, *values: str) -> list[tuple[Any, ...]]:
        """Rows straight from its database."""
        with closing(sqlite3.connect(self.var_dir / "plotline.sqlite3", timeout=20)) as database:
            return database.execute(query, values).fetchall()

    def write(self, statement: str, *values: str) -> None:
        """Change its database behind its back."""
        with closing(sqlite3.connect(self.var_dir / "plotline.sqlite3", timeout=20)) as database:
            # Triggers of the search index call this function; what is written here is not searched for.
            database.create_function("chat_words", 1, lambda text: "", deterministic=True)
            database.execute(statement, values)
            database.commit()


@contextmanager
def running_server(**variables: str) -> Iterator[LiveServer]:
    """A server for the length of the block, with user demo/demo."""
    with TemporaryDirectory(prefix="server-", ignore_cleanup_errors=True) as folder:
        var_dir = Path(folder)
        shutil.copy(database_template(), var_dir)
        server = LiveServer(var_dir, variables)
        server.start()
        try:
            yield server
        finally:
            server.stop()


class Visitor:
    """A browser without a page: HTTP session and sockets."""

    def __init__(self, server: LiveServer, username: str = "demo", password: str = "demo") -> None:
        """Sign in; an empty name leaves the visitor anonymous."""
        self.server = server
        self.http = requests.Session()
        if username:
            self.post("/accounts/login/", login=username, password=password)

    @classmethod
    def signed_up(cls, server: LiveServer, username: str, password: str) -> Visitor:
        """A new account."""
        visitor = cls(server, "")
        visitor.post("/accounts/signup/", username=username, password1=password, password2=password)
        return visitor

    def post(self, path: str, **fields: str) -> requests.Response:
        """Post a form with its CSRF token."""
        if "csrftoken" not in self.http.cookies:
            self.http.get(f"{self.server.url}/accounts/login/", timeout=10)
        response = self.http.post(
            f"{self.server.url}{path}",
            data=fields,
            headers={"X-CSRFToken": self.http.cookies["csrftoken"] or "", "Referer": self.server.url},
            timeout=10,
        )
        assert response.status_code < 400, f"{path}: {response.status_code} {response.text[:300]}"
        return response

    def new_conversation(self) -> str:
        """Id of an empty conversation."""
        match = re.search(r"/c/([0-9a-f-]{36})/", self.post("/c/new/").url)
        assert match
        return match[1]

    def page(self, conversation_id: str) -> str:
        """HTML of the conversation's page."""
        return self.http.get(f"{self.server.url}/c/{conversation_id}/", timeout=20).text

    def transcript(self, conversation_id: str) -> str:
        """Inner HTML of `#transcript` as a fresh page has it: its articles, in order."""
        return "".join(re.findall(r"<article .*?</article>", self.page(conversation_id), flags=re.DOTALL))

    def socket(self, conversation_id: str, query: str = "", max_queue: int = 16) -> ClientConnection:
        """An open socket."""
        cookies = "; ".join(f"{name}={value}" for name, value in self.http.cookies.items())
        connection: ClientConnection = connect(
            f"ws://127.0.0.1:{self.server.port}/ws/conversations/{conversation_id}/{query}",
            additional_headers={"Cookie": cookies, "Origin": self.server.url},
            max_size=64 * 1024 * 1024,
            max_queue=max_queue,
            close_timeout=1,
        )
        return connection


def send(socket: ClientConnection, text: str, **fields: str) -> str:
    """Ask something; the client_id."""
    client_id = str(uuid.uuid4())
    socket.send(json.dumps({"action": "send", "text": text, "client_id": client_id} | fields))
    return client_id
