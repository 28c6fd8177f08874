"""The bare relay: Daphne on uvloop and the SDK, without users or a database; `python -m bench.bare_relay PORT`."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator
from functools import cache
from typing import Any

import uvloop
from google import genai
from google.genai import types

# Daphne creates its event loop when it is imported.
asyncio.set_event_loop_policy(uvloop.EventLoopPolicy())

from daphne.cli import CommandLineInterface  # noqa: E402 - the event loop policy must be set before this import

CONFIG = types.GenerateContentConfig(
    tools=[types.Tool(code_execution=types.ToolCodeExecution())],
    automatic_function_calling=types.AutomaticFunctionCallingConfig(disable=True),
    automatic_continuation=False,
)


async def application(scope: dict[str, Any], receive: Any, send: Any) -> None:  # noqa: ANN401 - ASGI has no types
    """Answer each message on a websocket. Other connections are not served."""
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


async def relay(prompt: str, send: Any) -> None:  # noqa: ANN401 - ASGI has no types
    """Send the text of each chunk as soon as it is read."""
    async for text in stream_texts(prompt):
        await send({"type": "websocket.send", "text": text})


@cache
def get_client() -> genai.Client:
    """Return the SDK's client, which is created in the event loop that uses it."""
    options = types.HttpOptions(
        base_url=os.environ["BENCH_UPSTREAM_URL"],
        api_version="v1beta",
        retry_options=types.HttpRetryOptions(attempts=1),
    )
    return genai.Client(api_key="none", http_options=options)


async def stream_texts(prompt: str) -> AsyncIterator[str]:
    """Yield the text of each chunk of an answer."""
    stream = await get_client().aio.models.generate_content_stream(model="bench", contents=prompt, config=CONFIG)
    async for chunk in stream:
        content = chunk.candidates[0].content if chunk.candidates else None
        yield "".join(map(get_part_text, (content.parts if content else None) or ()))


def get_part_text(part: types.Part) -> str:
    """Return the text of a part: its text, its code, its output, or the size of its graph."""
    if part.executable_code:
        return part.executable_code.code or ""
    if part.code_execution_result:
        return part.code_execution_result.output or ""
    if part.inline_data:
        return f"[{len(part.inline_data.data or b'')} bytes]"
    return part.text or ""


if __name__ == "__main__":
    CommandLineInterface().run(
        ["--verbosity=0", "--bind", "127.0.0.1", "--port", sys.argv[1], "bench.bare_relay:application"]
    )
