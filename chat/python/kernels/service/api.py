"""The HTTP resources of the gateway: only those of Jupyter's API that clients need, and two of Plotline.

Kernel Gateway loads this module by its name and calls `create_personality`.
"""

from __future__ import annotations

import asyncio
import json
from http import HTTPStatus

from jupyter_core.utils import ensure_async
from jupyter_server.services.kernels import handlers as server_handlers
from jupyter_server.services.kernels.websocket import KernelWebsocketHandler
from kernel_gateway.base.handlers import default_handlers as base_handlers
from kernel_gateway.jupyter_websocket import JupyterWebsocketPersonality
from kernel_gateway.mixins import CORSMixin, JSONErrorsMixin, TokenAuthorizationMixin
from kernel_gateway.services.kernels.handlers import KernelHandler, MainKernelHandler
from kernel_gateway.services.kernelspecs.handlers import default_handlers as kernelspec_handlers
from tornado import web

from chat.python.kernels.places import CPU_PATH
from chat.python.kernels.service.options import HEALTH_PATH

_KERNEL_ID = r"(?P<kernel_id>\w+-\w+-\w+-\w+-\w+)"
_KERNEL = rf"/api/kernels/{_KERNEL_ID}"


class KernelListHandler(MainKernelHandler):
    """`/api/kernels`: list and start kernels."""

    _client_has_gone = False

    def on_connection_close(self) -> None:
        """Record that the client no longer waits for the response."""
        self._client_has_gone = True
        super().on_connection_close()

    async def post(self) -> None:
        """Start a kernel. An environment in the request is ignored, as every kernel has the same.

        If the client has gone, nobody has received the id of the kernel. Then the kernel is ended at once.
        """
        limit = self.settings["kg_max_kernels"]
        if limit is not None and len(self.kernel_manager.list_kernels()) >= limit:
            raise web.HTTPError(HTTPStatus.FORBIDDEN, "All Python sessions of this machine are in use.")
        await ensure_async(server_handlers.MainKernelHandler.post(self))
        if self._client_has_gone:
            await self.kernel_manager.shutdown_kernel(self._headers["Location"].rpartition("/")[2])


class SingleKernelHandler(KernelHandler):
    """`/api/kernels/<id>`: read and end one kernel."""

    async def get(self, kernel_id: str) -> None:
        """Return the kernel. For a kernel that has ended by itself or was killed, the field `end` says why."""
        reason = self.kernel_manager.end_reason(kernel_id)
        if kernel_id in self.kernel_manager or not reason:
            await super().get(kernel_id)
            return
        message = f"Kernel does not exist: {kernel_id}"
        self.set_status(HTTPStatus.NOT_FOUND)
        self.finish(json.dumps({"reason": HTTPStatus.NOT_FOUND.phrase, "message": message, "end": reason}))


class ActionHandler(
    TokenAuthorizationMixin,
    CORSMixin,
    JSONErrorsMixin,
    server_handlers.KernelActionHandler,
):
    """`/api/kernels/<id>/interrupt` and `/restart`."""


class ChannelsHandler(
    TokenAuthorizationMixin,
    CORSMixin,
    KernelWebsocketHandler,
):
    """`/api/kernels/<id>/channels`: the websocket of one kernel."""

    async def open(self, kernel_id: str) -> None:
        """Start to forward messages. Each is sent at once: Nagle's algorithm would add 40 ms to every call."""
        self.set_nodelay(True)
        await super().open(kernel_id)

    def write_message(self, message: bytes | str | dict[str, object], binary: bool = False) -> asyncio.Future[None]:
        """Send a message. Its bytes are counted as unsent until they are sent."""
        sent = super().write_message(message, binary)
        connection = self.connection
        size_bytes = len(message)
        connection.count_unsent(size_bytes)

        def count_sent(sent: asyncio.Future[None]) -> None:
            connection.count_unsent(-size_bytes)
            if not sent.cancelled():
                # Read the exception, or asyncio would log it. A closed connection is no error.
                sent.exception()

        sent.add_done_callback(count_sent)
        return sent


class StatusHandler(TokenAuthorizationMixin, JSONErrorsMixin, web.RequestHandler):
    """The health check of the supervisor."""

    def get(self) -> None:
        """Return the number of kernels in use, and the number that are kept ready."""
        kernel_manager = self.settings["kernel_manager"]
        count = len(kernel_manager.list_kernels())
        self.finish({"kernels": count, "warm_kernels": len(kernel_manager.warm_kernels)})


class CpuHandler(TokenAuthorizationMixin, JSONErrorsMixin, web.RequestHandler):
    """`/plotline/kernels/<id>/cpu`: the CPU time of one kernel."""

    def post(self, kernel_id: str) -> None:
        """Return the CPU seconds since the last request of any client. So each second is counted only once."""
        self.finish({"cpu_s": self.settings["kernel_manager"].take_cpu_s(kernel_id)})


class SandboxPersonality(JupyterWebsocketPersonality):
    """Chooses the resources of the gateway, and ends all kernels when the gateway ends."""

    def create_request_handlers(self) -> list[tuple[object, ...]]:
        """Return the handlers by their patterns; those of Kernel Gateway answer 404 for everything else."""
        return [
            (r"/api/kernels", KernelListHandler),
            (_KERNEL, SingleKernelHandler),
            (rf"{_KERNEL}/(?P<action>restart|interrupt)", ActionHandler),
            (rf"{_KERNEL}/channels", ChannelsHandler),
            (HEALTH_PATH, StatusHandler),
            (CPU_PATH.format(kernel_id=_KERNEL_ID), CpuHandler),
            *kernelspec_handlers,
            *base_handlers,
        ]

    async def shutdown(self) -> None:
        """Kill all kernels."""
        self.parent.kernel_manager.kill_all()


def create_personality(**kwargs: object) -> SandboxPersonality:
    """Return the object that chooses the resources. Kernel Gateway calls this function."""
    return SandboxPersonality(**kwargs)
