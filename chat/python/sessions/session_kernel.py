"""The kernel of a conversation: connects to the one that the row names, and starts one if there is none.

A process takes the session's lease before it connects, because connecting interrupts a cell without a client. It renews
the lease until its cell has ended. So several server processes can use the same kernel, one after the other. A second
process interrupts the cell of the first one only if that one could not renew its lease for `LEASE_S`: it was halted, or
the database was not available.
"""

from __future__ import annotations

import asyncio
import logging
import time
import uuid
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import ExitStack, asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from django.conf import settings

from chat.models import PythonSession
from chat.python.kernels.client import KernelClient
from chat.python.kernels.errors import KernelGone, KernelsUnavailable
from chat.python.sessions import control, limits, rows
from chat.python.sessions.errors import SessionUnavailable
from chat.python.sessions.kernel_time import count_kernel_time, count_left_running
from chat.python.sessions.leases import renewed_lease
from chat.python.sessions.limits import AlreadyRunning, EvictKernel, Refuse, StartKernel, Wait
from chat.python.sessions.places import OTHER_PLACE, current_client, current_place
from chat.python.sessions.rows import State, session_store

logger = logging.getLogger(__name__)

POLL_S = 0.2
"""Interval in seconds at which a waiting process queries the database."""
STARTS_LIMIT = 3
"""Maximum number of starts for one cell. A further one is needed if the kernel ends before it is used."""

IS_BUSY = "Other code runs in this Python session."
KEEPS_ENDING = "The Python session could not be started: it ended {number} times before any code ran."
WAITED = "{sentence} This did not change within {seconds:g} seconds. Try again later."
RESTARTED = "The Python session was restarted by its owner. Its earlier variables are lost."
RESTART_WAIT_S = 10.0


class NotRunning(Exception):
    """The session has no kernel."""


@dataclass(slots=True)
class LeasedKernel:
    """A kernel whose lease this process holds."""

    session: PythonSession
    """The row as it was before the lease was taken."""
    kernel: KernelClient
    renewal: ExitStack
    """Renews the lease until this stack is closed."""
    columns: dict[str, Any] = field(default_factory=dict)
    """The columns that are stored when the lease is released."""
    loss: str = ""
    """Why the kernel has ended; empty if it still lives."""
    run_s: float = 0.0
    """Seconds that cells have run in the kernel. They count for the quota of the owner when the lease is released."""

    async def without_cells(self, texts: Sequence[str], *, known: str = "") -> list[str]:
        """Return texts without cells of the files that were placed in the session; see `KernelClient.without_cells`."""
        files = self.columns.get("placed_files", self.session.placed_files)
        return await self.kernel.without_cells(texts, files, known=known)


def ignore(sentence: str) -> None:
    """Do nothing with the sentence. This is the default callback of code that waits for a kernel."""


class SessionKernel:
    """The kernel of one conversation. It keeps its connection until `aclose`, and belongs to one event loop."""

    def __init__(self, conversation_id: uuid.UUID, owner_id: int | None) -> None:
        """Use the session of a conversation. Nothing is started or connected yet."""
        self.conversation_id = conversation_id
        self._owner_id = owner_id
        self._kernel: KernelClient | None = None
        self._generation = 0

    async def aclose(self) -> None:
        """Close the connection. The kernel runs on."""
        if self._kernel is not None:
            await self._kernel.close()
            self._kernel = None

    @asynccontextmanager
    async def hold(
        self,
        *,
        message_id: uuid.UUID | None = None,
        on_wait: Callable[[str], None] = ignore,
        starts: bool = True,
        wait_limit_s: float | None = None,
    ) -> AsyncGenerator[LeasedKernel, None]:
        """Hold the kernel until the block ends; no other process runs code there meanwhile.

        `message_id`: the message whose code runs in the block. `on_wait`: is called with the reason of a wait.
        `starts`: whether a kernel is started if there is none; if not, NotRunning is raised. `wait_limit_s`: maximum
        time to wait for other code and for a free kernel; `None`: KERNEL_WAIT_LIMIT_S. Raises SessionUnavailable after
        this time, or if no kernel can be started.
        """
        patience = _Patience(on_wait, settings.KERNEL_WAIT_LIMIT_S if wait_limit_s is None else wait_limit_s)
        held = await self._take(message_id, patience, starts=starts)
        began_at = time.monotonic()
        session = held.session
        try:
            yield held
        finally:
            held.renewal.close()
            if held.loss:
                await session_store.run(rows.note_lost, session.pk, session.generation, held.loss)
            else:
                # Count also if no cell ran: otherwise the reaper takes this CPU time for that of code that runs on.
                held_s = time.monotonic() - began_at if held.run_s else 0.0
                await count_left_running(current_client(), session, held_s=held_s)
                await session_store.run(rows.end_cell, session.pk, session.generation, held.columns)
            if held.run_s:
                await count_kernel_time(session.owner_id, held.run_s)

    async def _take(self, message_id: uuid.UUID | None, patience: _Patience, *, starts: bool) -> LeasedKernel:
        started = 0
        while True:
            session = await session_store.run(rows.open_session, self.conversation_id, self._owner_id)
            if session.state == State.RUNNING:
                if await session_store.run(rows.begin_cell, session.pk, session.generation, message_id):
                    with ExitStack() as renewal:
                        renewal.enter_context(renewed_lease(session.pk, session.generation))
                        kernel = await self._connect(session, ends_silent=starts)
                        if kernel is not None:
                            return LeasedKernel(session, kernel, renewal.pop_all())
                else:
                    await patience.wait(IS_BUSY)
            elif not starts:
                raise NotRunning
            elif started == STARTS_LIMIT:
                raise SessionUnavailable(KEEPS_ENDING.format(number=started))
            else:
                started += await self._start(session.pk, patience)

    async def _connect(self, session: PythonSession, *, ends_silent: bool) -> KernelClient | None:
        """Return the connection to the session's kernel. If the kernel has ended, store this and return `None`.

        `ends_silent`: see `JupyterClient.connect`.
        """
        if self._kernel is not None and self._generation == session.generation and self._kernel.is_alive:
            return self._kernel
        await self.aclose()
        try:
            if (await current_place().address()).url != session.place:
                raise KernelGone(OTHER_PLACE)
            self._kernel = await current_client().connect(session.kernel_id, ends_silent=ends_silent)
        except KernelGone as gone:
            await session_store.run(rows.note_lost, session.pk, session.generation, str(gone))
            return None
        except BaseException as error:
            await session_store.run(rows.end_cell, session.pk, session.generation, {})
            if isinstance(error, KernelsUnavailable):
                raise SessionUnavailable(str(error)) from error
            raise
        self._generation = session.generation
        return self._kernel

    async def _start(self, session_id: int, patience: _Patience) -> bool:
        """Start a kernel as soon as the limits allow it; return whether this process has started it."""
        try:
            while True:
                match await session_store.run(limits.admit, session_id):
                    case AlreadyRunning():
                        return False
                    case EvictKernel(session):
                        await control.finish_stop(session)
                    case Refuse(sentence):
                        raise SessionUnavailable(sentence)
                    case Wait(sentence):
                        await patience.wait(sentence)
                    case StartKernel(generation):
                        await _start_kernel(session_id, generation)
                        return True
        except BaseException:
            await session_store.run(limits.leave_queue, session_id)
            raise


async def _start_kernel(session_id: int, generation: int) -> None:
    """Start the kernel of an admitted session, and store it."""
    try:
        with renewed_lease(session_id, generation):
            place = (await current_place().address()).url

            async def note_created(kernel_id: str) -> None:
                await session_store.run(rows.note_created, session_id, generation, kernel_id=kernel_id, place=place)

            kernel_id = await current_client().start_kernel(note_created)
    except KernelsUnavailable as error:
        await session_store.run(rows.note_failed, session_id, generation, str(error))
        raise SessionUnavailable(str(error)) from error
    except BaseException:
        await session_store.run(rows.give_up_start, session_id, generation)
        raise
    is_stored = await session_store.run(rows.note_started, session_id, generation, kernel_id=kernel_id, place=place)
    if not is_stored:
        logger.warning("session %s wants the kernel no more that was started for it", session_id)
        await current_client().shut_down(kernel_id)


async def restart(conversation_id: uuid.UUID, owner_id: int | None) -> None:
    """End the kernel of a conversation, with the code that runs in it, and start another one.

    Raises SessionUnavailable if no kernel can be started.
    """
    session = await session_store.run(rows.open_session, conversation_id, owner_id)
    await control.end(session, RESTARTED)
    session_kernel = SessionKernel(conversation_id, owner_id)
    try:
        async with session_kernel.hold(wait_limit_s=RESTART_WAIT_S):
            pass
    finally:
        await session_kernel.aclose()


class _Patience:
    """Limits the time of repeated waits, and reports their reasons."""

    def __init__(self, on_wait: Callable[[str], None], limit_s: float) -> None:
        self._on_wait = on_wait
        self._said = ""
        self._limit_s = limit_s
        self._until = asyncio.get_running_loop().time() + limit_s

    async def wait(self, sentence: str) -> None:
        """Wait for `POLL_S`. `sentence`: the reason. Raises SessionUnavailable after the time limit."""
        if asyncio.get_running_loop().time() > self._until:
            raise SessionUnavailable(WAITED.format(sentence=sentence, seconds=self._limit_s))
        if sentence not in (self._said, limits.IS_CHANGING):
            self._said = sentence
            self._on_wait(sentence)
        await asyncio.sleep(POLL_S)
