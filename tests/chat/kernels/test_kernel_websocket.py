"""The messages of a connection: whatever a kernel sends, the later messages are read."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping

import aiohttp

from chat.kernels.kernel_websocket import KernelWebSocket
from chat.kernels.outputs import ErrorOutput, Output, TextOutput
from chat.kernels.pending_execution import PendingExecution

TEST_LIMIT_S = 60.0


class FakeWebsocket(aiohttp.ClientWebSocketResponse):
    """Receives messages from a queue."""

    def __init__(self) -> None:
        """Start with no message."""
        self.messages: asyncio.Queue[aiohttp.WSMessage] = asyncio.Queue()

    async def receive(self, timeout: float | None = None) -> aiohttp.WSMessage:
        """Return the next message."""
        return await self.messages.get()

    async def send_str(self, data: str, compress: int | None = None) -> None:
        """Do nothing."""

    async def close(self, *, code: int = 1000, message: bytes = b"") -> bool:
        """Do nothing."""
        return True

    def get_extra_info(self, name: str, default: object = None) -> object:
        """Return nothing: there is no socket."""
        return default

    def put(self, request: PendingExecution, kind: str, content: Mapping[str, object]) -> None:
        """Send a message on the channel of outputs that answers a request."""
        header = {"msg_type": kind, "session": "kernel"}
        message = {"channel": "iopub", "header": header, "parent_header": {"msg_id": request.request_id}}
        data = json.dumps({**message, "content": content})
        self.messages.put_nowait(aiohttp.WSMessage(aiohttp.WSMsgType.TEXT, data, None))


async def test_forged_messages_do_not_end_the_connection() -> None:
    websocket = FakeWebsocket()
    connection = KernelWebSocket(websocket)
    outputs: list[Output] = []
    request = PendingExecution(outputs.append)
    await connection.send("shell", "execute_request", {}, request)
    websocket.put(request, "status", {"execution_state": ["dead"]})
    websocket.put(request, "status", {"execution_state": {"dead": 1}})
    websocket.put(request, "error", {"ename": "A", "evalue": "b", "traceback": [["x"], {"y": 1}, "line"]})
    websocket.put(request, "stream", {"name": "stdout", "text": "still here"})
    websocket.put(request, "status", {"execution_state": "idle"})
    async with asyncio.timeout(TEST_LIMIT_S):
        await asyncio.wait([request.idle_status, connection.end], return_when=asyncio.FIRST_COMPLETED)
    assert connection.is_open
    assert outputs == [ErrorOutput("A", "b", "line"), TextOutput("stdout", "still here")]
    await connection.close()
