"""A websocket to the channels of a kernel: sends requests, and passes each message to the request that it answers."""

from __future__ import annotations

import asyncio
import socket
import uuid
from collections import deque
from collections.abc import Mapping
from contextlib import suppress

import aiohttp

from chat.python.kernels.channel_messages import CostlyMessage, InvalidMessage, pack_request, unpack_message
from chat.python.kernels.pending_execution import REPLY_CHANNELS, PendingExecution, set_done

_SEND_LIMIT_S = 20.0
"""Maximum time for sending a request. If the server accepts no bytes for so long, the connection is broken."""
_CLOSE_LIMIT_S = 2.0
_SENT_IDS_LIMIT = 256
DEATH_STATES = frozenset({"dead", "restarting", "autorestarting", "terminating"})
"""States that servers report for a kernel whose process has ended. A restarted one has lost its variables."""
TOO_MUCH = "It sent more at once than can be read."
RECEIVED_LIMIT_BYTES = 128 * 1024 * 1024
"""Received bytes after which waiting requests are stopped; if no request waits, the connection ends. The outputs that
are stored for one cell have at most about 75 MB as JSON, most of it images as base64."""
_BACKLOG_LIMIT_BYTES = 4 * RECEIVED_LIMIT_BYTES
"""Received bytes after which the connection ends in any case. It is larger, because more data of a stopped cell may be
on the way."""
_SMALL_MESSAGE_BYTES = 64 * 1024
"""Maximum size of a message that is parsed after RECEIVED_LIMIT_BYTES. Larger ones are dropped: only the reply and the
status are needed."""


class KernelWebSocket:
    """An open websocket. It belongs to the event loop that created the instance."""

    def __init__(self, websocket: aiohttp.ClientWebSocketResponse) -> None:
        """Take over a websocket and begin to read it."""
        self._websocket = websocket
        self._session = uuid.uuid4().hex
        self._requests: dict[str, PendingExecution] = {}
        self._sent_ids: deque[str] = deque(maxlen=_SENT_IDS_LIMIT)
        """Ids of the last requests, including requests that are no longer waited for."""
        self._received_bytes = 0
        """Bytes received since the first of the current requests was sent, or since the last request ended."""
        self.kernel_session = ""
        """ID of the kernel's process, from its first answer."""
        self.end: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        """Done once no further message arrives."""
        self.end_reason = ""
        """A sentence that says why the connection ended; empty if only the server knows the reason."""
        self._reader_task = asyncio.create_task(self._read())

    @property
    def is_open(self) -> bool:
        """Whether messages can be exchanged."""
        return not self.end.done()

    async def send(self, channel: str, kind: str, content: Mapping[str, object], request: PendingExecution) -> None:
        """Send a request whose answers go to `request`. If the connection has ended, the request completes at once."""
        if not self._requests:
            self._received_bytes = 0
        self._requests[request.request_id] = request
        self._sent_ids.append(request.request_id)
        if self.is_open:
            text = pack_request(channel, kind, request.request_id, self._session, content)
            try:
                async with asyncio.timeout(_SEND_LIMIT_S):
                    await self._websocket.send_str(text)
            except (aiohttp.ClientError, OSError):
                self._finish("")
        if not self.is_open:
            set_done(request.completion)

    def forget(self, request: PendingExecution) -> None:
        """Drop all further messages that answer this request."""
        self._requests.pop(request.request_id, None)
        if not self._requests:
            self._received_bytes = 0

    def abort(self) -> None:
        """Complete all requests; no further message is sent or read."""
        self._finish("")

    async def close(self) -> None:
        """Close the websocket; the kernel runs on. May be called again."""
        self._finish("The connection to it was closed.")
        self._reader_task.cancel()
        await asyncio.gather(self._reader_task, return_exceptions=True)
        # Limit the time here, because the timeout of `close` itself restarts with each message that arrives.
        with suppress(TimeoutError):
            async with asyncio.timeout(_CLOSE_LIMIT_S):
                await self._websocket.close()

    async def _read(self) -> None:
        reason = ""
        try:
            while self.is_open:
                message = await self._websocket.receive()
                if message.type not in (aiohttp.WSMsgType.TEXT, aiohttp.WSMsgType.BINARY):
                    is_too_large = message.type is aiohttp.WSMsgType.ERROR and (
                        self._websocket.close_code == aiohttp.WSCloseCode.MESSAGE_TOO_BIG
                    )
                    reason = TOO_MUCH if is_too_large else ""
                    break
                self._receive(message.data)
                self._acknowledge()
                # Let other tasks run: reading does not suspend while messages wait, so a flood would block them.
                await asyncio.sleep(0)
        finally:
            self._finish(reason)

    def _acknowledge(self) -> None:
        """Acknowledge the received bytes at once, because servers with Nagle's algorithm send the rest only then.

        The system's own acknowledgement may come 40 ms later. The socket option works only once, so it is set each
        time.
        """
        connection = self._websocket.get_extra_info("socket")
        if connection is not None and hasattr(socket, "TCP_QUICKACK"):
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_QUICKACK, 1)

    def _is_worth_parsing(self, size_bytes: int) -> bool:
        """Count the bytes of a frame, and return whether to parse it. Parsing blocks the event loop."""
        self._received_bytes += size_bytes
        if self._received_bytes <= RECEIVED_LIMIT_BYTES:
            return True
        for request in self._requests.values():
            set_done(request.flood)
        if not self._requests or self._received_bytes > _BACKLOG_LIMIT_BYTES:
            self._finish(TOO_MUCH)
        return self.is_open and size_bytes <= _SMALL_MESSAGE_BYTES

    def _receive(self, data: str | bytes) -> None:
        # Each character is counted as one byte, because encoding the text to count its bytes would cost time.
        if not self._is_worth_parsing(len(data)):
            return
        try:
            message = unpack_message(data)
        except InvalidMessage as error:
            for request in tuple(self._requests.values()):
                request.leave_out(len(data))
                if not isinstance(error, CostlyMessage):
                    set_done(request.damage)
            return
        pending = self._requests.get(message.parent_id)
        if message.kind == "execute_reply" and message.parent_id not in self._sent_ids:
            # Clients of one kernel share its outputs, but not its replies, so a reply to an unknown request is forged.
            for request in tuple(self._requests.values()):
                set_done(request.damage)
        state = message.content.get("execution_state")
        if message.kind == "status" and isinstance(state, str) and state in DEATH_STATES:
            self._finish("")
        elif pending is not None:
            if not self.kernel_session and message.channel in REPLY_CHANNELS:
                self.kernel_session = message.session
            pending.receive(message, is_from_server=message.session != self.kernel_session)

    def _finish(self, reason: str) -> None:
        if self.is_open:
            self.end_reason = reason
            self.end.set_result(None)
        for request in tuple(self._requests.values()):
            set_done(request.completion)
