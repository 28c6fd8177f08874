"""The least that a relay can do: Daphne on uvloop, no user, no database; `python -m bench.relay WAY PORT`.

`sdk`: each chunk's text straight to the socket, read with the SDK. `lean`: read with aiohttp and `json.loads`, at most
25 messages a second for each answer; it shows what the harness itself can carry.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from functools import cache
from typing import Any

import aiohttp
import uvloop
from google import genai

from bench.sdk import chunks_of, new_client

# Daphne makes its loop when it is imported.
asyncio.set_event_loop_policy(uvloop.EventLoopPolicy())

from daphne.cli import CommandLineInterface  # noqa: E402 - see above

FRAME_PAUSE_S = 0.04


async def application(scope: dict[str, Any], receive: Any, send: Any) -> None:  # noqa: ANN401 - ASGI's own
    """Answer each `send` on a socket; anything else is not served."""
    if scope["type"] != "websocket":
        return
    await receive()
    await send({"type": "websocket.accept"})
    relay = lean_relay if os.environ["BENCH_WAY"] == "lean" else sdk_relay
    tasks = []
    while (message := await receive())["type"] != "websocket.disconnect":
        tasks.append(asyncio.create_task(relay(json.loads(message["text"])["text"], send)))
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


@cache
def client() -> genai.Client:
    """The SDK's, made in the loop that uses it."""
    return new_client(os.environ["BENCH_UPSTREAM_URL"])


async def sdk_relay(prompt: str, send: Any) -> None:  # noqa: ANN401 - ASGI's own
    """Send each chunk's text as it comes."""
    async for text in chunks_of(client(), prompt):
        await send({"type": "websocket.send", "text": text})


@cache
def session() -> aiohttp.ClientSession:
    """For all answers."""
    return aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0), read_bufsize=2**20)


async def lean_relay(prompt: str, send: Any) -> None:  # noqa: ANN401 - ASGI's own
    """Send what has come, the first at once and then 25 times a second."""
    loop, sent_at = asyncio.get_running_loop(), 0.0
    texts: list[str] = []
    timer: asyncio.TimerHandle | None = None

    async def say() -> None:
        nonlocal timer, sent_at
        timer, sent_at = None, loop.time()
        text = "".join(texts)
        texts.clear()
        await send({"type": "websocket.send", "text": text})

    body = {"contents": [{"parts": [{"text": prompt}]}]}
    async with session().post(f"{os.environ['BENCH_UPSTREAM_URL']}/stream", json=body) as response:
        async for line in response.content:
            if line.startswith(b"data: "):
                part = json.loads(line[6:])["candidates"][0]["content"]["parts"][0]
                texts.append(part.get("text") or json.dumps(part, ensure_ascii=False)[:200])
                if loop.time() - sent_at >= FRAME_PAUSE_S:
                    await say()
                elif timer is None:
                    timer = loop.call_at(sent_at + FRAME_PAUSE_S, lambda: asyncio.ensure_future(say()))
    if timer:
        timer.cancel()
        await say()


if __name__ == "__main__":
    os.environ["BENCH_WAY"] = sys.argv[1]
    CommandLineInterface().run(
        ["--verbosity=0", "--bind", "127.0.0.1", "--port", sys.argv[2], "bench.relay:application"]
    )
