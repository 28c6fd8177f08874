"""A Jupyter server whose kernels start normally, and do harm from their first cell on, as `harm` says.

It speaks the REST and websocket API over a real socket. A new kernel behaves normally until its first cell runs.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import uuid
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from aiohttp import WSMsgType, web

from tests.ports import free_port

FLOOD_TEXT = "x" * 1_000
MESSAGE_LIMIT_BYTES = 17 * 1024 * 1024


@dataclass
class Kernel:
    """One kernel, with the websockets of its clients."""

    kernel_id: str = field(default_factory=lambda: str(uuid.uuid4()))
    session: str = field(default_factory=lambda: uuid.uuid4().hex)
    harm: str = ""
    """The harm that the kernel does from its first cell on; empty for a normal kernel."""
    is_harmed: bool = False

    def message(self, channel: str, kind: str, parent: object, **content: object) -> dict[str, Any]:
        """Return a message."""
        header = {"msg_id": uuid.uuid4().hex, "msg_type": kind, "session": self.session}
        return {"channel": channel, "header": header, "parent_header": parent, "metadata": {}, "content": content}

    def answer(self, request: Mapping[str, Any]) -> list[dict[str, Any]]:
        """Return the messages with which a normal kernel answers a request."""
        parent, kind = request["header"], request["header"]["msg_type"]
        reply: dict[str, Any] = {"status": "ok"}
        if expressions := request["content"].get("user_expressions"):
            data = {"application/vnd.plotline.answer": json.dumps({"execution_count": 1})}
            reply["user_expressions"] = {key: {"status": "ok", "data": data} for key in expressions}
        return [
            self.message("iopub", "status", parent, execution_state="busy"),
            self.message(request["channel"], kind.replace("_request", "_reply"), parent, **reply),
            self.message("iopub", "status", parent, execution_state="idle"),
        ]


Send = Callable[[object], Awaitable[None]]
Harm = Callable[[Kernel, Mapping[str, Any], Send], Awaitable[None]]


async def _silence(kernel: Kernel, request: Mapping[str, Any], send: Send) -> None:
    return


async def _busy(kernel: Kernel, request: Mapping[str, Any], send: Send) -> None:
    await send(kernel.answer(request)[0])


async def _no_reply(kernel: Kernel, request: Mapping[str, Any], send: Send) -> None:
    if request["header"]["msg_type"] == "execute_request":
        await send(kernel.answer(request)[0])
        await send(kernel.answer(request)[2])


async def _no_idle(kernel: Kernel, request: Mapping[str, Any], send: Send) -> None:
    if request["header"]["msg_type"] == "execute_request":
        await send(kernel.answer(request)[0])
        await send(kernel.answer(request)[1])


async def _not_json(kernel: Kernel, request: Mapping[str, Any], send: Send) -> None:
    for _ in kernel.answer(request):
        await send("{not JSON")


async def _binary(kernel: Kernel, request: Mapping[str, Any], send: Send) -> None:
    for _ in kernel.answer(request):
        await send(b"\xff\xff\xff\xff\x00")


async def _wrong_types(kernel: Kernel, request: Mapping[str, Any], send: Send) -> None:
    for message in kernel.answer(request):
        await send({**message, "content": [message["content"]]})
        await send({**message, "header": {"msg_type": 7, "session": []}})


async def _no_headers(kernel: Kernel, request: Mapping[str, Any], send: Send) -> None:
    for message in kernel.answer(request):
        await send({"channel": message["channel"], "content": message["content"]})


async def _wrong_parents(kernel: Kernel, request: Mapping[str, Any], send: Send) -> None:
    for message in kernel.answer(request):
        await send({**message, "parent_header": {"msg_id": "another"}})


async def _wrong_parent_of_reply(kernel: Kernel, request: Mapping[str, Any], send: Send) -> None:
    busy, reply, idle = kernel.answer(request)
    for message in (busy, {**reply, "parent_header": {"msg_id": "another"}}, idle):
        await send(message)


async def _huge(kernel: Kernel, request: Mapping[str, Any], send: Send) -> None:
    await send(kernel.answer(request)[0])
    await send("x" * MESSAGE_LIMIT_BYTES)


async def _flood(kernel: Kernel, request: Mapping[str, Any], send: Send) -> None:
    await send(kernel.answer(request)[0])
    while True:
        await send(kernel.message("iopub", "stream", request["header"], name="stdout", text=FLOOD_TEXT))


async def _flood_of_others(kernel: Kernel, request: Mapping[str, Any], send: Send) -> None:
    await send(kernel.answer(request)[0])
    while True:
        await send(kernel.message("iopub", "stream", {"msg_id": "another"}, name="stdout", text=FLOOD_TEXT))


async def _flood_after_idle(kernel: Kernel, request: Mapping[str, Any], send: Send) -> None:
    await send(kernel.answer(request)[0])
    await send(kernel.answer(request)[2])
    while True:
        await send("{}")


async def _cells_only(kernel: Kernel, request: Mapping[str, Any], send: Send) -> None:
    if request["content"].get("code"):
        for message in kernel.answer(request):
            await send(message)


HARMS: Mapping[str, Harm] = {
    "silence": _silence,
    "busy": _busy,
    "no reply": _no_reply,
    "no idle status": _no_idle,
    "not JSON": _not_json,
    "binary": _binary,
    "wrong types": _wrong_types,
    "no headers": _no_headers,
    "wrong parents": _wrong_parents,
    "wrong parent of the reply": _wrong_parent_of_reply,
    "huge": _huge,
    "flood": _flood,
    "flood of others": _flood_of_others,
    "flood after idle": _flood_after_idle,
    "answers cells only": _cells_only,
}


class HostileServer:
    """The server. `harm` is the harm of kernels that are started from now on."""

    def __init__(self) -> None:
        """Begin without kernels."""
        self.harm = ""
        self.kernels: dict[str, Kernel] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    def application(self) -> web.Application:
        """Return the resources."""
        app = web.Application()
        app.router.add_post("/api/kernels", self._start)
        app.router.add_get("/api/kernels/{id}", self._model)
        app.router.add_delete("/api/kernels/{id}", self._end)
        app.router.add_post("/api/kernels/{id}/interrupt", self._interrupt)
        app.router.add_get("/api/kernels/{id}/channels", self._channels)
        return app

    async def aclose(self) -> None:
        """End all floods."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _start(self, request: web.Request) -> web.Response:
        kernel = Kernel(harm=self.harm)
        self.kernels[kernel.kernel_id] = kernel
        return web.json_response({"id": kernel.kernel_id}, status=201)

    def _kernel(self, request: web.Request) -> Kernel:
        kernel = self.kernels.get(request.match_info["id"])
        if kernel is None:
            raise web.HTTPNotFound
        return kernel

    async def _model(self, request: web.Request) -> web.Response:
        return web.json_response({"id": self._kernel(request).kernel_id, "execution_state": "idle"})

    async def _end(self, request: web.Request) -> web.Response:
        del self.kernels[self._kernel(request).kernel_id]
        return web.Response(status=204)

    async def _interrupt(self, request: web.Request) -> web.Response:
        self._kernel(request)
        return web.Response(status=204)

    async def _channels(self, request: web.Request) -> web.WebSocketResponse:
        kernel = self._kernel(request)
        socket = web.WebSocketResponse()
        await socket.prepare(request)

        async def send(message: object) -> None:
            if isinstance(message, bytes):
                await socket.send_bytes(message)
            else:
                await socket.send_str(message if isinstance(message, str) else json.dumps(message))

        async for frame in socket:
            if frame.type is WSMsgType.TEXT:
                self._run(self._answer(kernel, json.loads(frame.data), send))
        return socket

    async def _answer(self, kernel: Kernel, request: Mapping[str, Any], send: Send) -> None:
        if kernel.harm and request["content"].get("code"):
            kernel.is_harmed = True
        with contextlib.suppress(ConnectionError):
            if kernel.is_harmed:
                await HARMS[kernel.harm](kernel, request, send)
                return
            for message in kernel.answer(request):
                await send(message)

    def _run(self, work: Coroutine[None, None, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


@asynccontextmanager
async def running_hostile_server() -> AsyncGenerator[tuple[HostileServer, str]]:
    """Run a server on this event loop during the block; yields it with its URL."""
    server = HostileServer()
    runner = web.AppRunner(server.application())
    await runner.setup()
    port = free_port()
    await web.TCPSite(runner, "127.0.0.1", port).start()
    try:
        yield server, f"http://127.0.0.1:{port}"
    finally:
        await server.aclose()
        await runner.cleanup()
