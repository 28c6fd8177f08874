"""The sockets of one kernel: requests out, messages in.

Limits are set before connecting, so that what code sends can break its own channel rather than fill our memory. They
hold for each frame and for whole messages that wait; for the frames of one message ZeroMQ knows no limit, and shows
none before the last has come. So the process that reads kernels must bound its own memory, as the emulator does.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import zmq
import zmq.asyncio

from chat.kernels.wire import Message, WireError, packed, unpacked

FRAME_LIMIT_BYTES = 16 * 1024 * 1024
"""A larger frame breaks its channel before it is read; the largest image that is kept fits in, as base64."""
WAITING_LIMIT_COUNT = 16
"""Messages that wait in one socket; the rest waits in the kernel, or is dropped there."""

PORTS = {"shell_port": 1, "iopub_port": 2, "stdin_port": 3, "control_port": 4, "hb_port": 5}
"""The last part of each socket's path, in the words of a connection file."""
_USED = {"shell": zmq.DEALER, "iopub": zmq.SUB, "control": zmq.DEALER}
_RETRY_MS = 10
_BREAK_NOTICED_S = 1.0
_TOO_MUCH = "It sent more at once than can be read."


class Channels:
    """Shell, iopub and control of one kernel; both callbacks come in the event loop that made this."""

    def __init__(
        self, directory: Path, key: bytes, receive: Callable[[str, Message], None], broken: Callable[[str], None]
    ) -> None:
        """Connect to the sockets in this folder, which may not be there yet.

        `receive` gets the channel's name and each message; `broken` a sentence, once, when nothing more can come.
        """
        self._key = key
        self._receive = receive
        self._broken = broken
        self._sockets = {
            name: _connected(directory / f"s-{PORTS[f'{name}_port']}", kind) for name, kind in _USED.items()
        }
        self._monitor = self._sockets["iopub"].get_monitor_socket(zmq.EVENT_DISCONNECTED)
        self._tasks = [asyncio.create_task(self._read(name)) for name in _USED]
        self._tasks.append(asyncio.create_task(self._watch()))

    async def send(
        self, channel: str, kind: str, request_id: str, content: Mapping[str, object], buffers: Sequence[bytes] = ()
    ) -> None:
        """Send one request; before the kernel is up it waits in the socket."""
        await self._sockets[channel].send_multipart(packed(self._key, kind, request_id, content, buffers))

    async def close(self) -> None:
        """Let go of everything; the callbacks come no more. May be called again."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        if not self._monitor.closed:
            self._sockets["iopub"].disable_monitor()
        for channel in (self._monitor, *self._sockets.values()):
            channel.close(linger=0)

    async def _read(self, name: str) -> None:
        while True:
            try:
                frames = await self._sockets[name].recv_multipart()
                self._receive(name, unpacked(self._key, frames))
            except WireError as error:
                self._broken(f"It sent what is no message: {error}.")
                return
            except MemoryError:
                self._broken(_TOO_MUCH)
                return
            # A socket with messages waiting never suspends: without this a flood would have the loop for itself.
            await asyncio.sleep(0)

    async def _watch(self) -> None:
        await self._monitor.recv_multipart()
        # A kernel that just ended breaks its channels too: leave it the time to be seen as ended.
        await asyncio.sleep(_BREAK_NOTICED_S)
        self._broken(_TOO_MUCH)


def _connected(path: Path, kind: int) -> zmq.asyncio.Socket:
    channel = zmq.asyncio.Context.instance().socket(kind)
    channel.setsockopt(zmq.MAXMSGSIZE, FRAME_LIMIT_BYTES)
    channel.setsockopt(zmq.RCVHWM, WAITING_LIMIT_COUNT)
    channel.setsockopt(zmq.LINGER, 0)
    channel.setsockopt(zmq.RECONNECT_IVL, _RETRY_MS)
    if kind == zmq.SUB:
        channel.setsockopt(zmq.SUBSCRIBE, b"")
    channel.connect(f"ipc://{path}")
    return channel
