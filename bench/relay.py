"""The least that a relay can do: Daphne, and each chunk's text straight to the socket; `python -m bench.relay PORT`.

No user, no database, no rendering; on uvloop, as the product is.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from typing import Any

import uvloop
from google import genai

from bench.sdk import chunks_of, new_client

# Daphne makes its loop when it is imported.
asyncio.set_event_loop_policy(uvloop.EventLoopPolicy())

from daphne.cli import CommandLineInterface  # noqa: E402 - see above

_clients: list[genai.Client] = []


async def application(scope: dict[str, Any], receive: Any, send: Any) -> None:  # noqa: ANN401 - ASGI's own
    """Answer each `send` on a socket; anything else is not served."""
    if scope["type"] != "websocket":
        return
    await receive()
    await send({"type": "websocket.accept"})
    tasks = []
    while (message := await receive())["type"] != "websocket.disconnect":
        tasks.append(asyncio.create_task(relay(json.loads(message["text"])["text"], send)))
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


async def relay(prompt: str, send: Any) -> None:  # noqa: ANN401 - ASGI's own
    """Send each chunk's text as it comes."""
    if not _clients:
        _clients.append(new_client(os.environ["BENCH_UPSTREAM_URL"]))
    async for text in chunks_of(_clients[0], prompt):
        await send({"type": "websocket.send", "text": text})


if __name__ == "__main__":
    CommandLineInterface().run(
        ["--verbosity=0", "--bind", "127.0.0.1", "--port", sys.argv[1], "bench.relay:application"]
    )
