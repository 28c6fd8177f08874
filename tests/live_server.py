"""Runs the web server as a separate process, with its own port and database, and provides clients for it."""

from __future__ import annotations

import json
import re
import signal
import socket
import subprocess
import sys
import uuid
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

import requests
from websockets.sync.client import ClientConnection, connect

from tests.child_processes import terminate, tied
from tests.emulator_server import running_emulator
from tests.polling import wait_until
from tests.ports import free_port
from tests.server_databases import Row, create_database, drop_database, query, server_url
from tests.server_databases import environment as environment

ROOT = Path(__file__).resolve().parent.parent
START_LIMIT_S = 90.0
"""Time limit for the start, generous for a busy machine. A server that ends is noticed at once."""


@dataclass
class LiveServer:
    """A server process that tests can kill and start again with the same database and port."""

    var_dir: Path
    variables: dict[str, str] = field(default_factory=dict)
    port: int = field(default_factory=free_port)
    process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        """The base URL."""
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        """Start the process and wait until it answers; raises RuntimeError if it does not."""
        with (self.var_dir / "server.log").open("ab") as log:
            self.process = subprocess.Popen(
                tied([sys.executable, "-m", "config.serve", "--bind", "127.0.0.1", "--port", str(self.port)]),
                cwd=ROOT,
                env=environment(self.var_dir, **self.variables),
                stdout=log,
                stderr=log,
            )
        wait_until(self._is_serving, START_LIMIT_S)

    def _is_serving(self) -> bool:
        assert self.process
        if self.process.poll() is not None:
            raise RuntimeError(f"The server ended: {self.log()[-2000:]}")
        # A connection takes a tenth of the time of a request, and most attempts are refused.
        with closing(socket.socket()) as probe:
            if probe.connect_ex(("127.0.0.1", self.port)):
                return False
        try:
            return requests.get(f"{self.url}/healthz", timeout=60).ok
        except requests.RequestException:
            return False

    def kill(self) -> None:
        """Kill the process with SIGKILL."""
        assert self.process
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def stop(self) -> None:
        """Terminate the process, if it runs."""
        if self.process and self.process.poll() is None:
            terminate(self.process, 10)

    def log(self) -> str:
        """Return the server's log."""
        return (self.var_dir / "server.log").read_text(errors="replace")

    @property
    def database_url(self) -> str:
        """`DATABASE_URL` of the server; it is empty for SQLite."""
        return self.variables.get("DATABASE_URL", server_url(self.var_dir))

    def rows(self, statement: str, *values: str) -> list[Row]:
        """Return the rows of a query on the server's database. Each `?` in it stands for a value."""
        return query(self.var_dir, self.database_url, statement, values)

    def write(self, statement: str, *values: str) -> None:
        """Run a statement on the server's database directly. Each `?` stands for a value."""
        query(self.var_dir, self.database_url, statement, values)


@contextmanager
def running_server(**variables: str) -> Iterator[LiveServer]:
    """Run a server during the block, with the user demo whose password is demo.

    Without a base URL in `variables`, an emulator for tests is started too, with the pauses of the shipped one. The
    server uses it as `make run` uses the shipped one.
    """
    with ExitStack() as stack:
        var_dir = Path(stack.enter_context(TemporaryDirectory(prefix="server-", ignore_cleanup_errors=True)))
        if "GOOGLE_GEMINI_BASE_URL" not in variables:
            variables["GOOGLE_GEMINI_BASE_URL"] = stack.enter_context(running_emulator(pace=1.0))
        create_database(var_dir)
        stack.callback(drop_database, var_dir)
        server = LiveServer(var_dir, variables)
        try:
            server.start()
            yield server
        finally:
            server.stop()


class Visitor:
    """A client with an HTTP session and WebSockets, like a browser without a page."""

    def __init__(self, server: LiveServer, username: str = "demo", password: str = "demo") -> None:
        """Log in. With an empty name the visitor stays anonymous."""
        self.server = server
        self.http = requests.Session()
        if username:
            self.post("/accounts/login/", login=username, password=password)

    @classmethod
    def signed_up(cls, server: LiveServer, username: str, password: str) -> Visitor:
        """Create an account and return its visitor."""
        visitor = cls(server, "")
        visitor.post("/accounts/signup/", username=username, password1=password, password2=password)
        return visitor

    def post(self, path: str, **fields: str) -> requests.Response:
        """Post a form with the CSRF token."""
        if "csrftoken" not in self.http.cookies:
            self.http.get(f"{self.server.url}/accounts/login/", timeout=60)
        response = self.http.post(
            f"{self.server.url}{path}",
            data=fields,
            headers={"X-CSRFToken": self.http.cookies["csrftoken"] or "", "Referer": self.server.url},
            timeout=60,
        )
        assert response.status_code < 400, f"{path}: {response.status_code} {response.text[:300]}"
        return response

    def delete_conversation(self, conversation_id: str) -> None:
        """Delete a conversation through the API, which deletes it at once, without a time to undo this."""
        url = f"{self.server.url}/api/v1/conversations/{conversation_id}/"
        headers = {"X-CSRFToken": self.http.cookies["csrftoken"] or "", "Referer": self.server.url}
        assert self.http.delete(url, headers=headers, timeout=60).status_code == 204

    def new_conversation(self) -> str:
        """Create an empty conversation and return its id."""
        match = re.search(r"/c/([0-9a-f-]{36})/", self.post("/c/new/").url)
        assert match
        return match[1]

    def page(self, conversation_id: str) -> str:
        """Return the HTML of the conversation's page."""
        return self.http.get(f"{self.server.url}/c/{conversation_id}/", timeout=60).text

    def transcript(self, conversation_id: str) -> str:
        """Return the inner HTML of `#transcript` in a freshly loaded page: its articles in order."""
        return "".join(re.findall(r"<article .*?</article>", self.page(conversation_id), flags=re.DOTALL))

    def socket(
        self, conversation_id: str, query: str = "", max_queue: int = 16, ping_interval_s: float | None = 20.0
    ) -> ClientConnection:
        """Open a WebSocket of the conversation. Browsers send no pings; `None` sends none either."""
        cookies = "; ".join(f"{name}={value}" for name, value in self.http.cookies.items())
        connection: ClientConnection = connect(
            f"ws://127.0.0.1:{self.server.port}/ws/conversations/{conversation_id}/{query}",
            additional_headers={"Cookie": cookies, "Origin": self.server.url},
            max_size=64 * 1024 * 1024,
            max_queue=max_queue,
            ping_interval=ping_interval_s,
            close_timeout=1,
        )
        return connection


def send(socket: ClientConnection, text: str, **fields: str) -> str:
    """Send a question and return its `client_id`."""
    client_id = str(uuid.uuid4())
    socket.send(json.dumps({"action": "send", "text": text, "client_id": client_id} | fields))
    return client_id
