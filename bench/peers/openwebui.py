"""Open WebUI's page: a Socket.IO connection for what is said, a request for each question; checked with 0.12.4.

Who comes is named by a header, as behind a proxy that signs people in. Of what its page asks for with a question,
title, tags and follow-ups are left out: they are further requests to the model.
"""

from __future__ import annotations

import asyncio
import json
import time
import uuid
from collections.abc import Callable, Mapping

import aiohttp

from bench.peers.socketio import SocketIO
from bench.processes import BenchError
from bench.websocket import ignore

EMAIL_HEADER = "X-Email"

#: For its server. Nothing from outside is fetched, and nothing is embedded.
VARIABLES = {
    "OPENAI_API_BASE_URL": "{upstream}/v1",
    "OPENAI_API_KEY": "none",
    "DATA_DIR": "{folder}",
    "WEBUI_SECRET_KEY": "only-for-a-measurement",
    "WEBUI_AUTH_TRUSTED_EMAIL_HEADER": EMAIL_HEADER,
    "DEFAULT_USER_ROLE": "user",
    "BYPASS_MODEL_ACCESS_CONTROL": "true",
    "ENABLE_OLLAMA_API": "false",
    "ENABLE_VERSION_UPDATE_CHECK": "false",
    "OFFLINE_MODE": "true",
    "RAG_EMBEDDING_MODEL": "",
    "DO_NOT_TRACK": "true",
    "SCARF_NO_ANALYTICS": "true",
}


class Line:
    """One person's page; takes what the relays' client sends."""

    closed: asyncio.Future[None]

    def __init__(self, address: str, headers: Mapping[str, str]) -> None:
        self.on_text: Callable[[bytes, int], None] = ignore
        self._headers = headers
        self._session = aiohttp.ClientSession(address, headers=headers)
        self._socket = SocketIO(lambda data, at_us: self.on_text(data, at_us))
        self._asking: asyncio.Task[None] | None = None

    async def open(self, url: str) -> None:
        """Sign in, and connect. Raises BenchError when it is refused."""
        async with self._session.post("api/v1/auths/signin", json={"email": "", "password": ""}) as answer:
            if answer.status != 200:
                raise BenchError(f"Open WebUI refused a visitor: {answer.status} {await answer.text()}")
            auth = {"token": (await answer.json())["token"]}
        self._session.headers["Authorization"] = f"Bearer {auth['token']}"
        await self._socket.open(f"{url}ws/socket.io/", self._headers, auth)
        self._socket.emit("user-join", {"auth": auth})
        self.closed = asyncio.get_running_loop().create_future()
        self._socket.closed.add_done_callback(lambda _: self._end())

    def _end(self) -> None:
        if not self.closed.done():
            self.closed.set_result(None)

    def send(self, text: str) -> None:
        """Ask as the page's box does, in a new chat."""
        self._asking = asyncio.get_running_loop().create_task(self._ask(json.loads(text)["text"]))

    async def _ask(self, prompt: str) -> None:
        said = {"role": "user", "content": prompt}
        place = {"id": str(uuid.uuid4()), "parentId": None, "childrenIds": list[str]()}
        body = {
            "stream": True,
            "model": "bench",
            "messages": [said],
            "params": {},
            "features": {},
            "variables": {},
            "session_id": self._socket.session_id,
            "id": str(uuid.uuid4()),
            "parent_id": None,
            "user_message": {**said, **place, "timestamp": int(time.time()), "models": ["bench"]},
            "background_tasks": {},
        }
        try:
            async with self._session.post("api/chat/completions", json=body) as answer:
                answer.raise_for_status()
        except aiohttp.ClientError:
            # The client sees a socket that closed in the middle of an answer.
            self._end()

    async def close(self) -> None:
        """Leave."""
        if self._asking:
            self._asking.cancel()
            await asyncio.gather(self._asking, return_exceptions=True)
        await self._socket.close()
        await self._session.close()


async def open_line(url: str, headers: Mapping[str, str]) -> Line:
    """The page of the person that `headers` name."""
    line = Line(url.replace("ws://", "http://"), headers)
    try:
        await line.open(url)
    except BaseException:
        await line._session.close()
        raise
    return line
