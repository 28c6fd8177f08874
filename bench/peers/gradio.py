"""Gradio's page: its queue, and the stream of events of a session; checked with Gradio 6.31."""

from __future__ import annotations

import asyncio
import json
import uuid
from collections.abc import Callable, Mapping

import aiohttp

from bench.answers import now_us
from bench.processes import BenchError

API = "gradio_api"
LINE_LIMIT_BYTES = 2**22


class Line:
    """One session; takes what the relays' client sends."""

    def __init__(self, session: aiohttp.ClientSession, url: str, function: int, inputs: int) -> None:
        self._session, self._url, self._function, self._inputs = session, url, function, inputs
        self._task: asyncio.Task[None] | None = None
        self.on_text: Callable[[bytes, int], None] = lambda _data, _at_us: None
        self.closed: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def send(self, text: str) -> None:
        """Ask as the page's box does."""
        self._task = asyncio.get_running_loop().create_task(self._ask(json.loads(text)["text"]))

    async def _ask(self, prompt: str) -> None:
        key = uuid.uuid4().hex
        # What follows the message is the page's state, which is empty.
        data = [prompt, *[None] * (self._inputs - 1)]
        body = {"data": data, "fn_index": self._function, "session_hash": key, "trigger_id": None}
        try:
            async with self._session.post(f"{self._url}{API}/queue/join", json=body) as answer:
                answer.raise_for_status()
            async with self._session.get(f"{self._url}{API}/queue/data", params={"session_hash": key}) as events:
                async for line in events.content:
                    self.on_text(line, now_us())
        finally:
            if not self.closed.done():
                self.closed.set_result(None)

    async def close(self) -> None:
        """Leave."""
        if self._task:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
        await self._session.close()


async def open_line(url: str, headers: Mapping[str, str]) -> Line:
    """A session that knows which function chats."""
    address = url.replace("ws://", "http://")
    timeout = aiohttp.ClientTimeout(total=None)
    session = aiohttp.ClientSession(headers=headers, timeout=timeout, read_bufsize=LINE_LIMIT_BYTES)
    async with session.get(f"{address}config") as answer:
        functions = (await answer.json())["dependencies"]
    chat = next((function for function in functions if function["api_name"] == "chat"), None)
    if chat is None:
        raise BenchError("this Gradio has no function of the name chat")
    return Line(session, address, chat["id"], len(chat["inputs"]))
