"""The ZeroMQ sockets of one kernel: send requests, receive messages.

Size limits are set before the sockets connect, so that code which sends too much breaks its own connection instead of
filling the memory of this process. They apply to each frame and to the number of waiting messages. ZeroMQ has no limit
for all frames of one message together and delivers none before the last has arrived. A process that reads kernels must
therefore limit its own memory, as the emulator does.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import zmq
import zmq.asyncio

from chat.kernels.messages import InvalidMessage, Message, pack_message, unpack_message

FRAME_LIMIT_BYTES = 16 * 1024 * 1024
"""A larger frame breaks the connection before it is read. The largest image that is stored fits in, as base64."""
QUEUE_LIMIT_MESSAGES = 16
"""Messages that one socket queues; the kernel queues further messages, or drops them."""

PORTS = {"shell_port": 1, "iopub_port": 2, "stdin_port": 3, "control_port": 4, "hb_port": 5}
"""The fields of Jupyter's connection file. A number is the suffix of a socket's path, `s-1`."""
_SOCKET_TYPES = {"shell": zmq.DEALER, "iopub": zmq.SUB, "control": zmq.DEALER}
_RECONNECT_MS = 10
_EXIT_GRACE_S = 1.0
_TOO_MUCH = "It sent more at once than can be read."


class KernelSockets:
    """The shell, iopub and control sockets of one kernel; callbacks run on the event loop that created the instance."""

    def __init__(
        self,
        directory: Path,
        key: bytes,
        on_message: Callable[[str, Message], None],
        on_failure: Callable[[str], None],
    ) -> None:
        """Connect to the sockets in this folder, which the kernel may create later.

        `on_message` receives the name of the socket and each message. `on_failure` receives a sentence, when a
        connection failed and no further messages arrive.
        """
        self._key = key
        self._on_message = on_message
        self._on_failure = on_failure
        self._sockets = {
            name: _connect(directory / f"s-{PORTS[f'{name}_port']}", kind) for name, kind in _SOCKET_TYPES.items()
        }
        self._monitor = self._sockets["iopub"].get_monitor_socket(zmq.EVENT_DISCONNECTED)
        self._tasks = [asyncio.create_task(self._receive(name)) for name in _SOCKET_TYPES]
        self._tasks.append(asyncio.create_task(self._detect_disconnect()))

    async def send(
        self, socket: str, kind: str, request_id: str, content: Mapping[str, object], buffers: Sequence[bytes] = ()
    ) -> None:
        """Send one request; the socket queues it until the kernel has started."""
        await self._sockets[socket].send_multipart(pack_message(self._key, kind, request_id, content, buffers))

    async def close(self) -> None:
        """Close all sockets and end the callbacks; may be called again."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        if not self._monitor.closed:
            self._sockets["iopub"].disable_monitor()
        for socket in (self._monitor, *self._sockets.values()):
            socket.close(linger=0)

    async def _receive(self, name: str) -> None:
        while True:
            try:
                frames = await self._sockets[name].recv_multipart()
                self._on_message(name, unpack_message(self._key, frames))
            except InvalidMessage as error:
                self._on_failure(f"It sent an invalid message: {error}.")
                return
            except MemoryError:
                self._on_failure(_TOO_MUCH)
                return
            # `recv_multipart` does not suspend while messages wait, so a flood would block the event loop.
            await asyncio.sleep(0)

    async def _detect_disconnect(self) -> None:
        await self._monitor.recv_multipart()
        # A kernel that exits also disconnects. The pause lets its exit be detected first.
        await asyncio.sleep(_EXIT_GRACE_S)
        self._on_failure(_TOO_MUCH)


def _connect(path: Path, kind: int) -> zmq.asyncio.Socket:
    socket = zmq.asyncio.Context.instance().socket(kind)
    socket.setsockopt(zmq.MAXMSGSIZE, FRAME_LIMIT_BYTES)
    socket.setsockopt(zmq.RCVHWM, QUEUE_LIMIT_MESSAGES)
    socket.setsockopt(zmq.LINGER, 0)
    socket.setsockopt(zmq.RECONNECT_IVL, _RECONNECT_MS)
    if kind == zmq.SUB:
        socket.setsockopt(zmq.SUBSCRIBE, b"")
    socket.connect(f"ipc://{path}")
    return socket
