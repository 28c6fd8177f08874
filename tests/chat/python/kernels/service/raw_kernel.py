"""A client for one kernel in few lines: aiohttp and Jupyter's messages, without the client of the product."""

from __future__ import annotations

import asyncio
import json
import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass

import aiohttp

from chat.python.kernels.places import Address, Place

LIMIT_S = 60.0
DEAD = "[dead]"
"""Stands at the end of a cell's text if the kernel died."""


@dataclass(frozen=True, slots=True)
class RawKernel:
    """A kernel and the websocket to it."""

    http: aiohttp.ClientSession
    address: Address
    kernel_id: str
    socket: aiohttp.ClientWebSocketResponse

    async def run(self, code: str, has_printed: asyncio.Event | None = None) -> str:
        """Run a cell and return its text, the value of its last expression, the types of displays, and its error.

        `has_printed` is set when the cell has printed something.
        """
        message_id = await self.send(code)
        text, waits_for = "", {"execute_reply", "idle"}
        async with asyncio.timeout(LIMIT_S):
            while waits_for:
                message = json.loads((await self.socket.receive()).data)
                kind, content = message["msg_type"], message["content"]
                state = content.get("execution_state", "")
                if kind == "status" and state == "dead":
                    return text + DEAD
                if message["parent_header"].get("msg_id") != message_id:
                    continue
                waits_for -= {kind, state}
                if kind == "stream":
                    text += content["text"]
                    if has_printed:
                        has_printed.set()
                elif kind == "execute_result":
                    text += content["data"]["text/plain"]
                elif kind == "display_data":
                    text += f"{sorted(content['data'])}"
                elif kind == "error":
                    text += f"{content['ename']}: {content['evalue']}"
        return text

    async def send(self, code: str) -> str:
        """Send a cell without waiting for it, and return the id of the request."""
        message_id = uuid.uuid4().hex
        header = {"msg_id": message_id, "msg_type": "execute_request", "session": "test", "username": "test"}
        content = {"code": code, "silent": False, "store_history": True, "user_expressions": {}, "allow_stdin": False}
        message = {"channel": "shell", "header": {**header, "version": "5.3"}, "parent_header": {}, "metadata": {}}
        await self.socket.send_json({**message, "content": {**content, "stop_on_error": False}})
        return message_id

    async def model(self) -> dict[str, str]:
        """Return what Jupyter's API says about the kernel, also if the kernel is gone."""
        async with self.http.get(f"{self.address.url}/api/kernels/{self.kernel_id}") as response:
            model: dict[str, str] = await response.json()
            return model


def open_client(address: Address) -> aiohttp.ClientSession:
    """Return a client that sends the token."""
    return aiohttp.ClientSession(headers={"Authorization": f"token {address.token}"})


async def start_kernel(http: aiohttp.ClientSession, address: Address) -> str:
    """Start a kernel and return its id."""
    async with http.post(f"{address.url}/api/kernels", json={"name": "python3"}) as response:
        assert response.status == 201, await response.text()
        return str((await response.json())["id"])


@asynccontextmanager
async def connected(http: aiohttp.ClientSession, address: Address, kernel_id: str) -> AsyncIterator[RawKernel]:
    """Connect to a kernel, which is left running."""
    url = f"{address.url}/api/kernels/{kernel_id}/channels?session_id={uuid.uuid4().hex}"
    async with http.ws_connect(url, max_msg_size=2**26) as socket:
        yield RawKernel(http, address, kernel_id, socket)


@asynccontextmanager
async def running_kernel(place: Place) -> AsyncIterator[RawKernel]:
    """Start a kernel, connect to it, and end it after the block."""
    address = await place.address()
    async with open_client(address) as http:
        kernel_id = await start_kernel(http, address)
        try:
            async with connected(http, address, kernel_id) as kernel:
                yield kernel
        finally:
            # A test may have killed the gateway, and the kernel with it.
            with suppress(aiohttp.ClientError):
                await http.delete(f"{address.url}/api/kernels/{kernel_id}")
