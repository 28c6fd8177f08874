"""The client for Jupyter's REST and websocket API: start kernels, connect to them, interrupt and end them.

It uses Jupyter's documented API only. The local service, any Jupyter Server, Kernel Gateway or Enterprise Gateway can
therefore be the place that runs the kernels.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine, Mapping
from contextlib import asynccontextmanager, suppress

import aiohttp

from chat.python.kernels.errors import KernelGone, KernelsUnavailable
from chat.python.kernels.kernel_api import (
    NOT_STARTED,
    START_LIMIT_S,
    VARIABLES_LOST,
    KernelApi,
    open_http_session,
)
from chat.python.kernels.kernel_client import IS_BUSY, KernelClient
from chat.python.kernels.kernel_program import ProgramFailed
from chat.python.kernels.kernel_websocket import DEATH_STATES, KernelWebSocket
from chat.python.kernels.places import Address, Place
from chat.python.kernels.request_runner import INTERRUPT_GRACE_S

__all__ = ["JupyterClient", "KernelClient"]

logger = logging.getLogger(__name__)

_CLOSE_LIMIT_S = 15.0
_NEXT_INTERRUPT_S = 1.0
"""Seconds after which a kernel that does not react to an interrupt is interrupted once more."""
_SHUT_DOWN_WAIT_S = 2.0
_SHUT_DOWN_ATTEMPTS = 5
_SHUT_DOWN_PAUSE_S = 1.0
_PROCESS_ID_CHARS = 12
"""Number of characters of the process id in a kernel id: 11 hexadecimal digits and a hyphen."""


class JupyterClient:
    """Starts, connects to and ends the kernels of one place.

    A client belongs to the event loop on which it is used first.

    A kernel id names a kernel and its process, `<Jupyter's id>.<start of the process id>`. Many servers restart a
    kernel that died, under its old id and without its variables; such a kernel counts as gone.
    """

    def __init__(self, place: Place) -> None:
        """Use the kernels of this place. Nothing is started or connected yet."""
        self._place = place
        self._http: aiohttp.ClientSession | None = None
        self._tasks: set[asyncio.Task[None]] = set()

    async def start_kernel(self, note_created: Callable[[str], Awaitable[None]] | None = None) -> str:
        """Start a kernel, wait until it is ready, and return its id. Raises KernelsUnavailable if that fails.

        `note_created` is awaited with an id for `shut_down` as soon as the kernel exists. The caller can store it: if
        this process ends before the kernel is ready, the kernel goes on running.
        """
        api, kernel = await self._start(note_created)
        async with kernel:
            return f"{api.kernel_id}.{kernel.process_id[:_PROCESS_ID_CHARS]}"

    @asynccontextmanager
    async def new_kernel(self) -> AsyncGenerator[KernelClient]:
        """Start a kernel that ends with the block; yield its connection. Raises KernelsUnavailable if that fails."""
        api, kernel = await self._start()
        try:
            yield kernel
        finally:
            # End the kernel before the connection is closed, so that closing does not wait for running code.
            self._begin_shut_down(api)
            await kernel.close()

    async def find_loss(self, kernel_id: str, address: Address) -> str:
        """Return why a kernel has ended; empty if it runs. Raises KernelsUnavailable if the server does not respond.

        `address`: the server that has the kernel. If it still lists an ended kernel, the kernel is shut down. If it has
        restarted the kernel under its old id, only `connect` notices.
        """
        try:
            api = KernelApi(self._session(), address, kernel_id.partition(".")[0])
        except KernelGone as gone:
            return str(gone)
        model = await api.model()
        if model is not None and not _is_dead(model):
            return ""
        report = await api.end_report()
        if not report.has_ended:
            self._begin_shut_down(api)
        return f"{report.reason} {VARIABLES_LOST}"

    async def interrupt(self, kernel_id: str) -> None:
        """Interrupt the running cell, if the kernel exists. Raises KernelsUnavailable if its server does not answer."""
        with suppress(KernelGone):
            await (await self._kernel_api(kernel_id)).interrupt()

    async def take_cpu_s(self, kernel_id: str) -> float | None:
        """Return the CPU seconds of a kernel since the last call; see `KernelApi.take_cpu_s`."""
        try:
            return await (await self._kernel_api(kernel_id)).take_cpu_s()
        except KernelGone:
            return None

    async def shut_down(self, kernel_id: str) -> None:
        """End the kernel and its variables, if it exists. Raises KernelsUnavailable if its server does not answer."""
        with suppress(KernelGone):
            await (await self._kernel_api(kernel_id)).shut_down()

    async def connect(self, kernel_id: str, *, ends_silent: bool = True) -> KernelClient:
        """Connect to a kernel. Raises KernelGone if it or its process has ended, KernelsUnavailable.

        A busy kernel is interrupted first, because no client waits for its cell any more. If the server reports the
        kernel as idle, but it does not answer within 5 s, it is interrupted then. If it does not answer within 5 s of
        the interrupt, it is shut down. Without `ends_silent`, a kernel that is reported as idle and does not answer is
        left alone, and KernelsUnavailable is raised.
        """
        api = await self._kernel_api(kernel_id)
        model = await api.model()
        if model is None or _is_dead(model):
            report = await api.end_report()
            if not report.has_ended:
                await self._finish_shut_down(api)
            raise KernelGone(f"{report.reason} {VARIABLES_LOST}")
        is_busy = model.get("execution_state") == "busy"
        if is_busy:
            await api.interrupt()
        kernel = await self._open(api)
        try:
            # The server's report may be wrong after lost messages, so the kernel itself is asked.
            is_ready = not is_busy and await kernel.wait_until_ready(INTERRUPT_GRACE_S)
            if not is_ready and not is_busy:
                if not ends_silent:
                    raise KernelsUnavailable(IS_BUSY)
                await api.interrupt()
            if not is_ready and not await _wait_until_interrupted(kernel, api):
                reason = "Its code could not be interrupted." if is_busy else (await api.end_report()).reason
                raise KernelGone(f"{reason} {VARIABLES_LOST}")
            _, _, process_id = kernel_id.partition(".")
            if not kernel.process_id.startswith(process_id):
                raise KernelGone(f"It ended by itself. {VARIABLES_LOST}")
        except KernelGone:
            await self._finish_shut_down(api)
            await kernel.close()
            raise
        except BaseException:
            await kernel.close()
            raise
        return kernel

    async def aclose(self) -> None:
        """Wait for background tasks and close the HTTP session. Kernels go on running."""
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=_CLOSE_LIMIT_S)
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        if self._http is not None:
            await self._http.close()

    def _session(self) -> aiohttp.ClientSession:
        # An HTTP session belongs to the event loop that runs when it is made.
        if self._http is None:
            self._http = open_http_session()
        return self._http

    async def _kernel_api(self, kernel_id: str) -> KernelApi:
        """Return the API of the kernel at the place's current address.

        The local service may have a new address after a restart.
        """
        return KernelApi(self._session(), await self._place.address(), kernel_id.partition(".")[0])

    async def _start(
        self, note_created: Callable[[str], Awaitable[None]] | None = None
    ) -> tuple[KernelApi, KernelClient]:
        """Start a kernel, connect to it and prepare it. Raises KernelsUnavailable if that fails."""
        start = asyncio.create_task(KernelApi.start(self._session(), await self._place.address()))
        try:
            api = await asyncio.shield(start)
        except asyncio.CancelledError:
            # The server starts the kernel even if this request is cancelled, so end the kernel afterwards.
            self._run_in_background(_shut_down_started(start))
            raise
        try:
            if note_created is not None:
                await note_created(api.kernel_id)
            kernel = await self._open(api)
            try:
                if not await kernel.wait_until_ready(START_LIMIT_S):
                    raise KernelsUnavailable(f"{NOT_STARTED}: the kernel does not answer.")
                await kernel.prepare()
            except BaseException:
                await kernel.close()
                raise
        except (KernelGone, ProgramFailed) as error:
            self._begin_shut_down(api)
            raise KernelsUnavailable(f"{NOT_STARTED}: {error}") from error
        except BaseException:
            self._begin_shut_down(api)
            raise
        return api, kernel

    async def _open(self, api: KernelApi) -> KernelClient:
        websocket = await api.open_websocket()
        return KernelClient(KernelWebSocket(websocket), api, lambda: self._begin_shut_down(api))

    def _begin_shut_down(self, api: KernelApi) -> asyncio.Task[None]:
        """End a kernel in a task of its own, because some servers wait seconds before they kill a busy kernel."""
        return self._run_in_background(_shut_down(api))

    def _run_in_background(self, work: Coroutine[None, None, None]) -> asyncio.Task[None]:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def _finish_shut_down(self, api: KernelApi) -> None:
        await asyncio.wait({self._begin_shut_down(api)}, timeout=_SHUT_DOWN_WAIT_S)


async def _shut_down_started(start: asyncio.Task[KernelApi]) -> None:
    """End a kernel once it has started."""
    with suppress(KernelsUnavailable):
        await _shut_down(await start)


async def _shut_down(api: KernelApi) -> None:
    """End a kernel. Repeat this if the server restarts it, as some servers do with a kernel that has just died."""
    try:
        for _ in range(_SHUT_DOWN_ATTEMPTS):
            await api.shut_down()
            if await api.model() is None:
                return
            await asyncio.sleep(_SHUT_DOWN_PAUSE_S)
        logger.warning("The kernel %s could not be shut down.", api.kernel_id)
    except KernelsUnavailable as error:
        logger.warning("The kernel %s could not be shut down: %s", api.kernel_id, error)


async def _wait_until_interrupted(kernel: KernelClient, api: KernelApi) -> bool:
    """Wait until an interrupted kernel answers, and return whether it did so within 5 s."""
    if await kernel.wait_until_ready(_NEXT_INTERRUPT_S):
        return True
    # Code that ignores errors for a moment, such as a finalizer, may have swallowed the first interrupt.
    await api.interrupt()
    return await kernel.wait_until_ready(INTERRUPT_GRACE_S - _NEXT_INTERRUPT_S)


def _is_dead(model: Mapping[str, object]) -> bool:
    return str(model.get("execution_state")) in DEATH_STATES
