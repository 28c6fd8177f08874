"""The places where kernels run: each is the address of a Jupyter server or gateway.

`LocalService` is the service on this machine (see `service`). It is a process apart with a Unix socket in its folder:

    DIR/control.sock    one request for each connection; a line of JSON each way

A request is `{"command": "status" | "start" | "stop"}`. `start` waits until the gateway runs or has failed to start.
`"on_demand": true` refuses to start a service that a person has stopped. The reply is a `ServiceStatus` as JSON.

A kernel of the local service that has ended stays known for a while: the reply 404 to `GET /api/kernels/<id>` then has
the field `end`, a sentence that says why. `POST` to `CPU_PATH` returns `{"cpu_s": 1.5}`: the CPU seconds that a kernel
and all processes that it has started have used since the last such request. Other Jupyter servers have neither.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import socket
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields
from http.client import HTTPException
from pathlib import Path
from typing import Protocol

from chat.python.kernels.errors import KernelsUnavailable, ServiceNotRunning

logger = logging.getLogger(__name__)

SOCKET_NAME = "control.sock"
CPU_PATH = "/plotline/kernels/{kernel_id}/cpu"
START_LIMIT_S = 60.0
REPLY_LIMIT_BYTES = 64 * 1024

_STATUS_LIMIT_S = 2.0
_RESTART_LIMIT_S = 5.0
_RESTART_PAUSE_S = 0.05


@dataclass(frozen=True, slots=True)
class Address:
    """The base URL of Jupyter's REST API, without a slash at its end, and the token that it asks for."""

    url: str
    token: str


class Place(Protocol):
    """A place that runs kernels."""

    async def address(self) -> Address:
        """Return the address, and start the local service if needed. Raises KernelsUnavailable if that fails."""


@dataclass(frozen=True, slots=True)
class ServiceStatus:
    """What the local service reports about itself."""

    state: str = "stopped"
    """`stopped`, `starting`, `running`, `stopping` or `error`."""
    url: str = ""
    token: str = ""
    """Empty unless the state is `running`."""
    error: str = ""
    """A sentence for operators: why the gateway does not run, or why it was last restarted."""
    launch_error: str = ""
    """A sentence for operators: why no code can run on this machine. It is known before a kernel is needed."""
    is_sandboxed: bool = True
    restarts: int = 0
    """Number of times that the gateway was restarted, because it had ended, no longer responded or did not start."""
    kernels: int = 0
    """Number of kernels that are in use."""
    warm_kernels: int = 0
    """Number of kernels that were started in advance for the next caller."""
    started_at: float | None = None
    """Unix time of the gateway's start; None unless it runs."""


class RemotePlace:
    """A Jupyter server or gateway that somebody else runs, at a URL."""

    def __init__(self, url: str, token: str) -> None:
        """Use the server at this URL; the token may be empty."""
        self._address = Address(url.rstrip("/"), token)

    async def address(self) -> Address:
        """Return the address. Nothing is started, and the server is not contacted."""
        return self._address


def probe_server(url: str, token: str) -> None:
    """Check that a Jupyter server answers. Raises KernelsUnavailable if it does not within about two seconds."""
    # A Jupyter Server needs no token for this request, but a Kernel Gateway does.
    headers = {"Authorization": f"token {token}"} if token else {}
    try:
        request = urllib.request.Request(f"{url.rstrip('/')}/api", headers=headers)
        with urllib.request.urlopen(request, timeout=_STATUS_LIMIT_S):
            pass
    except (OSError, ValueError, HTTPException) as error:
        raise KernelsUnavailable(f"The Jupyter server does not answer: {error}") from error


def choose_place(gateway_url: str, token: str, service_directory: Path) -> Place:
    """Return the server at this URL or, if the URL is empty, the service on this machine with this folder."""
    return RemotePlace(gateway_url, token) if gateway_url else LocalService(service_directory)


class LocalService:
    """The service on this machine, which is controlled through a socket in its folder."""

    def __init__(self, directory: Path) -> None:
        """Use the service that was started with this folder."""
        self.directory = directory

    async def address(self) -> Address:
        """Return the gateway's address; start the gateway if needed. Raises KernelsUnavailable if that fails."""
        request = {"command": "start", "on_demand": True}
        try:
            async with asyncio.timeout(START_LIMIT_S):
                reader, writer = await self._connect()
                try:
                    writer.write(json.dumps(request).encode() + b"\n")
                    status = _parse_status(await reader.readline())
                finally:
                    writer.close()
        except (OSError, ValueError, TypeError) as error:
            logger.warning("The service for Python sessions does not answer in %s: %r", self.directory, error)
            raise self._unreachable(error) from error
        if status.state == "running":
            return Address(status.url, status.token)
        raise KernelsUnavailable(status.error or f"The service for Python sessions is {status.state}.")

    def status(self) -> ServiceStatus:
        """Return the service's status. Raises KernelsUnavailable if it does not answer within about 2 s."""
        return self._request("status", _STATUS_LIMIT_S)

    def start(self) -> ServiceStatus:
        """Start the gateway; block until it runs or has failed. Return the status. Raises the errors of `status`."""
        return self._request("start", START_LIMIT_S)

    def stop(self) -> ServiceStatus:
        """End the gateway and all kernels, until `start` is called; blocks. Raises the errors of `status`."""
        return self._request("stop", START_LIMIT_S)

    async def _connect(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """Connect to the socket; waits a moment for a service that is being restarted and has left its socket."""
        give_up_at = time.monotonic() + _RESTART_LIMIT_S
        while True:
            try:
                with _socket_path(self.directory) as path:
                    return await asyncio.open_unix_connection(path, limit=REPLY_LIMIT_BYTES)
            except ConnectionRefusedError:
                if time.monotonic() > give_up_at:
                    raise
            await asyncio.sleep(_RESTART_PAUSE_S)

    def _request(self, command: str, limit_s: float) -> ServiceStatus:
        try:
            with socket.socket(socket.AF_UNIX) as connection:
                connection.settimeout(limit_s)
                with _socket_path(self.directory) as path:
                    connection.connect(path)
                connection.sendall(json.dumps({"command": command}).encode() + b"\n")
                with connection.makefile("rb") as replies:
                    return _parse_status(replies.readline(REPLY_LIMIT_BYTES))
        except (OSError, ValueError, TypeError) as error:
            raise self._unreachable(error) from error

    def _unreachable(self, error: Exception) -> KernelsUnavailable:
        if isinstance(error, TimeoutError):
            return KernelsUnavailable("The service for Python sessions does not answer. Try again in a minute.")
        # Without its folder, the service may still run: the setting may be wrong, or it may be on another machine.
        nobody_listens = isinstance(error, FileNotFoundError | ConnectionRefusedError) and self.directory.is_dir()
        return (ServiceNotRunning if nobody_listens else KernelsUnavailable)(
            "The service for Python sessions does not run on this machine. Tell the operator of this server. It is"
            " started with `make run`, with `systemctl start plotline-kernels`, or by hand with"
            " `python -m chat.python.kernels.service --directory $KERNEL_SERVICE_DIR`."
        )


def _parse_status(line: bytes) -> ServiceStatus:
    """Return the status in a reply; fields that this version does not know are ignored."""
    reply = json.loads(line)
    if not isinstance(reply, dict):
        raise ValueError("not an object")
    known = {field.name for field in fields(ServiceStatus)}
    return ServiceStatus(**{name: value for name, value in reply.items() if name in known})


@contextmanager
def _socket_path(directory: Path) -> Iterator[str]:
    """Yield a short path of the control socket: paths of Unix sockets are limited to 107 bytes."""
    descriptor = os.open(directory, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        yield f"/proc/self/fd/{descriptor}/{SOCKET_NAME}"
    finally:
        os.close(descriptor)
