"""The protocol of Gradio's page, a queue and an event stream for each session; tested with Gradio 6.31."""

from __future__ import annotations

import asyncio
import json
import uuid
from collections.abc import Mapping

import aiohttp

from bench.answers import now_us
from bench.processes import BenchError
from bench.websocket import OnText, ignore_text

API = "gradio_api"
READ_BUFFER_BYTES = 2**22


class GradioPage:
    """One session. It implements `bench.client.Connection`."""

    def __init__(self, session: aiohttp.ClientSession, url: str, function_id: int, input_count: int) -> None:
        self._session, self._url = session, url
        self._function_id, self._input_count = function_id, input_count
        self._task: asyncio.Task[None] | None = None
        self.on_text: OnText = ignore_text
        self.closed: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def send(self, text: str) -> None:
        """Send the text of Plotline's message as the page's composer does."""
        self._task = asyncio.get_running_loop().create_task(self._read_answer(json.loads(text)["text"]))

    async def _read_answer(self, prompt: str) -> None:
        session_hash = uuid.uuid4().hex
        # The inputs after the message are the page's state, which is empty.
        data = [prompt, *[None] * (self._input_count - 1)]
        body = {"data": data, "fn_index": self._function_id, "session_hash": session_hash, "trigger_id": None}
        query = {"session_hash": session_hash}
        try:
            async with self._session.post(f"{self._url}{API}/queue/join", json=body) as response:
                response.raise_for_status()
            async with self._session.get(f"{self._url}{API}/queue/data", params=query) as events:
                async for line in events.content:
                    self.on_text(line, now_us())
        finally:
            if not self.closed.done():
                self.closed.set_result(None)

    async def close(self) -> None:
        """Stop reading and close the connections."""
        if self._task:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
        await self._session.close()


async def connect_page(url: str, headers: Mapping[str, str]) -> GradioPage:
    """Open a page and find its chat function. Raise BenchError if there is none."""
    http_url = url.replace("ws://", "http://")
    timeout = aiohttp.ClientTimeout(total=None)
    session = aiohttp.ClientSession(headers=headers, timeout=timeout, read_bufsize=READ_BUFFER_BYTES)
    async with session.get(f"{http_url}config") as response:
        functions = (await response.json())["dependencies"]
    chat = next((function for function in functions if function["api_name"] == "chat"), None)
    if chat is None:
        raise BenchError("this Gradio app has no function with the name chat")
    return GradioPage(session, http_url, chat["id"], len(chat["inputs"]))
