"""The messages of a connection: whatever a kernel sends, the later messages are read."""

from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import Mapping

import aiohttp
import pytest

from chat.python.kernels import kernel_websocket
from chat.python.kernels.kernel_websocket import TOO_MUCH, KernelWebSocket
from chat.python.kernels.outputs import ErrorOutput, Output, Redrawn, TextOutput
from chat.python.kernels.pending_execution import PendingExecution

TEST_LIMIT_S = 60.0
PNG_TEXT = base64.b64encode(b"\x89PNG\r\n\x1a\n".ljust(3_000, b"x")).decode()


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
    outputs: list[Output | Redrawn] = []
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


@pytest.mark.parametrize("kind", ["comm_msg", "update_display_data", "error", "display_data"])
async def test_size_of_received_messages_is_limited_for_each_kind_of_message(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kernel_websocket, "RECEIVED_LIMIT_BYTES", 10_000)
    websocket = FakeWebsocket()
    connection = KernelWebSocket(websocket)
    request, forgotten = PendingExecution(), PendingExecution()

    async def flood(answered: PendingExecution, number: int, end: asyncio.Future[None]) -> None:
        for _ in range(number):
            websocket.put(answered, kind, {"data": {"image/png": PNG_TEXT}, "traceback": ["x"]})
        async with asyncio.timeout(TEST_LIMIT_S):
            await end

    await connection.send("shell", "execute_request", {}, request)
    await flood(request, 4, request.flood)
    assert connection.is_open
    # Messages that answer no request are counted too, and end the connection.
    connection.forget(request)
    await flood(forgotten, 4, connection.end)
    assert connection.end_reason == TOO_MUCH
    await connection.close()


async def test_flood_of_messages_is_dropped_and_closes_the_connection_if_it_continues(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(kernel_websocket, "RECEIVED_LIMIT_BYTES", 10_000)
    monkeypatch.setattr(kernel_websocket, "_BACKLOG_LIMIT_BYTES", 30_000)
    monkeypatch.setattr(kernel_websocket, "_SMALL_MESSAGE_BYTES", 1_000)
    websocket = FakeWebsocket()
    connection = KernelWebSocket(websocket)
    outputs: list[Output | Redrawn] = []
    request = PendingExecution(outputs.append)
    await connection.send("shell", "execute_request", {}, request)
    for _ in range(5):
        websocket.put(request, "stream", {"text": PNG_TEXT})
    websocket.put(request, "status", {"execution_state": "idle"})
    async with asyncio.timeout(TEST_LIMIT_S):
        await request.idle_status
    assert request.flood.done()
    assert len(outputs) == 2
    assert connection.is_open
    for _ in range(3):
        websocket.put(request, "comm_msg", {"data": PNG_TEXT})
    async with asyncio.timeout(TEST_LIMIT_S):
        await connection.end
    assert request.completion.done()
    await connection.close()
