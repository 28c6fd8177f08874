"""The protocol of Open WebUI's page: one HTTP request for each message, and Socket.IO for the answer.

It was tested with Open WebUI 0.12.4. A header names the user, as behind an authenticating proxy. The page also asks
the model for a title, tags and follow-up questions; those requests are left out.
"""

from __future__ import annotations

import asyncio
import json
import time
import uuid
from collections.abc import Mapping

import aiohttp

from bench.peers.socketio import SocketIOClient
from bench.processes import BenchError
from bench.websocket import OnText, ignore_text

EMAIL_HEADER = "X-Email"

#: Environment of the server. It downloads no models and computes no embeddings.
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


class OpenWebUIPage:
    """The page of one user. It implements `bench.client.Connection`."""

    closed: asyncio.Future[None]

    def __init__(self, http_url: str, headers: Mapping[str, str]) -> None:
        self.on_text: OnText = ignore_text
        self._headers = headers
        self._session = aiohttp.ClientSession(http_url, headers=headers)
        self._socket = SocketIOClient(lambda data, received_at_us: self.on_text(data, received_at_us))
        self._request: asyncio.Task[None] | None = None

    async def open(self, url: str) -> None:
        """Sign in and connect. Raise BenchError if the server refuses."""
        try:
            await self._open(url)
        except BaseException:
            await self._session.close()
            raise

    async def _open(self, url: str) -> None:
        async with self._session.post("api/v1/auths/signin", json={"email": "", "password": ""}) as response:
            if response.status != 200:
                raise BenchError(f"Open WebUI refused the sign-in: {response.status} {await response.text()}")
            auth = {"token": (await response.json())["token"]}
        self._session.headers["Authorization"] = f"Bearer {auth['token']}"
        await self._socket.open(f"{url}ws/socket.io/", self._headers, auth)
        self._socket.emit("user-join", {"auth": auth})
        self.closed = asyncio.get_running_loop().create_future()
        self._socket.closed.add_done_callback(lambda _: self._set_closed())

    def _set_closed(self) -> None:
        if not self.closed.done():
            self.closed.set_result(None)

    def send(self, text: str) -> None:
        """Send the text of Plotline's message as the page's composer does, in a new chat."""
        self._request = asyncio.get_running_loop().create_task(self._request_answer(json.loads(text)["text"]))

    async def _request_answer(self, prompt: str) -> None:
        message = {"role": "user", "content": prompt}
        position = {"id": str(uuid.uuid4()), "parentId": None, "childrenIds": list[str]()}
        body = {
            "stream": True,
            "model": "bench",
            "messages": [message],
            "params": {},
            "features": {},
            "variables": {},
            "session_id": self._socket.session_id,
            "id": str(uuid.uuid4()),
            "parent_id": None,
            "user_message": {**message, **position, "timestamp": int(time.time()), "models": ["bench"]},
            "background_tasks": {},
        }
        try:
            async with self._session.post("api/chat/completions", json=body) as response:
                response.raise_for_status()
        except aiohttp.ClientError:
            # The benchmark client treats this like a socket that closed in the middle of an answer.
            self._set_closed()

    async def close(self) -> None:
        """Cancel the request and close the connections."""
        if self._request:
            self._request.cancel()
            await asyncio.gather(self._request, return_exceptions=True)
        await self._socket.close()
        await self._session.close()


async def connect_page(url: str, headers: Mapping[str, str]) -> OpenWebUIPage:
    """Open the page of the user that the headers name."""
    page = OpenWebUIPage(url.replace("ws://", "http://"), headers)
    await page.open(url)
    return page
