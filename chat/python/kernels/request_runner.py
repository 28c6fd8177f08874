"""Sends requests to one kernel, one after another, and stops those that take too long or write too much.

A request always ends: a cell that no interrupt stops is ended together with its kernel.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine, Mapping
from contextlib import suppress
from enum import Enum

from chat.python.kernels.errors import KernelsUnavailable
from chat.python.kernels.kernel_api import VARIABLES_LOST, KernelApi
from chat.python.kernels.kernel_websocket import KernelWebSocket
from chat.python.kernels.pending_execution import PendingExecution, set_done

INTERRUPT_GRACE_S = 5.0
"""Maximum time until an interrupted cell has stopped. After it, the kernel is shut down."""
_INTERRUPTS = 2
"""Number of interrupts within INTERRUPT_GRACE_S. Code that ignores errors for a moment, such as a finalizer, may ignore
the first one."""
_INTERRUPT_REPLY_S = 1.0
_SHUT_DOWN_WAIT_S = 2.0
_LAST_MESSAGES_S = 1.0
_PROBE_STEPS = 6
"""Number of seconds that a kernel has to answer another request, if messages are missing. Each second is waited for
separately, so that a machine that was suspended does not end its kernels."""
_DAMAGE_GRACE_S = 3.0
"""Maximum time that a cell may go on after an invalid message."""
_ALIVE_CHECK_INTERVAL_S = 3.0
"""Interval at which the server is asked whether the kernel of a running cell still exists."""
_NOT_INTERRUPTIBLE = "It could not be interrupted."
_NO_ANSWER = "It does not answer any more."


class End(Enum):
    """The reason why waiting for a request ended."""

    COMPLETED = "completed"
    LATE = "late"
    FLOODED = "flooded"
    DAMAGED = "damaged"


class RequestRunner:
    """Runs the requests of one connection. It belongs to the event loop that created the instance."""

    def __init__(
        self, connection: KernelWebSocket, api: KernelApi, begin_shut_down: Callable[[], asyncio.Task[None]]
    ) -> None:
        """`begin_shut_down` ends the kernel in a task; its owner waits for the task."""
        self._connection = connection
        self._kernel_api = api
        self._begin_shut_down = begin_shut_down
        self._lock = asyncio.Lock()
        self._tasks: set[asyncio.Task[None]] = set()
        self._is_closed = False
        self._death_sentence = ""

    @property
    def is_alive(self) -> bool:
        """Whether the kernel runs and can be reached."""
        return self._connection.is_open and not self._death_sentence

    @property
    def death_sentence(self) -> str:
        """A sentence that says why the kernel has ended, if it has."""
        return self._death_sentence or VARIABLES_LOST

    async def close(self) -> None:
        """Wait until cancelled requests have stopped, then close the connection. May be called again."""
        while self._tasks:
            await asyncio.wait(self._tasks)
        self._is_closed = True
        await self._connection.close()

    def run_in_background(self, work: Coroutine[None, None, None]) -> None:
        """Run a coroutine in a task that `close` waits for."""
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def run(
        self,
        content: Mapping[str, object],
        request: PendingExecution,
        limit_s: float,
        *,
        start_limit_s: float | None = None,
        interrupts_others: bool = True,
    ) -> End:
        """Send an execute request and wait until it completes or is stopped. Raises an error of its callback.

        The time limit starts when the kernel begins to work on the request. `interrupts_others`: whether a cell of
        another connection is interrupted if it delays this request for longer than `start_limit_s`, which is `limit_s`
        by default.
        """
        await self._lock.acquire()
        is_finished = False
        try:
            await self._connection.send("shell", "execute_request", content, request)
            end = await self._wait(request, limit_s if start_limit_s is None else start_limit_s, limit_s)
            if request.error is not None:
                raise request.error
            if not request.completion.done() and (interrupts_others or request.start.done()):
                await self._stop(request)
            await self._record_death()
            is_finished = True
        finally:
            if is_finished:
                self._release(request)
            else:
                self.run_in_background(self._abandon(request))
        return end

    async def check_alive(self) -> None:
        """Abort the connection if the server does not know the kernel any more."""
        # If the server does not respond, the websocket will end, too.
        with suppress(KernelsUnavailable):
            if await self._kernel_api.model() is None:
                self._connection.abort()

    # --- waiting --------------------------------------------------------------------------------------------------

    async def _wait(self, request: PendingExecution, start_limit_s: float, limit_s: float) -> End:
        ends = (request.completion, request.flood, request.failure)
        await self._wait_while_alive(start_limit_s, request.start, request.damage, *ends)
        if request.start.done():
            await self._wait_while_alive(limit_s, request.first_end, request.damage, *ends)
        if request.first_end.done():
            await self._wait_for_last_messages(request)
        if request.damage.done() and not _is_any_done(*ends):
            await _wait_for_any(_DAMAGE_GRACE_S, *ends)
        if request.flood.done():
            return End.FLOODED
        if request.completion.done():
            return End.COMPLETED
        return End.DAMAGED if request.damage.done() else End.LATE

    async def _wait_for_last_messages(self, request: PendingExecution) -> None:
        """Complete a request after its reply or its idle status has arrived.

        A server drops messages of a kernel that floods its output, and a slow one delivers them late. Messages arrive
        in order, so the runner sends another request: messages that have not arrived before its answer are lost. A
        kernel that does not answer this request either is ended.
        """
        if request.completion.done():
            return
        # Wait only for new events: the cell may be stopped because of a flood.
        possible_ends = (request.completion, request.flood, request.failure, request.damage)
        ends = [end for end in possible_ends if not end.done()]
        await _wait_for_any(_LAST_MESSAGES_S, *ends)
        if not _is_any_done(*ends):
            probe = PendingExecution()
            await self._connection.send("shell", "kernel_info_request", {}, probe)
            for _ in range(_PROBE_STEPS):
                await _wait_for_any(1.0, probe.completion, *ends)
                if _is_any_done(probe.completion, *ends):
                    break
            self._connection.forget(probe)
            if not _is_any_done(probe.reply, *ends):
                await self._die(_NO_ANSWER)
            elif not _is_any_done(*ends):
                request.reader.is_truncated = True
                set_done(request.completion)

    async def _wait_while_alive(self, limit_s: float, *futures: asyncio.Future[None]) -> None:
        """Wait for the first of the futures. The connection is aborted if the server does not know the kernel any more.

        Jupyter's servers do not tell a connection if another client has shut the kernel down.
        """
        give_up_at = time.monotonic() + limit_s
        while not _is_any_done(*futures) and (rest_s := give_up_at - time.monotonic()) > 0:
            await _wait_for_any(min(rest_s, _ALIVE_CHECK_INTERVAL_S), *futures)
            if rest_s > _ALIVE_CHECK_INTERVAL_S and not _is_any_done(*futures):
                await self.check_alive()

    # --- stopping -------------------------------------------------------------------------------------------------

    async def _stop(self, request: PendingExecution) -> None:
        """Interrupt a request, and shut the kernel down if it does not stop."""
        request.is_interrupted = True
        if not request.start.done():
            # Either a cell of another connection runs, and this request would begin after it. Or the request has begun,
            # but the kernel cannot report this, because its code holds the interpreter's lock.
            await self._interrupt_until(request.start, request.completion)
        if request.start.done():
            await self._interrupt_until(request.first_end, request.completion)
        if request.first_end.done() and not request.damage.done():
            await self._wait_for_last_messages(request)
        if not request.completion.done():
            await self._die(_NOT_INTERRUPTIBLE)

    async def _interrupt_until(self, *ends: asyncio.Future[None]) -> None:
        """Interrupt the kernel, twice if needed. Return when one of the ends is done, or after 5 s."""
        started_at = time.monotonic()
        for number in range(1, _INTERRUPTS + 1):
            interrupt = await self._interrupt(*ends)
            until = started_at + number * INTERRUPT_GRACE_S / _INTERRUPTS
            await _wait_for_any(max(0, until - time.monotonic()), *ends)
            if _is_any_done(*ends):
                # Wait for the confirmation, because an interrupt that arrives later would stop the next cell.
                await _wait_for_any(_INTERRUPT_REPLY_S, interrupt.reply, interrupt.completion)
            self._connection.forget(interrupt)
            if _is_any_done(*ends):
                return

    async def _interrupt(self, *ends: asyncio.Future[None]) -> PendingExecution:
        """Interrupt the kernel by a message, which it confirms, or else through the server, which can send a signal.

        Returns the message.
        """
        message = PendingExecution()
        await self._connection.send("control", "interrupt_request", {}, message)
        await _wait_for_any(_INTERRUPT_REPLY_S, message.reply, message.completion, *ends)
        if not message.reply.done() and not _is_any_done(*ends) and self._connection.is_open:
            with suppress(KernelsUnavailable):
                await self._kernel_api.interrupt()
        return message

    async def _abandon(self, request: PendingExecution) -> None:
        """Stop a request whose caller was cancelled or gets an error."""
        try:
            if not request.completion.done():
                await self._stop(request)
            await self._record_death()
        finally:
            self._release(request)

    def _release(self, request: PendingExecution) -> None:
        self._connection.forget(request)
        self._lock.release()

    # --- the end of the kernel ------------------------------------------------------------------------------------

    async def _record_death(self) -> None:
        """If the connection has ended while a request ran, find out why, and make sure that the kernel ends too."""
        if self._connection.is_open or self._death_sentence:
            return
        if self._is_closed:
            self._death_sentence = "The connection to the Python session was closed."
        else:
            report = await self._kernel_api.end_report()
            await self._die(self._connection.end_reason or report.reason, has_ended=report.has_ended)

    async def _die(self, reason: str, *, has_ended: bool = False) -> None:
        """End the kernel. Wait only briefly, because a server waits some seconds before it kills a busy kernel."""
        self._death_sentence = f"{reason} {VARIABLES_LOST}"
        self._connection.abort()
        if not has_ended:
            await asyncio.wait({self._begin_shut_down()}, timeout=_SHUT_DOWN_WAIT_S)


async def _wait_for_any(limit_s: float, *futures: asyncio.Future[None]) -> None:
    await asyncio.wait(futures, timeout=limit_s, return_when=asyncio.FIRST_COMPLETED)


def _is_any_done(*futures: asyncio.Future[None]) -> bool:
    return any(future.done() for future in futures)
