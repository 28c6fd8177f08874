"""A request that a kernel is working on, and the state of its response."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from chat.python.kernels.channel_messages import Message
from chat.python.kernels.output_reader import OutputReader
from chat.python.kernels.outputs import Output, Redrawn

REPLY_CHANNELS = frozenset({"shell", "control"})


def _create_future() -> asyncio.Future[None]:
    return asyncio.get_running_loop().create_future()


@dataclass(slots=True)
class PendingExecution:
    """One request; its messages are passed to `receive`."""

    on_output: Callable[[Output | Redrawn], None] | None = None
    request_id: str = field(default_factory=lambda: uuid.uuid4().hex)
    reader: OutputReader = field(default_factory=OutputReader)
    is_interrupted: bool = False
    """Whether the request was interrupted. The interrupt raises an error in the cell, which is not reported."""
    reply_content: Mapping[str, object] = field(default_factory=dict)
    error: Exception | None = None
    """The error that the caller's callback raised."""
    start: asyncio.Future[None] = field(default_factory=_create_future)
    """Done once the kernel works on this request. A kernel that others use too may be busy before that."""
    reply: asyncio.Future[None] = field(default_factory=_create_future)
    """Done once the reply has arrived."""
    idle_status: asyncio.Future[None] = field(default_factory=_create_future)
    """Done once the kernel is idle again, which means that every output has arrived."""
    flood: asyncio.Future[None] = field(default_factory=_create_future)
    """Done once the cell has written too much."""
    damage: asyncio.Future[None] = field(default_factory=_create_future)
    """Done once the kernel has sent an invalid message, because the reply may have been lost in it."""
    first_end: asyncio.Future[None] = field(default_factory=_create_future)
    """Done once the reply or the idle status has arrived. They travel on two sockets, and one of them may be lost."""
    completion: asyncio.Future[None] = field(default_factory=_create_future)
    """Done once the kernel has replied and is idle, the connection has ended, or missing messages count as lost."""
    failure: asyncio.Future[None] = field(default_factory=_create_future)
    """Done once the caller's callback has failed."""

    def receive(self, message: Message, *, is_from_server: bool) -> None:
        """Process one message that answers this request.

        `is_from_server` means that the server wrote the message in the name of the kernel.
        """
        set_done(self.start)
        if message.channel in REPLY_CHANNELS:
            self.reply_content = message.content
            set_done(self.reply)
        elif message.kind == "status":
            if message.content.get("execution_state") == "idle":
                set_done(self.idle_status)
        elif not (message.kind == "error" and self.is_interrupted):
            self.report(self.reader.receive(message.kind, message.content, is_from_server=is_from_server))
        self._check_flood()
        if self.idle_status.done() or self.reply.done():
            set_done(self.first_end)
        if self.idle_status.done() and self.reply.done():
            set_done(self.completion)

    def leave_out(self, size_bytes: int) -> None:
        """Report that a message of this size was dropped. It may have belonged to this request."""
        self.report(self.reader.leave_out(size_bytes))
        self._check_flood()

    def report(self, outputs: Sequence[Output | Redrawn]) -> None:
        """Pass outputs to the caller's callback."""
        if self.on_output is None or self.error is not None:
            return
        try:
            for output in outputs:
                self.on_output(output)
        except Exception as error:  # noqa: BLE001 - raised again in the caller
            self.error = error
            set_done(self.failure)

    def _check_flood(self) -> None:
        if self.reader.is_flooded:
            set_done(self.flood)


def set_done(future: asyncio.Future[None]) -> None:
    """Mark a future as done, unless it already is."""
    if not future.done():
        future.set_result(None)
