"""Manages all kernels of the gateway by their ids: starts them, keeps some ready, and stores why they ended."""

from __future__ import annotations

import asyncio
import logging
from collections import OrderedDict
from collections.abc import Callable
from datetime import UTC, datetime

import zmq
import zmq.asyncio
from jupyter_server.services.kernels.kernelmanager import AsyncMappingKernelManager
from tornado import web
from traitlets import default

from chat.python.kernels.sandbox import SandboxUnavailable
from chat.python.kernels.service.cgroups import KernelGroups, find_parents
from chat.python.kernels.service.kernel_manager import SandboxKernelManager
from chat.python.kernels.service.kernel_spec import KERNEL_NAME
from chat.python.kernels.service.memory_watch import MemoryWatch
from chat.python.kernels.service.options import GatewayOptions
from chat.python.kernels.service.warm_kernels import WarmKernels

logger = logging.getLogger(__name__)

FRAME_LIMIT_BYTES = 16 * 1024 * 1024
"""Maximum size of a message's frame. ZeroMQ closes the connection on a larger one. A stored image fits, as base64."""
QUEUE_LIMIT_MESSAGES = 8
"""Maximum number of messages that one socket queues; the kernel queues further messages, or drops them."""
ENDS_LIMIT_COUNT = 1000
"""Maximum number of ended kernels for which the reason of the end is kept."""
LAST_OUTPUT_S = 0.1
"""Time in which the connections of an ended kernel still pass on its last output."""
ENDED_BY_ITSELF = "It ended by itself."


class SandboxMappingKernelManager(AsyncMappingKernelManager):
    """The kernels of the gateway."""

    def __init__(self, **kwargs: object) -> None:
        """Create the manager without a kernel. Limits and sizes come from the gateway's options."""
        super().__init__(**kwargs)
        assert self.parent is not None
        self._options: GatewayOptions = self.parent.options
        self.warm_kernels = WarmKernels(self._options.warm_kernels, self._start_warm)
        self.memory_watch = MemoryWatch(self._options.memory_limit_bytes)
        parents = find_parents(is_root_allowed=self._options.uses_cgroups_as_root)
        self._groups = KernelGroups(parents, self._options.memory_limit_bytes)
        self._ends: OrderedDict[str, str] = OrderedDict()
        self._removals: set[asyncio.Task[None]] = set()

    @default("kernel_manager_class")
    def _default_kernel_manager_class(self) -> str:
        return f"{SandboxKernelManager.__module__}.{SandboxKernelManager.__name__}"

    @default("root_dir")
    def _default_root_dir(self) -> str:
        assert self.parent is not None
        return str(self.parent.options.directory)

    @default("context")
    def _context_default(self) -> zmq.asyncio.Context:
        context = zmq.asyncio.Context()
        context.setsockopt(zmq.MAXMSGSIZE, FRAME_LIMIT_BYTES)
        context.setsockopt(zmq.RCVHWM, QUEUE_LIMIT_MESSAGES)
        return context

    # --- starts ---------------------------------------------------------------------------------------------------

    async def start_kernel(self, *, kernel_id: str | None = None, **_: object) -> str:
        """Return the id of a kernel that answers: a warm one at once, or else a new one.

        Names, paths and environments of a request are ignored: all kernels are alike. Raises HTTPError 503 with a
        sentence if no kernel can be started.
        """
        if kernel_id is None and (warm_id := self.warm_kernels.take()) is not None:
            self._kernel(warm_id).last_activity = datetime.now(UTC)
            self.take_cpu_s(warm_id)
            return warm_id
        try:
            started_id = await self._start(kernel_id or self.new_kernel_id())
            # The CPU time of the start does not count, because no code of a user has run.
            self.take_cpu_s(started_id)
            return started_id
        except SandboxUnavailable as error:
            sentence = str(error)
        except OSError as error:
            logger.warning("The Python kernel cannot be started: %s", error)
            sentence = f"The Python kernel cannot be started: {error.strerror}."
        # Tornado formats the message with `%`, so a percent sign is doubled.
        raise web.HTTPError(503, log_message=sentence.replace("%", "%%"))

    def take_cpu_s(self, kernel_id: str) -> float:
        """Return the CPU seconds of a kernel since the last call. Raises HTTPError 404 if it has ended.

        The web server that owns the session calls this every few seconds, and ends an idle session itself. So the call
        counts as activity here.
        """
        kernel = self._kernel(kernel_id)
        kernel.last_activity = datetime.now(UTC)
        return kernel.process.take_cpu_s()

    async def _start_warm(self, kernel_id: str) -> str:
        return await self._start(kernel_id, extra_arguments=["preload"])

    async def _start(self, kernel_id: str, **kwargs: list[str]) -> str:
        await super().start_kernel(kernel_id=kernel_id, path=None, kernel_name=KERNEL_NAME, **kwargs)
        await self._limit(self._kernel(kernel_id))
        return kernel_id

    async def _limit(self, kernel: SandboxKernelManager) -> None:
        """Limit a kernel that has just been launched, and wait until it answers.

        Raises SandboxUnavailable if it exits or takes too long.
        """
        kernel_id = kernel.kernel_id
        assert kernel_id is not None
        self.memory_watch.add(kernel.process)
        try:
            await kernel.wait_until_ready()
        except SandboxUnavailable:
            if not kernel.exit_event.is_set():
                await self.shutdown_kernel(kernel_id)
            raise
        # All processes of the kernel can be found now, before code of a user has run and started others.
        kernel.process.group = self._groups.create(kernel_id, kernel.process.pid)

    async def restart_kernel(self, kernel_id: str, now: bool = True) -> None:
        """Start a kernel again, without its variables, on request of its client."""
        await super().restart_kernel(kernel_id, now=True)
        await self._limit(self._kernel(kernel_id))

    def _kernel(self, kernel_id: str) -> SandboxKernelManager:
        kernel = self.get_kernel(kernel_id)
        assert isinstance(kernel, SandboxKernelManager)
        return kernel

    # --- ends -----------------------------------------------------------------------------------------------------

    async def shutdown_kernel(self, kernel_id: str, now: bool = True, restart: bool = False) -> None:
        """Kill a kernel. Its variables are lost in any case, so it gets no time to shut down."""
        self.warm_kernels.discard(kernel_id)
        await super().shutdown_kernel(kernel_id, now=True, restart=restart)

    def remove_ended_kernel(self, kernel: SandboxKernelManager, report_death: Callable[[], None]) -> None:
        """Remove a kernel that has exited by itself or was killed, and notify its connections."""
        task = asyncio.create_task(self._remove(kernel, report_death))
        self._removals.add(task)
        task.add_done_callback(self._removals.discard)

    async def _remove(self, kernel: SandboxKernelManager, report_death: Callable[[], None]) -> None:
        kernel_id = kernel.kernel_id
        assert kernel_id is not None
        self._remember_end(kernel_id, kernel.process.exit_reason or ENDED_BY_ITSELF)
        # The exit may be noticed before the last output is read, so the connections stay open for a moment.
        await asyncio.sleep(LAST_OUTPUT_S)
        if kernel_id in self:
            await self.shutdown_kernel(kernel_id)
        report_death()

    def end_reason(self, kernel_id: str) -> str:
        """Return why a kernel has ended; empty if it has not, was ended on request, or ended too long ago."""
        return self._ends.get(kernel_id, "")

    def _remember_end(self, kernel_id: str, reason: str) -> None:
        self._ends[kernel_id] = reason
        while len(self._ends) > ENDS_LIMIT_COUNT:
            self._ends.popitem(last=False)

    def kill_all(self) -> None:
        """Kill every kernel without waiting, because the gateway ends."""
        for kernel_id in self.list_kernel_ids():
            self._kernel(kernel_id).process.end("The service was stopped.")

    # --- what Jupyter's API shows -----------------------------------------------------------------------------------

    def list_kernels(self) -> list[dict[str, object]]:
        """Return the kernels in use, without those that are kept ready."""
        kernels: list[dict[str, object]] = super().list_kernels()
        return [kernel for kernel in kernels if kernel["id"] not in self.warm_kernels]

    async def cull_kernel_if_idle(self, kernel_id: str) -> None:
        """End a kernel that was idle for longer than the limit, unless it is kept ready."""
        if kernel_id not in self.warm_kernels:
            await super().cull_kernel_if_idle(kernel_id)
            if kernel_id not in self:
                self._remember_end(kernel_id, f"It was idle for {self._options.idle_limit_s / 60:g} min.")
