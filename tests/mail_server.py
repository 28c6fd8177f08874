"""A mail server on loopback that keeps all mails, for tests of a server process that sends mail."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from email import message_from_bytes, policy
from email.message import EmailMessage
from itertools import takewhile
from queue import Queue
from socketserver import StreamRequestHandler, ThreadingTCPServer
from typing import cast

REPLIES = {b"DATA": b"354 Go on\r\n", b"QUIT": b"221 Bye\r\n"}


class MailServer(ThreadingTCPServer):
    """Accepts all mails on a free port. `mails` holds those that no test has taken yet."""

    daemon_threads = True

    def __init__(self) -> None:
        """Listen on loopback."""
        super().__init__(("127.0.0.1", 0), _Connection)
        self.mails: Queue[EmailMessage] = Queue()

    @property
    def url(self) -> str:
        """`EMAIL_URL` for the server under test."""
        return f"smtp://127.0.0.1:{self.server_address[1]}"

    def take_text(self) -> str:
        """Wait for the next mail, and return its text."""
        return cast("str", self.mails.get(timeout=60).get_content())


class _Connection(StreamRequestHandler):
    server: MailServer

    def handle(self) -> None:
        """Speak as much of SMTP as Django's client needs."""
        self.wfile.write(b"220 Ready\r\n")
        for line in self.rfile:
            command = line.split()[0].upper()
            self.wfile.write(REPLIES.get(command, b"250 OK\r\n"))
            if command == b"QUIT":
                return
            if command == b"DATA":
                text = b"".join(takewhile(lambda line: line != b".\r\n", self.rfile))
                self.server.mails.put(message_from_bytes(text, policy=policy.default))
                self.wfile.write(b"250 OK\r\n")


@contextmanager
def running_mail_server() -> Iterator[MailServer]:
    """Run a mail server during the block."""
    with MailServer() as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield server
        finally:
            server.shutdown()
