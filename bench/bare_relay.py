"""The minimal relay: Daphne on uvloop, without users or a database; `python -m bench.bare_relay STREAM_READER PORT`.

The stream reader `sdk` reads with the SDK and sends the text of each chunk at once. `lean` reads with aiohttp and
`json.loads` and sends at most 25 messages per second for each answer; it shows how much the harness can measure.
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

from bench.sdk import create_client, stream_texts

# Daphne creates its event loop when it is imported.
asyncio.set_event_loop_policy(uvloop.EventLoopPolicy())

from daphne.cli import CommandLineInterface  # noqa: E402 - the event loop policy must be set before this import

FRAME_INTERVAL_S = 0.04


async def application(scope: dict[str, Any], receive: Any, send: Any) -> None:  # noqa: ANN401 - ASGI has no types
    """Answer each message on a websocket. Other connections are not served."""
    if scope["type"] != "websocket":
        return
    await receive()
    await send({"type": "websocket.accept"})
    relay = relay_lean if os.environ["BENCH_STREAM_READER"] == "lean" else relay_with_sdk
    tasks = []
    while (message := await receive())["type"] != "websocket.disconnect":
        tasks.append(asyncio.create_task(relay(json.loads(message["text"])["text"], send)))
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


@cache
def get_sdk_client() -> genai.Client:
    """Return the SDK's client, which is created in the event loop that uses it."""
    return create_client(os.environ["BENCH_UPSTREAM_URL"])


async def relay_with_sdk(prompt: str, send: Any) -> None:  # noqa: ANN401 - ASGI has no types
    """Send the text of each chunk as soon as it is read."""
    async for text in stream_texts(get_sdk_client(), prompt):
        await send({"type": "websocket.send", "text": text})


@cache
def get_http_session() -> aiohttp.ClientSession:
    """Return the session that all answers share."""
    return aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0), read_bufsize=2**20)


async def relay_lean(prompt: str, send: Any) -> None:  # noqa: ANN401 - ASGI has no types
    """Send the first text at once, and later texts together, at most 25 times per second."""
    loop, sent_at = asyncio.get_running_loop(), 0.0
    texts: list[str] = []
    timer: asyncio.TimerHandle | None = None

    async def send_texts() -> None:
        nonlocal timer, sent_at
        timer, sent_at = None, loop.time()
        text = "".join(texts)
        texts.clear()
        await send({"type": "websocket.send", "text": text})

    body = {"contents": [{"parts": [{"text": prompt}]}]}
    async with get_http_session().post(f"{os.environ['BENCH_UPSTREAM_URL']}/stream", json=body) as response:
        async for line in response.content:
            if line.startswith(b"data: "):
                part = json.loads(line[6:])["candidates"][0]["content"]["parts"][0]
                texts.append(part.get("text") or json.dumps(part, ensure_ascii=False)[:200])
                if loop.time() - sent_at >= FRAME_INTERVAL_S:
                    await send_texts()
                elif timer is None:
                    timer = loop.call_at(sent_at + FRAME_INTERVAL_S, lambda: asyncio.ensure_future(send_texts()))
    if timer:
        timer.cancel()
        await send_texts()


if __name__ == "__main__":
    os.environ["BENCH_STREAM_READER"] = sys.argv[1]
    CommandLineInterface().run(
        ["--verbosity=0", "--bind", "127.0.0.1", "--port", sys.argv[2], "bench.bare_relay:application"]
    )
