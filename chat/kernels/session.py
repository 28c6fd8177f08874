"""One live Python session in a sandbox: cells go in, outputs come out.

A session belongs to the event loop that started it, and dies with the thread that started it (see `sandbox`): start
it on the server's loop, which is the main thread's. Whatever the code inside does, hang, flood, exit, eat memory, ends
that session at most, and `execute` returns within its limit and a few seconds.
"""

from __future__ import annotations

import asyncio
import json
import os
import secrets
import shutil
import subprocess
import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType, TracebackType
from typing import Self

from chat.kernels import sandbox
from chat.kernels.channels import PORTS, Channels
from chat.kernels.files import file_labels
from chat.kernels.outputs import ErrorOutput, Execution, ExecutionStatus, Output, OutputReader, joined
from chat.kernels.wire import Message

START_LIMIT_S = 30.0
INTERRUPT_GRACE_S = 5.0
"""How long an interrupted cell may take to end before its kernel is killed."""
MEMORY_LIMIT_BYTES = 1536 * sandbox.MIB
"""Memory of all processes of a session together."""
FILES_LIMIT_BYTES = 192 * sandbox.MIB
"""Files given to one session at once."""

_MEMORY_LOOK_S = 0.25
_IDLE_AFTER_REPLY_S = 2.0
"""A kernel that floods may lose its own "idle"; its reply comes on another channel."""
_IDLE_WAIT_S = 0.1
_REASON_NAMES = {
    ExecutionStatus.TIMEOUT: "TimeoutError",
    ExecutionStatus.FAILED: "OutputLimit",
    ExecutionStatus.DIED: "KernelDied",
}
_NO_FILES: Mapping[str, bytes] = MappingProxyType({})
_LOST = "The Python session was ended and its variables are lost."
_WRITE_FILES = """
def _write(names, buffers):
    for name, data in zip(names, buffers):
        with open(name, "wb") as file:
            file.write(data)
_write({names!r}, get_ipython().kernel.get_parent("shell")["buffers"])
del _write
"""


class SessionClosed(Exception):
    """The session was closed, or its kernel died, before it could do what was asked."""


def _future() -> asyncio.Future[None]:
    return asyncio.get_running_loop().create_future()


def _settle(future: asyncio.Future[None]) -> None:
    if not future.done():
        future.set_result(None)


@dataclass(slots=True)
class _Request:
    """What the kernel was last asked, and what has come back."""

    on_output: Callable[[Output], None] | None = None
    request_id: str = field(default_factory=lambda: uuid.uuid4().hex)
    reader: OutputReader = field(default_factory=OutputReader)
    is_interrupted: bool = False
    replied: asyncio.Future[None] = field(default_factory=_future)
    idle: asyncio.Future[None] = field(default_factory=_future)
    """Every output has come."""
    flooded: asyncio.Future[None] = field(default_factory=_future)
    ended: asyncio.Future[None] = field(default_factory=_future)
    """Replied and idle, or the kernel is gone."""

    def report(self, outputs: Sequence[Output]) -> None:
        """Hand outputs on as they come."""
        if self.on_output is not None:
            for output in outputs:
                self.on_output(output)


class Session:
    """A kernel: cells run one after another and share their variables. Made by `start`, ended by `close`."""

    def __init__(self, process: subprocess.Popen[bytes], directory: Path, key: bytes) -> None:
        """Not for callers, see `start`: watch a process that was just launched and will open its sockets there."""
        self._process = process
        self._stderr = b""
        self._one_at_a_time = asyncio.Lock()
        self._request: _Request | None = None
        self._why_killed = ""
        self._gone = _future()
        # A pidfd is readable once its process has ended: no thread, no polling, noticed at once.
        self._pidfd = os.pidfd_open(process.pid)
        asyncio.get_running_loop().add_reader(self._pidfd, self._on_exit)
        self._channels = Channels(directory, key, self._on_message, self._kill)
        self._watch = asyncio.create_task(self._watch_memory())

    @classmethod
    async def start(cls, files: Mapping[str, bytes] = _NO_FILES, *, preload: str = "") -> Session:
        """Start a kernel whose working directory holds these files; `preload` has run when this returns.

        Names become labels, see `file_labels`. Takes about 0.6 s.
        Raises SandboxUnavailable where code cannot be isolated, ValueError for files that are too large.
        """
        directory = sandbox.make_directory()
        session: Session | None = None
        try:
            key = secrets.token_hex(32)
            connection = {"transport": "ipc", "ip": "/rt/s", "key": key, "signature_scheme": "hmac-sha256", **PORTS}
            (directory / "c.json").write_text(json.dumps(connection))
            session = cls(sandbox.launch(directory, "kernel"), directory, key.encode())
            await session._become_ready()
            if files:
                await session.add_files(files)
            if preload:
                await session._execute(preload, START_LIMIT_S, is_silent=True)
        except BaseException:
            if session is not None:
                await session.close()
            raise
        finally:
            # Connected sockets need their paths no more; so nobody else finds them, and nothing is left behind.
            shutil.rmtree(directory, ignore_errors=True)
        return session

    async def __aenter__(self) -> Self:
        """Give the session itself."""
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Close it."""
        await self.close()

    @property
    def is_alive(self) -> bool:
        """Whether the kernel runs, and with it its variables."""
        return not self._gone.done()

    async def add_files(self, files: Mapping[str, bytes]) -> None:
        """Write files into the working directory, under their labels, see `file_labels`.

        The bytes go through the kernel's socket: no path of the host is shown, none of the sandbox is opened.
        Raises ValueError for files that are too large, SessionClosed where the kernel did not take them.
        """
        size_bytes = sum(map(len, files.values()))
        if size_bytes > FILES_LIMIT_BYTES:
            raise ValueError(f"The files are too large for a Python session: {size_bytes:,} bytes.")
        code = _WRITE_FILES.format(names=file_labels(files))
        written = await self._execute(code, START_LIMIT_S, is_silent=True, buffers=tuple(files.values()))
        if written.status is not ExecutionStatus.OK:
            raise SessionClosed(f"The files could not be written: {written.text}")

    async def execute(
        self, code: str, *, limit_s: float = 30.0, on_output: Callable[[Output], None] | None = None
    ) -> Execution:
        """Run one cell to its end; a second call waits for the first. Never raises for what the code does.

        `on_output` is called in this event loop with each output as it comes, before neighbouring texts are joined.
        At `limit_s` the cell is interrupted and the variables stay; where that does not help within 5 s, the kernel is
        killed. Both are `timeout`; `is_alive` tells them apart. Cancelling the call interrupts the cell.
        """
        return await self._execute(code, limit_s, on_output=on_output)

    async def close(self) -> None:
        """End the kernel and all it started; may be called again."""
        self._kill("It was closed.")
        await self._gone
        self._watch.cancel()
        await asyncio.gather(self._watch, return_exceptions=True)
        await self._channels.close()

    def when_gone(self, callback: Callable[[Session], None]) -> None:
        """Have this called once the kernel has ended, for whatever reason."""
        self._gone.add_done_callback(lambda _: callback(self))

    # --- requests -----------------------------------------------------------------------------------------------

    async def _execute(
        self,
        code: str,
        limit_s: float,
        *,
        is_silent: bool = False,
        buffers: Sequence[bytes] = (),
        on_output: Callable[[Output], None] | None = None,
    ) -> Execution:
        content = {
            "code": code,
            "silent": is_silent,
            "store_history": not is_silent,
            "user_expressions": {},
            "allow_stdin": False,
            # Else a request that follows a failed one closely is thrown away by the kernel.
            "stop_on_error": False,
        }
        async with self._one_at_a_time:
            started = time.monotonic()
            request = _Request(on_output)
            try:
                await self._send("shell", "execute_request", request, content, buffers)
                status = await self._run(request, limit_s)
            except asyncio.CancelledError:
                await self._interrupt(request)
                raise
            finally:
                self._request = None
            reader = request.reader
            return Execution(status, joined(reader.outputs), time.monotonic() - started, reader.truncated)

    async def _run(self, request: _Request, limit_s: float) -> ExecutionStatus:
        """Wait until the request ended, or end it; an end that was not its own is explained among its outputs."""
        await asyncio.wait({request.ended, request.flooded}, timeout=limit_s, return_when=asyncio.FIRST_COMPLETED)
        is_late = not (request.ended.done() or request.flooded.done())
        if not request.ended.done():
            await self._interrupt(request)
            await asyncio.wait({request.ended}, timeout=INTERRUPT_GRACE_S)
        if not request.ended.done():
            self._kill("It could not be interrupted.")
            await self._gone
        request.report(request.reader.finish())
        lost = "" if self.is_alive else f" {self._why_killed or 'It ended by itself.'} {_LOST}"
        if is_late:
            reason, status = f"The cell ran longer than {limit_s:g} s.{lost}", ExecutionStatus.TIMEOUT
        elif request.flooded.done():
            reason, status = f"The cell wrote too much and was stopped.{lost}", ExecutionStatus.FAILED
        elif lost:
            reason, status = lost.strip(), ExecutionStatus.DIED
        else:
            return ExecutionStatus.FAILED if request.reader.has_error else ExecutionStatus.OK
        request.report(request.reader.add(ErrorOutput(_REASON_NAMES[status], reason, "")))
        return status

    async def _become_ready(self) -> None:
        """Wait until every channel works, the subscription included: no output may be lost to a late one."""
        try:
            async with asyncio.timeout(START_LIMIT_S):
                for channel in ("shell", "control"):
                    request = await self._ask(channel)
                    await asyncio.wait({request.replied, self._gone}, return_when=asyncio.FIRST_COMPLETED)
                while self.is_alive and not request.idle.done():
                    request = await self._ask("shell")
                    await asyncio.wait(
                        {request.idle, self._gone}, timeout=_IDLE_WAIT_S, return_when=asyncio.FIRST_COMPLETED
                    )
        except TimeoutError:
            raise sandbox.SandboxUnavailable(f"The Python kernel did not start within {START_LIMIT_S:g} s.") from None
        if not self.is_alive:
            raise sandbox.failure(self._stderr)

    async def _ask(self, channel: str) -> _Request:
        request = _Request()
        await self._send(channel, "kernel_info_request", request, {})
        return request

    async def _send(
        self, channel: str, kind: str, request: _Request, content: Mapping[str, object], buffers: Sequence[bytes] = ()
    ) -> None:
        self._request = request
        if self.is_alive:
            await self._channels.send(channel, kind, request.request_id, content, buffers)
        else:
            _settle(request.ended)

    async def _interrupt(self, request: _Request) -> None:
        """Ask the kernel by message to interrupt itself: a signal from here would hit bubblewrap, and end it."""
        request.is_interrupted = True
        if self.is_alive:
            await self._channels.send("control", "interrupt_request", uuid.uuid4().hex, {})

    def _kill(self, why: str) -> None:
        if self.is_alive and not self._why_killed:
            self._why_killed = why
            self._process.kill()

    # --- what comes back ----------------------------------------------------------------------------------------

    def _on_message(self, channel: str, message: Message) -> None:
        request = self._request
        if request is None or message.parent_id != request.request_id:
            return
        if channel != "iopub":
            _settle(request.replied)
            asyncio.get_running_loop().call_later(_IDLE_AFTER_REPLY_S, _settle, request.ended)
        elif message.kind == "status":
            if message.content.get("execution_state") == "idle":
                _settle(request.idle)
        elif not (message.kind == "error" and request.is_interrupted):
            request.report(request.reader.receive(message.kind, message.content))
            if request.reader.is_flooded:
                _settle(request.flooded)
        if request.idle.done() and request.replied.done():
            _settle(request.ended)

    def _on_exit(self) -> None:
        asyncio.get_running_loop().remove_reader(self._pidfd)
        os.close(self._pidfd)
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stderr):
            if pipe is not None:
                if pipe.readable():
                    os.set_blocking(pipe.fileno(), False)
                    self._stderr = pipe.read() or b""
                pipe.close()
        _settle(self._gone)
        if self._request is not None:
            _settle(self._request.ended)

    async def _watch_memory(self) -> None:
        while self.is_alive:
            await asyncio.sleep(_MEMORY_LOOK_S)
            # In a thread: the sizes of many busy processes can take a second to be had.
            size_bytes = await asyncio.to_thread(sandbox.memory_bytes, self._process, MEMORY_LIMIT_BYTES)
            if size_bytes > MEMORY_LIMIT_BYTES:
                self._kill(f"It used more than {MEMORY_LIMIT_BYTES / sandbox.MIB / 1024:g} GiB of memory.")
