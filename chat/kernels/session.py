"""One live Python session in a sandbox: run cells of code and return their outputs.

A session belongs to the event loop that started it, and ends with the thread that started it (see `sandbox`). Start it
on the main thread's loop. Code that hangs, floods its output, exits or uses too much memory ends at most its own
session, and `execute` returns within its time limit plus a few seconds.
"""

from __future__ import annotations

import asyncio
import json
import secrets
import shutil
import subprocess
import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType, TracebackType
from typing import Self

from chat.kernels import sandbox
from chat.kernels.files import file_labels
from chat.kernels.messages import Message
from chat.kernels.outputs import ErrorOutput, Execution, ExecutionStatus, Output, merge_adjacent_text
from chat.kernels.pending_request import PendingRequest, set_done
from chat.kernels.process import KernelProcess
from chat.kernels.sockets import PORTS, KernelSockets

START_LIMIT_S = 30.0
INTERRUPT_GRACE_S = 5.0
"""How long an interrupted cell may take to stop before its kernel is killed."""
FILES_LIMIT_BYTES = 192 * sandbox.MIB
"""Files given to one session at once."""

_IDLE_WAIT_S = 0.1
_ERROR_NAMES = {
    ExecutionStatus.TIMEOUT: "TimeoutError",
    ExecutionStatus.FAILED: "OutputLimit",
    ExecutionStatus.DIED: "KernelDied",
}
_NO_FILES: Mapping[str, bytes] = MappingProxyType({})
_VARIABLES_LOST = "The Python session was ended and its variables are lost."
_WRITE_FILES = """
def _write(names, buffers):
    for name, data in zip(names, buffers):
        with open(name, "wb") as file:
            file.write(data)
_write({names!r}, get_ipython().kernel.get_parent("shell")["buffers"])
del _write
"""


class SessionClosed(Exception):
    """The session was closed, or its kernel died, before it completed an operation."""


class Session:
    """A kernel whose cells run one after another and share their variables.

    `start` creates a session, `close` ends it.
    """

    def __init__(self, process: subprocess.Popen[bytes], directory: Path, key: bytes) -> None:
        """Use `start` instead. Supervises a launched process that will open its sockets in this folder."""
        self._process = KernelProcess(process)
        self._process.add_exit_callback(self._on_exit)
        self._sockets = KernelSockets(directory, key, self._on_message, self._process.kill)
        self._execute_lock = asyncio.Lock()
        self._request: PendingRequest | None = None

    @classmethod
    async def start(cls, files: Mapping[str, bytes] = _NO_FILES, *, preload: str = "") -> Session:
        """Start a kernel with these files in its working directory, and run the code `preload` in it.

        File names become labels, see `file_labels`. A start without preload takes less than a second.
        Raises SandboxUnavailable if code cannot be isolated, ValueError if the files are too large.
        """
        directory = sandbox.make_socket_directory()
        session: Session | None = None
        try:
            key = secrets.token_hex(32)
            connection = {"transport": "ipc", "ip": "/rt/s", "key": key, "signature_scheme": "hmac-sha256", **PORTS}
            (directory / "c.json").write_text(json.dumps(connection))
            session = cls(sandbox.launch(directory, "kernel"), directory, key.encode())
            await session._wait_until_ready()
            if files:
                await session.add_files(files)
            if preload:
                await session._execute(preload, START_LIMIT_S, is_silent=True)
        except BaseException:
            if session is not None:
                await session.close()
            raise
        finally:
            # Connected sockets no longer need their paths. Without them nobody else can connect, and no file remains.
            shutil.rmtree(directory, ignore_errors=True)
        return session

    async def __aenter__(self) -> Self:
        """Return the session itself."""
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Close the session."""
        await self.close()

    @property
    def is_alive(self) -> bool:
        """Whether the kernel runs, so that its variables exist."""
        return self._process.is_alive

    async def add_files(self, files: Mapping[str, bytes]) -> None:
        """Write files into the working directory, under their labels, see `file_labels`.

        The bytes travel through the kernel's socket, so no path of the host becomes visible in the sandbox.
        Raises ValueError if the files are too large, SessionClosed if the kernel did not write them.
        """
        size_bytes = sum(map(len, files.values()))
        if size_bytes > FILES_LIMIT_BYTES:
            raise ValueError(f"The files are too large for a Python session: {size_bytes:,} bytes.")
        code = _WRITE_FILES.format(names=file_labels(files))
        execution = await self._execute(code, START_LIMIT_S, is_silent=True, buffers=tuple(files.values()))
        if execution.status is not ExecutionStatus.OK:
            raise SessionClosed(f"The files could not be written: {execution.text}")

    async def execute(
        self, code: str, *, limit_s: float = 30.0, on_output: Callable[[Output], None] | None = None
    ) -> Execution:
        """Run one cell to its end; a second call waits for the first. Never raises for what the code does.

        `on_output` is called on this event loop with each output on arrival, before adjacent texts are merged.
        After `limit_s` the cell is interrupted and the variables stay. If the cell does not stop within 5 s, the kernel
        is killed. Both have the status `timeout`; `is_alive` distinguishes them. Cancelling the call interrupts the
        cell.
        """
        return await self._execute(code, limit_s, on_output=on_output)

    async def close(self) -> None:
        """End the kernel and all processes that it started; may be called again."""
        await self._process.close()
        await self._sockets.close()

    def add_exit_callback(self, callback: Callable[[Session], None]) -> None:
        """Call this function with the session once its kernel has exited, for any reason."""
        self._process.add_exit_callback(lambda: callback(self))

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
            # With `stop_on_error` the kernel would abort a request that follows a failed one closely.
            "stop_on_error": False,
        }
        async with self._execute_lock:
            start_s = time.monotonic()
            request = PendingRequest(on_output)
            try:
                await self._send("shell", "execute_request", request, content, buffers)
                status = await self._wait_for_end(request, limit_s)
            except asyncio.CancelledError:
                await self._interrupt(request)
                raise
            finally:
                self._request = None
            reader = request.reader
            outputs = merge_adjacent_text(reader.outputs)
            return Execution(status, outputs, time.monotonic() - start_s, reader.is_truncated)

    async def _wait_for_end(self, request: PendingRequest, limit_s: float) -> ExecutionStatus:
        """Wait until the request completes, or stop it; add the reason of a forced end to its outputs."""
        await asyncio.wait({request.completion, request.flood}, timeout=limit_s, return_when=asyncio.FIRST_COMPLETED)
        is_late = not (request.completion.done() or request.flood.done())
        if not request.completion.done():
            await self._interrupt(request)
            await asyncio.wait({request.completion}, timeout=INTERRUPT_GRACE_S)
        if not request.completion.done():
            self._process.kill("It could not be interrupted.")
            await self._process.exit_future
        request.report(request.reader.finish())
        death = "" if self.is_alive else f" {self._process.kill_reason or 'It ended by itself.'} {_VARIABLES_LOST}"
        if is_late:
            reason, status = f"The cell ran longer than {limit_s:g} s.{death}", ExecutionStatus.TIMEOUT
        elif request.flood.done():
            reason, status = f"The cell wrote too much and was stopped.{death}", ExecutionStatus.FAILED
        elif death:
            reason, status = death.strip(), ExecutionStatus.DIED
        else:
            return ExecutionStatus.FAILED if request.reader.has_error else ExecutionStatus.OK
        request.report(request.reader.add(ErrorOutput(_ERROR_NAMES[status], reason, "")))
        return status

    async def _wait_until_ready(self) -> None:
        """Wait until every socket works, including the subscription: a late one would lose output."""
        exit_future = self._process.exit_future
        try:
            async with asyncio.timeout(START_LIMIT_S):
                for socket in ("shell", "control"):
                    request = await self._request_info(socket)
                    await asyncio.wait({request.reply, exit_future}, return_when=asyncio.FIRST_COMPLETED)
                while self.is_alive and not request.idle_status.done():
                    request = await self._request_info("shell")
                    await asyncio.wait(
                        {request.idle_status, exit_future}, timeout=_IDLE_WAIT_S, return_when=asyncio.FIRST_COMPLETED
                    )
        except TimeoutError:
            raise sandbox.SandboxUnavailable(f"The Python kernel did not start within {START_LIMIT_S:g} s.") from None
        if not self.is_alive:
            raise sandbox.launch_error(self._process.stderr)

    async def _request_info(self, socket: str) -> PendingRequest:
        request = PendingRequest()
        await self._send(socket, "kernel_info_request", request, {})
        return request

    async def _send(
        self,
        socket: str,
        kind: str,
        request: PendingRequest,
        content: Mapping[str, object],
        buffers: Sequence[bytes] = (),
    ) -> None:
        self._request = request
        if self.is_alive:
            await self._sockets.send(socket, kind, request.request_id, content, buffers)
        else:
            set_done(request.completion)

    async def _interrupt(self, request: PendingRequest) -> None:
        """Ask the kernel by message to interrupt itself; a signal from the host would reach and end bubblewrap."""
        request.is_interrupted = True
        if self.is_alive:
            await self._sockets.send("control", "interrupt_request", uuid.uuid4().hex, {})

    # --- callbacks ----------------------------------------------------------------------------------------------

    def _on_message(self, socket: str, message: Message) -> None:
        if self._request is not None and message.parent_id == self._request.request_id:
            self._request.receive(socket, message)

    def _on_exit(self) -> None:
        if self._request is not None:
            set_done(self._request.completion)
