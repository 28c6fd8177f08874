"""Serves the control socket. Each connection has one request and one reply; each is a line of JSON."""

from __future__ import annotations

import asyncio
import fcntl
import json
import os
import socket
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path

from chat.python.kernels.places import SOCKET_NAME
from chat.python.kernels.service.supervisor import Supervisor

_LOCK_NAME = "lock"
_REQUEST_LIMIT_BYTES = 4096
_REQUEST_LIMIT_S = 10.0


class DirectoryInUse(Exception):
    """Another service has this folder."""


@contextmanager
def lock(directory: Path) -> Iterator[int]:
    """Create the folder if it is missing, and lock it for this process during the block. Yield a descriptor of it.

    The group may keep its rights to an existing folder, so that a web server of another user reaches the socket. All
    others lose theirs. Linux releases the lock when the process ends in any way. Raises DirectoryInUse if another
    service has the lock, and OSError if the folder cannot be used.
    """
    directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    mode = stat.S_IMODE(directory.stat().st_mode)
    if mode & stat.S_IRWXO:
        directory.chmod(mode & ~stat.S_IRWXO)
    folder = os.open(directory, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    file = os.open(directory / _LOCK_NAME, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
    try:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise DirectoryInUse(f"Another service for Python sessions runs with the folder {directory}.") from None
        yield folder
    finally:
        os.close(file)
        os.close(folder)


def open_socket(folder: int) -> socket.socket:
    """Create the control socket in this folder. It replaces the socket that a killed service may have left.

    The old socket is not removed before, so that a client that waits for a restart finds a socket at any moment.
    """
    # This path uses the descriptor and is short, because paths of Unix sockets are limited to 107 bytes.
    path = Path(f"/proc/self/fd/{folder}/{SOCKET_NAME}")
    new = path.with_name(f"{SOCKET_NAME}.new")
    new.unlink(missing_ok=True)
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(new))
    is_shared = bool(path.parent.stat().st_mode & stat.S_IRWXG)
    new.chmod(0o660 if is_shared else 0o600)
    new.rename(path)
    return listener


async def serve(supervisor: Supervisor, listener: socket.socket) -> asyncio.Server:
    """Answer requests on the control socket."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            async with asyncio.timeout(_REQUEST_LIMIT_S):
                line = await reader.readline()
            writer.write(json.dumps(await _reply(supervisor, line)).encode() + b"\n")
            await writer.drain()
        except (OSError, ValueError, TimeoutError):
            # Send no reply: the client has gone, or it has sent no request.
            pass
        finally:
            writer.close()

    return await asyncio.start_unix_server(answer, sock=listener, limit=_REQUEST_LIMIT_BYTES)


async def _reply(supervisor: Supervisor, line: bytes) -> dict[str, object]:
    request = json.loads(line)
    if not isinstance(request, dict):
        raise ValueError("not an object")
    match request.get("command"):
        case "start":
            return asdict(await supervisor.start(on_demand=request.get("on_demand") is True))
        case "stop":
            return asdict(await supervisor.stop())
        case "status":
            return asdict(await supervisor.status())
    return {"state": "error", "error": "The command is unknown: use status, start or stop."}
