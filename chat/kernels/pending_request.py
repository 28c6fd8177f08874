"""A request that a kernel is working on, and the state of its response."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from chat.kernels.messages import Message
from chat.kernels.outputs import Output, OutputReader

_IDLE_AFTER_REPLY_S = 2.0
"""How long to wait for the idle status after the reply: a kernel that floods its output may lose the idle status, while
the reply arrives on another socket."""


def _create_future() -> asyncio.Future[None]:
    return asyncio.get_running_loop().create_future()


@dataclass(slots=True)
class PendingRequest:
    """One request; its messages are passed to `receive`."""

    on_output: Callable[[Output], None] | None = None
    request_id: str = field(default_factory=lambda: uuid.uuid4().hex)
    reader: OutputReader = field(default_factory=OutputReader)
    is_interrupted: bool = False
    """The interrupt itself raises an error in the cell, which is not reported."""
    reply: asyncio.Future[None] = field(default_factory=_create_future)
    """Done once the reply has arrived."""
    idle_status: asyncio.Future[None] = field(default_factory=_create_future)
    """Done once the kernel is idle again, which means that every output has arrived."""
    flood: asyncio.Future[None] = field(default_factory=_create_future)
    """Done once the cell has written too much."""
    completion: asyncio.Future[None] = field(default_factory=_create_future)
    """Done once the kernel has replied and is idle, or has exited."""

    def receive(self, socket: str, message: Message) -> None:
        """Process one message that answers this request, from the socket of this name."""
        if socket != "iopub":
            set_done(self.reply)
            asyncio.get_running_loop().call_later(_IDLE_AFTER_REPLY_S, set_done, self.completion)
        elif message.kind == "status":
            if message.content.get("execution_state") == "idle":
                set_done(self.idle_status)
        elif not (message.kind == "error" and self.is_interrupted):
            self.report(self.reader.receive(message.kind, message.content))
            if self.reader.is_flooded:
                set_done(self.flood)
        if self.idle_status.done() and self.reply.done():
            set_done(self.completion)

    def report(self, outputs: Sequence[Output]) -> None:
        """Pass outputs to the caller's callback."""
        if self.on_output is not None:
            for output in outputs:
                self.on_output(output)


def set_done(future: asyncio.Future[None]) -> None:
    """Mark a future as done, unless it already is."""
    if not future.done():
        future.set_result(None)
